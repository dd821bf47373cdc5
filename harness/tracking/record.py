"""What one MLflow run shows, as plain values that can wait in a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

STATUSES = ("FINISHED", "FAILED", "KILLED")
_UNQUOTABLE = frozenset("'\"`")  # MLflow's search language has no way to escape them


@dataclass(frozen=True)
class Record:
    """What one MLflow run shows.

    Attributes:
        experiment: name of the MLflow experiment.
        name: name of the run.
        finds: the tag whose value identifies the run in its experiment, so that mirroring twice makes one run.
        tags: text values.
        params: text values.
        metrics: finite numbers by metric name.
        artifacts: files to attach, relative to the workspace.
        parent: the run that this one is shown under, by its identifying tag: ``harness.sweep=1a2b``. Empty for none.
        status: how the run ended, one of `STATUSES`.
        time: when it began, ISO 8601 with an offset; empty for the time of mirroring.
        seconds: how long it took.
        receipt: file, relative to the workspace, that is told where the run is; empty for none.

    Raises:
        ValueError: a metric that is no finite number, which MLflow would take and show as another one; no value for
            the identifying tag; an unknown status.
    """

    experiment: str
    name: str
    finds: str
    tags: Mapping[str, str]
    params: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    artifacts: tuple[str, ...] = ()
    parent: str = ""
    status: str = "FINISHED"
    time: str = ""
    seconds: float = 0.0
    receipt: str = ""

    def __post_init__(self) -> None:
        bad = [name for name, value in self.metrics.items() if not math.isfinite(value)]
        if bad:
            raise ValueError(f"not finite: {bad}")
        if self.status not in STATUSES:
            raise ValueError(f"no status of a run that ended: {self.status!r}")
        for tag, value in (self.identity, *([split_identity(self.parent)] if self.parent else [])):
            if not tag or not value or _UNQUOTABLE & set(tag + value):
                raise ValueError(f"does not identify a run: {tag!r} = {value!r}")

    @property
    def identity(self) -> tuple[str, str]:
        """The tag and the value by which the run is found."""
        return self.finds, self.tags.get(self.finds, "")

    def as_plain(self) -> dict[str, Any]:
        """What JSON can hold, the inverse of `from_plain`."""
        # numpy's numbers are no JSON
        return asdict(self) | {"metrics": {name: float(value) for name, value in self.metrics.items()}}

    @classmethod
    def from_plain(cls, value: Any) -> Record:
        """A record out of JSON.

        Raises:
            ValueError: it holds something else.
        """
        known = {each.name for each in fields(cls)}
        try:
            if not value.keys() <= known:
                raise ValueError(f"unknown: {sorted(value.keys() - known)}")
            return cls(**{**value, "artifacts": tuple(value["artifacts"])})
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not a record: {error}") from None


def split_identity(words: str) -> tuple[str, str]:
    """``harness.sweep=1a2b`` as tag and value."""
    tag, _, value = words.partition("=")
    return tag, value
