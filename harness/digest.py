"""Content digests and canonical JSON: the same meaning gives the same bytes, everywhere.

Digests are SHA-256 over a domain tag and canonical bytes, so that a digest of one kind of thing can never be
passed off as a digest of another. They are written ``sha256:<64 hex digits>``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def canonical_json(value: Any) -> str:
    """Canonical JSON text: sorted keys, no blanks, UTF-8 characters as they are, no NaN or infinity.

    In the manner of RFC 8785. Decimals become numbers by value, so ``0.92`` and ``0.920`` are one number, and
    so are ``1`` and ``1.0`` when both are decimals.

    Raises:
        ValueError: for NaN or infinity.
        TypeError: for a value that JSON does not know.
    """
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_bytes(domain: str, data: bytes) -> str:
    """Digest of ``data`` under the domain tag ``domain``."""
    state = hashlib.sha256(f"retrieval-harness/{domain}\n".encode())
    state.update(data)
    return f"sha256:{state.hexdigest()}"


def digest_json(domain: str, value: Any) -> str:
    """Digest of the canonical JSON of ``value``."""
    return digest_bytes(domain, canonical_json(value).encode())


def digest_rows(domain: str, rows: Iterable[Any]) -> str:
    """Digest of a sequence of plain values, one canonical JSON line each, read once and never held together.

    The values must be what JSON knows already (no decimals), because there may be a million of them.
    """
    state = hashlib.sha256(f"retrieval-harness/{domain}\n".encode())
    encode = json.JSONEncoder(
        sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
    ).encode
    for row in rows:
        state.update(encode(row).encode())
        state.update(b"\n")
    return f"sha256:{state.hexdigest()}"


def package_digest(domain: str, package: str) -> str:
    """Digest of the Python source of a package and its subpackages; equal ones certainly behave alike."""
    return source_digest(domain, resources.files(package))


def source_digest(domain: str, root: Traversable) -> str:
    """Digest of the Python source in a folder and below it."""

    def sources(folder: Traversable, prefix: str) -> Iterator[tuple[str, str]]:
        for entry in folder.iterdir():
            if entry.name.endswith(".py"):
                # line ends differ between checkouts, behaviour does not
                yield prefix + entry.name, digest_bytes("source/1", entry.read_bytes().replace(b"\r\n", b"\n"))
            elif entry.is_dir():
                yield from sources(entry, f"{prefix}{entry.name}/")

    return digest_json(domain, dict(sources(root, "")))


def file_sha256(path: Path) -> str:
    """Plain SHA-256 of a file's bytes in hex, as ``sha256sum`` prints it."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def short(digest: str) -> str:
    """The first twelve hex digits of a digest, for people to read; never for comparing."""
    return digest.removeprefix("sha256:")[:12]
