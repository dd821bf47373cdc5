"""The ledger: what was promised, run and judged, so that nobody can change it unnoticed afterwards.

Entries are files in a folder that goes with the project. Nothing here knows what a payload means beyond the
few fields that tell the life of a document; all functions take plain mappings.
"""

from harness.ledger.claim import holder_of, take
from harness.ledger.entries import Entry, Ledger, ancestors, tips
from harness.ledger.head import (
    head,
    missing,
    read_witness,
    update_user_witness,
    user_witness_path,
    write_witness,
)
from harness.ledger.looks import look_number, read_question_set, spent_on, write_question_set
from harness.ledger.state import Life, Stage, life, lives

__all__ = [
    "Entry",
    "Ledger",
    "Life",
    "Stage",
    "ancestors",
    "head",
    "holder_of",
    "life",
    "lives",
    "look_number",
    "missing",
    "read_question_set",
    "read_witness",
    "spent_on",
    "take",
    "tips",
    "update_user_witness",
    "user_witness_path",
    "write_question_set",
    "write_witness",
]
