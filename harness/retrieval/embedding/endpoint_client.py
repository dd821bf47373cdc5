"""Asks an HTTP endpoint with JSON, patiently but not for ever: retries, time limits, and what it said when it fails."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from harness.errors import EnvironmentProblem

if TYPE_CHECKING:
    import httpx2

INSTALL = "pip install 'retrieval-harness[endpoint]'"

_LARGEST = 512_000_000  # bytes of one answer
_TOLD = 300  # characters of what a server says
_READ_OF_ERROR = 100_000  # bytes of an error in which a message is looked for
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_FINAL = frozenset({"insufficient_quota"})  # comes as "too many requests", and no waiting helps
_FIRST_ERROR, _FIRST_SERVER_ERROR = HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR


@dataclass(frozen=True)
class Patience:
    """How long to wait for an answer, and how often to ask.

    Attributes:
        connect, quiet, whole: seconds until a connection stands, between two pieces of an answer, for all of it. A
            server on a slow machine is quiet for as long as it embeds a batch.
        waits: seconds before the second try, the third, and so on; there is one try more than waits.
        longest: the most seconds that a server may ask for with ``Retry-After``.
        sleep: what waits.
    """

    connect: float = 10.0
    quiet: float = 120.0
    whole: float = 300.0
    waits: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)
    longest: float = 120.0
    sleep: Callable[[float], None] = time.sleep


class _TryAgain(Exception):
    def __init__(self, what: str, said: str = "", after: float = 0.0) -> None:
        super().__init__(what)
        self.what, self.said, self.after = what, said, after


class Client:
    """Posts JSON to one address.

    Args:
        url: the address; it is named in every error.
        key: sent as a bearer token where there is one, and struck out of everything that a server says.
        patience: when to give up.

    Raises:
        EnvironmentProblem: the HTTP library is not installed or cannot be set up, or the key is no word.
    """

    def __init__(self, url: str, key: str, patience: Patience) -> None:
        try:
            import httpx2
        except ImportError:
            raise EnvironmentProblem("endpoints need a package that is not installed", fix=INSTALL) from None
        if not (key.isascii() and key.isprintable()) or " " in key:
            what = "OPENAI_API_KEY holds blanks or characters that no key has"
            raise EnvironmentProblem(what, fix="set it again, without line ends")
        self.url, self._key, self._patience = url, key, patience
        self._answered = False
        limits = httpx2.Timeout(patience.quiet, connect=patience.connect)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        try:
            # no redirects: the key goes where the user said, and nowhere else
            self._http = httpx2.Client(headers=headers, timeout=limits, follow_redirects=False)
        except (OSError, ValueError, ImportError) as error:
            what = "a proxy or a file of certificates that the environment names cannot be used"
            raise self.problem(what, "check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE", str(error)) from None

    def post(self, body: Mapping[str, Any]) -> Any:
        """The answer to one question, decoded.

        Raises:
            EnvironmentProblem: it refuses the question, or gives no answer however often it is asked.
        """
        content = json.dumps(body).encode()
        for attempt, wait in enumerate((*self._patience.waits, None), start=1):
            try:
                return self._once(content)
            except _TryAgain as problem:
                if wait is None or problem.after > self._patience.longest:
                    raise self._given_up(problem, attempt) from None
                self._patience.sleep(max(wait, problem.after))
        raise AssertionError("the last try returns or raises")

    def problem(self, what: str, fix: str, said: str = "") -> EnvironmentProblem:
        """An error about this address.

        Args:
            what: what is wrong, in our words.
            fix: what to do.
            said: what the server or the library says of it, as a whole: the key is struck out before it is cut.
        """
        shown = (said.replace(self._key, "(the key)") if self._key else said)[:_TOLD]
        return EnvironmentProblem(f"{what}: {shown}" if shown else what, where=self.url, fix=fix)

    def _once(self, content: bytes) -> Any:
        import httpx2

        headers = {"content-type": "application/json"}
        end = time.monotonic() + self._patience.whole
        try:
            with self._http.stream("POST", self.url, content=content, headers=headers) as answer:
                self._answered = True
                parts, size = [], 0
                for part in answer.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if time.monotonic() > end:
                        raise _TryAgain(f"no whole answer within {self._patience.whole:g} seconds")
                    if size > _LARGEST:
                        raise self.problem(f"an answer of more than {_LARGEST} bytes", "check the address")
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            said = str(error) or type(error).__name__
            if isinstance(error, httpx2.ConnectError) and not self._answered:
                # a wrong address is likelier than a server that is just about to come up
                raise self.problem("nothing answers there", "start the server, or mend the address", said) from None
            raise _TryAgain("no answer", said) from None
        except (httpx2.InvalidURL, UnicodeError) as error:
            raise self.problem("no address that can be asked", "mend the address", str(error)) from None
        return self._read(answer, b"".join(parts))

    def _read(self, answer: httpx2.Response, body: bytes) -> Any:
        status = answer.status_code
        if status == HTTPStatus.OK:
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                fix = "check that the address ends where /embeddings follows"
                raise self.problem("an answer that is no JSON", fix, _start(body)) from None
        message, code = _message(body)
        what = f"it answers {status}"
        if (status in _PASSING or status >= _FIRST_SERVER_ERROR) and code not in _FINAL:
            raise _TryAgain(what, message, _seconds(answer.headers.get("retry-after", "")))
        raise self.problem(what, _mend(status), message)

    def _given_up(self, problem: _TryAgain, tries: int) -> EnvironmentProblem:
        count = f"{tries} {'try' if tries == 1 else 'tries'}"
        if problem.after > self._patience.longest:
            what = f"given up after {count}, since it asks to wait {problem.after:g} seconds: {problem.what}"
        else:
            what = f"given up after {count}: {problem.what}"
        fix = "see that it runs and can be reached, then try again: what was finished is kept"
        return self.problem(what, fix, problem.said)


def _mend(status: int) -> str:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "set OPENAI_API_KEY to a key that it knows, and OPENAI_BASE_URL to where it may go if that is not OpenAI"
    if status == HTTPStatus.NOT_FOUND:
        return "check the address and the name of the model: openai:MODEL@URL"
    if status < _FIRST_ERROR:
        return "give the address that it points to"
    return "change what it objects to, or choose another model"


def _message(body: bytes) -> tuple[str, str]:
    """What a server says of an error, and its code for it, in any of the usual shapes."""
    try:
        found = json.loads(body[:_READ_OF_ERROR])
    except (ValueError, RecursionError):
        return _start(body), ""
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict):
        return str(error.get("message") or error.get("detail") or error), str(error.get("code") or "")
    return str(error), ""


def _start(body: bytes) -> str:
    return " ".join(body[:_READ_OF_ERROR].decode("utf-8", "replace").split())


def _seconds(asked: str) -> float:
    """Seconds of a ``Retry-After``, which is a number or a date (RFC 9110, 10.2.3); 0 where it is neither."""
    if asked.strip().isdecimal():
        return float(asked)
    try:
        date = parsedate_to_datetime(asked)
        # a date without a zone is in UTC
        return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return 0.0
