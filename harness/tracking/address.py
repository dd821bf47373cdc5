"""Where the mirror is: the workspace's own store, or the tracking server that the user named."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from harness.errors import UsageProblem

VARIABLE = "MLFLOW_TRACKING_URI"
_SQLITE = "sqlite:///"


@dataclass(frozen=True)
class Address:
    """Where runs are mirrored.

    Attributes:
        uri: as MLflow takes it.
        shown: as people are told, without a password.
        database: the store's file, absolute; None for a server.
        lock: lock file that a process holds while it writes there.
    """

    uri: str
    shown: str
    database: Path | None
    lock: Path

    def without_secrets(self, text: str) -> str:
        """``text`` without what the address says of user and password."""
        secret = urlsplit(self.uri).netloc.rpartition("@")[0]
        return text.replace(f"{secret}@", "").replace(secret, "…") if secret else text


def embedded(database: Path) -> Address:
    """The store in a file of its own."""
    place = database.resolve()
    return Address(f"{_SQLITE}{place}", str(place), place, place.with_name(f".{place.name}.lock"))


def address(database: Path) -> Address:
    """What the variable `MLFLOW_TRACKING_URI` says, or the workspace's own store.

    Args:
        database: the workspace's own store.

    Raises:
        UsageProblem: the variable names neither a server nor a sqlite file by its absolute path.
    """
    uri, own = os.environ.get(VARIABLE, "").strip(), embedded(database)
    if not uri:
        return own
    shown, is_server = _read(uri)
    if is_server:
        return Address(uri.rstrip("/"), shown, None, own.lock)
    path = Path(uri.removeprefix(_SQLITE))
    if uri.startswith(_SQLITE) and path.is_absolute():
        return embedded(path)
    folders, unread = "MLflow no longer keeps runs in plain folders", "the host or its port cannot be read"
    scheme, colon, _ = uri.partition(":")
    why = {
        "file": folders,
        "sqlite": "the path of a sqlite store must be absolute, with four slashes",
        "http": unread,
        "https": unread,
    }.get(scheme, "in front of any other store, start mlflow server" if colon else folders)
    raise UsageProblem(
        f"runs cannot be mirrored there: {why}",
        where=f"{VARIABLE}={shown}",
        allowed="http://HOST:PORT or https://HOST of an MLflow server, or sqlite:////ABSOLUTE/PATH.db",
        fix=f"correct it, or unset {VARIABLE}, which leaves the workspace's own store",
    )


def _read(uri: str) -> tuple[str, bool]:
    """An address as people may see it, and whether it is that of a server."""
    if uri.startswith("sqlite:"):
        return uri, False
    try:
        parts = urlsplit(uri)
        shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")).rstrip("/")
        return shown, parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets that are not closed
        return f"{uri.partition(':')[0]}:…", False
