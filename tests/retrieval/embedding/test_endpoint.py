"""Against a real HTTP server on loopback that answers as each test says."""

from __future__ import annotations

import contextlib
import http.server
import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.errors import EnvironmentProblem, UsageProblem
from harness.retrieval.embedding.cache import cache_folder, embedded
from harness.retrieval.embedding.endpoint import PROBE, Endpoint, load
from harness.retrieval.embedding.endpoint_client import Patience
from harness.retrieval.embedding.models import embedder
from harness.retrieval.registry import select
from harness.retrieval.version import Store

Answer = Callable[["Handler", list[str]], None]
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Server(http.server.ThreadingHTTPServer):
    """An embedding endpoint.

    Attributes:
        asked: the texts of every request, in order.
        headers: the headers of every request.
        bodies: the decoded body of every request.
        next: how the next requests are answered; then well again, or as ``always`` says.
        released: set at the end, so that nobody who waits for it waits longer.
        open_connections: every connection there was.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[list[str]] = []
        self.headers: list[Mapping[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.next: deque[Answer] = deque()
        self.always: Answer = well
        self.vectors: Callable[[list[str]], list[list[float]]] = plain_vectors
        self.released = threading.Event()
        self.open_connections: list[socket.socket] = []

    @property
    def url(self) -> str:
        """What stands before ``/embeddings``."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def get_request(self) -> tuple[socket.socket, Any]:
        """Note each connection, so that a test can end it."""
        connection, address = super().get_request()
        self.open_connections.append(connection)
        return connection, address

    def handle_error(self, *_: Any) -> None:
        """Say nothing of clients that hang up."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Notes what is asked and answers by script."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """One request."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body["input"])
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.bodies.append({**body, "path": self.path})
        answer = self.server.next.popleft() if self.server.next else self.server.always
        answer(self, body["input"])

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def give(self, content: bytes, status: int = 200, **headers: str) -> None:
        """A whole answer."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def plain_vectors(texts: list[str]) -> list[list[float]]:
    """Three numbers that tell texts apart."""
    return [[float(len(text)), float(sum(map(ord, text)) % 1009), 1.0] for text in texts]


def items(vectors: list[Any]) -> list[dict[str, Any]]:
    """Vectors as the protocol writes them."""
    return [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]


def well(handler: Handler, texts: list[str]) -> None:
    """The right answer."""
    data = items(handler.server.vectors(texts))
    handler.give(json.dumps({"object": "list", "data": data, "model": "toy"}).encode())


def saying(value: Any, **headers: str) -> Answer:
    """This JSON value, with status 200."""
    return lambda handler, _: handler.give(json.dumps(value).encode(), **headers)


def failing(status: int, value: Any = None, **headers: str) -> Answer:
    """This status, and this JSON value or text as its body."""
    content = value.encode() if isinstance(value, str) else json.dumps(value).encode() if value else b""
    return lambda handler, _: handler.give(content, status, **headers)


def silent(handler: Handler, _: list[str]) -> None:
    """No answer as long as the test lasts."""
    handler.server.released.wait()
    handler.close_connection = True


def cut(handler: Handler, _: list[str]) -> None:
    """The beginning of an answer, and then the connection ends."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True


def dripping(handler: Handler, _: list[str]) -> None:
    """An answer that is never quiet and never ends."""
    handler.send_response(200)
    handler.send_header("content-length", "1000000000")
    handler.end_headers()
    while not handler.server.released.wait(0.01):
        handler.wfile.write(b" ")


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server that answers well until it is told otherwise, and stops at the end."""
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield one
        finally:
            one.released.set()
            one.shutdown()
            thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """One such server, an empty cache, and no key or proxy of the user's."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", *PROXIES, *(name.lower() for name in PROXIES)):
        monkeypatch.delenv(name, raising=False)
    with running() as one:
        yield one


KEY = "sk-proj-4Qz7Xv9LmT2pR8wK"
"""A key that no other text holds."""


