"""Text templates: what of a chunk is indexed. The date prefix alone is worth about two points of R@10."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from harness.benchmarks.columns import LAYERS, Corpus

Template = Callable[[Corpus, int], str]

_RAW = LAYERS.index("raw")


def bare(corpus: Corpus, position: int) -> str:
    """``Speaker: text`` for a turn, the text alone for anything else."""
    speaker = corpus.speakers[position]
    return f"{speaker}: {corpus.texts[position]}" if speaker else corpus.texts[position]


def session_prefix(corpus: Corpus, position: int) -> str:
    """``[session_3 2023-05-08 13:56] Speaker: text`` for a turn, the text alone for anything else."""
    if corpus.layer[position] != _RAW or corpus.time[position] < 0:
        return bare(corpus, position)
    moment = datetime.fromtimestamp(int(corpus.time[position]), UTC)
    return f"[session_{corpus.session[position]} {moment:%Y-%m-%d %H:%M}] {bare(corpus, position)}"


def session_prefix_captions(corpus: Corpus, position: int) -> str:
    """As `session_prefix`, and after it the caption of a shared image in brackets, which are no tokens."""
    caption = corpus.captions[position]
    return session_prefix(corpus, position) + (f" [{caption}]" if caption else "")


TEMPLATES: Mapping[str, Template] = MappingProxyType(
    {"session-prefix/1": session_prefix, "bare/1": bare, "session-prefix-captions/1": session_prefix_captions}
)
