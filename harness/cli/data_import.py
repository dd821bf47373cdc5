"""``harness data import``: one function a format, each ends in `_save`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.console import Console
from harness.cli.parsing import Commands, command

if TYPE_CHECKING:
    from harness.benchmarks.columns import Benchmark
    from harness.workflow.workspace import Workspace


def add(commands: Commands) -> None:
    """Add the command of each format."""
    kinds = commands.add_parser("import", help="import a benchmark", allow_abbrev=False).add_subparsers(
        dest="kind", metavar="KIND", required=True
    )
    _add_locomo(kinds)
    _add_longmemeval(kinds)
    _add_jsonl(kinds)
    _add_beir(kinds)
    _add_trec(kinds)
    _add(kinds, "synthetic", run_synthetic, "import the synthetic benchmark that ships along")


def _add(kinds: Commands, kind: str, run: Any, summary: str) -> argparse.ArgumentParser:
    parser = command(kinds, kind, run, summary, exits=(3,))
    parser.add_argument("--name", default=kind, help=f"the benchmark's name here (default: {kind})")
    return parser


def _add_locomo(kinds: Commands) -> None:
    parser = _add(kinds, "locomo", run_locomo, "import LoCoMo from its file locomo10.json")
    parser.add_argument("file", type=Path, help="locomo10.json")
    parser.add_argument(
        "--dev", action="append", metavar="ID", help="a conversation for development (default: conv-26; repeatable)"
    )
    parser.add_argument("--allow-unknown", action="store_true", help="accept a file that is no known variant")
    parser.add_argument("--overlay", type=Path, metavar="FILE", help="corrections by question id, for evidence=overlay")


def _add_longmemeval(kinds: Commands) -> None:
    summary = "import LongMemEval from its oracle, S or M file"
    parser = _add(kinds, "longmemeval", run_longmemeval, summary)
    parser.add_argument("file", type=Path, help="such as longmemeval_s_cleaned.json")
    parser.add_argument(
        "--unit", choices=("turn", "session"), default="turn", help="what is retrieved and judged (default: turn)"
    )
    parser.add_argument(
        "--turns", choices=("all", "user"), default="all", help="whose turns are in the store (default: all)"
    )
    parser.add_argument("--dev", type=int, metavar="N", help="questions for development (default: 50, or a tenth)")


def _add_jsonl(kinds: Commands) -> None:
    parser = _add(kinds, "jsonl", run_jsonl, "import data of your own: corpus.jsonl, questions.jsonl, edges.jsonl")
    parser.add_argument("folder", type=Path, help="the folder; harness data check names every fault in it")
    parser.add_argument(
        "--dev", type=int, metavar="N", help="questions for development, where no line names a split (default: a fifth)"
    )
    add_renamed(parser)


def add_renamed(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the user's own lines call a field."""
    for name in ("partition", "split", "cluster"):
        parser.add_argument(f"--{name}", metavar="FIELD", help=f"the field that holds the {name} (default: {name})")


def renamed(options: argparse.Namespace) -> dict[str, str]:
    """Field → what the lines call it, for those that have another name."""
    return {name: given for name in ("partition", "split", "cluster") if (given := getattr(options, name))}


def _add_beir(kinds: Commands) -> None:
    parser = _add(kinds, "beir", run_beir, "import a BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv")
    parser.add_argument("folder", type=Path, help="the unpacked data set, such as scifact")
    parser.add_argument(
        "--test-split", default="test", metavar="SPLIT", help="the split whose questions are held out (default: test)"
    )
    parser.add_argument(
        "--dev-split",
        metavar="SPLIT",
        help="the split for development, or the test split, to draw from it (default: dev, else train, else drawn)",
    )
    _add_judged(parser, "the whole split, or a fifth of the test split")


def _add_trec(kinds: Commands) -> None:
    parser = _add(kinds, "trec", run_trec, "import documents, topics and TREC qrels, each from a file")
    form = "JSON lines (.jsonl), or id, tab, text (.tsv)"
    parser.add_argument("--corpus", type=Path, required=True, metavar="FILE", help=f"documents: {form}")
    parser.add_argument("--topics", type=Path, required=True, metavar="FILE", help=f"questions: {form}")
    parser.add_argument("--qrels", type=Path, required=True, metavar="FILE", help="judgments; these are held out")
    parser.add_argument("--dev-qrels", type=Path, metavar="FILE", help="judgments of the questions for development")
    _add_judged(parser, "all of --dev-qrels, or a fifth of --qrels")


