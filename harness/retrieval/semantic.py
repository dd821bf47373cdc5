"""What versions that compare meanings have in common: the choice of a model, and vectors of texts and questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness.benchmarks.columns import Questions
from harness.digest import short
from harness.errors import UsageProblem
from harness.retrieval.dense import search_dense
from harness.retrieval.documents import ReadModel, choose_documents, document_name, document_texts
from harness.retrieval.embedding.cache import Counting, embedded, uncounted
from harness.retrieval.embedding.embedder import Embedder, Vectors
from harness.retrieval.embedding.models import DEFAULT, MODELS, embedder
from harness.retrieval.embedding.vectors_file import VectorsFile
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Parameters, Store


class EmbeddingParameters(Parameters):
    """Which model gives the vectors."""

    embedding: str = Field(DEFAULT, description=", ".join(MODELS))
    embedding_digest: str = Field("", description="filled in: the model's digest", pattern=r"^(sha256:[0-9a-f]{64})?$")

    @property
    def from_files(self) -> bool:
        """Whether the vectors were made elsewhere, for some ids and perhaps not for others."""
        return isinstance(model_of(self), VectorsFile)


Chosen = TypeVar("Chosen", bound=EmbeddingParameters)


def pin_embedding(parameters: Chosen) -> Chosen:
    """The parameters with the digest of the model that is installed here, where they have none."""
    if parameters.embedding_digest:
        return parameters
    return parameters.model_copy(update={"embedding_digest": embedder(parameters.embedding).digest})


def model_of(parameters: EmbeddingParameters) -> Embedder:
    """The model that the parameters mean.

    Raises:
        UsageProblem: the one installed here under that name is another one.
    """
    model = embedder(parameters.embedding)
    if parameters.embedding_digest not in ("", model.digest):
        what = (
            f"{parameters.embedding} is {short(model.digest)} here, and {short(parameters.embedding_digest)} was chosen"
        )
        fix = "install the release that the result was made with, or choose again without embedding_digest"
        raise UsageProblem(what, where="embedding_digest", fix=fix)
    return model


def search_by_meaning(
    store: Store,
    questions: Questions,
    parameters: EmbeddingParameters,
    *,
    read_model: ReadModel,
    layers: Sequence[str],
    template: str,
    depth: int,
) -> Ranking:
    """Rank the documents of each question's partition by cosine; equal ones by order of ingestion."""
    model = model_of(parameters)
    positions, partition = choose_documents(
        store.corpus, store.edges, read_model=read_model, layers=layers, partitions=np.unique(questions.partition)
    )
    vectors = _document_vectors(model, store, positions.tolist(), read_model, template)
    asked = _question_vectors(model, questions)
    return search_dense(questions.ids, asked, questions.partition, positions, partition, vectors, depth)


def vectors_of(
    store: Store, positions: Iterable[int], parameters: EmbeddingParameters, *, read_model: ReadModel, template: str
) -> tuple[Vectors, NDArray[np.int64]]:
    """Vectors of documents, and the row of each position.

    Returns:
        float32 (n, d), and int64 with the row at each position, -1 for those that were not asked for.
    """
    wanted = sorted(set(positions))
    place = np.full(len(store.corpus if read_model == "chunk" else store.edges), -1, dtype=np.int64)
    place[wanted] = np.arange(len(wanted))
    return _document_vectors(model_of(parameters), store, wanted, read_model, template), place


def prepare_vectors(
    store: Store,
    questions: Questions,
    parameters: EmbeddingParameters,
    counting: Counting = uncounted,
    *,
    read_model: ReadModel,
    layers: Sequence[str],
    template: str,
    compares_questions: bool,
) -> None:
    """Embed every document that these questions may meet, and the questions if they are compared, into the cache."""
    model = model_of(parameters)
    if isinstance(model, VectorsFile):
        return  # they lie there already, and what is not needed may be missing
    positions, _ = choose_documents(
        store.corpus, store.edges, read_model=read_model, layers=layers, partitions=np.unique(questions.partition)
    )
    _document_vectors(model, store, positions.tolist(), read_model, template, counting)
    if compares_questions:
        _question_vectors(model, questions, counting)


def _document_vectors(
    model: Embedder,
    store: Store,
    positions: Sequence[int],
    read_model: ReadModel,
    template: str,
    counting: Counting = uncounted,
) -> Vectors:
    if isinstance(model, VectorsFile):
        names = [document_name(store.corpus, store.edges, read_model, position) for position in positions]
        return model.rows(names, "document")
    texts = document_texts(store.corpus, store.edges, positions, read_model=read_model, template=template)
    return embedded(model, texts, "document", counting)


def _question_vectors(model: Embedder, questions: Questions, counting: Counting = uncounted) -> Vectors:
    if isinstance(model, VectorsFile):
        return model.rows(questions.ids, "question")
    return embedded(model, questions.texts, "question", counting)
