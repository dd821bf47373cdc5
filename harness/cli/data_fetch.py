"""``harness data fetch``: downloads a benchmark's published file."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.console import Console
from harness.cli.parsing import Commands, command

_SUMMARY = "download LoCoMo's file locomo10.json, the published one, checked by its digest"


def add(commands: Commands) -> None:
    """Add the command of each benchmark that can be downloaded."""
    kinds = commands.add_parser("fetch", help="download a benchmark's file", allow_abbrev=False).add_subparsers(
        dest="kind", metavar="KIND", required=True
    )
    parser = command(kinds, "locomo", run_locomo, _SUMMARY, exits=(3,), in_workspace=False)
    where = "a folder, or a file that ends in .json (default: locomo10.json here)"
    parser.add_argument("into", nargs="?", type=Path, default=Path(), metavar="FOLDER|FILE", help=where)
    parser.add_argument("--url", default="", help="another address of the same bytes, such as a mirror of your own")


def run_locomo(options: argparse.Namespace, console: Console) -> int:
    """Download LoCoMo."""
    from harness.benchmarks.fetch import LOCOMO, fetch, place

    path = place(LOCOMO, options.into)
    fetched = fetch(LOCOMO, path, url=options.url, counting=console.progress.counting)
    address = options.url or LOCOMO.url
    how = f"downloaded from {address}" if fetched.downloaded else "it was there already, and nothing was downloaded"
    lines = [
        f"{path}: {how}",
        f"{LOCOMO.variant}, {LOCOMO.size} bytes, sha256 {LOCOMO.sha256}",
        f"licence of the data: {LOCOMO.license}",
        "",
        f"next: {LOCOMO.command(path)}",
    ]
    value = {"file": str(path), "downloaded": fetched.downloaded, "variant": LOCOMO.variant, "bytes": LOCOMO.size,
             "sha256": LOCOMO.sha256, "licence": LOCOMO.license}  # fmt: skip
    console.result(value, lines)
    return 0
