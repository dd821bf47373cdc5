"""Stops a command at every boundary, starts it again, and tells what was left behind.

A boundary is a call to the system that creates, writes, forces out, renames, links or removes something in the
workspace or in the user's state folder. strace(1) lists the boundaries of one undisturbed run; then every one gets
runs of its own, in which strace injects a fault at exactly that call: a signal before it happens, or an error.

Reads a job from stdin as JSON and prints one line of JSON for the undisturbed run and one for every trial:

    {"template": folder with ws/ and state/, "folder": an empty one, "arguments": the command's words,
     "faults": such as ["signal=KILL", "error=ENOSPC"], "part": [n, of]}

Children are forked, so that everything is imported once.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from harness.cli.main import main

CALLS = (
    "openat,write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,"
    "link,linkat,symlink,mkdir,mkdirat,unlink,unlinkat,rmdir,chmod,fchmod"
)
PLAIN = {"openat": "create", "pwrite64": "write", "fdatasync": "fsync", "linkat": "link", "unlinkat": "unlink"}
_LINKS = ("lock", "seal", "claim")
_CALL = re.compile(r"^(\d+) +(\w+)\((.*)$")
_PLACES = re.compile(r'(?:\w+<(?P<folder>[^>]*)>, )?"(?P<name>[^"]*)"')
_HANDLE = re.compile(r"^\d+<([^>]*)>")
_BY_HANDLE = ("write", "pwrite64", "fsync", "fdatasync", "ftruncate", "fchmod")
# what differs from run to run: process numbers, random names, hashes, the time
MLFLOW_TEMPORARY = ".artifact.uploading"
_VARYING = (
    (re.compile(r"\d{8}-\d{6}-([0-9a-f]{4})[0-9a-f]{8}-[0-9a-f]{6}"), r"RUN-\1"),
    (re.compile(r"\.tmp-[\w-]+"), ".tmp"),
    (re.compile(r"\.partial-\w+"), ".partial"),
    (re.compile(r"\.artifact\.uploading\.\w+"), MLFLOW_TEMPORARY),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{12,64}(?![0-9a-f])"), "*"),
)


class Place:
    """A copy of the template: a workspace and its user's state folder."""

    def __init__(self, template: Path, root: Path) -> None:
        shutil.copytree(template, root)
        self.root = root

    def command(self, arguments: list[str], faults: tuple[str, ...] = (), *, trace: bool = False) -> int:
        """Run the command in a child, if wanted under strace; its exit code, or minus the signal."""
        child = os.fork()
        if child == 0:
            self._become(arguments)
        os.waitpid(child, os.WUNTRACED)
        if trace:
            words = ["-f", "-y", "-s", "0", "-o", str(self.log), "-e", f"trace={CALLS}", "-p", str(child)]
            injected = [word for fault in faults for word in ("-e", f"inject={fault}")]
            tracer = subprocess.Popen(["strace", *words, *injected], stderr=subprocess.PIPE, text=True)
            assert tracer.stderr is not None
            said = tracer.stderr.readline()  # once it has the child, which then may go on
            if "attached" not in said:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                sys.exit(f"strace: {said}")
        os.kill(child, signal.SIGCONT)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if trace:
            tracer.communicate()
        return code

    def _become(self, arguments: list[str]) -> None:
        code = 99
        try:
            os.environ["XDG_STATE_HOME"] = str(self.root / "state")
            said = os.open(self.root / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(said, 1)
            os.dup2(said, 2)
            os.kill(os.getpid(), signal.SIGSTOP)
            code = main([*arguments, "--workspace", str(self.root / "ws")])
            (self.root / "imported").write_text("\n".join(sys.modules), encoding="utf-8")
        except BaseException:  # noqa: BLE001 - the child ends here, whatever happened
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    @property
    def log(self) -> Path:
        """What strace wrote."""
        return self.root / "strace.log"

    def boundaries(self) -> list[tuple[str, str, int]]:
        """Every boundary of the traced run: what happened to what, name of the call, its number among calls of it."""
        found, counts, own = [], dict.fromkeys(CALLS.split(","), 0), ""
        for line in self.log.read_text(encoding="utf-8").splitlines():
            match = _CALL.match(line)
            own = own or line.split(" ")[0]
            if match is None or match[1] != own:  # a signal, the end, or another thread
                continue
            call, rest = match[2], match[3]
            counts[call] += 1
            changed = " = -1 " not in rest and (call != "openat" or "O_CREAT" in rest)
            paths = [self.plain(path) for path in _paths(call, rest)] if changed else []
            if paths and all(path.startswith(("ws", "state")) for path in paths):
                found.append((f"{PLAIN.get(call, call)} {' → '.join(paths)}", call, counts[call]))
        return found

    def plain(self, path: str) -> str:
        """A path in this place without what varies; any other as it is."""
        inside = path.removeprefix(f"{self.root}/")
        for pattern, name in _VARYING:
            inside = pattern.sub(name, inside)
        return inside

    def files(self) -> dict[str, str]:
        """Content of every file of the workspace and the state folder, by its plain name; of a folder nothing."""
        found: dict[str, set[str]] = {}
        for path in (path for top in ("ws", "state") for path in (self.root / top).rglob("*")):
            content = path.read_bytes().decode("latin-1") if path.is_file() else ""
            found.setdefault(self.plain(str(path)), set()).add(content)
        # several files may have one plain name, and a dev run that is made again has the bytes of the first
        return {name: "\0".join(sorted(contents)) for name, contents in found.items()}

    def told(self) -> dict[str, Any]:
        """What stands there now: kinds of entries in order, claims, names of files, and what the command said."""
        ledger = sorted((self.root / "ws/preregistrations/ledger").glob("0*.json"))
        entries = [json.loads(path.read_text(encoding="utf-8")) for path in ledger]
        return {
            "kinds": [entry["kind"] for entry in entries],
            # but for hashes of entries, which hold the time
            "payloads": [{k: v for k, v in entry["payload"].items() if k not in _LINKS} for entry in entries],
            "claims": len(list((self.root / "ws/preregistrations/.claims").glob("*.json"))),
            "files": sorted(self.files()),
            "mlflow": self._mlflow(),
            "said": (self.root / "said").read_text(encoding="utf-8", errors="replace"),
        }

    def _mlflow(self) -> list[list[str]]:
        """Name and status of every run in the store, but for deleted ones."""
        path = self.root / "ws/runs/mlflow.db"
        if not path.exists():
            return []
        with contextlib.closing(sqlite3.connect(path)) as store:
            query = "SELECT name, status FROM runs WHERE lifecycle_stage = 'active' ORDER BY name"
            return [[self.plain(name), status] for name, status in store.execute(query)]


def _paths(call: str, rest: str) -> list[str]:
    if call in _BY_HANDLE:
        return _HANDLE.findall(rest)
    return [os.path.join(match["folder"] or "", match["name"]) for match in _PLACES.finditer(rest)]  # noqa: PTH118


def trials(job: dict[str, Any]) -> None:
    """Print the undisturbed run, then every trial."""
    template, folder, arguments = Path(job["template"]), Path(job["folder"]), job["arguments"]
    calm = [Place(template, folder / f"calm-{number}") for number in range(2)]
    codes = [calm[0].command(arguments)]
    for name in (calm[0].root / "imported").read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ImportError):  # what a module calls itself, but cannot be imported by
            importlib.import_module(name)
    time.sleep(1.1)  # what holds the time, to the second, must differ
    codes.append(calm[1].command(arguments, trace=True))
    once, again = (place.files() for place in calm)
    lasting = {name: text for name, text in once.items() if again.get(name) == text}
    boundaries = calm[1].boundaries()
    whole = {"codes": codes, "boundaries": [what for what, *_ in boundaries], "lasting": sorted(lasting)}
    print(json.dumps({**whole, **calm[1].told()}), flush=True)  # noqa: T201
    first, of = job.get("part", (0, 1))
    for number, (what, call, nth) in enumerate(boundaries):
        for fault in job["faults"] if number % of == first else ():
            place = Place(template, folder / "trial")
            stopped = {"code": place.command(arguments, (f"{call}:{fault}:when={nth}",), trace=True), **place.told()}
            reached = [name for name, *_ in place.boundaries()][:number]
            restarted = {"code": place.command(arguments), **place.told()}
            files = place.files()
            trial = {
                "boundary": what,
                "number": number,
                "fault": fault,
                "reached": reached == whole["boundaries"][:number],
                "stopped": stopped,
                "restarted": restarted,
                "different": sorted(name for name, text in lasting.items() if files.get(name) != text),
            }
            print(json.dumps(trial), flush=True)  # noqa: T201
            shutil.rmtree(place.root)


if __name__ == "__main__":
    trials(json.load(sys.stdin))
