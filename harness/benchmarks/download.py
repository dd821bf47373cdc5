"""Takes one file from an address, whatever the network does: the pinned bytes, or one clear error.

Never more than the pinned number of bytes and one is held, and all of it in memory. The address may be anybody's;
what is handed on is what was pinned.
"""

from __future__ import annotations

import hashlib
import ipaddress
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem

if TYPE_CHECKING:
    from http.client import HTTPResponse
    from urllib.request import OpenerDirector, Request


@dataclass(frozen=True)
class Published:
    """A file that somebody published.

    Attributes:
        name: what it is called, and the name under which it is kept in a folder.
        variant: which release it is.
        url: its address.
        sha256, size: its digest in hex and its number of bytes.
        license: the licence of the data.
        use: the command that reads it; ``FILE`` stands for its path.
    """

    name: str
    variant: str
    url: str
    sha256: str
    size: int
    license: str
    use: str

    def command(self, path: Path) -> str:
        """The command that reads the file at ``path``."""
        return self.use.replace("FILE", shlex.quote(str(path)))


@dataclass(frozen=True)
class Patience:
    """How long to wait, and how often to ask.

    Attributes:
        quiet: seconds until a connection stands, and between two pieces of the file.
        whole: seconds for the whole file.
        waits: seconds before the second try, the third, and so on; there is one try more than waits.
        sleep: what waits.
    """

    quiet: float = 15.0
    whole: float = 600.0
    waits: tuple[float, ...] = (1.0, 4.0)
    sleep: Callable[[float], None] = time.sleep


Arrived = Callable[[int], None]
"""Told how many bytes have just come; a negative number takes back those of a try that failed."""

_PIECE = 1 << 16
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_FIRST_SERVER_ERROR = HTTPStatus.INTERNAL_SERVER_ERROR


class _TryAgain(Exception):
    """What went wrong, and may go right the next time."""


def check_address(url: str) -> str:
    """An address that can be asked: http or https, without a password.

    Raises:
        UsageProblem: it is none.
    """
    what, fix = "", "give the address of a copy of the file"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        what = f"no address: {error}"  # which may hold a password
    else:
        if parts.username is not None:  # it would be shown in messages
            what, fix = "an address with a user name", "leave it out"
        elif parts.scheme not in ("http", "https") or not parts.hostname:
            what = f"no address of a file: {url!r}"
        elif not (url.isascii() and url.isprintable()) or " " in url:
            what, fix = f"blanks or characters that no address has: {url!r}", "write them as %XX"
    if what:
        raise UsageProblem(what, where="--url", allowed="https://HOST/PATH, or http", fix=fix)
    return url


def on_this_machine(url: str) -> bool:
    """Whether an address is one of this machine alone."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Download:
    """One file from one address, asked for as often as patience allows."""

    def __init__(self, published: Published, url: str, path: Path, patience: Patience, arrived: Arrived) -> None:
        self._published, self._url, self._patience, self._arrived = published, url, patience, arrived
        what = "it" if url == published.url else published.url
        self._by_hand = f"download {what} in another way, then: {published.command(path)}"

    def data(self) -> bytes:
        """The file's bytes, checked."""
        opener = _opener(self._url)
        for attempt, wait in enumerate((*self._patience.waits, None), start=1):
            try:
                data = self._once(opener)
                break
            except _TryAgain as problem:
                if wait is None:
                    raise self._problem(f"{problem}; given up after {attempt} tries") from None
                self._patience.sleep(wait)
        found = hashlib.sha256(data).hexdigest()
        if found != self._published.sha256:
            raise self._other(f"{len(data)} bytes, sha256 {found}")
        return data

    def _once(self, opener: OpenerDirector) -> bytes:
        import http.client
        import urllib.request

        request = urllib.request.Request(self._url, headers={"User-Agent": "retrieval-harness"})  # noqa: S310 - checked
        parts: list[bytes] = []
        try:
            with opener.open(request, timeout=self._patience.quiet) as answer:
                self._read(answer, parts)
        except (OSError, http.client.HTTPException, _TryAgain) as error:
            self._arrived(-sum(map(len, parts)))
            raise self._refined(error) from None
        return b"".join(parts)

    def _read(self, answer: HTTPResponse, parts: list[bytes]) -> None:
        """Take in the body, piece by piece; never more than a byte over what the file has."""
        size = self._published.size
        announced = answer.length
        if announced is not None and announced > size:
            raise self._other(f"{announced} bytes")
        end = time.monotonic() + self._patience.whole
        count = 0
        while piece := answer.read1(min(_PIECE, size + 1 - count)):
            parts.append(piece)
            count += len(piece)
            self._arrived(len(piece))
            if count > size:
                raise self._other(f"more than {size} bytes")
            if time.monotonic() > end:
                raise self._problem(f"not here after {self._patience.whole:g} seconds ({count} of {size} bytes)")
        whole = answer.chunked if announced is None else count == announced
        if count < size and not whole:
            raise _TryAgain(f"the transfer ended after {count} of {announced or size} bytes")

    def _refined(self, error: Exception) -> Exception:
        """What a failure means: worth another try, or the end."""
        import http.client
        import ssl
        import urllib.error

        if isinstance(error, _TryAgain):
            return error
        if isinstance(error, urllib.error.HTTPError):
            error.close()
            said = f"the server answers {error.code} {error.reason}".rstrip()
            if error.code in _PASSING or error.code >= _FIRST_SERVER_ERROR:
                return _TryAgain(said)
            return self._problem(said)
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, _RefusedError):
            return self._problem(str(cause))
        if isinstance(cause, ssl.SSLCertVerificationError):
            fix = "SSL_CERT_FILE=FILE names the certificates of a network that puts in its own; or "
            return self._problem(f"its certificate is not trusted: {cause.verify_message}", fix)
        if isinstance(cause, TimeoutError):
            return _TryAgain(f"no answer within {self._patience.quiet:g} seconds")
        if isinstance(cause, ConnectionResetError | ConnectionAbortedError | http.client.HTTPException):
            return _TryAgain(f"the connection broke ({type(cause).__name__})")
        said = (cause.strerror if isinstance(cause, OSError) else "") or str(cause)
        fix = "see that this machine reaches it (https_proxy names a proxy); or "
        return self._problem(f"no connection: {said}", fix)

    def _problem(self, what: str, fix: str = "try again later; or ") -> EnvironmentProblem:
        return EnvironmentProblem(what, where=self._url, fix=fix + self._by_hand)

    def _other(self, found: str) -> IntegrityProblem:
        what = f"this is not {self._published.name} of {self._published.variant}: {found}; nothing was kept"
        allowed = f"{self._published.size} bytes, sha256 {self._published.sha256}"
        fix = "check whether something on the way (a proxy, a sign-in page) answers instead; or "
        return IntegrityProblem(what, where=self._url, allowed=allowed, fix=fix + self._by_hand)


class _RefusedError(OSError):
    """A redirect that is not followed."""


def _opener(url: str) -> OpenerDirector:
    """What opens addresses: proxies as the environment says, redirects to https only.

    From an address on this machine, redirects may stay on this machine.
    """
    import urllib.request
    from http.client import HTTPMessage
    from typing import IO

    class Redirects(urllib.request.HTTPRedirectHandler):
        def redirect_request(
            self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
        ) -> Request | None:
            inside = on_this_machine(newurl)
            if not (on_this_machine(url) if inside else urlsplit(newurl).scheme == "https"):
                fp.close()
                raise _RefusedError(f"it points to {newurl}; only https is followed, and never to this machine")
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    return urllib.request.build_opener(Redirects)
