"""The command line is tested in the workspaces that the workflow's tests make."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

# tests are no package, so that a neighbour's fixtures are loaded by path
_SPEC = importlib.util.spec_from_file_location("workflow_fixtures", Path(__file__).parents[1] / "workflow/conftest.py")
assert _SPEC is not None
assert _SPEC.loader is not None
_shared = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _shared
_SPEC.loader.exec_module(_shared)

bytecode, whole_way, user_state = _shared.bytecode, _shared.whole_way, _shared.user_state
desk, locked, finished = _shared.desk, _shared.locked, _shared.finished
