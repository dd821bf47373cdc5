"""`openai:MODEL` or `openai:MODEL@URL`: vectors from an endpoint that speaks OpenAI's ``/embeddings``.

``URL`` is what stands before ``/embeddings``, such as ``http://localhost:8000/v1``; without one ``OPENAI_BASE_URL``
says it, and else OpenAI's own is meant. The key is read from ``OPENAI_API_KEY``, needs not be set where the server
wants none, and is written nowhere. It is sent to the address that the environment says, and to OpenAI where that says
none: an address in a name may come from somebody else's document, which is no reason to hand them a key.

What the digest promises is the name of a model at an address, and no more: nobody outside can see the weights. A
probe's vector is not in it, because hosted models answer one text with vectors that differ in the fourth digit, so
that no rounding of it is the same every time; and because an experiment whose vectors are all in the cache has to run
without the endpoint. Instead the probe's vector is remembered beside the cache. Before anything is embedded, the
endpoint is asked for it again: if it is not nearly the same, then another model answers under the name, and its
vectors are never mixed with those of the first; nor are they where an answer names another model than the answer
before it, as a gateway's does that falls back to a second model. On a machine with an empty cache, or between two
answers that name no model, such a change is not seen.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from harness.digest import digest_json
from harness.errors import EnvironmentProblem, UsageProblem
from harness.ledger.durable import make_folder, replace
from harness.retrieval.embedding.cache import cache_folder
from harness.retrieval.embedding.embedder import Role, Vectors
from harness.retrieval.embedding.endpoint_client import Client, Patience

URL, KEY = "OPENAI_BASE_URL", "OPENAI_API_KEY"
"""The environment variables that say where, and with which key."""

PROBE = "The quick brown fox jumps over the lazy dog."
SAME = 0.999
"""The least cosine of two answers to `PROBE` from one model: their noise is a hundred times smaller."""

_OPENAI = "https://api.openai.com/v1"
# names such as @cf/baai/bge-m3 begin with an @, others such as text-embedding@001 have one
_SYNTAX = re.compile(r"(?P<model>.+?)(?:@(?P<url>https?:.*))?", re.DOTALL | re.IGNORECASE)
_ADDRESS_WITHOUT_SCHEME = re.compile(r".+@.*[:/].*", re.DOTALL)
_LARGEST = float(np.finfo(np.float32).max)
_SHOWN = 100_000  # characters of an answer, of which the client shows the start
_ALLOWED = "openai:MODEL, or openai:MODEL@http://HOST/v1"
_SEE_MODEL = "see that it speaks OpenAI's /embeddings, and which model it runs"


class Endpoint:
    """A model behind an address.

    Args:
        model: its name there.
        url: the address before ``/embeddings``.
        key: the key, or nothing.
        patience: when to give up.
    """

    batch = 32  # the most that text-embeddings-inference takes as it is shipped

    def __init__(self, model: str, url: str, key: str = "", patience: Patience | None = None) -> None:
        self.name = f"openai:{model}"
        self._model, self._url, self._key, self._patience = model, url, key, patience or Patience()
        parts = urlsplit(url)
        place = f"{parts.netloc.lower()}{parts.path}"
        self.digest = digest_json("embedder/1", {"pooling": "openai-endpoint/1", "model": model, "place": place})
        self._width = 0
        self._named: object = None  # how the model calls itself in its first answer

    def worded(self, text: str, role: Role) -> str:  # noqa: ARG002 - the protocol knows no roles
        """The text as it is."""
        return text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; float32 (n, d), the zero row for the empty text, which such endpoints refuse.

        Whether a row depends on its own text alone is up to the server.

        Raises:
            UsageProblem: another model answers under this name than before.
            EnvironmentProblem: the endpoint cannot be asked, refuses, or answers with anything but one vector a text.
        """
        if not self._width:
            self._width = self._probed()
        found = np.zeros((len(texts), self._width), dtype=np.float32)
        asked = [row for row, text in enumerate(texts) if text]
        if asked:
            vectors = self._asked([texts[row] for row in asked])
            if vectors.shape[1] != self._width:
                what = f"vectors of {vectors.shape[1]} numbers, and of {self._width} before"
                raise self._client.problem(what, _SEE_MODEL)
            found[asked] = vectors
        return found

    @cached_property
    def _client(self) -> Client:
        return Client(f"{self._url}/embeddings", self._key, self._patience)

    def _asked(self, texts: Sequence[str]) -> NDArray[np.float64]:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        answer = self._client.post(body)
        try:
            found = _vectors(answer, len(texts))
        except ValueError as error:
            raise self._client.problem("its answer cannot be used", _SEE_MODEL, str(error)) from None
        if (named := answer.get("model")) is not None:
            self._named = self._named or named
            if named != self._named:
                what, said = "two models answer by turns", f"{self._named!r} and {named!r}"
                raise self._client.problem(what, "let one model answer: no fallback to another", said)
        return found

    def _probed(self) -> int:
        """The width of the vectors, after a look whether the model is the one that it was."""
        (now,) = self._asked([PROBE])
        if not now.any():
            raise self._client.problem("a vector of zeros for a plain English sentence", _SEE_MODEL)
        path = cache_folder() / f"probe-{self.digest.removeprefix('sha256:')[:32]}.json"
        before = _remembered(path)
        if before is None:
            make_folder(path.parent)
            replace(path, json.dumps(now.tolist()).encode())
        elif len(before) != len(now) or _cosine(before, now) < SAME:
            likeness = f"cosine {_cosine(before, now):.3f}" if len(before) == len(now) else f"{len(now)} numbers"
            what = f"another model answers as {self._model} than before: {likeness} to its former vector of one text"
            vectors = path.with_name(path.name.replace("probe-", "vectors-")).with_suffix(".sqlite")
            fix = f"ask for the former model by its own name, or remove this file and {vectors.name} and begin anew"
            raise UsageProblem(what, where=str(path), fix=fix)
        return len(now)


