from __future__ import annotations

import json
import random
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.beir import import_beir
from harness.benchmarks.columns import Benchmark
from harness.errors import UsageProblem
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Credit, score
from harness.retrieval.documents import describe
from harness.retrieval.ranking import Ranking
from harness.retrieval.registry import select
from harness.retrieval.version import Store

Json = dict[str, Any]

HEADER = "query-id\tcorpus-id\tscore"
CORPUS = [
    {"_id": "d1", "title": "Tulips", "text": "need frost", "metadata": {}},
    {"_id": "d2", "title": "", "text": "ferries are late"},
    {"_id": "0", "text": "ferries are late"},
    {"_id": "007", "title": " ", "text": "a red kayak"},
    {"_id": "q1", "title": "Rye", "text": ""},
]
QUERIES = [{"_id": name, "text": f"What of {name}?"} for name in ("q1", "q2", "q3", "q4", "q5", "0", "007")]
TEST = ["q1\td1\t2", "q1\td2\t0", "q2\t0\t1", "007\t007\t1"]
DEV = ["q3\tq1\t1", "0\td2\t1", "0\t007\t1"]


def lines(path: Path, values: list[Any]) -> None:
    """A file of JSON lines, or of text where a value is text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)}\n" for one in values)
    path.write_text(text, encoding="utf-8")


def folder(place: Path, corpus: Any = CORPUS, queries: Any = QUERIES, **splits: list[str]) -> Path:
    """A BEIR folder; without splits it has test and dev."""
    lines(place / "corpus.jsonl", corpus)
    lines(place / "queries.jsonl", queries)
    for split, rows in (splits or {"test": TEST, "dev": DEV}).items():
        lines(place / "qrels" / f"{split}.tsv", [HEADER, *rows])
    return place


def parts(benchmark: Benchmark) -> dict[str, str]:
    """The part of each question."""
    return dict(zip(benchmark.questions.ids, benchmark.questions.part, strict=True))


def evidence(benchmark: Benchmark) -> dict[str, list[str]]:
    """The evidence of each question, by document id."""
    ids, rows = benchmark.corpus.ids, benchmark.labels.repaired.rows()
    return {q: [ids[p] for p in row] for q, row in zip(benchmark.labels.ids, rows, strict=True)}


def faults(benchmark: Benchmark) -> dict[str, int]:
    """How often each fault was noted."""
    found: Counter[str] = Counter()
    for repair in benchmark.repairs:
        found[repair.fault] += repair.count
    return dict(found)


def test_a_folder_becomes_one_store_with_two_parts(tmp_path: Path) -> None:
    """Every judged question is in the part of its split, in the order of the file, and searches everything."""
    benchmark = import_beir(folder(tmp_path))
    assert benchmark.partitions == ("all",)
    assert benchmark.corpus.ids == ("d1", "d2", "0", "007", "q1")
    assert parts(benchmark) == {"q1": "heldout", "q2": "heldout", "q3": "dev", "0": "dev", "007": "heldout"}
    assert list(parts(benchmark)) == ["q1", "q2", "q3", "0", "007"]
    assert benchmark.questions.clusters == benchmark.questions.ids
    assert len(benchmark.edges) == 0
    assert set(benchmark.corpus.time.tolist()) == {-1}
    assert set(benchmark.corpus.layer.tolist()) == {0}


def test_a_title_stands_before_the_text(tmp_path: Path) -> None:
    """With a blank between; a title that is empty, blank or not there leaves the text as it is."""
    texts = import_beir(folder(tmp_path)).corpus.texts
    assert texts == ("Tulips need frost", "ferries are late", "ferries are late", "a red kayak", "Rye ")


def test_ids_are_text_and_a_document_may_have_a_question_s_id(tmp_path: Path) -> None:
    """0 and 007 stay what they are, and q1 the document is not q1 the question."""
    assert evidence(import_beir(folder(tmp_path))) == {
        "q1": ["d1"], "q2": ["0"], "q3": ["q1"], "0": ["d2", "007"], "007": ["007"],
    }  # fmt: skip


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    """Questions that nobody judged, and grades that say more than relevant."""
    assert faults(import_beir(folder(tmp_path))) == {"question that nobody judged": 2, "grade above 1": 1}


def test_nfc_and_nfd_are_different_ids(tmp_path: Path) -> None:
    """Two ids that look alike name two documents, and judgments find the one that is written alike."""
    composed, decomposed = (unicodedata.normalize(form, "Käse") for form in ("NFC", "NFD"))
    corpus = [{"_id": composed, "text": "a"}, {"_id": decomposed, "text": "b"}]
    benchmark = import_beir(folder(tmp_path, corpus, test=[f"q1\t{decomposed}\t1"], dev=[f"q2\t{composed}\t1"]))
    assert benchmark.labels.repaired.rows() == [[1], [0]]


def test_a_question_judged_in_both_splits_is_held_out(tmp_path: Path) -> None:
    """It is tuned on by nobody, with the evidence of the held-out split, and noted by name."""
    benchmark = import_beir(folder(tmp_path, test=TEST, dev=[*DEV, "q2\td1\t1"]))
    assert parts(benchmark)["q2"] == "heldout"
    assert evidence(benchmark)["q2"] == ["0"]
    assert [one.record for one in benchmark.repairs if one.fault == "question judged in both parts"] == ["q2"]


def test_a_relevant_document_that_is_not_there_counts_as_published(tmp_path: Path) -> None:
    """It is dropped from the evidence, the question stays even if nothing is left, and each is named."""
    labels = (benchmark := import_beir(folder(tmp_path, test=[*TEST, "q1\tgone\t1", "q4\tlost\t1"], dev=DEV))).labels
    counted = dict(zip(labels.ids, labels.n_published.tolist(), strict=True))
    assert (evidence(benchmark)["q1"], counted["q1"]) == (["d1"], 2)
    assert (evidence(benchmark)["q4"], counted["q4"]) == ([], 1)
    assert labels.published.rows() == labels.repaired.rows()
    named = [one.record for one in benchmark.repairs if one.fault == "relevant document that is not in the corpus"]
    assert sorted(named) == ["q1", "q4"]


def test_questions_without_evidence_and_judgments_without_a_question(tmp_path: Path) -> None:
    """The first is kept, the second left out; both are noted."""
    benchmark = import_beir(folder(tmp_path, test=[*TEST, "q5\td1\t0", "nobody\td1\t1"], dev=DEV))
    assert evidence(benchmark)["q5"] == []
    assert "nobody" not in parts(benchmark)
    assert faults(benchmark)["question without a relevant document"] == 1
    assert faults(benchmark)["judged question that is not there"] == 1


def test_texts_without_a_word_are_kept(tmp_path: Path) -> None:
    """An empty document and an empty question stay what they are, and are noted."""
    corpus, queries = [*CORPUS, {"_id": "e", "text": " "}], [{"_id": "q1", "text": ""}, *QUERIES[1:]]
    benchmark = import_beir(folder(tmp_path, corpus, queries))
    assert benchmark.corpus.texts[-1] == " "
    assert faults(benchmark)["document without text"] == 1
    assert faults(benchmark)["question without text"] == 1


def test_judgments_without_a_header(tmp_path: Path) -> None:
    """The first line is then a judgment like any other."""
    place = folder(tmp_path)
    (place / "qrels/test.tsv").write_text("\n".join(TEST), encoding="utf-8")
    assert evidence(import_beir(place))["q1"] == ["d1"]


def test_which_split_is_for_development(tmp_path: Path) -> None:
    """Dev before train, train before drawing; another one, and drawing, on demand."""
    train = ["q4\td1\t1"]

    def dev_of(place: Path, **options: Any) -> set[str]:
        return {name for name, part in parts(import_beir(place, **options)).items() if part == "dev"}

    every = folder(tmp_path / "every", test=TEST, dev=DEV, train=train)
    assert dev_of(every) == {"q3", "0"}
    assert dev_of(every, dev_split="train") == {"q4"}
    assert dev_of(every, test_split="dev", dev_split="test") == {"q1", "q2", "007"}
    assert dev_of(every, test_split="dev") == {"q4"}
    drawn = dev_of(every, dev_split="test")
    assert len(drawn) == 1
    assert drawn < {"q1", "q2", "007"}
    assert dev_of(folder(tmp_path / "a", test=TEST, train=train)) == {"q4"}
    assert dev_of(folder(tmp_path / "b", test=TEST)) == drawn


def test_a_fifth_is_drawn_by_digest(tmp_path: Path) -> None:
    """The same questions whatever the order of the files, a number on demand, and the more hold the fewer."""
    queries = [{"_id": f"x{n}", "text": f"text {n}"} for n in range(50)]
    test = [f"x{n}\td1\t1" for n in range(50)]

    def drawn(name: str, queries: list[Json], test: list[str], **options: Any) -> set[str]:
        found = parts(import_beir(folder(tmp_path / name, CORPUS, queries, test=test), **options))
        return {name for name, part in found.items() if part == "dev"}

    ten = drawn("a", queries, test)
    assert len(ten) == 10
    assert drawn("b", queries[::-1], test[::-1]) == ten
    assert ten < drawn("c", queries, test, dev=30)
    for wrong in (0, -1, 50):
        with pytest.raises(UsageProblem, match=f"{wrong} of 50 questions for development"):
            drawn("d", queries, test, dev=wrong)


def test_a_number_of_the_dev_split(tmp_path: Path) -> None:
    """Only so many are kept, and those left out are counted; more than there are is all of them."""
    place = folder(tmp_path)
    some = import_beir(place, dev=1)
    assert Counter(parts(some).values()) == {"dev": 1, "heldout": 3}
    assert faults(some)["dev question that was not drawn"] == 1
    assert Counter(parts(import_beir(place, dev=9)).values()) == {"dev": 2, "heldout": 3}
    with pytest.raises(UsageProblem, match="0 questions for development"):
        import_beir(place, dev=0)


def test_no_dev_question_shares_a_cluster_with_a_held_out_one(tmp_path: Path) -> None:
    """Clusters come from a file; a dev question in a held-out cluster is left out and named."""
    place = folder(tmp_path)
    clusters = tmp_path / "clusters.tsv"
    clusters.write_text("q1\tA\nq2\tA\n007\tB\nq3\tB\n0\tC\n", encoding="utf-8")
    benchmark = import_beir(place, clusters=str(clusters))
    assert benchmark.questions.clusters == ("A", "A", "C", "B")
    assert parts(benchmark) == {"q1": "heldout", "q2": "heldout", "0": "dev", "007": "heldout"}
    assert [r.record for r in benchmark.repairs if r.fault.startswith("dev question in a cluster")] == ["q3"]
    clusters.write_text("q1\tA\nq2\tA\n007\tA\nq3\tA\n0\tA\n", encoding="utf-8")
    with pytest.raises(UsageProblem, match="no question is left for development"):
        import_beir(place, clusters=str(clusters))
    clusters.write_text("q1\tA\n", encoding="utf-8")
    with pytest.raises(UsageProblem, match="4 of 5 questions have no cluster"):
        import_beir(place, clusters=str(clusters))


WRONG: dict[str, tuple[str, list[Any], str, str]] = {
    "a number as id": ("corpus.jsonl", [*CORPUS, {"_id": 7, "text": "x"}], ":6", "_id is the number 7"),
    "a question's id as a number": ("queries.jsonl", [{"_id": 7, "text": "x"}], ":1", "_id is the number 7"),
    "no id": ("corpus.jsonl", [{"id": "a", "text": "x"}], ":1", "no field for the id; there are 'id', 'text'"),
    "nothing": ("corpus.jsonl", [{}], ":1", "no field for the id; there is none at all"),
    "null as id": ("corpus.jsonl", [{"_id": None, "text": "x"}], ":1", "_id is nothing"),
    "an empty id": ("corpus.jsonl", [{"_id": "", "text": "x"}], ":1", "_id is empty"),
    "a blank in an id": ("corpus.jsonl", [{"_id": "a b", "text": "x"}], ":1", "_id 'a b' holds a blank"),
    "a blank after an id": ("queries.jsonl", [{"_id": "a ", "text": "x"}], ":1", "_id 'a ' holds a blank"),
    "no text": ("corpus.jsonl", [{"_id": "a", "title": "x"}], ":1", "no field for the text"),
    "text in a list": ("corpus.jsonl", [{"_id": "a", "text": ["x"]}], ":1", "text is list"),
    "a title that is no text": ("corpus.jsonl", [{"_id": "a", "title": 3, "text": "x"}], ":1", "title is int"),
    "a document twice": ("corpus.jsonl", ["", *CORPUS, "", CORPUS[1]], ":8", "'d2' stands twice, first in line 3"),
    "a question twice": ("queries.jsonl", [*QUERIES, "", QUERIES[0]], ":9", "'q1' stands twice, first in line 1"),
    "no document": ("corpus.jsonl", [""], "", "the file is empty"),
    "no question": ("queries.jsonl", [], "", "the file is empty"),
    "a list of documents": ("corpus.jsonl", [json.dumps(CORPUS)], ":1", "the line is list"),
    "another header": ("qrels/test.tsv", ["qid\tdocid\tgrade", *TEST], ":1", "the header 'qid\\\\tdocid\\\\tgrade'"),
    "a header later": ("qrels/test.tsv", [*TEST, HEADER], ":5", "grade 'score'"),
    "columns of TREC": ("qrels/test.tsv", [HEADER, "q1\t0\td1\t1"], ":2", "4 columns"),
    "blanks for tabs": ("qrels/test.tsv", [HEADER, "q1 d1 1"], ":2", "no tab in it"),
    "a blank in a judged id": ("qrels/test.tsv", [HEADER, "q1 \td1\t1"], ":2", "query-id 'q1 ' holds a blank"),
    "a grade in parts": ("qrels/test.tsv", [HEADER, "q1\td1\t0.5"], ":2", "grade '0.5'"),
    "a judgment twice": ("qrels/test.tsv", [*TEST, TEST[0]], ":5", "judged twice for question 'q1', first in line 1"),
    "a header alone": ("qrels/test.tsv", [HEADER], "", "no judgment in it"),
    "nothing relevant": ("qrels/test.tsv", [HEADER, "q1\td1\t0"], "", "no document is relevant"),
    "other questions": (
        "qrels/test.tsv",
        ["x\td1\t1"],
        "",
        "no question in common .* has 'x'; .* has 'q1', 'q2', 'q3'",
    ),
    "other documents": (
        "qrels/dev.tsv",
        ["q3\tD1\t1"],
        "",
        "no document in common .* has 'D1'; .* has 'd1', 'd2', '0'",
    ),
    "dev held out": ("qrels/dev.tsv", ["q1\td1\t1"], "", "no question is left for development"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_line(case: str, tmp_path: Path) -> None:
    """The error says what is wrong, in which file and line, and what was allowed."""
    name, content, line, message = WRONG[case]
    lines(folder(tmp_path) / name, content)
    with pytest.raises(UsageProblem, match=message) as caught:
        import_beir(tmp_path)
    assert caught.value.where == f"{tmp_path / name}{line}"
    assert caught.value.allowed


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_file_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    """Whichever of the three it is, with what a folder must hold."""
    (folder(tmp_path, test=TEST) / name).unlink()
    with pytest.raises(UsageProblem, match=r"no \S+ in it|no judgments qrels/SPLIT.tsv in it") as caught:
        import_beir(tmp_path)
    assert name.partition("/")[0] in caught.value.what
    assert "corpus.jsonl, queries.jsonl and qrels/test.tsv" in caught.value.allowed


def test_what_is_no_folder_of_beir_is_named(tmp_path: Path) -> None:
    """Nothing, a file, a folder of folders, and a split that is not there."""
    folder(tmp_path / "cqadupstack/android")
    for place, says in (
        (tmp_path / "none", "no such folder"),
        (tmp_path / "cqadupstack/android/corpus.jsonl", "a file"),
    ):
        with pytest.raises(UsageProblem, match=says):
            import_beir(place)
    with pytest.raises(UsageProblem, match=r"no corpus\.jsonl in it") as caught:
        import_beir(tmp_path / "cqadupstack")
    assert "cqadupstack/android" in caught.value.fix
    for options in ({"test_split": "tset"}, {"dev_split": "tset"}):
        with pytest.raises(UsageProblem, match=r"no judgments qrels/tset\.tsv") as caught:
            import_beir(tmp_path / "cqadupstack/android", **options)
        assert (caught.value.allowed, caught.value.fix) == ("the splits dev, test", "did you mean 'test'?")


def ranked(benchmark: Benchmark) -> Ranking:
    """What bm25 ranks for every question, ties by place in the store."""
    configured = select("bm25", {"layers": ["raw"]})
    return configured.rank(Store(benchmark.corpus, benchmark.edges), benchmark.questions, 100)


def collection(place: Path, seed: int) -> Path:
    """A folder of random short texts with graded judgments, of documents that are not there too."""
    draw = random.Random(seed)
    words = [f"word{n}" for n in range(40)]
    corpus = [
        {"_id": f"d{n}", "title": draw.choice(words), "text": " ".join(draw.choices(words, k=9))} for n in range(90)
    ]
    queries = [{"_id": f"q{n}", "text": " ".join(draw.choices(words, k=3))} for n in range(30)]
    rows = [
        f"q{n}\td{document}\t{draw.choice((0, 1, 1, 2))}" for n in range(30) for document in draw.sample(range(95), 8)
    ]
    return folder(place, corpus, queries, test=rows[:160], dev=rows[160:])


@pytest.mark.parametrize("evidence", ["repaired", "published"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rankings_score_as_pytrec_eval_says(tmp_path: Path, evidence: str, seed: int) -> None:
    """R@10 and nDCG@10 of every question are those of the files, read without our program."""
    benchmark = import_beir(collection(tmp_path, seed))
    ranking = ranked(benchmark)
    described = describe(ranking.positions.tolist(), benchmark.corpus, benchmark.edges, "chunk")
    names = {
        f"{name}(evidence={evidence})@10": theirs for name, theirs in (("R", "recall_10"), ("nDCG", "ndcg_cut_10"))
    }
    measures = {parse_measure(ours): theirs for ours, theirs in names.items()}
    scores = score(ranking, benchmark.labels, Credit.of(described), list(measures))

    there = {json.loads(line)["_id"] for line in (tmp_path / "corpus.jsonl").read_text("utf-8").splitlines()}
    qrels: dict[str, dict[str, int]] = {}
    for split in ("dev", "test"):
        for line in (tmp_path / f"qrels/{split}.tsv").read_text("utf-8").splitlines()[1:]:
            question, document, grade = line.split("\t")
            if evidence == "published" or document in there:
                qrels.setdefault(question, {})[document] = min(int(grade), 1)  # above 0 is relevant, and no more
    run = {
        question: {benchmark.corpus.ids[position]: 1000.0 - rank for rank, position in enumerate(found)}
        for question, found in ranking.rows()
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recall.10", "ndcg_cut.10"}).evaluate(run)
    compared = 0
    for measure, name in measures.items():
        for question, value in zip(scores.questions, scores.values[measure].tolist(), strict=True):
            if any(qrels[question].values()):
                assert value == pytest.approx(theirs[question][name], abs=1e-9)
                compared += 0 < value < 1
    assert compared > 15


@settings(max_examples=15)
@given(st.permutations(range(12)), st.permutations(range(7)))
def test_the_order_of_the_files_moves_equal_scores_only(
    tmp_path_factory: pytest.TempPathFactory, documents: list[int], judgments: list[int]
) -> None:
    """Every document keeps its score for every question, and the evidence is the same."""
    corpus = [
        {"_id": f"d{n}", "title": f"t{n % 3}", "text": f"red kayak {n % 4} frost " * (n % 2 + 1)} for n in range(12)
    ]
    queries = [{"_id": f"q{n}", "text": f"kayak t{n} {n} frost"} for n in range(4)]
    test = [f"q{n % 3}\td{n}\t1" for n in range(7)]

    def found(corpus: list[Json], test: list[str]) -> tuple[dict[str, dict[str, float]], dict[str, set[str]]]:
        benchmark = import_beir(folder(tmp_path_factory.mktemp("b"), corpus, queries, test=test, dev=["q3\td0\t1"]))
        ranking = ranked(benchmark)
        scored: dict[str, dict[str, float]] = {}
        for (question, positions), begin in zip(ranking.rows(), ranking.offsets.tolist(), strict=False):
            values = ranking.scores[begin : begin + len(positions)].tolist()
            assert values == sorted(values, reverse=True)
            ids = [benchmark.corpus.ids[position] for position in positions]
            scored[question] = dict(zip(ids, values, strict=True))
        return scored, {question: set(ids) for question, ids in evidence(benchmark).items()}

    as_given = found(corpus, test)
    assert all(len(scored) == 12 for scored in as_given[0].values())
    shuffled = found([corpus[n] for n in documents], [test[n] for n in judgments])
    assert shuffled[1] == as_given[1]
    for question, scored in as_given[0].items():
        assert shuffled[0][question] == pytest.approx(scored)


def test_the_order_of_the_judgments_makes_no_other_benchmark(tmp_path: Path) -> None:
    """The digest is the same, whichever judgment stands first."""
    one = import_beir(folder(tmp_path / "a"))
    other = import_beir(folder(tmp_path / "b", test=TEST[::-1], dev=DEV[::-1]))
    assert one.digests() == other.digests()
