"""`sentence-transformers:MODEL_OR_FOLDER`: any model of that library (Reimers & Gurevych 2019), on the CPU.

A model is a folder, or a name such as ``BAAI/bge-small-en-v1.5``, with ``@REVISION`` after it where the newest is not
meant. A name is looked up among the models that are on this machine already: nothing is downloaded, and no code that
a model brings along is run.

One text at a time, since a text that shares a padded batch has other last bits than alone.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.digest import digest_json, file_sha256
from harness.errors import EnvironmentProblem, UsageProblem
from harness.retrieval import files
from harness.retrieval.embedding.embedder import Role, Vectors

_INSTALL = "pip install 'retrieval-harness[sentence-transformers]'"
_PROMPTS: dict[Role, tuple[str, ...]] = {"question": ("query",), "document": ("document", "passage", "corpus")}
_TOLD = 200  # characters of what the library says


class SentenceTransformer:
    """A model of the library, under our protocol.

    Args:
        name: as it was chosen.
        identity: what decides its vectors.
        model: an object of the library's class of the same name.
    """

    batch = 64

    def __init__(self, name: str, identity: dict[str, Any], model: Any) -> None:
        self.name = name
        self._model = model
        prompts = model.prompts or {}
        # the library's own default is left out: it would be put before questions and documents alike
        self._prompts = {
            role: next((prompts[kind] for kind in kinds if prompts.get(kind)), "") for role, kinds in _PROMPTS.items()
        }
        known = {"pooling": "sentence-transformers/1", "prompts": self._prompts, "longest": model.max_seq_length}
        self.digest = digest_json("embedder/1", known | identity)

    def worded(self, text: str, role: Role) -> str:
        """The text after the prompt that the model's settings name for its role, if they name one."""
        return self._prompts[role] + text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as they are worded; float32 (n, d).

        Raises:
            EnvironmentProblem: the library fails on one of them.
        """
        rows = []
        for text in texts:
            try:
                # an empty prompt, not none: for none the library takes its default
                found = self._model.encode([text], prompt="", batch_size=1, show_progress_bar=False)
            except (RuntimeError, ValueError, TypeError, IndexError) as error:
                what = f"{self.name} fails on a text of {len(text)} characters: {str(error)[:_TOLD]}"
                raise EnvironmentProblem(what, fix="try the model by itself, or choose another one") from None
            rows.append(np.asarray(found, dtype=np.float32)[0])
        return np.stack(rows)


def load(argument: str) -> SentenceTransformer:
    """Load a model by folder or name.

    Raises:
        UsageProblem: no model is named, or it leaves its prompt out of the mean.
        EnvironmentProblem: the library or the model is not on this machine, or the model cannot be read.
    """
    if not argument:
        what = "sentence-transformers: no model is named"
        raise UsageProblem(what, allowed="sentence-transformers:NAME[@REVISION], or :FOLDER", fix="name a model")
    if importlib.util.find_spec("sentence_transformers") is None:
        raise EnvironmentProblem("sentence-transformers is not installed", fix=_INSTALL)
    given = Path(argument).expanduser()
    folder = next((place for place in (files.root() / given, given) if place.is_dir()), None)
    if folder:
        identity: dict[str, Any] = {"files": _digests(folder)}
    else:
        repository, folder = _downloaded(argument)
        identity = {"model": repository, "revision": folder.name}
    model = _loaded(folder, argument)
    if any(getattr(module, "include_prompt", True) is False for module in model):
        what = f"{argument} leaves its prompt out of the mean, which cannot be done here"
        raise UsageProblem(what, where="embedding", fix="choose a model that takes its prompt as part of the text")
    return SentenceTransformer(f"sentence-transformers:{argument}", identity, model)


def _loaded(folder: Path, argument: str) -> Any:
    from sentence_transformers import SentenceTransformer as Theirs

    try:
        return Theirs(str(folder), device="cpu", local_files_only=True, trust_remote_code=False)
    except Exception as error:  # noqa: BLE001 - what a broken folder makes the library raise is not documented
        what = f"the model cannot be loaded: {str(error)[:_TOLD]}"
        raise EnvironmentProblem(what, where=argument, fix="try it with sentence-transformers by itself") from None


def _downloaded(argument: str) -> tuple[str, Path]:
    """The full name of a model, and the folder of its files in the hub's cache, named after its revision."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    name, _, revision = argument.partition("@")
    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        found = snapshot_download(repository, revision=revision or None, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError):
        what = "there is no such folder, and no such model on this machine"
        with_revision = f" --revision {revision}" if revision else ""
        fix = f"hf download {repository}{with_revision}, or give the model's folder"
        raise EnvironmentProblem(what, where=argument, fix=fix) from None
    return repository, Path(found)


def _digests(folder: Path) -> dict[str, str]:
    """Digests of a model's files; not of hidden ones and texts about it, which decide no vector."""
    names = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    kept = [name for name in names if name.suffix != ".md" and not any(part.startswith(".") for part in name.parts)]
    return {name.as_posix(): file_sha256(folder / name) for name in sorted(kept)}
