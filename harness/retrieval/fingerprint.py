"""Behaviour fingerprints: what a version does, as the digest of its rankings on frozen data.

Two programs of one name that rank differently have different fingerprints, whatever their source says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from harness.benchmarks.synthetic import import_synthetic
from harness.digest import digest_json, source_digest
from harness.retrieval.embedding.models import DEFAULT, OUTSIDE
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import Configured, Store

DEPTH = 100
RECORDED_FILE = "fingerprints.json"


def fingerprint(configured: Configured) -> str:
    """Digest of the positions that the version ranks for every question of the synthetic benchmark, depth 100.

    Of what comes from outside, whose rankings are of one benchmark only, the digest of the file or command. Where
    vectors come from outside, what the version ranks with the default model, and the digest of what it ranks with.
    """
    if not configured.deterministic:
        return digest_json("external-behaviour/1", configured.identity())
    settings = configured.settings()
    inside = _with_default_model(settings)
    if inside != settings:
        behaviour = fingerprint(select(configured.name, inside))
        return digest_json("behaviour-and-vectors/1", {"behaviour": behaviour, "identity": configured.identity()})
    benchmark = import_synthetic()
    ranking = configured.rank(Store(benchmark.corpus, benchmark.edges), benchmark.questions, DEPTH)
    return ranking.digest()


def _with_default_model(value: Any) -> Any:
    """Parameters, those of stages too, with the default model in the place of each one that lies outside."""
    if isinstance(value, list):
        return [_with_default_model(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if str(value.get("embedding", "")).partition(":")[0] in OUTSIDE:
        return {**value, "embedding": DEFAULT, "embedding_digest": ""}
    return {key: _with_default_model(item) for key, item in value.items()}


def recorded() -> dict[str, str]:
    """The fingerprints in git, of every version with its default parameters."""
    text = (resources.files("harness.retrieval") / RECORDED_FILE).read_text(encoding="utf-8")
    return dict(json.loads(text))


def current() -> dict[str, str]:
    """The fingerprints that the code gives now, of every version that has defaults, with its default parameters."""
    return {name: fingerprint(select(name)) for name, version in VERSIONS.items() if not version.needs}


def code_digest(root: Traversable | None = None) -> str:
    """Digest of the retrieval package's source, or of the copy at ``root``: two equal ones certainly rank alike."""
    return source_digest("retrieval-code/1", root or resources.files("harness.retrieval"))
