"""``harness init`` and ``harness data``: working folders and benchmarks."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command, group


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = command(commands, "init", run_init, "lay the working folders into a folder", in_workspace=False)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("folder", nargs="?", help="the folder (default: here)")
    place.add_argument("--workspace", metavar="DIR", help="the same, as other commands call it")
    data = group(commands, "data", "import and list benchmarks")
    kinds = data.add_parser("import", help="import a benchmark", allow_abbrev=False).add_subparsers(
        dest="kind", metavar="KIND", required=True
    )
    summary = "import LoCoMo from its file locomo10.json"
    locomo = command(kinds, "locomo", run_import_locomo, summary, exits=(3,))
    locomo.add_argument("file", type=Path, help="locomo10.json")
    locomo.add_argument("--name", default="locomo", help="the benchmark's name here (default: locomo)")
    locomo.add_argument(
        "--dev", action="append", metavar="ID", help="a conversation for development (default: conv-26; repeatable)"
    )
    locomo.add_argument("--allow-unknown", action="store_true", help="accept a file that is no known variant")
    locomo.add_argument("--overlay", type=Path, metavar="FILE", help="corrections by question id, for evidence=overlay")
    summary = "import the synthetic benchmark that ships along"
    synthetic = command(kinds, "synthetic", run_import_synthetic, summary, exits=(3,))
    synthetic.add_argument("--name", default="synthetic", help="the benchmark's name here (default: synthetic)")
    summary = "write corpus and questions, without labels, for a system of another make"
    export = command(data, "export", run_export, summary, exits=(3,))
    export.add_argument("name", help="the benchmark")
    export.add_argument("folder", type=Path, help="a folder, made if it is not there")
    command(data, "list", run_list, "list the benchmarks of this workspace", exits=(3,))


def run_init(options: argparse.Namespace, console: Console) -> int:
    """Lay the working folders."""
    from harness.workflow.workspace import init_workspace

    workspace, made = init_workspace(Path(options.folder) if options.folder else options.workspace)
    names = [path.name for path in made]
    lines = [f"workspace {workspace.root.resolve()}", f"made: {', '.join(names) or 'nothing, it was all there'}"]
    lines += ["next: harness data import locomo FILE, or harness data import synthetic"]
    console.result({"workspace": str(workspace.root.resolve()), "made": names}, lines)
    return 0


def run_import_locomo(options: argparse.Namespace, console: Console) -> int:
    """Import LoCoMo."""
    from harness.benchmarks.locomo import import_locomo
    from harness.workflow.workspace import check_identifier, open_workspace

    workspace = open_workspace(options.workspace)
    check_identifier(options.name)
    dev = options.dev or ["conv-26"]
    console.progress(f"reading {options.file}")
    benchmark = import_locomo(options.file, name=options.name, dev=dev, allow_unknown=options.allow_unknown)
    if options.overlay:
        from harness.benchmarks.overlay import apply_overlay

        benchmark = apply_overlay(benchmark, options.overlay)
    return _save(workspace, benchmark, console, options.file)


def run_import_synthetic(options: argparse.Namespace, console: Console) -> int:
    """Import the synthetic benchmark."""
    from harness.benchmarks.synthetic import import_synthetic
    from harness.workflow.workspace import check_identifier, open_workspace

    workspace = open_workspace(options.workspace)
    check_identifier(options.name)
    return _save(workspace, import_synthetic(options.name), console)


def _save(workspace: Any, benchmark: Any, console: Console, origin: Path | None = None) -> int:
    from harness.benchmarks.library import REPAIRS, save
    from harness.workflow.workspace import check_writable

    check_writable(workspace.data)
    folder = workspace.data / benchmark.name
    manifest = save(benchmark, folder, origin)
    source = manifest["source"]
    lines = [
        f"{manifest['name']}: {source['variant']}, {len(manifest['partitions'])} conversations",
        f"chunks: {', '.join(f'{n} {layer}' for layer, n in manifest['layers'].items())}; edges: {manifest['edges']}",
        f"questions: {manifest['questions'].get('dev', 0)} dev, {manifest['questions'].get('heldout', 0)} held out",
        f"digest: {manifest['digests']['digest']}",
        f"licence of the data: {source['license']}",
    ]
    if manifest["repairs"]:
        lines += ["", "found and mended (each is named in the repair report):"]
        lines += [f"  {count:>4}  {fault}" for fault, count in manifest["repairs"].items()]
        lines += [f"repair report: {folder / REPAIRS} (it quotes held-out evidence)"]
    lines += ["", "next: harness dev --retrieval-version bm25 'retrieval.layers=[raw]'"]
    console.result(manifest, lines)
    return 0


def run_export(options: argparse.Namespace, console: Console) -> int:
    """Write what another system needs."""
    from harness.benchmarks.columns import Questions
    from harness.benchmarks.export import write_corpus, write_questions
    from harness.workflow.workspace import check_writable, open_workspace

    library = open_workspace(options.workspace).benchmark(options.name)
    check_writable(options.folder)
    corpus = library.corpus
    parts: list[Questions] = [library.dev[0], library.heldout_questions()]
    documents = write_corpus(options.folder / "corpus.jsonl", corpus, range(int(corpus.partition.max(initial=-1)) + 1))
    questions = write_questions(options.folder / "questions.jsonl", parts)
    lines = [
        f"{options.folder / 'corpus.jsonl'}: {documents} documents",
        f"{options.folder / 'questions.jsonl'}: {questions} questions",
        "",
        "next: rank every question, then harness dev --retrieval-version external retrieval.run=FILE",
    ]
    console.result({"folder": str(options.folder), "documents": documents, "questions": questions}, lines)
    return 0


def run_list(options: argparse.Namespace, console: Console) -> int:
    """List the benchmarks."""
    from harness.benchmarks.library import names, read_manifest
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    manifests = [read_manifest(workspace.data / name) for name in names(workspace.data)]
    rows = [
        [m["name"], m["source"]["variant"], str(m["questions"].get("dev", 0)), str(m["questions"].get("heldout", 0)),
         m["digests"]["digest"][:19]]
        for m in manifests
    ]  # fmt: skip
    lines = table(["name", "variant", "dev", "held out", "digest"], rows, text_columns=2)
    console.result(manifests, lines if rows else ["no benchmark here yet: harness data import locomo FILE"])
    return 0
