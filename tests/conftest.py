"""What the tests of several layers share: real LoCoMo where it is there, and a small file of its faults."""

from __future__ import annotations

import atexit
import contextlib
import copy
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo import import_locomo
from harness.benchmarks.synthetic import import_synthetic

PROJECT = Path(__file__).parents[1]
SHARED_DATA = PROJECT.parent / "shared" / "data"

Json = dict[str, Any]

# whoever runs the tests may use a tracking server: nothing is mirrored there
os.environ.pop("MLFLOW_TRACKING_URI", None)

# in the background of some shells Ctrl-C is ignored, and every process that the tests start would inherit it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# vectors of the user's own work are neither used nor added to
os.environ["HARNESS_CACHE"] = tempfile.mkdtemp(prefix="harness-cache-")
atexit.register(shutil.rmtree, os.environ["HARNESS_CACHE"], ignore_errors=True)

# no time limit, since machines differ and share; and the same examples everywhere, so that a failure is repeatable
settings.register_profile("harness", deadline=None, derandomize=True)
settings.load_profile("harness")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of data that the repository does not hold; skips where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("no folder ../shared/data beside the project")
    return SHARED_DATA


@pytest.fixture(scope="session")
def locomo_file() -> Path:
    """The real LoCoMo file; skips where it is absent."""
    path = SHARED_DATA / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip("no LoCoMo file at ../shared/data/locomo/locomo10.json")
    return path


@pytest.fixture(scope="session")
def locomo(locomo_file: Path) -> Benchmark:
    """Real LoCoMo, imported once."""
    return import_locomo(locomo_file)


@pytest.fixture(scope="session")
def synthetic() -> Benchmark:
    """The synthetic benchmark, imported once."""
    return import_synthetic()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _serving(folder: Path, database: str) -> Iterator[str]:
    """A real MLflow server; starting it takes half a minute."""
    port = _free_port()
    stores = ("--backend-store-uri", database, "--artifacts-destination", str(folder / "files"))
    place = ("--host", "127.0.0.1", "--port", str(port), "--workers", "1")
    command = [sys.executable, "-m", "mlflow", "server", *place, *stores]
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    log = folder / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=stream, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        while True:
            assert process.poll() is None, log.read_text()
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5):
                break
            time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="session")
def mlflow_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real MLflow server on a store of its own."""
    folder = tmp_path_factory.mktemp("mlflow-server")
    with _serving(folder, f"sqlite:///{folder}/server.db") as address:
        yield address


@pytest.fixture(scope="session")
def postgres() -> Iterator[int]:
    """Port of a real PostgreSQL server on loopback; skips where it is not installed."""
    initdb, control = shutil.which("initdb"), shutil.which("pg_ctl")
    if initdb is None or control is None:
        pytest.skip("PostgreSQL's initdb and pg_ctl are not on the PATH")
    port = _free_port()
    # its own user must be able to walk to it, which pytest's folders do not allow
    with tempfile.TemporaryDirectory() as folder:
        data, log = Path(folder) / "data", Path(folder) / "log"
        user = ()
        if getattr(os, "geteuid", lambda: 1)() == 0:  # it refuses to run as root
            user = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
            shutil.chown(folder, "postgres")
        subprocess.run([*user, initdb, "-D", data, "-U", "harness", "-A", "trust"], check=True, capture_output=True)
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        subprocess.run([*user, control, "-D", data, "-l", log, "-o", settings, "-w", "start"], check=True)
        try:
            yield port
        finally:
            subprocess.run([*user, control, "-D", data, "-m", "immediate", "stop"], check=True)


@pytest.fixture(scope="session")
def team_server(postgres: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a real MLflow server on a real PostgreSQL, as a team sets it up."""
    database = f"postgresql+psycopg2://harness@127.0.0.1:{postgres}/postgres"
    with _serving(tmp_path_factory.mktemp("team-server"), database) as address:
        yield address


