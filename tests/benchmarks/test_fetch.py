from __future__ import annotations

import contextlib
import errno
import hashlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.download import Patience, Published, on_this_machine
from harness.benchmarks.fetch import LOCOMO, Fetched, fetch, place
from harness.benchmarks.locomo_variants import KNOWN_CANONICAL, KNOWN_RAW
from harness.errors import EnvironmentProblem, HarnessError, IntegrityProblem, UsageProblem

CONTENT = b'[{"sample_id": "conv-1"}]\n' * 9000  # several pieces
QUICK = Patience(quiet=20.0, whole=60.0, waits=(0.0, 0.0), sleep=lambda _: None)

Answer = Callable[["Handler"], None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request with the next answer of the server; with the last one from then on."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Answer."""
        self.server.asked.append(self.path)
        self.close_connection = True
        answers = self.server.answers
        (answers.pop(0) if len(answers) > 1 else answers[0])(self)

    def head(self, status: int = 200, **headers: Any) -> None:
        """Send a status and headers."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """A web server on loopback.

    Attributes:
        answers: what it answers.
        asked: the paths that it was asked for.
        over: set when the test is over, for answers that wait.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = [whole()]
        self.asked: list[str] = []
        self.over = threading.Event()

    def handle_error(self, *_: Any) -> None:
        """A client that goes away is what some tests are about."""

    @property
    def url(self) -> str:
        """Address of the file."""
        return f"http://127.0.0.1:{self.server_port}/data/file.json"


def whole(content: bytes = CONTENT) -> Answer:
    """A file with its length."""

    def answer(to: Handler) -> None:
        to.head(Content_Length=len(content))
        to.wfile.write(content)

    return answer


def unannounced(content: bytes = CONTENT) -> Answer:
    """A file that ends where the connection ends."""

    def answer(to: Handler) -> None:
        to.head(Connection="close")
        to.wfile.write(content)

    return answer


def chunked(content: bytes = CONTENT) -> Answer:
    """A file in two chunks, of a length that only its end tells."""

    def answer(to: Handler) -> None:
        to.head(Transfer_Encoding="chunked")
        for part in (content[:7], content[7:]):
            to.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        to.wfile.write(b"0\r\n\r\n")

    return answer


def cut(sent: int = 70_000) -> Answer:
    """A file that breaks off."""

    def answer(to: Handler) -> None:
        to.head(Content_Length=len(CONTENT))
        to.wfile.write(CONTENT[:sent])

    return answer


def status(code: int, **headers: Any) -> Answer:
    """No file."""
    return lambda to: to.head(code, Content_Length=0, **headers)


def silent(sent: int = 0) -> Answer:
    """A beginning, and then nothing for as long as the test takes."""

    def answer(to: Handler) -> None:
        if sent:
            to.head(Content_Length=LOCOMO.size)
            to.wfile.write(b" " * sent)
            to.wfile.flush()
        to.server.over.wait()

    return answer


def endless(to: Handler) -> None:
    """More and more, for as long as somebody reads."""
    to.head(Connection="close")
    while not to.server.over.is_set():
        to.wfile.write(CONTENT)


def trickling(to: Handler) -> None:
    """A byte now and then."""
    to.head(Content_Length=len(CONTENT))
    while not to.server.over.wait(0.01):
        to.wfile.write(b"[")


def reset(to: Handler) -> None:
    """A connection that is closed without an answer."""
    to.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running server."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")  # whoever runs the tests may need a proxy elsewhere
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.over.set()
        running.shutdown()


