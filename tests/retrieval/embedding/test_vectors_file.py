import pickle

import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.retrieval.embedding import vectors_file


def written(folder, vectors, ids, name="vectors"):
    """Write a matrix and its ids, and give the argument that names them."""
    np.save(folder / f"{name}.npy", vectors)
    (folder / f"{name}.ids.txt").write_bytes("".join(f"{one}\n" for one in ids).encode())
    return str(folder / f"{name}.npy")


def refused(argument) -> UsageProblem:
    """The error with which these files are refused."""
    with pytest.raises(UsageProblem) as caught:
        vectors_file.load(argument)
    return caught.value


def test_rows_are_found_by_id(tmp_path):
    """In any order and repeated, ids give their own rows, of unit length and as float32."""
    model = vectors_file.load(written(tmp_path, np.array([[3.0, 4.0], [0.0, 2.0]]), ["a", "b"]))
    rows = model.rows(["b", "a", "b"], "document")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0, 1], [0.6, 0.8], [0, 1]], atol=1e-7)


@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", ">f4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_way_of_storing_floats_is_read(tmp_path, kind, order):
    """Half, single and double numbers, of either byte order, row by row or column by column, are one matrix."""
    vectors = np.array([[1, 2, 2], [0, 0, 5], [4, 0, 3]], dtype=kind, order=order)
    model = vectors_file.load(written(tmp_path, vectors, "abc"))
    np.testing.assert_allclose(
        model.rows("cab", "question"), [[0.8, 0, 0.6], [1 / 3, 2 / 3, 2 / 3], [0, 0, 1]], atol=1e-6
    )


def test_ids_are_kept_exactly(tmp_path):
    """Zeros in front, blanks, tabs and odd line separators are part of an id."""
    ids = ["0", "00", "007", "7", " 7", "7 ", "a b", "a\tb", "a\u2028b", "a\x0cb", "猫"]
    model = vectors_file.load(written(tmp_path, np.eye(len(ids)), ids))
    np.testing.assert_array_equal(model.rows(ids, "document"), np.eye(len(ids)))


@pytest.mark.parametrize("text", ["a\nb", "a\nb\n", "a\r\nb\r\n", "\ufeffa\nb\n"])
def test_line_ends_are_no_part_of_an_id(tmp_path, text):
    """With or without a last line end, from Windows, or after a byte order mark, the ids are the same."""
    argument = written(tmp_path, np.eye(2), "ab")
    (tmp_path / "vectors.ids.txt").write_bytes(text.encode())
    np.testing.assert_array_equal(vectors_file.load(argument).rows(["b", "a"], "document"), np.eye(2)[::-1])


def test_a_zero_row_is_unknown(tmp_path):
    """It stays zero, so that it is never found."""
    model = vectors_file.load(written(tmp_path, np.array([[0.0, 0.0], [1.0, 0.0]]), "ab"))
    assert not model.rows("a", "document").any()


def test_questions_may_have_a_file_of_their_own(tmp_path):
    """One id may mean a document in one file and a question in the other."""
    documents = written(tmp_path, np.array([[1.0, 0.0]]), ["0"], "documents")
    questions = written(tmp_path, np.array([[0.0, 1.0]]), ["0"], "questions")
    model = vectors_file.load(f"{documents}+{questions}")
    assert model.rows(["0"], "document").tolist() == [[1, 0]]
    assert model.rows(["0"], "question").tolist() == [[0, 1]]
    wide = written(tmp_path, np.ones((1, 3)), ["0"], "wide")
    assert "2 numbers for documents and of 3 for questions" in refused(f"{documents}+{wide}").what


def test_the_digest_is_of_the_content(tmp_path):
    """Elsewhere the same files have the same digest; another number, or another order of ids, has another one."""
    (tmp_path / "x").mkdir()
    first = vectors_file.load(written(tmp_path, np.eye(2), "ab")).digest
    assert vectors_file.load(written(tmp_path / "x", np.eye(2), "ab")).digest == first
    assert vectors_file.load(written(tmp_path, np.eye(2) * 2, "ab")).digest != first
    assert vectors_file.load(written(tmp_path, np.eye(2), "ba")).digest != first


