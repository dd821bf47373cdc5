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
_PASSING = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
_FINAL = frozenset({"insufficient_quota"})  # comes as "too many requests", and no waiting helps
_FIRST_ERROR, _FIRST_SERVER_ERROR = HTTPStatus.BAD_REQUEST, HTTPStatus.INTERNAL_SERVER_ERROR


@dataclass(frozen=True)
class Patience:
    """How long to wait for an answer, and how often to ask.

    Attributes:
        connect, quiet, whole: seconds until a connection stands, between two pieces of an answer, for all of it.
        waits: seconds before the second try, the third, and so on; there is one try more than waits.
        longest: the most seconds that a server may ask for with ``Retry-After``.
        sleep: what waits.
    """

    connect: float = 10.0
    quiet: float = 60.0
    whole: float = 300.0
    waits: tuple[float, ...] = (1.0, 2.0, 4.0, 8.0, 16.0)
    longest: float = 120.0
    sleep: Callable[[float], None] = time.sleep


class _TryAgain(Exception):
    def __init__(self, what: str, after: float | None = None) -> None:
        super().__init__(what)
        self.what, self.after = what, after


class Client:
    """Posts JSON to one address.

    Args:
        url: the address; it is named in every error.
        key: sent as a bearer token where there is one, and struck out of everything that is shown.
        patience: when to give up.

    Raises:
        EnvironmentProblem: the HTTP library is not installed, or the key is no word.
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
        limits = httpx2.Timeout(patience.quiet, connect=patience.connect)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        # no redirects: the key goes where the user said, and nowhere else
        self._http = httpx2.Client(headers=headers, timeout=limits, follow_redirects=False)
        self._failures: tuple[type[Exception], ...] = (httpx2.HTTPError, httpx2.InvalidURL)

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
                asked = problem.after or 0.0
                if wait is None or asked > self._patience.longest:
                    raise self._given_up(problem, attempt) from None
                self._patience.sleep(max(wait, asked))
        raise AssertionError("the last try returns or raises")

    def problem(self, what: str, fix: str) -> EnvironmentProblem:
        """An error about this address, without the key."""
        shown = what.replace(self._key, "(the key)") if self._key else what
        return EnvironmentProblem(shown, where=self.url, fix=fix)

    def _once(self, content: bytes) -> Any:
        headers = {"content-type": "application/json"}
        end = time.monotonic() + self._patience.whole
        try:
            with self._http.stream("POST", self.url, content=content, headers=headers) as answer:
                parts, size = [], 0
                for part in answer.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if time.monotonic() > end:
                        raise _TryAgain(f"no whole answer within {self._patience.whole:g} seconds")
                    if size > _LARGEST:
                        raise self.problem(f"an answer of more than {_LARGEST} bytes", "check the address")
        except self._failures as error:
            raise _TryAgain(f"no answer ({type(error).__name__}: {error})") from None
        return self._read(answer, b"".join(parts))

    def _read(self, answer: httpx2.Response, body: bytes) -> Any:
        status = answer.status_code
        if status == HTTPStatus.OK:
            try:
                return json.loads(body)
            except (ValueError, RecursionError):
                what = f"an answer that is no JSON: {_start(body)}"
                raise self.problem(what, "check that the address ends where /embeddings follows") from None
        message, code = _message(body)
        said = f"it answers {status}" + (f": {message}" if message else "")
        if (status in _PASSING or status >= _FIRST_SERVER_ERROR) and code not in _FINAL:
            raise _TryAgain(said, _seconds(answer.headers.get("retry-after", "")))
        raise self.problem(said, _mend(status))

    def _given_up(self, problem: _TryAgain, tries: int) -> EnvironmentProblem:
        what = f"{problem.what}; given up after {tries} {'try' if tries == 1 else 'tries'}"
        if (problem.after or 0.0) > self._patience.longest:
            what += f": it asks to wait {problem.after:g} seconds"
        fix = "see that it runs and can be reached, then try again: what was finished is kept"
        return self.problem(what, fix)


def _mend(status: int) -> str:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "set OPENAI_API_KEY to a key that it knows"
    if status == HTTPStatus.NOT_FOUND:
        return "check the address and the model's name: embedding=openai:MODEL@URL"
    if status < _FIRST_ERROR:
        return "give the address that it points to"
    return "change what it objects to"


def _message(body: bytes) -> tuple[str, str]:
    """What a server says of an error, and its code for it, in any of the usual shapes."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return _start(body), ""
    if not isinstance(found, dict):
        return _start(body), ""
    error = found.get("error", found)
    if isinstance(error, dict):
        said = error.get("message") or error.get("detail") or error
        return str(said)[:_TOLD], str(error.get("code") or "")
    return str(error)[:_TOLD], ""


def _start(body: bytes) -> str:
    return " ".join(body[:_TOLD].decode("utf-8", "replace").split())


def _seconds(asked: str) -> float | None:
    """Seconds of a ``Retry-After``, which is a number or a date (RFC 9110, 10.2.3); None where it is neither."""
    if asked.strip().isdecimal():
        return float(asked)
    try:
        date = parsedate_to_datetime(asked)
    except ValueError:
        return None
    # a date without a zone is in UTC
    return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())
