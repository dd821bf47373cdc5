"""``harness init`` and ``harness data``: working folders and benchmarks."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli import data_fetch, data_import
from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command, group


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = command(commands, "init", run_init, "lay the working folders into a folder", in_workspace=False)
    place = parser.add_mutually_exclusive_group()
    place.add_argument("folder", nargs="?", help="the folder (default: here)")
    place.add_argument("--workspace", metavar="DIR", help="the same, as other commands call it")
    data = group(commands, "data", "download, import and list benchmarks")
    data_fetch.add(data)
    data_import.add(data)
    summary = "write corpus and questions, without labels, for a system of another make"
    export = command(data, "export", run_export, summary, exits=(3,))
    export.add_argument("name", help="the benchmark")
    export.add_argument("folder", type=Path, help="a folder, made if it is not there")
    export.add_argument(
        "--layers", default="raw,distill", metavar="LAYERS", help="those of the corpus (default: raw,distill, as bm25)"
    )
    summary = "check data of your own before it is imported; changes nothing"
    check = command(data, "check", run_check, summary, in_workspace=False)
    check.add_argument("folder", type=Path, help="a folder of corpus.jsonl and questions.jsonl")
    data_import.add_renamed(check)
    command(data, "list", run_list, "list the benchmarks of this workspace", exits=(3,))


def run_init(options: argparse.Namespace, console: Console) -> int:
    """Lay the working folders."""
    from harness.workflow.workspace import init_workspace

    workspace, made = init_workspace(Path(options.folder) if options.folder else options.workspace)
    names = [path.name for path in made]
    lines = [f"workspace {workspace.root.resolve()}", f"made: {', '.join(names) or 'nothing, it was all there'}"]
    lines += ["next: harness data fetch locomo, or harness data import synthetic"]
    console.result({"workspace": str(workspace.root.resolve()), "made": names}, lines)
    return 0


def run_export(options: argparse.Namespace, console: Console) -> int:
    """Write what another system needs."""
    from harness.benchmarks.columns import LAYERS, Questions
    from harness.benchmarks.export import write_corpus, write_questions
    from harness.errors import UsageProblem, did_you_mean
    from harness.workflow.workspace import check_writable, open_workspace

    layers = options.layers.split(",")
    for name in layers:
        if name not in LAYERS:
            hint = did_you_mean(name, LAYERS)
            raise UsageProblem(f"no layer {name!r}", where="--layers", allowed=",".join(LAYERS), fix=hint)
    library = open_workspace(options.workspace).benchmark(options.name)
    check_writable(options.folder)
    parts: list[Questions] = [library.dev[0], library.heldout_questions()]
    everything = range(len(library.manifest["partitions"]))
    documents = write_corpus(options.folder / "corpus.jsonl", library.corpus, everything, layers)
    questions = write_questions(options.folder / "questions.jsonl", parts)
    lines = [
        f"{options.folder / 'corpus.jsonl'}: {documents} documents",
        f"{options.folder / 'questions.jsonl'}: {questions} questions",
        "",
        "next: rank every question, then harness dev --retrieval-version external retrieval.run=FILE",
    ]
    console.result({"folder": str(options.folder), "documents": documents, "questions": questions}, lines)
    return 0


def run_check(options: argparse.Namespace, console: Console) -> int:
    """Name every fault of a data set of one's own, with its mend."""
    from dataclasses import asdict

    from harness.benchmarks.jsonl import read_data_set
    from harness.errors import UsageProblem

    console.progress(f"reading {options.folder}")
    data = read_data_set(options.folder, data_import.renamed(options))
    faults = data.findings.faults
    observed = data.observations()
    lines = [f"{fault.where}: {fault.what}\n  fix: {fault.mend}" for fault in faults]
    sizes = f"{len(data.all_chunks())} chunks in {len(data.chunks)} partitions, {len(data.questions)} questions"
    lines += [f"worth knowing: {one}" for one in observed]
    lines += [f"{sizes}, {len(data.edges)} edges; " + (f"{len(faults)} faults" if faults else "no fault")]
    said = "".join(f" --{name} {field}" for name, field in data_import.renamed(options).items())
    lines += [] if faults else ["", f"next: harness data import jsonl {options.folder}{said} --name NAME"]
    console.result({"faults": [asdict(fault) for fault in faults], "worth_knowing": observed}, lines)
    return UsageProblem.exit_code if faults else 0


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
    console.result(
        manifests,
        lines if rows else ["no benchmark here yet: harness data fetch locomo, then harness data import locomo FILE"],
    )
    return 0