def _add_judged(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument("--dev", type=int, metavar="N", help=f"questions for development (default: {default})")
    parser.add_argument(
        "--clusters",
        default="question",
        metavar="FILE|prefix",
        help="what questions share: a file of question, tab, cluster, or the id up to its last slash "
        "(default: nothing)",
    )


def run_locomo(options: argparse.Namespace, console: Console) -> int:
    """Import LoCoMo."""
    from harness.benchmarks.locomo import import_locomo

    workspace = _begin(options, console)
    dev = options.dev or ["conv-26"]
    benchmark = import_locomo(options.file, name=options.name, dev=dev, allow_unknown=options.allow_unknown)
    if options.overlay:
        from harness.benchmarks.overlay import apply_overlay

        benchmark = apply_overlay(benchmark, options.overlay)
    return _save(workspace, benchmark, console, options.file)


def run_longmemeval(options: argparse.Namespace, console: Console) -> int:
    """Import LongMemEval."""
    from harness.benchmarks.longmemeval import import_longmemeval

    workspace = _begin(options, console)
    benchmark = import_longmemeval(
        options.file, name=options.name, unit=options.unit, turns=options.turns, dev=options.dev
    )
    return _save(workspace, benchmark, console, options.file, partitions="haystacks")


def run_jsonl(options: argparse.Namespace, console: Console) -> int:
    """Import data of one's own."""
    from harness.benchmarks.jsonl import QUESTIONS, import_jsonl

    workspace = _begin(options, console)
    benchmark = import_jsonl(options.folder, name=options.name, renamed=renamed(options), dev=options.dev)
    return _save(workspace, benchmark, console, options.folder / QUESTIONS, partitions="partitions")


def run_beir(options: argparse.Namespace, console: Console) -> int:
    """Import a BEIR folder."""
    from harness.benchmarks.beir import import_beir, judgments_path

    workspace = _begin(options, console)
    benchmark = import_beir(
        options.folder, name=options.name, test_split=options.test_split, dev_split=options.dev_split,
        dev=options.dev, clusters=options.clusters,
    )  # fmt: skip
    # dev work may open the corpus and the questions again, and never these judgments
    return _save(workspace, benchmark, console, judgments_path(options.folder, options.test_split), partitions="store")


def run_trec(options: argparse.Namespace, console: Console) -> int:
    """Import documents, topics and qrels."""
    from harness.benchmarks.trec import Files, import_trec

    workspace = _begin(options, console)
    files = Files(options.corpus, options.topics, options.qrels, options.dev_qrels)
    benchmark = import_trec(files, name=options.name, dev=options.dev, clusters=options.clusters)
    return _save(workspace, benchmark, console, options.qrels, partitions="store")


def run_synthetic(options: argparse.Namespace, console: Console) -> int:
    """Import the synthetic benchmark."""
    from harness.benchmarks.synthetic import import_synthetic

    return _save(_begin(options, console), import_synthetic(options.name), console)


def _begin(options: argparse.Namespace, console: Console) -> Workspace:
    """The workspace, after everything was checked that costs nothing."""
    from harness.workflow.workspace import check_identifier, open_workspace

    workspace = open_workspace(options.workspace)
    check_identifier(options.name)
    read = next((getattr(options, name) for name in ("file", "folder", "corpus") if name in options), None)
    if read is not None:
        console.progress(f"reading {read}")
    return workspace


def _save(
    workspace: Workspace,
    benchmark: Benchmark,
    console: Console,
    origin: Path | None = None,
    *,
    partitions: str = "conversations",
) -> int:
    """Write a benchmark into the workspace and say what is in it."""
    from harness.benchmarks.library import REPAIRS, save
    from harness.workflow.workspace import check_writable

    check_writable(workspace.data)
    folder = workspace.data / benchmark.name
    manifest = save(benchmark, folder, origin)
    source = manifest["source"]
    lines = [
        f"{manifest['name']}: {source['variant']}, {len(manifest['partitions'])} {partitions}",
        f"chunks: {', '.join(f'{n} {layer}' for layer, n in manifest['layers'].items())}; edges: {manifest['edges']}",
        f"questions: {manifest['questions'].get('dev', 0)} dev, {manifest['questions'].get('heldout', 0)} held out",
        f"digest: {manifest['digests']['digest']}",
        f"licence of the data: {source['license']}",
    ]
    if manifest["repairs"]:
        lines += ["", "found and mended (each is named in the repair report):"]
        lines += [f"  {count:>4}  {fault}" for fault, count in manifest["repairs"].items()]
        lines += [f"repair report: {folder / REPAIRS} (it quotes held-out evidence)"]
    lines += ["", _next(manifest)]
    console.result(manifest, lines)
    return 0


def _next(manifest: dict[str, Any]) -> str:
    # conf/benchmark/ has a file for each format with a name of its own
    group = "benchmark" if manifest["name"] in {"synthetic", "longmemeval"} else "benchmark.name"
    name = "" if manifest["name"] == "locomo" else f" {group}={manifest['name']}"
    # turns alone against turns and facts is the first thing to ask, where there are facts
    version = "bm25 'retrieval.layers=[raw]'" if len(manifest["layers"]) > 1 else "rrf"
    return f"next: harness dev --retrieval-version {version}{name}"
