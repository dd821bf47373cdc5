import json

import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.retrieval import files
from harness.retrieval.documents import document_names, document_texts
from harness.retrieval.embedding.cache import uncounted
from harness.retrieval.embedding.models import MODELS, embedder
from harness.retrieval.fingerprint import fingerprint
from harness.retrieval.registry import select
from harness.retrieval.version import Store

OVER_EDGES = {"stages": [{"version": "bm25-edges"}, {"version": "rrf", "parameters": {}}]}


def write(path, ids, vectors):
    """A matrix and its ids; of an id that comes twice the first row."""
    first = {name: row for row, name in reversed(list(enumerate(ids)))}
    np.save(path, vectors[list(first.values())])
    path.with_suffix(".ids.txt").write_text("".join(f"{name}\n" for name in first), encoding="utf-8", newline="\n")


def vectors_of_wordllama(folder, benchmark, read_model):
    """Files with wordllama's vectors of every document and question, and the parameter that names them."""
    store, model = Store(benchmark.corpus, benchmark.edges), embedder("wordllama")
    names = document_names(store.corpus, store.edges, read_model)
    texts = document_texts(
        store.corpus, store.edges, range(len(names)), read_model=read_model, template="session-prefix/1"
    )
    write(folder / "documents.npy", names, model.embed(texts))
    write(folder / "questions.npy", benchmark.questions.ids, model.embed(benchmark.questions.texts))
    return f"npy:{folder}/documents.npy+{folder}/questions.npy"


@pytest.mark.parametrize(
    ("version", "parameters", "read_model"),
    [
        ("rrf", {}, "chunk"),
        ("same-layer-mmr", {"pool": 30}, "chunk"),
        ("composed", OVER_EDGES, "edge"),
    ],
)
def test_vectors_of_the_users_own_rank_as_the_model_that_made_them(
    tmp_path, synthetic, version, parameters, read_model
):
    """With wordllama's vectors in files, found by id, every ranking is that of wordllama."""
    own = vectors_of_wordllama(tmp_path, synthetic, read_model)
    chosen = json.loads(json.dumps(parameters))
    (chosen["stages"][-1]["parameters"] if "stages" in chosen else chosen)["embedding"] = own
    store, few = Store(synthetic.corpus, synthetic.edges), synthetic.questions.take(np.arange(30))
    system = select(version, chosen)
    assert system.rank(store, few, 20).same_order(select(version, parameters).rank(store, few, 20))
    system.prepare(store, few, lambda *_: pytest.fail("nothing is embedded"))


def test_a_document_without_a_vector_is_named(tmp_path, synthetic):
    """Ids that the files lack are counted and shown before anything is ranked."""
    embedding = vectors_of_wordllama(tmp_path, synthetic, "chunk")
    write(tmp_path / "documents.npy", ["other"], np.ones((1, 256)))
    embedder.cache_clear()
    with pytest.raises(UsageProblem, match=f"have no vector, such as '{synthetic.corpus.ids[0]}'"):
        select("rrf", {"embedding": embedding}).rank(Store(synthetic.corpus, synthetic.edges), synthetic.questions, 5)


def test_what_a_version_does_not_compare_needs_no_vector(tmp_path, synthetic):
    """Diversity compares documents: it prepares and ranks without a vector of any question, as dev work does."""
    vectors_of_wordllama(tmp_path, synthetic, "chunk")
    system = select("same-layer-mmr", {"embedding": f"npy:{tmp_path}/documents.npy"})
    store, few = Store(synthetic.corpus, synthetic.edges), synthetic.questions.take(np.arange(3))
    system.prepare(store, few, uncounted)
    assert len(system.rank(store, few, 5)) == 3


def test_only_what_may_lack_something_comes_from_files(tmp_path, synthetic):
    """Vectors of the user's own, at any stage; not a model."""
    own = vectors_of_wordllama(tmp_path, synthetic, "chunk")
    later = {"stages": [{"version": "bm25"}, {"version": "rrf", "parameters": {"embedding": own}}]}
    assert select("rrf", {"embedding": own}).from_files
    assert select("composed", later).from_files
    assert not select("rrf").from_files
    assert not select("composed", OVER_EDGES).from_files
    assert not select("bm25").from_files


def test_files_that_changed_after_the_choice_are_refused(tmp_path, synthetic):
    """What was chosen is the content: other vectors under the same name do not rank in its place."""
    embedding = vectors_of_wordllama(tmp_path, synthetic, "chunk")
    system = select("rrf", {"embedding": embedding})
    np.save(tmp_path / "documents.npy", -np.load(tmp_path / "documents.npy"))
    embedder.cache_clear()
    with pytest.raises(UsageProblem, match="was chosen"):
        system.rank(Store(synthetic.corpus, synthetic.edges), synthetic.questions, 5)


def test_files_of_vectors_are_found_from_the_workspace(tmp_path, synthetic, monkeypatch):
    """A relative path is one below the workspace, wherever the command is typed."""
    vectors_of_wordllama(tmp_path, synthetic, "chunk")
    monkeypatch.setattr(files, "_below", [tmp_path])
    assert select("rrf", {"embedding": "npy:documents.npy+questions.npy"}).settings()["embedding_digest"]


@pytest.mark.parametrize("version", ["rrf", "composed"])
def test_the_fingerprint_asks_for_no_vectors_from_outside(tmp_path, version):
    """Files that know no id of the synthetic benchmark, and an endpoint that is not there, have fingerprints.

    They are not that of the default model, and those of two files differ.
    """

    def found(embedding):
        parameters = {"embedding": embedding}
        stages = {"stages": [{"version": "bm25"}, {"version": "rrf", "parameters": parameters}]}
        return fingerprint(select(version, stages if version == "composed" else parameters))

    for number, name in enumerate(("one", "other")):
        write(tmp_path / f"{name}.npy", ["somewhere/else"], np.ones((1, 2 + number)))
    outside = [f"npy:{tmp_path}/one.npy", f"npy:{tmp_path}/other.npy", "openai:toy@http://127.0.0.1:1/v1"]
    assert len({found(embedding) for embedding in ("wordllama", *outside)}) == 4


@pytest.mark.parametrize("name", ["wordllama:", "wordllama:small", "minilm:L12", "multilingual:de"])
def test_a_single_model_takes_nothing_after_its_name(name):
    """What would be ignored is refused, so that no record names a model that there is not."""
    with pytest.raises(UsageProblem, match="nothing follows its name"):
        select("rrf", {"embedding": name})


def test_an_unknown_model_is_refused_with_those_that_there_are():
    """The nearest name is offered."""
    with pytest.raises(UsageProblem, match="no embedding model 'wordlama'") as caught:
        select("rrf", {"embedding": "wordlama"})
    assert all(name in caught.value.allowed for name in MODELS)
    assert "wordllama" in caught.value.fix
