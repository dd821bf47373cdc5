"""BM25 engines on one piece of work: ours, rank_bm25, bm25s and tantivy, each with statistics local to a partition.

Everyone gets the same tokens, k1 1.2, b 0.75 and the same idf. bm25s and tantivy settle ties in their own way, in
float32, and tantivy rounds lengths to one byte: what they find is compared, not asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.speed.stores import Work
from bench.speed.timing import Absent, Contender, absent_modules, module
from harness.retrieval.lexical import LexicalIndex, build_index
from harness.retrieval.ranking import Ranking
from harness.retrieval.reference import ReferenceBM25
from harness.retrieval.top_k import top_k

K1, B = 1.2, 0.75
FIELD = "body"

Rows = list[list[int]]


def contenders(work: Work, *, batch: bool = True, slow: int | None = None) -> list[Contender | Absent]:
    """All engines on ``work``, ours first.

    Args:
        work: the store and the questions.
        batch: whether an engine may be given all questions of a partition, or all of them, at once.
        slow: rank_bm25 is asked only so many questions, and its time is scaled.
    """
    ours = _Ours(work)
    expected = [row for _, row in _joined(ours.search(ours.build(), batch=True)).rows()]

    def agreement(found: Sequence[Sequence[int]]) -> str:
        pairs = [(set(a), set(b)) for a, b in zip(expected, found, strict=False) if a]
        shares = [len(a & b) / len(a) for a, b in pairs]
        same = sum(a == list(b)[: len(a)] for a, b in zip(expected, found, strict=False) if a)
        return f"{100 * np.mean(shares):.2f} % of ours, {100 * same / len(pairs):.1f} % in the same order"

    def bm25s_with(backend: str) -> Contender:
        engine = _Bm25s(work, backend)
        return Contender(
            f"bm25s ({backend})", engine.build, lambda made: engine.search(made, batch=batch),
            lambda raw: agreement(engine.found(raw)),
        )  # fmt: skip

    def by_tantivy() -> Contender:
        engine = _Tantivy(work)
        return Contender("tantivy", engine.build, engine.search, lambda raw: agreement(engine.found(raw)))

    rank = _RankBM25(work if slow is None else work.head(slow))
    share = len(rank.work.questions) / len(work.questions)
    return [
        Contender(
            "ours", ours.build, lambda made: ours.search(made, batch=batch),
            lambda raw: agreement([row for _, row in _joined(raw).rows()]),
        ),
        Contender("rank_bm25", rank.build, rank.search, agreement, share),
        _if_there("bm25s (numpy)", lambda: bm25s_with("numpy"), "bm25s"),
        _if_there("bm25s (numba)", lambda: bm25s_with("numba"), "bm25s", "numba"),
        _if_there("tantivy", by_tantivy, "tantivy"),
    ]  # fmt: skip


def _if_there(name: str, make: Callable[[], Contender], *modules: str) -> Contender | Absent:
    missing = absent_modules(*modules)
    return Absent(name, f"{missing} is not installed") if missing else make()


def _joined(parts: list[Ranking]) -> Ranking:
    """Rankings of one question each, or one of all, as one."""
    if len(parts) == 1:
        return parts[0]
    offsets = np.cumsum([0, *(len(part.positions) for part in parts)])
    positions, scores = (np.concatenate([getattr(p, name) for p in parts]) for name in ("positions", "scores"))
    return Ranking(tuple(p.questions[0] for p in parts), offsets, positions, scores, parts[0].depth)


class _Ours:
    def __init__(self, work: Work) -> None:
        self.work = work

    def build(self) -> LexicalIndex:
        return build_index(self.work.documents, k1=K1, b=B)

    def search(self, index: LexicalIndex, *, batch: bool) -> list[Ranking]:
        work = self.work
        if batch:
            return [index.search(work.questions, work.tokens, work.partition, work.depth)]
        return [
            index.search(work.questions[i : i + 1], work.tokens[i : i + 1], work.partition[i : i + 1], work.depth)
            for i in range(len(work.questions))
        ]


class _RankBM25:
    def __init__(self, work: Work) -> None:
        self.work = work

    def build(self) -> list[ReferenceBM25]:
        rows = self.work.documents.tokens
        return [ReferenceBM25(rows[documents], k1=K1, b=B, epsilon=0) for documents, _ in self.work.parts()]

    def search(self, engines: list[ReferenceBM25]) -> Rows:
        found: Rows = []
        for engine, (documents, questions) in zip(engines, self.work.parts(), strict=True):
            places = self.work.documents.positions[documents]
            for tokens in self.work.tokens[questions]:
                columns = top_k(engine.get_scores(tokens)[None, :], self.work.depth)[1]
                found.append(places[columns].tolist())
        return found


class _Bm25s:
    def __init__(self, work: Work, backend: str) -> None:
        self.work, self.backend = work, backend

    def build(self) -> list[Any]:
        engines = []
        for documents, _ in self.work.parts():
            engine = module("bm25s").BM25(method="lucene", k1=K1, b=B, backend=self.backend)
            engine.index(self.work.documents.tokens[documents], show_progress=False)
            engines.append(engine)
        return engines

    def search(self, engines: list[Any], *, batch: bool) -> list[Any]:
        raw: list[Any] = []
        for engine, (documents, questions) in zip(engines, self.work.parts(), strict=True):
            asked = self.work.tokens[questions]
            k = min(self.work.depth, documents.stop - documents.start)
            given = [asked] if batch else [[tokens] for tokens in asked]
            raw.extend(engine.retrieve(rows, k=k, show_progress=False).documents for rows in given)
        return raw

    def found(self, raw: list[Any]) -> Rows:
        firsts = np.repeat(
            [documents.start for documents, _ in self.work.parts()],
            [questions.stop - questions.start for _, questions in self.work.parts()],
        )
        rows = [row for block in raw for row in block]
        return [self.work.documents.positions[row + first].tolist() for row, first in zip(rows, firsts, strict=True)]


class _Tantivy:
    def __init__(self, work: Work) -> None:
        self.work, self.library = work, module("tantivy")
        analyzer = self.library.TextAnalyzerBuilder(self.library.Tokenizer.whitespace())
        self.analyzer = analyzer.build()
        fields = self.library.SchemaBuilder()
        fields.add_text_field(FIELD, stored=False, tokenizer_name="given", index_option="freq")
        self.schema = fields.build()
        # it takes text and splits it at blanks: joining the given tokens is no part of its work
        self.texts = [" ".join(tokens) for tokens in work.documents.tokens]

    def build(self) -> list[Any]:
        return [self._index(self.texts[documents]) for documents, _ in self.work.parts()]

    def _index(self, texts: list[str]) -> Any:
        index = self.library.Index(self.schema)
        index.register_tokenizer("given", self.analyzer)
        # a reader that watches for commits holds a lock while it loads: reload() would sleep 100 ms and try again
        index.config_reader(reload_policy="manual", num_warmers=0)
        writer = index.writer(heap_size=max(15_000_000, 2000 * len(texts)), num_threads=1)
        for text in texts:
            document = self.library.Document()
            document.add_text(FIELD, text)
            writer.add_document(document)
        writer.commit()
        index.reload()
        return index

    def search(self, indexes: list[Any]) -> list[Any]:
        term, either = self.library.Query.term_query, self.library.Query.boolean_query
        should, schema, raw = self.library.Occur.Should, self.schema, []
        for index, (_, questions) in zip(indexes, self.work.parts(), strict=True):
            searcher = index.searcher()
            for tokens in self.work.tokens[questions]:
                query = either([(should, term(schema, FIELD, token, "freq")) for token in tokens])
                raw.append(searcher.search(query, self.work.depth, count=False).hits)
        return raw

    def found(self, raw: list[Any]) -> Rows:
        if any(address.segment_ord for hits in raw for _, address in hits):
            raise SystemExit("tantivy made several segments, whose documents cannot be named")
        firsts = [d.start for d, questions in self.work.parts() for _ in range(questions.start, questions.stop)]
        places = self.work.documents.positions
        return [[int(places[first + hit.doc]) for _, hit in hits] for first, hits in zip(firsts, raw, strict=True)]
