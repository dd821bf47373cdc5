import json

from harness.benchmarks.export import write_corpus, write_questions


def read(path):
    """The lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_document_and_question_is_written_once(synthetic, tmp_path):
    """A line each, in order, with what a retriever may see."""
    everything = range(int(synthetic.corpus.partition.max()) + 1)
    assert write_corpus(tmp_path / "c", synthetic.corpus, everything) == len(synthetic.corpus)
    assert write_questions(tmp_path / "q", [synthetic.questions]) == len(synthetic.questions)
    assert [one["id"] for one in read(tmp_path / "c")] == list(synthetic.corpus.ids)
    assert [one["text"] for one in read(tmp_path / "c")] == list(synthetic.corpus.texts)
    asked = read(tmp_path / "q")
    assert [one["question"] for one in asked] == list(synthetic.questions.ids)
    assert {frozenset(one) for one in asked} == {frozenset({"question", "text", "partition"})}


def test_only_the_partitions_that_are_named_are_written(synthetic, tmp_path):
    """Documents of other conversations stay out."""
    n = write_corpus(tmp_path / "c", synthetic.corpus, [2])
    assert n == (synthetic.corpus.partition == 2).sum()
    assert {one["partition"] for one in read(tmp_path / "c")} == {2}
