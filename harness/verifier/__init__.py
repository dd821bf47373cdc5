"""An independent second implementation that re-derives measures and decisions from the sealed files.

It knows the standard library only and no other part of the project, so that a fault in the first
implementation cannot repeat itself here unseen. The folder can be copied alone, under any name, and still
works.
"""

from .checks import Check, verify

__all__ = ["Check", "verify"]