@pytest.fixture
def published(server: Server) -> Published:
    """A small file that the server has."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    return Published("file.json", "somebody@1", server.url, sha256, len(CONTENT), "CC0", "harness data import x FILE")


def refused(kind: type[HarnessError], published: Published, path: Path, *says: str, **options: Any) -> None:
    """A download that ends in this error, which names address or file and the way out, and leaves nothing."""
    before = sorted(path.parent.rglob("*"))
    with pytest.raises(kind) as caught:
        fetch(published, path, **{"patience": QUICK} | options)
    for word in says:
        assert word in str(caught.value)
    assert caught.value.where
    assert caught.value.fix
    assert sorted(path.parent.rglob("*")) == before


@pytest.mark.parametrize("answer", [whole(), unannounced(), chunked()], ids=["announced", "unannounced", "chunked"])
def test_a_file_is_downloaded(server: Server, published: Published, tmp_path: Path, answer: Answer) -> None:
    """The file has its bytes, the folders above it are made, and nothing else lies there."""
    server.answers = [answer]
    path = tmp_path / "some/where/file.json"
    assert fetch(published, path, patience=QUICK) == Fetched(path, downloaded=True)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == ["file.json"]


def test_a_file_that_is_there_is_not_asked_for(server: Server, published: Published, tmp_path: Path) -> None:
    """The right file is found by its digest, also where there is no network."""
    path = tmp_path / "file.json"
    fetch(published, path, patience=QUICK)
    before = path.stat().st_mtime_ns
    assert fetch(published, path, patience=QUICK) == Fetched(path, downloaded=False)
    assert len(server.asked) == 1
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize("content", [b"", b"mine", CONTENT[:-1] + b" "], ids=["empty", "short", "same size"])
def test_another_file_is_never_overwritten(
    server: Server, published: Published, tmp_path: Path, content: bytes
) -> None:
    """What has the name already stays, and nothing is asked of the network."""
    path = tmp_path / "file.json"
    path.write_bytes(content)
    refused(UsageProblem, published, path, str(path), "another file", published.sha256)
    assert path.read_bytes() == content
    assert server.asked == []


def test_a_file_made_during_the_download_stays(server: Server, published: Published, tmp_path: Path) -> None:
    """Whoever was first keeps the name; the right content is a success for both."""
    path = tmp_path / "file.json"

    def meanwhile(content: bytes) -> Answer:
        def answer(to: Handler) -> None:
            path.write_bytes(content)
            whole()(to)

        return answer

    server.answers = [meanwhile(CONTENT)]
    assert fetch(published, path, patience=QUICK).downloaded
    path.unlink()
    server.answers = [meanwhile(b"mine")]
    with pytest.raises(UsageProblem, match="another file"):
        fetch(published, path, patience=QUICK)
    assert path.read_bytes() == b"mine"
    assert [p.name for p in tmp_path.iterdir()] == ["file.json"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (whole(CONTENT[:-1] + b"?"), "sha256 " + hashlib.sha256(CONTENT[:-1] + b"?").hexdigest()),
        (whole(b"<html>please sign in</html>"), "27 bytes, sha256 "),
        (chunked(b"<html>please sign in</html>"), "27 bytes, sha256 "),
        (whole(CONTENT + b"\n"), f"{len(CONTENT) + 1} bytes"),
        (unannounced(CONTENT + b"\n"), f"more than {len(CONTENT)} bytes"),
        (endless, f"more than {len(CONTENT)} bytes"),
    ],
    ids=["digest", "page", "page in chunks", "announced larger", "larger", "endless"],
)
def test_another_content_is_refused(
    server: Server, published: Published, tmp_path: Path, answer: Answer, says: str
) -> None:
    """What is expected and what came are both said; nothing is kept, and nothing is asked again."""
    server.answers = [answer]
    refused(IntegrityProblem, published, tmp_path / "file.json", says, published.sha256, server.url)
    assert len(server.asked) == 1


@pytest.mark.parametrize("passing", [status(500), status(503), status(429), cut(), cut(0), unannounced(b"["), reset])
def test_what_passes_is_tried_again(server: Server, published: Published, tmp_path: Path, passing: Answer) -> None:
    """A server in trouble and a broken transfer are asked again, after a wait, and the file begins anew."""
    waited: list[float] = []
    server.answers = [passing, passing, whole()]
    patience = Patience(waits=(1.0, 4.0), sleep=waited.append)
    assert fetch(published, tmp_path / "file.json", patience=patience).downloaded
    assert waited == [1.0, 4.0]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("answer", "says"),
    [(status(503), "503"), (cut(), f"ended after 70000 of {len(CONTENT)} bytes"), (reset, "broke")],
    ids=["503", "cut", "reset"],
)
def test_what_does_not_pass_is_given_up(
    server: Server, published: Published, tmp_path: Path, answer: Answer, says: str
) -> None:
    """After the last try the error says what happened, how often, and how to go on by hand."""
    server.answers = [answer]
    refused(EnvironmentProblem, published, tmp_path / "file.json", says, "after 3 tries", server.url, "import x")
    assert len(server.asked) == 3


@pytest.mark.parametrize("code", [403, 404, 410])
def test_a_refusal_is_final(server: Server, published: Published, tmp_path: Path, code: int) -> None:
    """What is not there is not asked for again."""
    server.answers = [status(code)]
    refused(EnvironmentProblem, published, tmp_path / "file.json", str(code), server.url)
    assert len(server.asked) == 1


@pytest.mark.parametrize("sent", [0, 3], ids=["no answer", "a beginning"])
def test_a_server_that_falls_silent(server: Server, published: Published, tmp_path: Path, sent: int) -> None:
    """Nobody waits for ever."""
    server.answers = [silent(sent)]
    size = Published(**{**vars(published), "size": LOCOMO.size})
    patience = Patience(quiet=0.2, waits=())
    refused(EnvironmentProblem, size, tmp_path / "file.json", "no answer within 0.2 seconds", patience=patience)


def test_a_server_that_trickles(server: Server, published: Published, tmp_path: Path) -> None:
    """Pieces that keep coming do not make the whole wait endless."""
    server.answers = [trickling]
    patience = Patience(quiet=20.0, whole=0.3, waits=())
    refused(EnvironmentProblem, published, tmp_path / "file.json", "not here after 0.3", patience=patience)


def test_redirects_on_this_machine_are_followed(server: Server, published: Published, tmp_path: Path) -> None:
    """An address that points to another one of this machine is followed from this machine."""
    server.answers = [status(302, Location="/other"), whole()]
    assert fetch(published, tmp_path / "file.json", patience=QUICK).downloaded
    assert server.asked == ["/data/file.json", "/other"]


@pytest.mark.parametrize("target", ["http://example.invalid/x", "ftp://example.invalid/x", "file:///etc/passwd"])
def test_redirects_elsewhere_need_https(server: Server, published: Published, tmp_path: Path, target: str) -> None:
    """No redirect leads to an address that anybody on the way can change, nor to files."""
    server.answers = [status(302, Location=target)]
    refused(EnvironmentProblem, published, tmp_path / "file.json", target)
    assert len(server.asked) == 1


def test_no_redirect_leads_in_from_outside(
    server: Server, published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address elsewhere cannot point to this machine; it is asked through the proxy of the environment."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
    server.answers = [status(302, Location=server.url), whole()]
    url = "http://example.invalid/file.json"
    refused(EnvironmentProblem, published, tmp_path / "file.json", "never to this machine", url, url=url)
    assert server.asked == [url]


def test_a_loop_of_redirects_ends(server: Server, published: Published, tmp_path: Path) -> None:
    """An address that points to itself is an error."""
    server.answers = [status(302, Location="/data/file.json")]
    refused(EnvironmentProblem, published, tmp_path / "file.json", "302")


def test_proxies_of_the_environment_are_used(
    server: Server, published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only a proxy reaches the world, it is asked."""
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
    url = "http://example.invalid/file.json"
    assert fetch(published, tmp_path / "file.json", url=url, patience=QUICK).downloaded
    assert server.asked == [url]