def patience(slept: list[float] | None = None, **changed: Any) -> Patience:
    """Patience that notes its waits instead of waiting."""
    noted: list[float] = [] if slept is None else slept
    return Patience(**{"waits": (1.0, 2.0, 4.0), "sleep": noted.append, **changed})


def endpoint(server: Server, key: str = "", slept: list[float] | None = None, **changed: Any) -> Endpoint:
    """A model behind the server."""
    return Endpoint("toy", server.url, key, patience(slept, **changed))


def refused(model: Endpoint, texts: Sequence[str] = ("a", "bb")) -> EnvironmentProblem:
    """The error with which these texts are not embedded."""
    with pytest.raises(EnvironmentProblem) as caught:
        model.embed(texts)
    return caught.value


def test_a_good_answer_is_taken_as_it_is(server):
    """One vector a text, float32, asked for by model and as numbers, under the path of the protocol."""
    found = endpoint(server).embed(["a", "bb"])
    assert found.dtype == np.float32
    assert found.tolist() == plain_vectors(["a", "bb"])
    assert server.asked == [[PROBE], ["a", "bb"]]
    body = server.bodies[1]
    assert (body["model"], body["encoding_format"], body["path"]) == ("toy", "float", "/v1/embeddings")


def test_the_key_is_sent_where_there_is_one(server):
    """As a bearer token; without a key there is no such header."""
    endpoint(server, KEY).embed(["a"])
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    server.headers.clear()
    endpoint(server).embed(["a"])
    assert not any("authorization" in headers for headers in server.headers)


def test_many_texts_are_asked_for_in_batches_and_in_order(server):
    """A hundred texts take four requests; each text has its own vector, of unit length."""
    texts = [f"text {number} {'x' * (number % 7)}" for number in range(100)]
    found = embedded(endpoint(server), texts, "document")
    assert [len(asked) for asked in server.asked] == [1, 32, 32, 32, 4]
    assert [text for asked in server.asked[1:] for text in asked] == texts
    wanted = np.array(plain_vectors(texts))
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


def test_answers_are_ordered_by_their_index(server):
    """Where the vectors come in another order than the texts, their numbers count."""
    turned = items(plain_vectors(["a", "bb", "ccc"]))[::-1]
    server.next.extend([well, saying({"data": turned})])
    assert endpoint(server).embed(["a", "bb", "ccc"]).tolist() == plain_vectors(["a", "bb", "ccc"])


def test_the_empty_text_is_not_sent(server):
    """Endpoints refuse it: it has the zero row, and its neighbours their own."""
    found = endpoint(server).embed(["a", "", "bb"])
    assert server.asked[1] == ["a", "bb"]
    assert found.tolist() == [plain_vectors(["a"])[0], [0, 0, 0], plain_vectors(["bb"])[0]]


def test_a_zero_vector_stays_zero(server):
    """A text in which the model knows nothing has no direction."""
    server.vectors = lambda texts: [[0.0, 0.0] if text == "?" else [3.0, 4.0] for text in texts]
    found = embedded(endpoint(server), ["?", "a"], "document")
    np.testing.assert_allclose(found, [[0, 0], [0.6, 0.8]], atol=1e-7)


def test_a_model_that_knows_nothing_at_all_is_refused(server):
    """Zeros for a plain sentence are no sign of a model."""
    server.vectors = lambda texts: [[0.0, 0.0] for _ in texts]
    assert "zeros for a plain English sentence" in refused(endpoint(server)).what