def load(argument: str) -> Endpoint:
    """The model that ``openai:MODEL`` or ``openai:MODEL@URL`` names; nothing is asked yet.

    Raises:
        UsageProblem: no model is named, or the address is none, or one with a secret in it.
    """
    match = _SYNTAX.fullmatch(argument)
    if match is None:
        raise UsageProblem("openai: no model is named", allowed=_ALLOWED, fix="name a model")
    if not match["url"] and _ADDRESS_WITHOUT_SCHEME.fullmatch(match["model"]):
        # else the texts would go to OpenAI, which was not meant
        what = "openai: what follows the @ looks like an address and does not begin with http"
        raise UsageProblem(what, where="embedding", allowed=_ALLOWED, fix="write http:// or https:// after the @")
    given = match["url"] or os.environ.get(URL) or _OPENAI
    # no address is shown below: it may hold a password, or be a key in the wrong variable
    where = "embedding" if match["url"] or not os.environ.get(URL) else URL
    try:
        parts = urlsplit(given)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageProblem("this is no address of an endpoint", where=where, allowed=_ALLOWED, fix=f"mend {where}")
    if parts.username or parts.password or parts.query or parts.fragment:
        what = "the address of the endpoint holds more than a place: a user, a password or a query"
        raise UsageProblem(what, where=where, allowed=_ALLOWED, fix=f"give the key in {KEY}")
    address, home = _before_embeddings(given), _before_embeddings(os.environ.get(URL) or _OPENAI)
    key = os.environ.get(KEY, "").strip() if address.lower() == home.lower() else ""
    return Endpoint(match["model"], address, key)


def _before_embeddings(url: str) -> str:
    return url.rstrip("/").removesuffix("/embeddings")


def _vectors(answer: Any, count: int) -> NDArray[np.float64]:
    """The vectors of an answer in the order of the texts, float64 (count, d).

    Raises:
        ValueError: they are not ``count`` vectors of one width, or not of finite numbers.
    """
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise ValueError(f"no list of vectors, but {str(answer)[:_SHOWN]}")
    if len(data) != count:
        raise ValueError(f"{len(data)} vectors for {count} texts")
    places = [item.get("index") for item in data]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
        raise ValueError("its vectors are not numbered as the texts are")
    rows: list[Any] = [None] * count
    for place, item in zip(places, data, strict=True):
        rows[place] = _row(item.get("embedding"), f"vector {place} of {count}")
    if len(widths := {len(row) for row in rows}) > 1:
        raise ValueError(f"vectors of several widths: {', '.join(map(str, sorted(widths)))}")
    return np.stack(rows)


def _row(given: object, which: str) -> NDArray[np.float64]:
    if isinstance(given, str):
        raise ValueError(f"{which} is text, such as base64, though numbers were asked for")
    if not isinstance(given, list) or not given:
        raise ValueError(f"{which} is missing")
    # "0.5", true and null are no numbers, though numpy would make some of them
    if all(type(number) in (int, float) for number in given):
        with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits
            found = np.array(given, dtype=np.float64)
            if (np.abs(found) <= _LARGEST).all():
                return found
    raise ValueError(f"{which} holds something that is no finite number")


def _remembered(path: Path) -> NDArray[np.float64] | None:
    try:
        found = np.array(json.loads(path.read_bytes()), dtype=np.float64)
    except (FileNotFoundError, ValueError, TypeError):  # a damaged one is written anew
        return None
    except OSError as error:
        raise EnvironmentProblem(f"cannot be read: {error.strerror}", where=str(path), fix="grant permission") from None
    return found if found.ndim == 1 and np.isfinite(found).all() else None


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else float(not one.any() and not other.any())
