"""`npy:VECTORS.npy`: vectors that the user has made, one row a document or question, found by id.

Beside ``VECTORS.npy`` lies ``VECTORS.ids.txt``, UTF-8, one id a line, in the order of the rows. Documents and
questions may share one file; where an id means a question and a document, each kind has a file of its own:
``npy:DOCUMENTS.npy+QUESTIONS.npy``. A relative path is one below the workspace. An edge's id is those of its
two ends, as in run files: ``FIRST->SECOND``.

An id is the whole line but its end: ``0`` and ``00`` are two ids, and blanks count. A row of zeros says that nothing
is known: such a document is never found, and such a question finds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from harness.digest import digest_json, file_sha256
from harness.errors import UsageProblem
from harness.retrieval import files
from harness.retrieval.embedding.embedder import Role, Vectors, unit_rows

_CELLS = 4_000_000  # numbers that are checked at once, so that a file may be larger than memory
_SHOWN = 3
_ALLOWED = "a matrix of float16, float32 or float64, one row an id"


class VectorsFile:
    """Vectors of documents and questions, in one file or two.

    Args:
        name: as they were chosen.
        documents, questions: the two files, or one file twice.

    Attributes:
        digest: digest of the files' bytes; where they lie does not count.

    Raises:
        UsageProblem: the two have vectors of different widths.
    """

    batch = 4096

    def __init__(self, name: str, documents: Matrix, questions: Matrix) -> None:
        self.name = name
        self._files: dict[Role, Matrix] = {"document": documents, "question": questions}
        if documents.width != questions.width:
            what = f"vectors of {documents.width} numbers for documents and of {questions.width} for questions"
            raise UsageProblem(what, where=name, allowed="one width", fix="make both with one model")
        known = {role: matrix.digests for role, matrix in self._files.items()}
        self.digest = digest_json("embedder/1", {"pooling": "vectors-by-id/1", "files": known})

    def worded(self, text: str, role: Role) -> str:  # noqa: ARG002 - nobody sees the text
        """The text as it is."""
        return text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Refuse: a text alone does not say which row is meant.

        Raises:
            UsageProblem: always; `rows` is what these vectors are for.
        """
        what = f"{self.name} holds vectors by id, and {len(texts)} texts without ids were to be embedded"
        raise UsageProblem(what, fix="choose another embedding for this")

    def rows(self, ids: Sequence[str], role: Role) -> Vectors:
        """Unit vectors of documents or questions, float32 (n, d); zero rows stay zero.

        Args:
            ids: in any order, repeated at will.
            role: whether they are questions or documents.

        Raises:
            UsageProblem: some of them are not in the file.
        """
        return self._files[role].rows(ids)


class Matrix:
    """One ``.npy`` file and its ids.

    Args:
        path: the ``.npy`` file; it is mapped into memory, never read as a whole.

    Attributes:
        width: numbers of a vector.
        digests: plain SHA-256 of both files.

    Raises:
        UsageProblem: one of the files is not there or not what it should be, or they do not belong together.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._names = path, path.with_suffix(".ids.txt")
        self._vectors = _mapped(path)
        self.width = self._vectors.shape[1]
        names = _ids(self._names)
        if len(names) != len(self._vectors):
            what = f"{len(names)} ids for {len(self._vectors)} vectors"
            raise UsageProblem(what, where=str(self._names), allowed="one line a row", fix="write both in one go")
        self._rows = _numbered(names, self._names)
        self._check_numbers(names)
        self.digests = {"vectors": file_sha256(path), "ids": file_sha256(self._names)}

    def rows(self, ids: Sequence[str]) -> Vectors:
        """Unit vectors of these ids, float32 (n, d)."""
        if missing := list(dict.fromkeys(name for name in ids if name not in self._rows)):
            what = f"{len(missing)} of {len(set(ids))} ids have no vector, such as {_some(missing)}"
            allowed = f"the {len(self._rows)} ids of the file, such as {_some(list(self._rows)[:_SHOWN])}"
            fix = "add them, with a row of zeros where nothing is known"
            raise UsageProblem(what, where=str(self._names), allowed=allowed, fix=fix)
        places = np.fromiter((self._rows[name] for name in ids), dtype=np.int64, count=len(ids))
        return unit_rows(self._vectors[places], len(ids), str(self._path), self.width)

    def _check_numbers(self, names: Sequence[str]) -> None:
        step = max(1, _CELLS // self.width)
        for begin in range(0, len(self._vectors), step):
            wrong = np.flatnonzero(~np.isfinite(self._vectors[begin : begin + step]).all(axis=1))
            if len(wrong):
                row = begin + int(wrong[0])
                what = f"row {row} (id {names[row]!r}) holds NaN or infinity"
                raise UsageProblem(what, where=str(self._path), allowed="finite numbers", fix="mend it and try again")


def load(argument: str) -> VectorsFile:
    """Open the files that ``npy:VECTORS.npy`` or ``npy:DOCUMENTS.npy+QUESTIONS.npy`` names, and check them.

    Raises:
        UsageProblem: no file is named, or one of them cannot be used.
    """
    first, mark, second = argument.partition(".npy+")
    named = [f"{first}.npy", second] if mark else [argument]
    for name in named:
        if not name.endswith(".npy"):
            allowed = "npy:VECTORS.npy, or npy:DOCUMENTS.npy+QUESTIONS.npy"
            raise UsageProblem(f"npy: {argument!r} names no .npy file", allowed=allowed, fix="name the file of vectors")
    matrices = [Matrix(files.find(str(Path(name).expanduser()), _ALLOWED)) for name in named]
    return VectorsFile(f"npy:{argument}", matrices[0], matrices[-1])


def _mapped(path: Path) -> NDArray[np.floating]:
    try:
        # unlike np.load this never unpickles, and does not take an archive or a pickle for a matrix
        found = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError) as error:
        _refuse(path, f"not a .npy file of numbers: {error}", "write it with numpy.save")
    if found.ndim != 2 or not found.size:
        _refuse(path, f"an array of shape {'×'.join(map(str, found.shape)) or '()'}", "save one row a document")
    if found.dtype.kind != "f" or found.dtype.itemsize > 8:
        _refuse(path, f"an array of {found.dtype}", "save it as float32")
    return found


def _ids(path: Path) -> list[str]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageProblem("the ids of the vectors are not there", where=str(path), fix="write one id a line") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(f"the ids cannot be read: {error}", where=str(path), fix="save it as UTF-8") from None
    # only these end a line: an id may hold any other character that Python splits lines at
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def _numbered(names: Sequence[str], path: Path) -> dict[str, int]:
    rows: dict[str, int] = {}
    for row, name in enumerate(names):
        where = f"{path}:{row + 1}"
        if not name:
            raise UsageProblem("an empty line", where=where, allowed="one id a line", fix="remove it, and its row")
        if name in rows:
            what = f"the id {name!r} stands in line {rows[name] + 1} already"
            raise UsageProblem(what, where=where, allowed="each id once", fix="keep one of the two, and its row")
        rows[name] = row
    return rows


def _some(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:_SHOWN])


def _refuse(path: Path, what: str, fix: str) -> NoReturn:
    raise UsageProblem(what, where=str(path), allowed=_ALLOWED, fix=fix)