def test_nobody_listens(published: Published, tmp_path: Path, server: Server) -> None:
    """A refused connection is said at once, with the way out."""
    with socket.socket() as bound:  # a port that is bound and does not listen refuses
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/file.json"
        says = ("refused", url, f"download {published.url}", "https_proxy")
        refused(EnvironmentProblem, published, tmp_path / "file.json", *says, url=url)
    assert server.asked == []


def test_a_name_that_nobody_knows(published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network there are no names: one error, no waiting."""
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    url = "http://harness-test.invalid/file.json"  # no such name is ever given (RFC 6761)
    refused(EnvironmentProblem, published, tmp_path / "file.json", "no connection", url=url)


def test_a_server_that_speaks_no_http(published: Published, tmp_path: Path, server: Server) -> None:
    """A port on which something else answers is an error of the environment."""
    server.answers = [lambda to: to.wfile.write(b"SSH-2.0-OpenSSH_9.6\r\n\r\n") and None]
    refused(EnvironmentProblem, published, tmp_path / "file.json", "broke (BadStatusLine)")


def test_https_where_http_is_spoken(server: Server, published: Published, tmp_path: Path) -> None:
    """A failed handshake is an error of the environment, and names no library."""
    url = server.url.replace("http:", "https:")
    refused(EnvironmentProblem, published, tmp_path / "file.json", url, url=url)


@pytest.mark.parametrize(
    "url",
    ["locomo10.json", "ftp://host/x", "file:///etc/passwd", "http://", "http://host:port/", "https://me:word@host/x", "https://me:word@host:port/",
     "http://host/a b", "http://host/ä", "http://host/\r\nx", "http://[::1/"],
)  # fmt: skip
def test_what_is_no_address(published: Published, tmp_path: Path, url: str) -> None:
    """Addresses that cannot be asked are refused before anything is opened, and no password is shown."""
    with pytest.raises(UsageProblem) as caught:
        fetch(published, tmp_path / "file.json", url=url, patience=QUICK)
    assert "https://HOST/PATH" in caught.value.allowed
    assert "word" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("url", "inside"),
    [("http://127.0.0.1:8/x", True), ("http://localhost/x", True), ("http://[::1]/x", True),
     ("https://example.org/x", False), ("http://10.0.0.1/x", False), ("http://localhost.example.org/", False)],
)  # fmt: skip
def test_this_machine_is_told_from_others(url: str, inside: bool) -> None:
    """Loopback addresses in either family, and no others."""
    assert on_this_machine(url) is inside


def test_where_the_file_goes(tmp_path: Path, published: Published) -> None:
    """Into folders, there or not; names with the ending of the file are files, and so is what is one."""
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "plain").write_text("")
    for given, goes in {
        ".": "file.json",
        "new": "new/file.json",
        "new/mine.json": "new/mine.json",
        "folder.json": "folder.json/file.json",
        "plain": "plain",
    }.items():
        assert place(published, tmp_path / given) == tmp_path / goes


def test_a_folder_under_its_name(published: Published, tmp_path: Path, server: Server) -> None:
    """A folder that is called like the file stays."""
    (tmp_path / "file.json").mkdir()
    refused(UsageProblem, published, tmp_path / "file.json", "folder")
    assert server.asked == []


def test_a_file_in_place_of_the_folder(published: Published, tmp_path: Path, server: Server) -> None:
    """A path through a file is refused before anything is downloaded."""
    (tmp_path / "plain").write_text("")
    refused(EnvironmentProblem, published, tmp_path / "plain/file.json", "plain")
    assert server.asked == []


def test_a_link_that_leads_nowhere(published: Published, tmp_path: Path) -> None:
    """A dangling link under the name stays, and is said."""
    (tmp_path / "file.json").symlink_to("nowhere")
    refused(EnvironmentProblem, published, tmp_path / "file.json", "file.json")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(published: Published, tmp_path: Path, server: Server) -> None:
    """A folder that takes no file is named before anything is downloaded."""
    tmp_path.chmod(0o500)
    try:
        refused(EnvironmentProblem, published, tmp_path / "file.json", str(tmp_path), "permission")
    finally:
        tmp_path.chmod(0o700)
    assert server.asked == []


@pytest.mark.parametrize(("call", "asked"), [(1, 0), (2, 1)], ids=["before", "after"])
def test_a_full_disk(
    published: Published, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, call: int, asked: int
) -> None:
    """No space is said before the download where it shows then; where it shows later, nothing half stays."""
    count, real = 0, os.fsync

    def full(handle: int) -> None:
        nonlocal count
        count += 1
        if count == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    refused(EnvironmentProblem, published, tmp_path / "file.json", "space")
    assert len(server.asked) == asked


def test_progress_is_counted_and_taken_back(server: Server, published: Published, tmp_path: Path) -> None:
    """A try that failed counts for nothing; in the end every byte is counted once."""
    counted: list[int] = []
    begun: list[tuple[str, int, str]] = []

    @contextlib.contextmanager
    def counting(*what: Any) -> Iterator[Callable[[int], None]]:
        begun.append(what)
        yield counted.append

    server.answers = [cut(), whole()]
    fetch(published, tmp_path / "file.json", patience=QUICK, counting=counting)
    assert begun == [("downloading file.json", len(CONTENT), "bytes")]
    assert -70_000 in counted
    assert sum(counted) == len(CONTENT)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_process_that_is_stopped_in_the_middle(server: Server, tmp_path: Path, name: str) -> None:
    """Killed in the middle of the transfer, nothing lies under the name, nor beside it."""
    began = threading.Event()

    def half(to: Handler) -> None:
        to.head(Content_Length=LOCOMO.size)
        to.wfile.write(b" " * (LOCOMO.size // 2))
        to.wfile.flush()
        began.set()
        to.server.over.wait()

    server.answers = [half]
    words = ["data", "fetch", "locomo", str(tmp_path / "locomo10.json"), "--url", server.url]
    process = subprocess.Popen([sys.executable, "-m", "harness", *words], stderr=subprocess.PIPE, text=True)
    assert began.wait(60)
    process.send_signal(getattr(signal, name))
    _, said = process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if name == "SIGKILL" else 130)
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_the_pinned_file_is_the_one_that_the_import_knows() -> None:
    """Digest and release are those of the import; the address names a commit in full."""
    assert KNOWN_RAW[LOCOMO.sha256] == LOCOMO.variant
    assert LOCOMO.variant in KNOWN_CANONICAL.values()
    assert LOCOMO.url.startswith("https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c")
    assert len(LOCOMO.url.split("/")[5]) == 40


def test_the_pinned_file_is_the_real_one(locomo_file: Path) -> None:
    """Size and digests are those of the file itself, also the one by which its repository knows it."""
    content = locomo_file.read_bytes()
    assert len(content) == LOCOMO.size
    assert hashlib.sha256(content).hexdigest() == LOCOMO.sha256
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    assert blob == "d95b872480b413d935821fdc3c84f8a8f5f29e73"
