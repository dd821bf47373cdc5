"""A reversible map between measure names and the names that MLflow accepts, which know neither @ nor brackets."""

from __future__ import annotations

import hashlib
import re

_MEASURE = re.compile(r"([A-Za-z_]+)(?:\(([^()]*)\))?@([0-9]+)")
_METRIC = re.compile(r"([A-Za-z_]+?)((?:\.[a-z0-9]+-[a-z0-9]+)*)_at_([0-9]+)")


def metric_name(measure: str) -> str:
    """``R(credit=source)@10`` as ``R.credit-source_at_10``; what is no measure is returned as it is."""
    match = _MEASURE.fullmatch(measure)
    if not match:
        return measure
    name, conventions, k = match.groups()
    parts = "".join(f".{part.replace('=', '-')}" for part in conventions.split(",")) if conventions else ""
    return f"{name}{parts}_at_{k}"


def measure_name(metric: str) -> str:
    """The measure behind a metric's name, the inverse of `metric_name`."""
    match = _METRIC.fullmatch(metric)
    if not match:
        return metric
    name, parts, k = match.groups()
    conventions = ",".join(part.replace("-", "=", 1) for part in parts.split(".") if part)
    return f"{name}{f'({conventions})' if conventions else ''}@{k}"


def slice_metric(part: str, slice_name: str, system: str, measure: str) -> str:
    """The metric of one system in one slice: ``heldout/temporal/candidate/R_at_10``."""
    return f"{part}/{slice_name.replace(':', '-')}/{system}/{metric_name(measure)}"


_REFUSED = re.compile(r"[^\w./ :-]")
_LONGEST_NAME, _LONGEST_TAG, _LONGEST_PARAM = 250, 8000, 6000  # as MLflow 3 takes them


def allowed_name(name: str) -> str:
    """A name that MLflow takes for a metric, param or tag; one that it takes already is returned as it is.

    It refuses most punctuation, names that read as an unclean path, and more than 250 characters. A changed name
    ends in a digest of the given one, so that two names stay two.
    """
    clean = "/".join(part if part.strip(".") else "-" for part in _REFUSED.sub("-", name).split("/"))
    return name if clean == name and len(name) <= _LONGEST_NAME else _cut(clean, f"-{_digits(name)}", _LONGEST_NAME)


def allowed_tag(value: str) -> str:
    """A tag's value; one that is longer than MLflow takes is cut, and says so with its length and a digest."""
    return _shortened(value, _LONGEST_TAG)


def allowed_param(value: str) -> str:
    """A param's value, cut as in `allowed_tag`."""
    return _shortened(value, _LONGEST_PARAM)


def _shortened(value: str, longest: int) -> str:
    if len(value) <= longest:
        return value
    return _cut(value, f"… ({len(value)} characters, SHA-256 {_digits(value)}…)", longest)


def _cut(text: str, ending: str, longest: int) -> str:
    return text[: longest - len(ending)] + ending


def _digits(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
