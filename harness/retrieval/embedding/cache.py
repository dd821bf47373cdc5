"""Vectors kept by the digest of their text and of their model: each distinct text is embedded once.

One SQLite file a model. What a batch gave is committed with it, so that a process that is stopped loses one batch;
workers wait for each other before they embed, so that no text is paid for twice. Every row carries a checksum: a file
in which bits have flipped gives no other ranking, its damaged rows are embedded again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from filelock import FileLock

from harness.errors import EnvironmentProblem, UsageProblem
from harness.ledger.durable import make_folder
from harness.retrieval.embedding.embedder import Embedder, Role, Vectors, unit_rows

FOLDER = "HARNESS_CACHE"
"""The environment variable that names another folder for what can be computed again."""

Counting = Callable[[str, int, str], AbstractContextManager[Callable[[int], None]]]
"""Counts something long: what, how many, in which unit; the context's value takes what was just finished."""

_FORMAT = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS model (format INTEGER, digest TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB, checked INTEGER);
"""
_ASKED = 500  # keys in one query
_PATIENCE_SECONDS = 60.0


def cache_folder() -> Path:
    """Where vectors are kept: ``HARNESS_CACHE``, else the user's cache folder.

    Raises:
        EnvironmentProblem: no home folder is known.
    """
    if named := os.environ.get(FOLDER):
        return Path(named).absolute()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (cache if cache.is_absolute() else Path.home() / ".cache") / "retrieval-harness"
    except RuntimeError as error:
        raise EnvironmentProblem("no home folder is known", fix=f"set HOME or {FOLDER}") from error


@contextlib.contextmanager
def uncounted(what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:  # noqa: ARG001
    """Count nothing."""
    yield lambda _: None


def embedded(embedder: Embedder, texts: Sequence[str], role: Role, counting: Counting = uncounted) -> Vectors:
    """Unit vectors of texts, float32 (n, d), from the cache where it has them.

    Args:
        embedder: the model.
        texts: in any order, repeated at will.
        role: whether they are questions or documents.
        counting: told how many are embedded, where any are missing.

    Raises:
        UsageProblem: the model gave something that is no vector, or vectors of several widths.
        EnvironmentProblem: the cache cannot be written, or the model does not answer.
    """
    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    keys = [_key(embedder.worded(text, role)) for text in texts]
    distinct = dict(zip(keys, texts, strict=True))
    path = cache_folder() / f"vectors-{embedder.digest.removeprefix('sha256:')[:32]}.sqlite"
    make_folder(path.parent)
    with _reported(path):
        try:
            found = _gathered(path, embedder, distinct, role, counting)
        except sqlite3.DatabaseError as error:
            if isinstance(
                error, sqlite3.OperationalError
            ):  # locked, full, not writable: nothing is wrong with the file
                raise
            _put_aside(path)
            found = _gathered(path, embedder, distinct, role, counting)
    widths = {len(vector) for vector in found.values()}
    if len(widths) > 1:
        what = f"{embedder.name} gave vectors of several widths: {', '.join(map(str, sorted(widths)))}"
        raise UsageProblem(what, where=str(path), fix="remove this file, and ask one model only")
    return np.stack([found[key] for key in keys])


def _gathered(
    path: Path, embedder: Embedder, distinct: dict[bytes, str], role: Role, counting: Counting
) -> dict[bytes, Vectors]:
    found = _read(path, embedder, distinct)
    if len(found) < len(distinct):
        with FileLock(path.with_suffix(".lock")):
            # another worker may have embedded them while this one waited
            found |= _read(path, embedder, [key for key in distinct if key not in found])
            missing = {key: text for key, text in distinct.items() if key not in found}
            if missing:
                found |= _embed_missing(path, embedder, missing, role, counting)
    return found


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _embed_missing(
    path: Path, embedder: Embedder, missing: dict[bytes, str], role: Role, counting: Counting
) -> dict[bytes, Vectors]:
    keys = list(missing)
    found: dict[bytes, Vectors] = {}
    with counting(f"embedding with {embedder.name}", len(keys), "texts") as advance:
        for begin in range(0, len(keys), embedder.batch):
            part = keys[begin : begin + embedder.batch]
            given = embedder.embed([embedder.worded(missing[key], role) for key in part])
            vectors = unit_rows(given, len(part), embedder.name)
            packed = [vector.tobytes() for vector in vectors]
            rows = [(key, blob, _check(key, blob)) for key, blob in zip(part, packed, strict=True)]
            with contextlib.closing(_open(path, embedder)) as cache, cache:
                cache.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            found.update(zip(part, vectors, strict=True))
            advance(len(part))
    return found


def _read(path: Path, embedder: Embedder, keys: Iterable[bytes]) -> dict[bytes, Vectors]:
    wanted, found = list(keys), {}
    with contextlib.closing(_open(path, embedder)) as cache:
        for begin in range(0, len(wanted), _ASKED):
            part = wanted[begin : begin + _ASKED]
            marks = ",".join("?" * len(part))
            asked = f"SELECT text, vector, checked FROM vectors WHERE text IN ({marks})"  # noqa: S608 - marks only
            for key, vector, checked in cache.execute(asked, part):
                if checked == _check(key, vector):
                    found[key] = np.frombuffer(vector, dtype=np.float32)
    return found


def _check(key: bytes, vector: bytes) -> int:
    return zlib.crc32(vector, zlib.crc32(key))


def _put_aside(path: Path) -> None:
    """Rename a file that is no database any more; what was in it can be computed again."""
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            place = Path(f"{path}{ending}")
            place.replace(place.with_name(f"{place.name}.damaged"))


def _open(path: Path, embedder: Embedder) -> sqlite3.Connection:
    cache = sqlite3.connect(path, timeout=_PATIENCE_SECONDS)
    try:
        cache.execute("PRAGMA journal_mode=WAL")
        cache.execute("PRAGMA synchronous=NORMAL")
        with cache:
            cache.executescript(_TABLES)
            unnamed = "INSERT INTO model SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM model)"
            cache.execute(unnamed, (_FORMAT, embedder.digest))
        held = cache.execute("SELECT format, digest FROM model").fetchall()
    except BaseException:
        cache.close()
        raise
    if held != [(_FORMAT, embedder.digest)]:
        cache.close()
        what = f"this cache holds vectors of another model than {embedder.name}"
        raise UsageProblem(what, where=str(path), fix="remove this file: its vectors can be computed again")
    return cache


@contextlib.contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        fix = f"make its folder writable and free some space, or name another one in {FOLDER}"
        raise EnvironmentProblem(f"the cache of vectors cannot be used: {error}", where=str(path), fix=fix) from None