class _Answering(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(500)
        self.end_headers()

    do_POST = do_GET  # noqa: N815 - the name that the server looks for

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def broken_server(request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of something that is no MLflow server: ``closed``, ``silent`` or ``failing``, as the test says."""
    if request.param == "failing":
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()
        return
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # a port that is bound and does not listen refuses
        if request.param == "silent":
            listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def tiny_value() -> list[Json]:
    """A small value in LoCoMo's format with every kind of fault that LoCoMo has; free to be changed."""
    return [_faulty_conversation(), *copy.deepcopy(CLEAN)]


@pytest.fixture
def tiny_locomo(tmp_path: Path, tiny_value: list[Json]) -> Path:
    """`tiny_value` as a file; it is no known variant, so it imports with ``allow_unknown`` only."""
    path = tmp_path / "tiny-locomo.json"
    path.write_text(json.dumps(tiny_value), encoding="utf-8")
    return path


def _turn(identifier: str, speaker: str, text: str, **rest: str) -> Json:
    return {"speaker": speaker, "dia_id": identifier, "text": text, **rest}


def _question(text: str, category: int, evidence: list[str], **answers: Any) -> Json:
    return {"question": text, **answers, "evidence": evidence, "category": category}


def _faulty_conversation() -> Json:
    conversation = {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_1_date_time": "9:05 am on 3 March, 2021",
        "session_1": [
            _turn("D1:1", "Ada", "I planted forty tulip bulbs behind the shed."),
            _turn("D1:2", "Ada", "The soil was still frozen."),  # talks twice in a row
            _turn("D1:3", "Bo", "I would have waited until April."),
            _turn(
                "D1:4",
                "Bo",
                "Look at this!",
                blip_caption="a photo of a red kayak on a lake",
                query="kayak lake",
            ),
            _turn("D1:5", "Ada", "Lovely colour."),
        ],
        # the file's order is not the order of time
        "session_11_date_time": "12:15 am on 9 August, 2022",
        "session_11": [_turn("D11:1", "Bo", "My sister moved to Porto."), _turn("D11:2", "Ada", "In June?")],
        "session_2_date_time": "12:30 pm on 4 March, 2021",
        "session_2": [_turn("D2:1", "Bo", "The ferry was late."), _turn("D2:2", "Ada", "Mine left at noon.")],
        "session_3_date_time": "1:00 pm on 5 March, 2021",  # a date without a session
    }
    observation = {
        "session_1_observation": {
            "Ada": [
                ["Ada planted tulip bulbs behind the shed.", "D1:1"],
                ["Ada planted into frozen soil.", "D1:1, D1:2"],
            ],
            "Bo": [["Bo prefers planting in April.", ["D1:3", "D1:4"]]],
        },
        "session_2_observation": {"Bo": [["Bo took a late ferry.", "D2:1"]]},
    }
    questions = [
        _question("What did Ada plant before her ferry left?", 1, ["D1:1", "D2:2"], answer="tulip bulbs"),
        _question("Which two things went wrong?", 1, ["D1:2; D2:1"], answer="frozen soil and a late ferry"),
        _question("Is Bo patient?", 3, ["D1:3 D2:1 D11:1"], answer="probably"),
        _question("Whose sister moved where?", 1, ["D11:1,D11:2"], answer="Bo's to Porto"),
        _question("When would Bo plant?", 4, ["D", "D1:3"], answer="April"),
        _question("When did the sister move?", 2, ["D:11:2"], answer="June 2022"),
        _question("In which month did she move?", 2, ["D11:02"], answer="June"),
        _question("What is behind the shed?", 4, ["D1:99", "D1:1"], answer="tulips"),
        _question("What was late?", 4, ["D2:1", "D2:1"], answer="the ferry"),
        _question("Does Ada like gardens?", 3, [], answer="yes"),
        _question("How many bulbs were there?", 4, ["D1:1"], answer=40),
        _question("Why did Ada sell her bicycle?", 5, ["D2:2"], adversarial_answer="It was rusty"),
        _question("Is the shed Bo's?", 5, ["D1:1"], answer="No", adversarial_answer="Yes"),
        _question("When would Bo plant?", 4, ["D1:3"], answer="April"),  # again, the same category
        _question("When did the sister move?", 4, ["D11:1"], answer="June"),  # again, another category
        _question("What did Bo show?", 4, ["D1:4"], answer="a red kayak"),  # in the caption only
        _question("Where does the ferry go?", 4, ["D7:7"], answer="unsaid"),  # nothing is left
    ]
    return {
        "sample_id": "conv-26",
        "conversation": conversation,
        "observation": observation,
        "session_summary": {f"session_{n}_summary": f"Ada and Bo talked, part {n}." for n in (11, 1, 2)},
        "event_summary": {},
        "qa": questions,
    }


CLEAN: list[Json] = [
    {
        "sample_id": f"conv-{number}",
        "conversation": {
            "session_1_date_time": "8:00 pm on 31 December, 2022",
            "session_1": [
                _turn("D1:1", speaker, f"I baked bread number {number}."),
                _turn("D1:2", "Dee", "Was it rye?"),
                _turn("D1:3", speaker, "It was spelt."),
            ],
        },
        "observation": {"session_1_observation": {speaker: [[f"{speaker} baked spelt bread.", "D1:3"]]}},
        "session_summary": {"session_1_summary": f"{speaker} told Dee about bread."},
        "qa": [
            _question(f"What did {speaker} bake?", 4, ["D1:1"], answer="bread"),
            _question("Which flour was it?", 4, ["D1:3"], answer="spelt"),
        ],
    }
    for number, speaker in ((90, "Cy"), (91, "Eva"))
]
