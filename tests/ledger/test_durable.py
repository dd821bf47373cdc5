from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.ledger import durable

REFUSED = """
import errno, os, sys
from pathlib import Path
from harness.errors import EnvironmentProblem
from harness.ledger import durable

def refused(path, **_):
    raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))

os.unlink = refused
try:
    {call}
except EnvironmentProblem as problem:
    sys.exit(problem.exit_code)
"""
CALLS = {
    "publish": "durable.publish(Path(sys.argv[1]), 'made', b'content')",
    "try_writing": "durable.try_writing(Path(sys.argv[1]))",
}


@pytest.fixture(params=CALLS)
def refused(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder in which a process, now gone, could not remove its temporary name, and said so."""
    script = REFUSED.format(call=CALLS[request.param])
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path)]).returncode == 4
    assert _temporaries(tmp_path)
    return tmp_path


def test_a_temporary_name_that_stayed_is_cleared_by_the_next_writer(refused: Path) -> None:
    """Its maker could only tell that it stayed."""
    durable.try_writing(refused)
    assert not _temporaries(refused)


@pytest.mark.parametrize("refused", ["publish"], indirect=True)
def test_a_file_is_made_even_if_its_temporary_name_stays(refused: Path) -> None:
    """Whoever asks again finds the name taken, with the content whole."""
    assert not durable.publish(refused, "made", b"other")
    assert (refused / "made").read_bytes() == b"content"
    assert [path.name for path in refused.iterdir()] == ["made"]


def _temporaries(folder: Path) -> list[Path]:
    return list(folder.glob(f"{durable.TEMPORARY}*"))