def test_unknown_ids_are_named_with_some_of_the_file(tmp_path):
    """The error counts them, and shows ids from both sides."""
    model = vectors_file.load(written(tmp_path, np.eye(2), ["007", "b"]))
    with pytest.raises(UsageProblem, match=r"2 of 3 ids have no vector, such as '7', 'c'") as caught:
        model.rows(["b", "7", "c", "7"], "document")
    assert "'007', 'b'" in caught.value.allowed
    assert "'9', '8'" not in caught.value.allowed


def test_texts_cannot_be_embedded(tmp_path):
    """Without ids the vectors are of no use, and the error says so."""
    with pytest.raises(UsageProblem, match="holds vectors by id"):
        vectors_file.load(written(tmp_path, np.eye(2), "ab")).embed(["text"])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(tmp_path, wrong, monkeypatch):
    """The row and its id are named, wherever in the file they stand."""
    monkeypatch.setattr(vectors_file, "_CELLS", 4)
    vectors = np.ones((7, 2))
    vectors[5, 1] = wrong
    assert "row 5 (id 'f')" in refused(written(tmp_path, vectors, "abcdefg")).what


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (np.ones(3), "shape 3"),
        (np.float64(1), "shape ()"),
        (np.ones((2, 2, 2)), "shape 2×2×2"),
        (np.ones((0, 3)), "0×3"),
        (np.ones((3, 0)), "3×0"),
        (np.ones((3, 2), dtype=np.int8), "int8"),
        (np.ones((3, 2), dtype=bool), "bool"),
        (np.ones((3, 2), dtype=complex), "complex128"),
        (np.array([["a", "b"]] * 3), "<U1"),
        (np.ones((3, 2), dtype=np.longdouble), "longdouble"),
    ],
)
def test_other_arrays_are_refused(tmp_path, vectors, said):
    """Another shape, no rows, no columns, or anything but floats."""
    problem = refused(written(tmp_path, vectors, "abc"))
    assert said.replace("longdouble", str(np.dtype(np.longdouble))) in problem.what
    assert "float32" in problem.allowed


class Trap:
    """Says so if it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_never_loaded(tmp_path):
    """Neither an array of objects nor a bare pickle is opened."""
    argument = written(tmp_path, np.array([[Trap()]], dtype=object), "a")
    assert "not a .npy file of numbers" in refused(argument).what
    (tmp_path / "vectors.npy").write_bytes(pickle.dumps(Trap()))
    assert "not a .npy file of numbers" in refused(argument).what


def test_files_that_are_not_there_or_damaged_are_named(tmp_path):
    """No file, an empty one, one that is cut off, an archive, a folder; and no ids, or ids that are no text."""
    argument = written(tmp_path, np.eye(4), "abcd")
    path, ids = tmp_path / "vectors.npy", tmp_path / "vectors.ids.txt"
    whole = path.read_bytes()
    for content in (b"", whole[:20], whole[:-8]):
        path.write_bytes(content)
        assert refused(argument).where == str(path)
    with path.open("wb") as handle:
        np.savez(handle, np.eye(4))
    assert "not a .npy file" in refused(argument).what
    path.unlink()
    assert "no such file" in refused(argument).what
    path.mkdir()
    assert "no such file" in refused(argument).what
    path.rmdir()
    path.write_bytes(whole)
    ids.write_bytes(b"\xff\xfe")
    assert "cannot be read" in refused(argument).what
    ids.unlink()
    assert refused(argument).where == str(ids)


def test_ids_must_fit_the_rows(tmp_path):
    """Too few, too many, twice, or an empty line: the line is named."""
    assert "2 ids for 3 vectors" in refused(written(tmp_path, np.eye(3), "ab")).what
    assert "4 ids for 3 vectors" in refused(written(tmp_path, np.eye(3), "abcd")).what
    twice = refused(written(tmp_path, np.eye(3), "aba"))
    assert "'a' stands in line 1 already" in twice.what
    assert twice.where.endswith("vectors.ids.txt:3")
    assert refused(written(tmp_path, np.eye(3), ["a", "", "b"])).where.endswith(":2")


@pytest.mark.parametrize("argument", ["", "vectors", "vectors.npz", "a.npy+b.txt"])
def test_other_names_are_refused(argument):
    """What is no .npy file is refused with the two forms that there are."""
    assert "DOCUMENTS.npy+QUESTIONS.npy" in refused(argument).allowed


def test_the_file_is_not_read_into_memory(tmp_path):
    """Rows come from a map of the file."""
    model = vectors_file.load(written(tmp_path, np.eye(3), "abc"))
    assert isinstance(model._files["document"]._vectors, np.memmap)
