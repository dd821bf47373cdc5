"""``harness compare``: two rankings, one honest comparison, no ceremony."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command

_EPILOG = """\
A.run and B.run are TREC run files, or rankings in Parquet (NAME.parquet). Exploratory: there is no verdict, and
nothing but a look at held-out questions of a workspace is recorded."""


def add(commands: Commands) -> None:
    """Add the command."""
    summary = "two rankings, one honest comparison: exploratory, no verdict"
    parser = command(commands, "compare", run, summary, exits=(3,), epilog=_EPILOG)
    parser.add_argument("baseline", type=Path, metavar="A.run", help="the run to compare with")
    parser.add_argument("candidate", type=Path, metavar="B.run", help="the run in question")
    parser.add_argument("--qrels", type=Path, required=True, metavar="FILE", help="TREC qrels; a grade above 0 counts")
    parser.add_argument("--measures", nargs="+", action="extend", default=[], metavar="NAME@k",
                        help="such as R@10 nDCG@20 (default: R, Success, RR, nDCG, P and AP at k)")  # fmt: skip
    parser.add_argument("--k", type=int, default=10, metavar="N", help="cut-off of the default measures (default 10)")
    parser.add_argument("--clusters", default="question", metavar="FILE|prefix",
                        help="what questions share: a file of question, tab, cluster, or the id up to its last slash "
                        "(default: nothing)")  # fmt: skip
    parser.add_argument("--alpha", type=float, default=0.05, help="one-sided error rate of each bound (default 0.05)")
    parser.add_argument("--rho", type=float, default=0.01,
                        help="within-cluster correlation that the bounds allow for (default 0.01)")  # fmt: skip


def run(options: argparse.Namespace, console: Console) -> int:
    """Compare two runs."""
    from harness.workflow.comparing import Files, Settings, compare_files

    files = Files(options.baseline, options.candidate, options.qrels)
    settings = Settings(tuple(options.measures), options.k, options.clusters, options.alpha, options.rho)
    found = compare_files(files, settings, (options.workspace, Path.cwd()), console.progress)
    console.result(found, _lines(found))
    return 0


def _lines(found: Mapping[str, Any]) -> list[str]:
    from harness.reporting.words import p_value, percent, points, shows, worth

    files = found["files"]
    rows = [
        [row["measure"], percent(row["baseline"]), percent(row["candidate"]), points(row["estimate"], 2),
         f"{points(row['lower'], 2)} … {points(row['upper'], 2)}" if row["lower"] is not None else "none",
         str(row["n"]), str(row["clusters"]), f"{row['wins']}/{row['losses']}/{row['ties']}",
         f"{100 * row['one_question']:.2f}", p_value(row["p_holm"]),
         "identical" if found["identical"] else shows(row["lower"], row["upper"])]
        for row in found["rows"]
    ]  # fmt: skip
    header = ["measure", "A", "B", "change", "interval", "n", "clusters", "won/lost/tied", "one question", "p", "shows"]
    return [
        f"A: {files['baseline']['path']}",
        f"B: {files['candidate']['path']}",
        f"judged by {files['qrels']['path']}",
        "exploratory: nothing was promised before these figures were seen, so there is no verdict",
        *(["the rankings are identical: every difference is exactly 0"] if found["identical"] else []),
        "",
        *table(header, rows),
        "",
        *(
            f"{row['measure']}: {points(row['estimate'])} points on {row['n']} questions{few}"
            for row in found["rows"]
            if (few := worth(row["estimate"], row["n"]))
        ),
        *_interval_lines(found),
        *_question_lines(found),
        "",
        *_tie_lines(found["runs"]),
        *_look_lines(found),
    ]


def _interval_lines(found: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"means in per cent, changes in points; intervals: two one-sided bounds of {found['procedure']}, "
        f"each at α = {found['alpha']:g}, ρ up to {found['rho']:g}; p: two-sided, of no difference, adjusted for the "
        f"{len(found['rows'])} measure{'s' if len(found['rows']) > 1 else ''} (Holm)"
    )
    for why in dict.fromkeys(row["no_interval"] for row in found["rows"] if row["no_interval"]):
        yield f"no interval: {why}"
    if found["clusters"] == "question":
        yield (
            "clusters: one per question, which understates the uncertainty where questions share a conversation "
            "(--clusters)"
        )


def _question_lines(found: Mapping[str, Any]) -> Iterator[str]:
    qrels = found["qrels"]
    if qrels["without_evidence"]["n"]:
        yield f"questions without a relevant document: {_some(qrels['without_evidence'])}"
    if qrels["graded"]:
        yield f"graded judgments: {qrels['graded']} of {qrels['judged']} are above 1 and count as relevant, no more"
    if not qrels["retrieved"]:
        yield "no relevant document stands in either run: do runs and qrels call documents by the same ids?"
    for name, run in zip("AB", found["runs"].values(), strict=True):
        if run["empty"]["n"]:
            yield f"not answered in {name}, which counts as nothing found: {_some(run['empty'])}"
        if run["not_judged"]["n"]:
            yield f"in {name} and not in the qrels, left out: {_some(run['not_judged'])}"
        short = [row["measure"] for row in found["rows"] if int(row["measure"].rpartition("@")[2]) > run["longest"]]
        if short:
            yield (
                f"{name} has at most {run['longest']} documents a question: {', '.join(short)} read no further, and "
                "what its equal scores hide cannot be told"
            )


def _some(names: Mapping[str, Any]) -> str:
    more = ", …" if names["n"] > len(names["examples"]) else ""
    return f"{names['n']} ({', '.join(names['examples'])}{more})"


def _tie_lines(runs: Mapping[str, Any]) -> Iterator[str]:
    from harness.reporting.words import percent

    rows, reasons = [], []
    for name, run in zip("AB", runs.values(), strict=True):
        report = run["ties"]
        for k, cut in report["cuts"].items():
            known = f"{cut['across']} ({percent(cut['across'] / report['questions'])} %) across the cut"
            unknown = f", {cut['open']} more cannot be told" if cut["open"] else ""
            yield (
                f"equal scores in {name}, k = {k}: {cut['inside']} of {report['questions']} questions "
                f"({percent(cut['inside'] / report['questions'])} %) inside, {known}{unknown}"
            )
        for measure, cell in report["ranges"].items():
            if cell["unavailable"]:
                reasons.append(f"{name}, {measure}: no range, {cell['unavailable']}")
            elif cell["moved"]:
                values = [f"{100 * cell[key]:.2f}" for key in ("ranked", "least", "expected", "greatest")]
                rows.append([name, measure, *values, str(cell["moved"])])
    if rows:
        header = ["run", "measure", "as ranked", "least", "expected", "greatest", "questions moved"]
        yield from ("", "over all orders of equal scores:", *table(header, rows, text_columns=2))
    yield from reasons


def _look_lines(found: Mapping[str, Any]) -> Iterator[str]:
    for look in found["looks"]:
        when = "" if look["new"] else " before"
        yield (
            f"recorded{when} in the ledger of {look['workspace']} as an outside look at {look['questions']} held-out "
            "questions"
        )
    if found["remembered"] and not found["looks"]:
        yield "remembered for the workspaces of this user in which questions with these ids are held out"
