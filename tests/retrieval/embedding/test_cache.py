import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from harness.errors import EnvironmentProblem, UsageProblem
from harness.retrieval.embedding.cache import cache_folder, embedded


class Counted:
    """A model that counts what it embeds: a text's vector is its length and its first letter."""

    name = "counted"
    digest = "sha256:" + "1" * 64
    batch = 2

    def __init__(self):
        self.asked = []

    def worded(self, text, role):
        """The text after its role."""
        return f"{role}: {text}"

    def embed(self, texts):
        """Length and first letter, and a note that it was asked."""
        self.asked += texts
        return np.array([[len(text), ord(text[-1])] for text in texts], dtype=np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def the_file() -> Path:
    """The only file of the cache."""
    (path,) = cache_folder().glob("*.sqlite")
    return path


def test_each_distinct_text_is_embedded_once():
    """Repeated in one call, in a later call and by another object, a text costs one embedding."""
    model = Counted()
    first = embedded(model, ["a", "b", "a", "c"], "document")
    assert model.asked == ["document: a", "document: b", "document: c"]
    assert first[0].tobytes() == first[2].tobytes()
    other = Counted()
    again = embedded(other, ["c", "a", "d"], "document")
    assert other.asked == ["document: d"]
    assert again[1].tobytes() == first[0].tobytes()


def test_a_question_and_a_document_are_worded_apart():
    """The text as the model sees it is what is kept."""
    model = Counted()
    embedded(model, ["a"], "document")
    embedded(model, ["a"], "question")
    assert model.asked == ["document: a", "question: a"]


def test_rows_have_unit_length_and_no_texts_have_no_rows():
    """What comes out is float32 of length 1, and nothing where nothing was asked."""
    rows = embedded(Counted(), ["a", "bcd"], "document")
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert len(embedded(Counted(), [], "document")) == 0


def test_progress_counts_what_is_missing():
    """The listener hears how many texts are embedded, and nothing where all are known."""
    heard = []

    class Listener:
        def __init__(self, *about):
            heard.append(about)

        def __enter__(self):
            return heard.append

        def __exit__(self, *_):
            return None

    embedded(Counted(), ["a", "b", "c"], "document", Listener)
    embedded(Counted(), ["a", "b"], "document", Listener)
    assert heard == [("embedding with counted", 3, "texts"), 2, 1]


def test_damaged_rows_are_embedded_again():
    """A row in which a bit was flipped gives the right vector, not another one."""
    before = embedded(Counted(), ["a", "b"], "document")
    with sqlite3.connect(the_file()) as cache:
        cache.execute("UPDATE vectors SET vector = zeroblob(8)")
    model = Counted()
    assert embedded(model, ["a", "b"], "document").tobytes() == before.tobytes()
    assert len(model.asked) == 2


def test_a_file_that_is_no_database_is_put_aside():
    """Overwritten or cut in the middle, the cache is begun anew, and the damaged file kept beside it."""
    before = embedded(Counted(), ["a", "b"], "document")
    for damage in (lambda _: b"not a database" * 100, lambda data: data[: len(data) // 2] + b"\xff" * 5000):
        the_file().write_bytes(damage(the_file().read_bytes()))
        assert embedded(Counted(), ["a", "b"], "document").tobytes() == before.tobytes()
    assert list(cache_folder().glob("*.damaged"))


def test_a_cache_of_another_model_is_refused():
    """A file that was renamed, so that it holds another model's vectors, is never read."""
    embedded(Counted(), ["a"], "document")
    other = Counted()
    other.digest = "sha256:" + "2" * 64
    the_file().rename(cache_folder() / f"vectors-{'2' * 32}.sqlite")
    with pytest.raises(UsageProblem, match="vectors of another model"):
        embedded(other, ["a"], "document")


def test_a_model_that_gives_nonsense_leaves_nothing_behind():
    """NaN is refused and not kept; vectors of two widths are refused."""
    model = Counted()
    model.embed = lambda texts: np.full((len(texts), 2), np.nan)
    with pytest.raises(UsageProblem, match="NaN"):
        embedded(model, ["a"], "document")
    embedded(Counted(), ["a"], "document")
    wider = Counted()
    wider.embed = lambda texts: np.ones((len(texts), 3))
    with pytest.raises(UsageProblem, match="several widths: 2, 3"):
        embedded(wider, ["a", "b"], "document")


def test_a_folder_that_cannot_be_used_is_named(tmp_path, monkeypatch):
    """Where the cache's folder is a file, the error names it and the variable that moves it."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(EnvironmentProblem, match="below"):
        embedded(Counted(), ["a"], "document")


SLOW = """
import os, sys, time
import numpy as np
from harness.retrieval.embedding.cache import embedded
class Slow:
    name, digest, batch = "slow", "sha256:" + "3" * 64, 1
    def worded(self, text, role):
        return text
    def embed(self, texts):
        with open(sys.argv[1], "a") as log:
            log.write("".join(f"{text}\\n" for text in texts))
        time.sleep(0.05)
        return np.array([[1.0, float(text)] for text in texts])
embedded(Slow(), [str(i) for i in range(20)], "document")
print("done")
"""


def started(log: Path) -> subprocess.Popen[str]:
    """A process that embeds slowly and logs what it is asked for."""
    return subprocess.Popen([sys.executable, "-c", SLOW, str(log)], stdout=subprocess.PIPE, text=True)


def test_workers_share_the_work(tmp_path):
    """Three processes that want the same texts at once embed each of them once."""
    log = tmp_path / "log"
    workers = [started(log) for _ in range(3)]
    assert [worker.communicate(timeout=60)[0] for worker in workers] == ["done\n"] * 3
    assert sorted(log.read_text().split(), key=int) == [str(i) for i in range(20)]


def test_a_killed_worker_loses_one_batch(tmp_path):
    """What was finished before the kill is not embedded again; what was under way is."""
    log = tmp_path / "log"
    worker = started(log)
    while not log.exists() or len(log.read_text().split()) < 5:
        assert worker.poll() is None
    os.kill(worker.pid, signal.SIGKILL)
    worker.wait()
    before = log.read_text().split()
    assert started(log).communicate(timeout=60)[0] == "done\n"
    twice = len(log.read_text().split()) - 20
    assert 0 <= twice <= 1
    assert len(before) < 20


def test_threads_share_the_work():
    """Threads of one process that want the same texts embed each of them once."""
    model = Counted()
    threads = [threading.Thread(target=embedded, args=(model, list("abcdef"), "document")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(model.asked) == [f"document: {letter}" for letter in "abcdef"]
