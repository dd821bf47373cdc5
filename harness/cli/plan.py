"""``harness prereg plan``: how many questions or conversations, or which margin."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.console import Console, table
from harness.cli.parsing import command

if TYPE_CHECKING:
    from harness.workflow.plan import Plan


def add(prereg: Any) -> None:
    """Add the command to the group ``prereg``."""
    summary = "how many questions or conversations, or which margin, a gain takes"
    plan = command(prereg, "plan", run, summary, exits=(3,))
    plan.add_argument("--from", dest="frozen", required=True, metavar="FILE", help="experiments/NAME/frozen.yaml")
    plan.add_argument("--gain", required=True, metavar="CHANGE", help="the true change that is to be found, as 0.03")
    plan.add_argument("--power", type=float, default=0.8, metavar="SHARE", help="how often (default 0.8)")
    kind = plan.add_mutually_exclusive_group()
    kind.add_argument("--superior", metavar="GAIN", help="the gain that PASS must surely exceed (default: 0)")
    kind.add_argument("--non-inferior", metavar="MARGIN", help="the loss that PASS must surely stay above")
    plan.add_argument("--primary", metavar="MEASURE", help="the measure (default: R@k)")
    plan.add_argument("--slice", default="all", help="the questions (default: all held-out ones)")
    plan.add_argument("--plot", type=Path, metavar="FILE.svg", help="write power against the true change as a picture")


def run(options: argparse.Namespace, console: Console) -> int:
    """Plan an experiment."""
    from harness.errors import UsageProblem
    from harness.ledger import durable
    from harness.workflow.drafting import inside
    from harness.workflow.lock import read_frozen
    from harness.workflow.plan import Wanted, plan
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    if not 0.05 <= options.power <= 0.99:
        raise UsageProblem(f"power {options.power}", where="--power", allowed="0.05 to 0.99")
    if options.plot is not None and options.plot.suffix != ".svg":
        raise UsageProblem(
            f"{options.plot} is no SVG", where="--plot", fix=f"--plot {options.plot.with_suffix('.svg')}"
        )
    frozen_name = inside(workspace, options.frozen)
    frozen = read_frozen(workspace, frozen_name)
    assert frozen is not None
    if options.non_inferior is not None:
        threshold = -_fraction(options.non_inferior, "--non-inferior")
    else:
        threshold = _fraction(options.superior or "0", "--superior")
    gain = _fraction(options.gain, "--gain")
    wanted = Wanted(gain, threshold, options.power, options.primary or f"R@{frozen['k']}", options.slice)
    found = plan(workspace, frozen_name, wanted)
    lines = list(_lines(found))
    if options.plot is not None:
        durable.replace(options.plot, found.plot().encode())
        lines += ["", f"plot: {options.plot}"]
    console.result(found.as_mapping(), lines)
    return 0


def _fraction(text: str, where: str) -> Decimal:
    from harness.workflow.drafting import decimal

    sign = "-" if text.startswith("-") and where == "--gain" else ""
    return Decimal(sign + decimal(text.removeprefix(sign), where))


def _lines(found: Plan) -> Iterator[str]:
    from harness.reporting.words import points

    wanted = found.wanted
    threshold, gain = float(wanted.threshold), float(wanted.gain)
    clears = f"surely above {points(threshold)} points" if threshold else "surely above 0"
    yield (
        f"wanted: PASS ({wanted.measure} {clears}) with {100 * wanted.power:.0f} % power if the true change is "
        f"{points(gain)} points"
    )
    yield (
        f"there are {found.n} held-out questions in {len(found.sizes)} conversations (slice {wanted.slice}); look "
        f"{found.look}, α = {found.alpha_k:.4f}; one question varies by σ = {found.deviation:.2f}, the upper limit "
        f"from {found.seen} dev questions"
    )
    yield (f"simulated at ρ = {found.rho:g}, these questions find it in {100 * found.simulated:.0f} % of cases")
    yield ""
    rows = [
        [f"{row['rho']:g}", points(row["finds"]), _count(row["questions"]), _count(row["conversations"]),
         _margin(row["threshold"])]
        for row in found.rows
    ]  # fmt: skip
    head = ["ρ", "found now", "questions needed", "conversations needed", "claim that would pass"]
    yield from table(head, rows)
    yield ""
    yield (
        "found now: the least true change that these questions find. Questions needed: in the same conversations. "
        f"Conversations needed: of {found.n / len(found.sizes):.0f} questions each. By the formula (t + t) σ √(D/n); "
        "dev cannot tell which ρ is true"
    )


def _count(value: int | None) -> str:
    return "no number" if value is None else f"{value:,}"


def _margin(threshold: float) -> str:
    # rounded to the safe side
    safe = math.floor(1000 * threshold) / 1000
    return f"superior: {safe:.3f}" if safe > 0 else f"non_inferior: {-safe:.3f}" if safe else "superior: 0"
