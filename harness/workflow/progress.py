"""How a workflow says what it is doing, whoever listens; it never tells a measure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol


class Progress(Protocol):
    """Told in a few words what is being done, and how far it is where that can be counted."""

    def __call__(self, what: str, /) -> None:
        """Say that something begins."""

    def counting(
        self, what: str, total: int, unit: str, *, done: int = 0
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Count something long; the value of the context takes the number of units just finished.

        Args:
            what: what is being done.
            total: how many units there are.
            unit: what is counted, in the plural: ``questions``, ``trials``.
            done: units that an earlier process finished; they count as done and not for the rate.
        """


class Silent:
    """Progress to which nobody listens."""

    def __call__(self, what: str, /) -> None:
        """Say nothing."""

    @contextlib.contextmanager
    def counting(self, what: str, total: int, unit: str, *, done: int = 0) -> Iterator[Callable[[int], None]]:  # noqa: ARG002
        """Count nothing."""
        yield lambda _: None


SILENT = Silent()
