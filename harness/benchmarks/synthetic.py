"""The synthetic benchmark that ships with the package: everything runs with no download."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any

from harness.benchmarks.build import CONFIDENCE_DISTILLED, CONFIDENCE_SUMMARY, Builder
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.source import canonical_sha256
from harness.errors import IntegrityProblem

DATA_FILE = "synthetic-1.json.gz"

# of the canonical content; behaviour fingerprints are taken on it, so it may never change under its name
CONTENT_SHA256 = "12b64d6008c6bf404f34f4e0df95bec0f72ac7871ab2cf0aed04a38b5dbcaedc"


@cache
def import_synthetic(name: str = "synthetic") -> Benchmark:
    """The synthetic benchmark as columns; its first conversation is for development.

    Raises:
        IntegrityProblem: the data file in the package is not the one that was released.
    """
    try:
        packed = (resources.files("harness.benchmarks.data") / DATA_FILE).read_bytes()
        value = json.loads(gzip.decompress(packed))
    except (OSError, EOFError, ValueError, zlib.error):
        packed, value = b"", None
    if canonical_sha256(value) != CONTENT_SHA256:
        what = "the synthetic benchmark in this installation was changed"
        raise IntegrityProblem(what, where=DATA_FILE, fix="install the package again")
    builder = Builder(name)
    for index, conversation in enumerate(value["conversations"]):
        _import_conversation(builder, conversation, dev=index == 0)
    source = {
        "format": "synthetic",
        "variant": "synthetic-1",
        "sha256": hashlib.sha256(packed).hexdigest(),
        "canonical_sha256": CONTENT_SHA256,
        "bytes": len(packed),
        "license": "Apache-2.0",
    }
    return builder.finish(source)


def _import_conversation(builder: Builder, conversation: dict[str, Any], *, dev: bool) -> None:
    partition = conversation["id"]
    builder.begin_partition(partition)
    starts: dict[int, int] = {}
    for session in conversation["sessions"]:
        start = int(datetime.fromisoformat(session["time"]).replace(tzinfo=UTC).timestamp())
        starts[session["number"]] = start
        rows = [(f"{partition}/{turn['id']}", turn["speaker"], turn["text"], "") for turn in session["turns"]]
        builder.add_session(rows, session=session["number"], start=start)

    def position(turn: str) -> int:
        return builder.positions[f"{partition}/{turn}"]

    for edge in conversation["causal"]:
        ends = position(edge["from"]), position(edge["to"])
        builder.add_edge(*ends, edge["relation"], "import", edge["confidence"])
    for item in conversation["distilled"]:
        builder.add_item(
            f"{partition}/{item['id']}", item["text"], layer="distill", confidence=CONFIDENCE_DISTILLED,
            session=item["session"], time=starts[item["session"]],
            sources=[position(source) for source in item["sources"]],
        )  # fmt: skip
    for summary in conversation["summaries"]:
        builder.add_item(
            f"{partition}/S{summary['session']}/summary", summary["text"], layer="summary",
            confidence=CONFIDENCE_SUMMARY, session=summary["session"], time=starts[summary["session"]],
        )  # fmt: skip
    for index, question in enumerate(conversation["questions"]):
        evidence = [position(turn) for turn in question["evidence"]]
        flags = list(question.get("tags", ())) + (["abstain"] if question["answer"] is None else [])
        builder.add_question(
            f"{partition}/q{index}", question["text"], dev=dev, category=question["category"],
            answer=question["answer"] or "", flags=flags, repaired=evidence, published=evidence,
            n_published=len(set(evidence)), cluster=partition,
        )  # fmt: skip
