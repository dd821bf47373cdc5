"""A reversible map between measure names and the names that MLflow accepts, which know neither @ nor brackets."""

from __future__ import annotations

import re

_MEASURE = re.compile(r"([A-Za-z]+)(?:\(([^()]*)\))?@([0-9]+)")
_METRIC = re.compile(r"([A-Za-z]+)((?:\.[a-z0-9]+-[a-z0-9]+)*)_at_([0-9]+)")


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