UNUSABLE = {
    "no object": ([1, 2], "no list of vectors, but [1, 2]"),
    "an error with status 200": ({"error": "no such model"}, "no list of vectors, but {'error': 'no such model'}"),
    "data is no list": ({"data": {"0": [1, 2]}}, "no list of vectors"),
    "bare vectors": ({"data": [[1, 2], [3, 4]]}, "no list of vectors"),
    "one too few": ({"data": items([[1, 2]])}, "1 vectors for 2 texts"),
    "one too many": ({"data": items([[1, 2]] * 3)}, "3 vectors for 2 texts"),
    "none": ({"data": []}, "0 vectors for 2 texts"),
    "no numbers": ({"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}, "not numbered as the texts are"),
    "one number twice": ({"data": [{**items([[1, 2]])[0]}] * 2}, "not numbered as the texts are"),
    "counted from one": ({"data": items([[1, 2]] * 3)[1:]}, "not numbered as the texts are"),
    "numbers as text": ({"data": [{"index": str(i), "embedding": [1, 2]} for i in (0, 1)]}, "not numbered"),
    "true is no number": ({"data": [{"index": i, "embedding": [1, 2]} for i in (False, True)]}, "not numbered"),
    "two widths": ({"data": items([[1, 2, 3], [3, 4]])}, "several widths: 2, 3"),
    "an empty vector": ({"data": items([[1, 2, 3], []])}, "vector 1 of 2 is missing"),
    "no vector": ({"data": items([[1, 2, 3], None])}, "vector 1 of 2 is missing"),
    "base64": ({"data": items(["AACAPwAAAEA=", "AACAPwAAAEA="])}, "vector 0 of 2 is text, such as base64"),
    "NaN": ({"data": items([[1, 2, 3], [1, float("nan"), 3]])}, "vector 1 of 2 holds something that is no finite"),
    "infinity": ({"data": items([[1, float("-inf"), 3], [1, 2, 3]])}, "vector 0 of 2 holds something"),
    "beyond float32": ({"data": items([[1, 1e39, 3], [1, 2, 3]])}, "vector 0 of 2 holds something"),
    "beyond float64": ({"data": items([[1, 10**400, 3], [1, 2, 3]])}, "vector 0 of 2 holds something"),
    "null": ({"data": items([[1, 2, 3], [1, None, 3]])}, "vector 1 of 2 holds something"),
    "text": ({"data": items([[1, 2, 3], [1, "0.5", 3]])}, "vector 1 of 2 holds something"),
    "true": ({"data": items([[1, 2, 3], [1, True, 3]])}, "vector 1 of 2 holds something"),
    "a matrix": ({"data": items([[[1, 2, 3]], [[1, 2, 3]]])}, "vector 0 of 2 holds something"),
}


@pytest.mark.parametrize(("answer", "said"), UNUSABLE.values(), ids=UNUSABLE)
def test_answers_that_cannot_be_used_are_refused_at_once(server, answer, said):
    """Neither guessed at nor asked for again; the error says what is wrong, and where."""
    server.next.extend([well, saying(answer)])
    problem = refused(endpoint(server))
    assert said in problem.what
    assert problem.where == f"{server.url}/embeddings"
    assert len(server.asked) == 2


def test_another_width_than_before_is_refused(server):
    """Vectors of two widths between batches are those of two models; what came before is kept."""
    server.next.extend([well, well, saying({"data": items([[1.0, 2.0]] * 8)})])
    with pytest.raises(EnvironmentProblem, match="vectors of 2 numbers, and of 3 before"):
        embedded(endpoint(server), [str(number) for number in range(40)], "document")
    assert len(server.asked) == 3


@pytest.mark.parametrize("body", ["", "<html>Welcome</html>", '{"data": [', "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_refused(server, body):
    """A page, nothing, half a value, or something that no reader of JSON takes: said with its beginning."""
    server.next.append(lambda handler, _: handler.give(body.encode()))
    problem = refused(endpoint(server))
    assert "no JSON" in problem.what
    assert body[:10] in problem.what
    assert len(problem.what) < 400
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 413, 422, 302, 204])
def test_refusals_are_not_asked_again(server, status):
    """The status and what the server says of it, once, and what to do."""
    server.always = failing(status, {"error": {"message": "that will not do"}} if status != 204 else None)
    slept: list[float] = []
    problem = refused(endpoint(server, KEY, slept))
    assert f"it answers {status}" in problem.what
    assert status == 204 or "that will not do" in problem.what
    assert (len(server.asked), slept) == (1, [])
    hint = {401: "OPENAI_API_KEY", 403: "OPENAI_API_KEY", 404: "name of the model"}
    assert hint.get(status, "") in problem.fix


def test_redirects_are_not_followed(server):
    """The key goes where the user said and nowhere else."""
    with running() as other:
        server.always = failing(307, None, location=f"{other.url}/embeddings")
        assert "it answers 307" in refused(endpoint(server, KEY)).what
        assert other.asked == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_failures_are_asked_again(server, status):
    """After two failures the third answer is taken; each wait is longer than the one before."""
    server.next.extend([failing(status), failing(status, "upstream"), well])
    slept: list[float] = []
    assert endpoint(server, slept=slept).embed(["a"]).tolist() == plain_vectors(["a"])
    assert slept == [1.0, 2.0]


@pytest.mark.parametrize(
    ("asked", "slept"),
    [
        ("7", 7.0),
        (" 0 ", 1.0),
        ("soon", 1.0),
        ("-3", 1.0),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 1.0),
        ("Mon, 01 Jan 2001 00:00:00 +9999999999999999999", 1.0),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", 1.0),
    ],
)
def test_retry_after_is_heeded(server, asked, slept):
    """Seconds are waited for if they are more than our own; what means nothing, and a time gone by, are not."""
    noted: list[float] = []
    server.next.append(failing(429, None, retry_after=asked))
    endpoint(server, slept=noted).embed(["a"])
    assert noted == [slept]


def test_retry_after_may_be_a_date(server):
    """A date is waited for as seconds are."""
    noted: list[float] = []
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True)
    server.next.append(failing(503, None, retry_after=date))
    endpoint(server, slept=noted, longest=4000.0).embed(["a"])
    assert len(noted) == 1
    assert 1 < noted[0] <= 3600


