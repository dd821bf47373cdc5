"""The command line is tested in the workspaces that the workflow's tests make."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# tests are no package, so that a neighbour's fixtures are loaded by path
_SPEC = importlib.util.spec_from_file_location("workflow_fixtures", Path(__file__).parents[1] / "workflow/conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _shared
_SPEC.loader.exec_module(_shared)

bytecode, whole_way, user_state = _shared.bytecode, _shared.whole_way, _shared.user_state
desk, ready, imported = _shared.desk, _shared.ready, _shared.imported
locked, finished = _shared.locked, _shared.finished


def _refused(desk: Any, code: int, *arguments: str, says: tuple[str, ...] = ()) -> str:
    """Run a command that must be refused in this way, and return its message."""
    before = desk.tree()
    done = desk.run(*arguments)
    assert (done.code, done.out) == (code, ""), done.err
    messages = [line for line in done.err.splitlines() if not line.startswith(("[", "  allowed:", "  fix:"))]
    assert len(messages) == 1, done.err
    assert messages[0].startswith("harness: ")
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    for word in says:
        assert word in done.err
    assert desk.tree() == before
    return str(done.err)


@pytest.fixture
def refused() -> Callable[..., str]:
    """`_refused`, for tests, which cannot import this module."""
    return _refused
