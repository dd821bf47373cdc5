from __future__ import annotations

import json
from typing import Any


def test_everything_that_another_system_needs_is_exported(ready: Any, tmp_path: Any) -> None:
    """Documents and questions of both splits are written, without labels, and the two counts are said."""
    done = ready.run("data", "export", "synthetic", str(tmp_path / "theirs"), "--json")
    assert (done.code, done.err) == (0, "")
    asked = [json.loads(line) for line in (tmp_path / "theirs/questions.jsonl").read_text("utf-8").splitlines()]
    assert done.json["questions"] == len(asked)
    listed = ready.run("data", "list", "--json").json
    assert len(asked) == sum(one["questions"]["dev"] + one["questions"]["heldout"] for one in listed)
    assert {key for one in asked for key in one} == {"question", "text", "partition"}
    documents = (tmp_path / "theirs/corpus.jsonl").read_text("utf-8").splitlines()
    assert done.json["documents"] == len(documents) == len({json.loads(line)["id"] for line in documents})


def test_a_folder_that_cannot_be_written_is_named(ready: Any, refused: Any, tmp_path: Any) -> None:
    """A file in its place, and a benchmark that is not there, are refused."""
    (tmp_path / "file").write_text("")
    refused(ready, 4, "data", "export", "synthetic", str(tmp_path / "file"), says=("file",))
    refused(ready, 2, "data", "export", "locomo11", str(tmp_path / "x"), says=("locomo11",))