@pytest.mark.parametrize("asked", ["3600", "9" * 400])
def test_too_long_a_wait_is_refused(server, asked):
    """A server that wants an hour is not waited for; the error says how long it wants."""
    noted: list[float] = []
    server.always = failing(429, {"error": {"message": "slow down"}}, retry_after=asked)
    problem = refused(endpoint(server, slept=noted))
    assert f"given up after 1 try, since it asks to wait {float(asked):g} seconds" in problem.what
    assert "slow down" in problem.what
    assert noted == []


def test_an_empty_account_is_not_waited_for(server):
    """OpenAI says "too many requests" where no credit is left, and no waiting helps."""
    server.always = failing(429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}})
    assert "You exceeded your quota" in refused(endpoint(server)).what
    assert len(server.asked) == 1


@pytest.mark.parametrize("answer", [failing(500, "boom"), failing(429, "boom")])
def test_patience_ends(server, answer):
    """After the last wait the error says how often it was asked, and the server's own words."""
    server.always = answer
    slept: list[float] = []
    problem = refused(endpoint(server, slept=slept))
    assert "given up after 4 tries" in problem.what
    assert "boom" in problem.what
    assert (len(server.asked), slept) == (4, [1.0, 2.0, 4.0])


@pytest.mark.parametrize("answer", [silent, dripping, cut], ids=["silent", "dripping", "cut"])
def test_an_answer_that_never_comes_is_given_up(server, answer):
    """A server that says nothing, goes on for ever, or hangs up in the middle, is asked as often as agreed."""
    server.always = answer
    problem = refused(endpoint(server, quiet=0.3, whole=0.3))
    assert "given up after 4 tries" in problem.what
    assert len(server.asked) == 4


def test_an_answer_that_breaks_off_is_asked_for_again(server):
    """One cut connection costs one more request and nothing else."""
    server.next.extend([cut, cut])
    assert endpoint(server).embed(["a"]).tolist() == plain_vectors(["a"])
    assert len(server.asked) == 4


