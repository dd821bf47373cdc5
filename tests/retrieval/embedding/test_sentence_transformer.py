"""What holds without torch: which model is meant, what is refused, and that nothing is downloaded.

The library itself is stood in for by a small package of the same name, since it brings two gigabytes along.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import EnvironmentProblem, UsageProblem
from harness.retrieval import files
from harness.retrieval.embedding.models import embedder

LIBRARY = '''
class Module:
    """A part of a model."""
    include_prompt = True

class SentenceTransformer:
    """Says how it was made; a text's vector is its length and the number of texts beside it."""
    prompts = {"query": "Q: ", "passage": "P: "}
    max_seq_length = 7

    def __init__(self, folder, **given):
        if (self_settings := open(folder + "/config.json").read()) == "broken":
            raise KeyError("no such architecture " * 50)
        self.folder, self.given, self.modules = folder, given, [Module()]
        self.modules[0].include_prompt = self_settings != "leaves it out"

    def __iter__(self):
        return iter(self.modules)

    def encode(self, texts, prompt, batch_size, show_progress_bar):
        assert prompt == "" and not show_progress_bar
        if "?" in texts[0]:
            raise RuntimeError("cannot be read")
        return [[float(len(text)), float(len(texts))] for text in texts]
'''

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Something by the library's name, and a hub's cache of the test's own; gives the folder of that cache."""
    package = tmp_path / "library" / "sentence_transformers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delitem(sys.modules, "sentence_transformers", raising=False)
    hub = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(hub))
    embedder.cache_clear()
    yield hub
    sys.modules.pop("sentence_transformers", None)
    embedder.cache_clear()


def model_folder(path: Path, config: str = "{}") -> Path:
    """A folder with the files of a model."""
    path.mkdir(parents=True)
    (path / "config.json").write_text(config)
    (path / "model.safetensors").write_bytes(b"weights")
    return path


def in_hub(hub: Path, repository: str) -> Path:
    """A model as the hub's cache keeps it."""
    home = hub / f"models--{repository.replace('/', '--')}"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(REVISION)
    return model_folder(home / "snapshots" / REVISION)


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch):
    """Where it is not installed, the error says what to type."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EnvironmentProblem, match="sentence-transformers is not installed") as caught:
        embedder("sentence-transformers:all-MiniLM-L6-v2")
    assert caught.value.fix == "pip install 'retrieval-harness[sentence-transformers]'"


@pytest.mark.parametrize("name", ["sentence-transformers", "sentence-transformers:"])
def test_a_model_must_be_named(name):
    """The library alone is no model."""
    with pytest.raises(UsageProblem, match="no model is named"):
        embedder(name)


@pytest.mark.parametrize("argument", ["no/such", "nosuch", "./no/such/folder", "a/b@main", "/no/such/folder", "a--b"])
def test_a_model_that_is_not_here_is_not_downloaded(library, tmp_path, argument):
    """Where there is neither folder nor model, no socket is opened, and the error says how to fetch it."""
    program = f"""
import sys
def forbid(event, arguments):
    if event.startswith("socket."):
        raise SystemExit("a socket: " + event)
sys.addaudithook(forbid)
from harness.errors import EnvironmentProblem
from harness.retrieval.embedding.models import embedder
try:
    embedder("sentence-transformers:{argument}")
except EnvironmentProblem as problem:
    print(problem)
"""
    empty = tmp_path / "empty"
    empty.mkdir()
    place = {"PYTHONPATH": str(library.parent / "library"), "HF_HUB_CACHE": str(library)}
    environment = {**os.environ, **place}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, cwd=empty)
    assert (done.returncode, done.stderr) == (0, "")
    assert "no such folder, and no such model on this machine" in done.stdout
    assert "hf download" in done.stdout


@pytest.mark.usefixtures("library")
def test_a_folder_is_loaded_without_network_and_without_its_code(tmp_path):
    """The library is told to stay on this machine, on the CPU, and to run nothing that the model brings along."""
    folder = model_folder(tmp_path / "mine")
    theirs = embedder(f"sentence-transformers:{folder}")._model
    assert theirs.folder == str(folder)
    assert theirs.given == {"device": "cpu", "local_files_only": True, "trust_remote_code": False}


@pytest.mark.usefixtures("library")
def test_a_folder_is_found_from_the_workspace(tmp_path, monkeypatch):
    """A relative path is one below the workspace, wherever the command is typed."""
    folder = model_folder(tmp_path / "workspace" / "models" / "mine")
    monkeypatch.setattr(files, "_below", [tmp_path / "workspace"])
    assert embedder("sentence-transformers:models/mine")._model.folder == str(folder)


def test_a_name_means_the_model_in_the_hubs_cache(library):
    """A name without an owner is one of sentence-transformers' own; a revision may follow."""
    folder = in_hub(library, "sentence-transformers/toy")
    for name in ("toy", "sentence-transformers/toy", f"toy@{REVISION}", "toy@main"):
        assert embedder(f"sentence-transformers:{name}")._model.folder == str(folder)
    digests = {embedder(f"sentence-transformers:{name}").digest for name in ("toy", f"toy@{REVISION}", "toy@main")}
    assert len(digests) == 1


@pytest.mark.usefixtures("library")
def test_the_digest_is_of_the_files_that_decide_a_vector(tmp_path):
    """A copy elsewhere is the same model, with other notes too; other weights are another one."""
    one = embedder(f"sentence-transformers:{model_folder(tmp_path / 'a')}").digest
    copy = model_folder(tmp_path / "b")
    (copy / "README.md").write_text("about it")
    (copy / ".cache").mkdir()
    (copy / ".cache" / "lock").write_text("")
    assert embedder(f"sentence-transformers:{copy}").digest == one
    (copy / "model.safetensors").write_bytes(b"Weights")
    embedder.cache_clear()
    assert embedder(f"sentence-transformers:{copy}").digest != one


@pytest.mark.usefixtures("library")
def test_texts_are_embedded_one_by_one_after_the_prompt_of_their_role(tmp_path):
    """What the model's settings name for questions and documents is put before them, and nothing else."""
    model = embedder(f"sentence-transformers:{model_folder(tmp_path / 'mine')}")
    assert (model.worded("a", "question"), model.worded("a", "document")) == ("Q: a", "P: a")
    found = model.embed(["a", "bbb"])
    assert found.dtype == np.float32
    assert found.tolist() == [[1, 1], [3, 1]]


@pytest.mark.usefixtures("library")
def test_a_model_that_leaves_its_prompt_out_of_the_mean_is_refused(tmp_path):
    """Its vectors cannot be had from the text with the prompt before it."""
    with pytest.raises(UsageProblem, match="leaves its prompt out of the mean"):
        embedder(f"sentence-transformers:{model_folder(tmp_path / 'mine', 'leaves it out')}")


@pytest.mark.usefixtures("library")
def test_what_the_library_raises_becomes_one_short_error(tmp_path):
    """A folder that it cannot load and a text on which it fails are named, without the library's traceback."""
    with pytest.raises(EnvironmentProblem, match=r"cannot be loaded: .*no such architecture") as caught:
        embedder(f"sentence-transformers:{model_folder(tmp_path / 'broken', 'broken')}")
    assert len(caught.value.what) < 300
    with pytest.raises(EnvironmentProblem, match="fails on a text of 4 characters: cannot be read"):
        embedder(f"sentence-transformers:{model_folder(tmp_path / 'mine')}").embed(["why?"])
