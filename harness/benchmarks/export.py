"""What there is to search and what is asked, as JSON lines that a program in any language reads; never a label."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.benchmarks.columns import LAYERS, Corpus, Questions


def write_corpus(path: Path, corpus: Corpus, partitions: Sequence[int], layers: Sequence[str] = LAYERS) -> int:
    """Write the documents of some partitions, a line each, in order of ingestion, and return how many.

    Args:
        path: the file.
        corpus: all documents.
        partitions: whose documents are written.
        layers: those that are written.
    """
    wanted = np.isin(corpus.layer, [LAYERS.index(name) for name in layers])
    positions = np.flatnonzero(wanted & np.isin(corpus.partition, np.asarray(partitions)))
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        for position in positions.tolist():
            document = {
                "id": corpus.ids[position],
                "text": corpus.texts[position],
                "speaker": corpus.speakers[position],
                "caption": corpus.captions[position],
                "layer": LAYERS[corpus.layer[position]],
                "confidence": float(corpus.confidence[position]),
                "session": int(corpus.session[position]),
                "time": int(corpus.time[position]),
                "partition": int(corpus.partition[position]),
            }
            handle.write(json.dumps(document, ensure_ascii=False) + "\n")
    return len(positions)


def asked(questions: Questions, index: int) -> dict[str, str | int]:
    """A question as another system sees it: its id, its text, and the partition that it searches."""
    return {
        "question": questions.ids[index],
        "text": questions.texts[index],
        "partition": int(questions.partition[index]),
    }


def write_questions(path: Path, parts: Sequence[Questions]) -> int:
    """Write questions, a line each, and return how many.

    Args:
        path: the file.
        parts: one set after another.
    """
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        for questions in parts:
            for index in range(len(questions)):
                handle.write(json.dumps(asked(questions, index), ensure_ascii=False) + "\n")
    return sum(len(questions) for questions in parts)