@pytest.mark.usefixtures("server")
def test_where_nobody_listens_is_said_at_once():
    """A wrong port or host is no reason to wait."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # a port that is bound and does not listen refuses
        slept: list[float] = []
        problem = refused(Endpoint("toy", f"http://127.0.0.1:{closed.getsockname()[1]}/v1", "", patience(slept)))
    assert problem.what.startswith("nothing answers there")
    assert slept == []


def test_a_server_that_was_there_is_waited_for(server):
    """One that answered before and is started anew is given time."""
    model, slept = endpoint(server), []
    model._patience = patience(slept)
    model.embed(["a"])
    server.shutdown()
    server.server_close()
    for connection in server.open_connections:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
    problem = refused(model)
    assert "given up after 4 tries: no answer" in problem.what
    assert slept == [1.0, 2.0, 4.0]


def test_a_gateway_that_falls_back_to_another_model_is_refused(server):
    """Where an answer names another model than the one before, nothing of it is kept."""
    texts = [str(number) for number in range(40)]
    other = {"data": items(plain_vectors(texts[32:])), "model": "toy-small"}
    server.next.extend([well, well, saying(other)])
    with pytest.raises(EnvironmentProblem, match="two models answer by turns: 'toy' and 'toy-small'"):
        embedded(endpoint(server), texts, "document")
    server.asked.clear()
    embedded(endpoint(server), texts, "document")
    assert server.asked == [[PROBE], texts[32:]]


def test_a_name_of_its_own_and_no_name_are_taken(server):
    """Servers call their models as they like, such as by a path; some do not name them at all."""
    server.next.extend([well, saying({"data": items([[1, 2, 3]])}), well])
    model = endpoint(server)
    assert model.embed(["a"]).tolist() == [[1, 2, 3]]
    assert Endpoint("another", server.url, "", patience()).embed(["a"]).tolist() == plain_vectors(["a"])


def test_another_model_under_the_name_is_refused(server):
    """Its vector of the probe is compared with the one that was remembered, before anything is embedded."""
    embedded(endpoint(server), ["a"], "document")
    server.vectors = lambda texts: [[1.0, -1.0, float(len(text))] for text in texts]
    with pytest.raises(UsageProblem, match="another model answers as toy than before: cosine") as caught:
        embedded(endpoint(server), ["a", "b"], "document")
    assert Path(caught.value.where).is_file()
    server.vectors = lambda texts: [[1.0, 2.0] for _ in texts]
    with pytest.raises(UsageProblem, match="2 numbers"):
        embedded(endpoint(server), ["a", "b"], "document")
    for name in cache_folder().glob("*-*"):
        name.unlink()
    assert embedded(endpoint(server), ["a", "b"], "document").shape == (2, 2)


def test_noise_of_a_hosted_model_is_no_other_model(server):
    """Answers to one text that differ in the fourth digit are those of one model."""
    embedded(endpoint(server), ["a"], "document")
    server.vectors = lambda texts: [[x * 1.0003 + 1e-4 for x in row] for row in plain_vectors(texts)]
    assert embedded(endpoint(server), ["a", "b"], "document").shape == (2, 3)


def test_a_damaged_memory_of_the_probe_is_written_anew(server):
    """What is no vector any more is no reason to refuse."""
    embedded(endpoint(server), ["a"], "document")
    (path,) = cache_folder().glob("probe-*.json")
    whole = path.read_bytes()
    for damage in (b"", b"[1, null]", b"nonsense", b"[NaN]", b'{"a": 1}'):
        path.write_bytes(damage)
        Endpoint("toy", server.url, "", patience()).embed(["a"])
        assert path.read_bytes() == whole


@pytest.mark.parametrize("ending", ["failure", "Ctrl-C"])
def test_what_was_embedded_before_the_end_is_kept(server, ending):
    """Stopped in the middle, the next run asks for the rest only, and the vectors are the same as in one go."""
    texts = [f"text {number}" for number in range(80)]
    server.next.extend([well, well, well])
    server.always = failing(500)

    def sleep(_: float) -> None:
        if ending == "Ctrl-C":
            raise KeyboardInterrupt

    with pytest.raises(EnvironmentProblem if ending == "failure" else KeyboardInterrupt):
        embedded(Endpoint("toy", server.url, "", patience(sleep=sleep)), texts, "document")
    server.asked.clear()
    server.always = well
    found = embedded(endpoint(server), texts, "document")
    assert server.asked == [[PROBE], texts[64:]]
    wanted = np.array(plain_vectors(texts))
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


def test_what_is_in_the_cache_needs_no_endpoint(server):
    """An experiment whose vectors are all there runs without it."""
    before = embedded(endpoint(server), ["a", "b"], "document")
    server.asked.clear()
    server.always = failing(500)
    assert embedded(endpoint(server), ["b", "a"], "document").tolist() == before[::-1].tolist()
    assert server.asked == []


def test_a_rate_limit_costs_time_and_nothing_else(server):
    """Every second request is refused for a second: each text is embedded once, and all of them are."""
    texts = [f"text {number}" for number in range(100)]
    server.next.extend([failing(429, None, retry_after="1"), well] * 5)
    slept: list[float] = []
    assert embedded(endpoint(server, slept=slept), texts, "document").shape == (100, 3)
    assert slept == [1.0] * 5
    assert [text for asked in server.asked[3::2] for text in asked] == texts


def echoed(handler: Handler, _: list[str], status: int, before: int, shape: str) -> None:
    """An error that shows the key again, ``before`` characters into what the server says."""
    said = "." * before + handler.headers["authorization"].removeprefix("Bearer ")
    value: Any = {"message": {"error": {"message": said}}, "detail": {"detail": said}, "list": [said], "text": said}
    handler.give(said.encode() if shape == "text" else json.dumps(value[shape]).encode(), status)


@pytest.mark.parametrize("status", [200, 401, 429, 500])
@pytest.mark.parametrize("shape", ["message", "detail", "list", "text"])
@pytest.mark.parametrize("before", [0, 250, 270, 290])
def test_the_key_is_never_shown(server, status, shape, before):
    """Where a server says the key again, whole or where its words are cut, no part of it is in the error."""
    server.always = partial(echoed, status=status, before=before, shape=shape)
    problem = refused(endpoint(server, KEY))
    assert not any(KEY[start : start + 6] in str(problem) for start in range(len(KEY) - 5))


def test_the_key_is_in_no_file_digest_or_name(server, monkeypatch):
    """What is written and recorded is the same with a key as without one."""
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    model = load("toy")
    embedded(model, ["a"], "document")
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (model.name, model.digest) == ("openai:toy", endpoint(server).digest)
    kept = [path for path in cache_folder().rglob("*") if path.is_file()]
    assert len(kept) >= 2
    assert not any(KEY.encode() in path.read_bytes() for path in kept)


@pytest.mark.parametrize(
    ("home", "sent"), [("{url}", True), ("{url}/embeddings", True), ("", False), ("http://other/v1", False)]
)
def test_the_key_goes_where_the_environment_says_only(server, monkeypatch, home, sent):
    """An address in a name, which may be another person's, gets it only if OPENAI_BASE_URL says the same."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", home.format(url=server.url))
    load(f"toy@{server.url}/").embed(["a"])
    assert [headers.get("authorization") for headers in server.headers] == [f"Bearer {KEY}" if sent else None] * 2


