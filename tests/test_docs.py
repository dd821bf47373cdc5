import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from harness.cli.main import build_parser
from harness.errors import EXIT_CODES
from harness.evaluation.measure import CONVENTIONS, NAMES, parse_measure
from harness.evaluation.statistics.bounds import PROCEDURE
from harness.ledger.state import Stage
from harness.preregistration import model
from harness.retrieval.registry import VERSIONS
from harness.workflow.compose import shipped_folder
from harness.workflow.verify import ORDER

PROJECT = Path(__file__).parents[1]
DOCS = PROJECT / "docs"
PAGES = [PROJECT / "README.md", PROJECT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
NAMED = [str(page.relative_to(PROJECT)) for page in PAGES]

NOT_RUN = "# not run"
_FENCE = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HARNESS = re.compile(r"(?:\S*/)?harness$")

# how a part of the document is written in front of its keys
PARTS = {
    "DocumentModel": "", "BenchmarkRef": "benchmark.", "System": "baseline.", "Candidate": "candidate.",
    "BudgetPart": "budget.", "ClaimPart": "claim.", "ClausePart": "primary.", "GuardPart": "guards.",
    "ExpectPart": "expect.",
}  # fmt: skip


def read(name: str) -> str:
    """A page of the docs."""
    return (DOCS / name).read_text(encoding="utf-8")


def command_lines(text: str) -> Iterator[list[str]]:
    """The words after ``harness`` of every command in fenced blocks, several commands of one line apart."""
    for block in _FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.removeprefix("$ ")
            # what a command prints begins otherwise: "harness: …", "next: harness …"
            if NOT_RUN in line or not re.search(r"(?:^|&& )(?:\S*/)?harness ", line):
                continue
            for part in line.split("&&"):
                words = shlex.split(part, comments=True)
                if words and _HARNESS.search(words[0]):
                    yield words[1:]


def commands(parser: argparse.ArgumentParser, path: str = "harness") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be typed, by its whole name."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield path, parser
    for action in groups:
        for name, below in action.choices.items():
            yield from commands(below, f"{path} {name}")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_relative_links_resolve(page: Path) -> None:
    """Every relative link leads to a file, and its fragment to a heading of that file."""
    text = page.read_text(encoding="utf-8")
    for link in _LINK.findall(_FENCE.sub("", text)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, fragment = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_relative_to(PROJECT), f"{link} leads out of the project"
        assert target.exists(), f"{link} leads nowhere"
        if fragment:
            assert fragment in anchors(target.read_text(encoding="utf-8")), f"{link}: no such heading"


def test_every_page_is_in_the_index() -> None:
    """The index names each page, so that none can be found only by chance."""
    links = {(DOCS / link.partition("#")[0]).resolve() for link in _LINK.findall(read("README.md"))}
    assert {page for page in DOCS.rglob("*.md") if page.name != "README.md"} <= links


@pytest.mark.parametrize("page", PAGES, ids=NAMED)
def test_printed_commands_parse(page: Path) -> None:
    """Every command line in a fenced block is one that the program accepts."""
    for words in command_lines(page.read_text(encoding="utf-8")):
        try:
            options, rest = build_parser().parse_known_args(words)
        except SystemExit:  # --help and --version; a wrong word raises a UsageProblem instead
            continue
        assert not rest or options.takes_rest, words


def test_pages_print_commands() -> None:
    """The search for command lines finds those of the tour, each with its words."""
    tour = list(command_lines((PROJECT / "README.md").read_text(encoding="utf-8")))
    assert ["demo"] in tour
    assert ["init", "../lab"] in tour
    assert ["dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]"] in tour
    assert not list(command_lines(f"```\nharness dev nonsense {NOT_RUN}\nharness: an error\n```\n"))


@pytest.mark.parametrize(
    ("name", "parser"), list(commands(build_parser())), ids=lambda value: str(value).partition("(")[0]
)
def test_every_command_and_option_is_documented(name: str, parser: argparse.ArgumentParser) -> None:
    """Each command has a heading of its own, and each of its options stands below it or in the common table."""
    page = read("reference/commands.md")
    sections = re.split(r"^### ", page, flags=re.MULTILINE)
    own = [section for section in sections if section.startswith(f"`{name}`\n")]
    assert len(own) == 1
    for action in parser._actions:
        for option in action.option_strings:
            assert f"`{option}" in own[0] + sections[0], f"{name} {option}"


def test_every_exit_code_is_documented() -> None:
    """The table of exit codes says what the program says of itself."""
    page = read("reference/commands.md")
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page


def test_every_part_of_the_document_is_known_here() -> None:
    """A part added to the document's model must get a place in the page."""
    classes = {
        name
        for name, value in vars(model).items()
        if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel and name[0] != "_"
    }
    assert classes == set(PARTS)


@pytest.mark.parametrize(("part", "prefix"), PARTS.items(), ids=PARTS)
def test_every_key_of_the_document_is_documented(part: str, prefix: str) -> None:
    """Each key that a document may hold has a row in the table of keys."""
    page = read("reference/document.md")
    for key in getattr(model, part).model_fields:
        assert f"\n| `{prefix}{key}` |" in page


def test_every_measure_and_convention_is_documented() -> None:
    """Each measure has a row, and each convention a row with all its choices, the default first."""
    page = read("reference/measures.md")
    for name in NAMES:
        assert f"\n| `{name}` |" in page
    for key, choices in CONVENTIONS.items():
        assert f"\n| `{key}` | {', '.join(f'`{choice}`' for choice in choices)} |" in page


def test_example_measures_are_measures() -> None:
    """Each example is a canonical name."""
    examples = re.search(r"^## Examples\n(.*?)^## ", read("reference/measures.md"), re.MULTILINE | re.DOTALL)
    assert examples is not None
    names = re.findall(r"^\| `([^`]+)` \|", examples[1], re.MULTILINE)
    assert len(names) >= 3
    assert [str(parse_measure(name)) for name in names] == names


def test_every_check_of_verify_is_explained() -> None:
    """The reviewer's page has a row for each named check."""
    page = read("how-to/read-a-verdict.md")
    for check in ORDER:
        assert f"\n| `{check}` |" in page


def test_every_key_of_the_configuration_is_documented() -> None:
    """The configuration's page has a row for each key of the shipped file and for each parameter of a version."""
    page = read("reference/configuration.md")
    shipped = yaml.safe_load((shipped_folder("conf") / "config.yaml").read_text(encoding="utf-8"))
    groups = [key for item in shipped.pop("defaults") if isinstance(item, dict) for key in item]
    parameters = {field for version in VERSIONS.values() for field in version.parameters.model_fields}
    for key in {*groups, *shipped, *parameters}:
        assert f"\n| `{key}` |" in page, key


def test_other_names_of_the_record_are_documented() -> None:
    """The procedure in use and the stages of a document are named where a reader looks for them."""
    assert f"`{PROCEDURE}`" in read("statistics.md")
    assert all(stage.value in read("reference/commands.md") for stage in Stage)
