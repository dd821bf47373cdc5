"""``harness looks`` and ``harness calibration``: who saw which held-out questions, and how predictions fared."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command


def add(commands: Commands) -> None:
    """Add the commands."""
    summary = "who has looked at which held-out questions, and what is left of α"
    looks = command(commands, "looks", run_looks, summary, exits=(3,))
    looks.add_argument("--alpha", type=float, default=0.05, help="error rate over all looks (default 0.05)")
    summary = "how the predictions of all judged documents came out"
    command(commands, "calibration", run_calibration, summary, exits=(3,))


def run_looks(options: argparse.Namespace, console: Console) -> int:
    """List the looks at every held-out set."""
    from harness.errors import UsageProblem
    from harness.workflow.looking import held_out_looks
    from harness.workflow.workspace import open_workspace

    if not 0 < options.alpha < 0.5:
        raise UsageProblem(f"α = {options.alpha}", where="--alpha", allowed="above 0 and below 0.5")
    found = held_out_looks(open_workspace(options.workspace), options.alpha)
    lines = [line for part in found for line in _set_lines(part)]
    console.result(found, lines or ["no held-out set is known here: harness data import FORMAT FILE"])
    return 0


def _set_lines(part: Mapping[str, Any]) -> Iterator[str]:
    where = "" if part["imported"] else ", not imported now"
    yield f"{part['name']}: {part['questions']} different held-out questions{where}"
    yield (
        f"  next: look {part['next_look']}, at α = {part['alpha_next']:.4f}; "
        f"{part['alpha_left']:.4f} of {part['alpha']:g} is left for all looks to come"
    )
    for look in part["looks"]:
        state = look["verdict"] or look["stage"].lower()
        shared = "" if look["questions"] == part["questions"] else f", {look['questions']} questions shared"
        yield f"  look {look['look']}: {look['id']}, {state}, locked {look['time']}{shared}"
    for look in part["outside"]:
        yield f"  outside: {look['what']}, {look['questions']} questions, recorded {look['time']}"
    if part["exposed"]:
        yield "  exposed: results on these questions can be read; later verdicts say reused, error rate not controlled"
    else:
        yield "  not exposed: no labels of these questions were opened for a run"
    yield ""


def run_calibration(options: argparse.Namespace, console: Console) -> int:
    """Score the predictions."""
    from harness.workflow.predictions import calibration
    from harness.workflow.workspace import open_workspace

    found = calibration(open_workspace(options.workspace).entries())
    console.result(found, list(_calibration_lines(found)))
    return 0


def _calibration_lines(found: Mapping[str, Any]) -> Iterator[str]:
    from harness.reporting.words import points

    if not found["verdicts"]:
        yield "nothing has been judged yet"
        return
    rows = [
        [row["id"], row["state"], item["by"], f"{points(item['low'])} … {points(item['high'])}", points(item["came"]),
         "inside" if item["inside"] else "outside", f"{item['brier']:.2f}" if "brier" in item else ""]
        for row in found["verdicts"]
        for item in row["predictions"]
    ]  # fmt: skip
    if rows:
        yield from table(["document", "verdict", "predicted by", "interval", "came", "", "Brier"], rows, text_columns=3)
        yield ""
    silent = [row["id"] for row in found["verdicts"] if not row["predictions"]]
    if silent:
        yield f"without a prediction, or without a valid result: {', '.join(silent)}"
    for by, aim in (("harness", "; 80 % are meant to"), ("authors", "")):
        held = found["intervals"][by]
        if held["n"]:
            yield f"intervals of the {by}: {held['inside']} of {held['n']} held{aim}"
    if found["brier"]:
        score = found["brier"]
        yield (
            f"Brier score of the forecasts: {score['mean']:.2f} over {score['n']}; 0 is perfect, "
            f"{score['of_thirds']:.2f} is that of giving each verdict a third"
        )
        if score["n"] < 10:
            yield "so few verdicts say little about how good the forecasts are"