@pytest.mark.parametrize("key", ["two words", "line\nend", "clé", "\x00"])
def test_a_key_that_is_no_word_is_refused_and_not_shown(server, key):
    """A key with a blank or a foreign letter in it was copied wrongly."""
    problem = refused(Endpoint("toy", server.url, key, patience()))
    assert "OPENAI_API_KEY" in problem.what
    assert key not in str(problem)
    assert server.asked == []


@pytest.mark.usefixtures("server")
def test_the_digest_is_of_model_and_place():
    """Another name, host, port or path is another model; the scheme, case of the host and a last stroke are not."""
    one = load("m@http://Host:1/v1").digest
    assert all(
        load(same).digest == one
        for same in ("m@https://host:1/v1/", "m@HTTP://host:1/v1/embeddings", "m@http://host:1/v1")
    )
    others = ["n@http://host:1/v1", "m@http://host:2/v1", "m@http://host:1/v2", "m@http://hosts:1/v1", "m"]
    assert len({one, *(load(other).digest for other in others)}) == 6


def test_the_address_may_come_from_the_environment(server, monkeypatch):
    """OPENAI_BASE_URL says it where the name does not; what the name says wins."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    assert load("toy").embed(["a"]).tolist() == plain_vectors(["a"])
    assert load("@cf/baai/bge-m3").digest == Endpoint("@cf/baai/bge-m3", server.url).digest
    assert load("text-embedding@001").digest == Endpoint("text-embedding@001", server.url).digest
    assert load("toy@http://other/v1").digest == Endpoint("toy", "http://other/v1").digest


@pytest.mark.parametrize(
    "argument",
    [
        "",
        "m@localhost:8000/v1",
        "m@host/v1",
        "m@ftp://host/v1",
        "m@http://",
        "m@http://host:x/v1",
        "m@http://host:0/v1",
        f"m@http://user:{KEY}@host/v1",
        f"m@http://{KEY}@host:x/v1",
        f"m@http://[{KEY}/v1",
        f"m@http://host/v1?key={KEY}",
        f"m@http://host/v1#{KEY}",
    ],
)
@pytest.mark.usefixtures("server")
def test_addresses_that_are_none_or_hold_secrets_are_refused(argument):
    """What is allowed is said, what was given is not shown, and nothing is sent to OpenAI by mistake."""
    with pytest.raises(UsageProblem) as caught:
        load(argument)
    assert "openai:MODEL" in caught.value.allowed
    assert KEY not in str(caught.value)


@pytest.mark.usefixtures("server")
def test_a_key_in_the_wrong_variable_is_not_shown(monkeypatch):
    """OPENAI_BASE_URL with a key in it is named, not printed."""
    monkeypatch.setenv("OPENAI_BASE_URL", KEY)
    with pytest.raises(UsageProblem) as caught:
        load("m")
    assert caught.value.where == "OPENAI_BASE_URL"
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(("name", "value"), [("HTTP_PROXY", "foo://user:secret@x"), ("SSL_CERT_FILE", "/no/such/file")])
def test_an_unusable_environment_is_named(server, monkeypatch, name, value):
    """A proxy of an unknown kind or a file of certificates that is not there ends in an error that names both."""
    monkeypatch.setenv(name, value)
    problem = refused(endpoint(server))
    assert name in problem.fix
    assert "secret" not in str(problem)


@pytest.mark.parametrize("host", ["a..b", "a\x7fb"])
@pytest.mark.usefixtures("server")
def test_hosts_that_cannot_be_are_refused(host):
    """What no resolver takes is refused at once."""
    slept: list[float] = []
    assert "no address that can be asked" in refused(Endpoint("toy", f"http://{host}/v1", "", patience(slept))).what
    assert slept == []


def test_without_the_library_the_command_that_installs_it_is_named(server, monkeypatch):
    """Where httpx2 is not installed, the error says what to type."""
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert refused(endpoint(server)).fix == "pip install 'retrieval-harness[endpoint]'"


def test_a_version_ranks_with_an_endpoint_as_with_the_same_model_here(server, monkeypatch, synthetic):
    """Fused with wordllama's vectors over HTTP, every question has the ranking that it has with wordllama itself."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    here = embedder("wordllama")
    server.vectors = lambda texts: here.embed(texts).tolist()
    store, few = Store(synthetic.corpus, synthetic.edges), synthetic.questions.take(np.arange(40))
    system = select("rrf", {"embedding": f"openai:wordllama@{server.url}"})
    assert server.asked == []  # to choose a model asks for nothing
    found = system.rank(store, few, 20)
    assert found.same_order(select("rrf", {"embedding": "wordllama"}).rank(store, few, 20))
    assert system.settings()["embedding_digest"] == embedder(f"openai:wordllama@{server.url}").digest
    assert KEY not in json.dumps(system.identity())
