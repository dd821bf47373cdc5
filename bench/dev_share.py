"""How much of a dev run on LoCoMo's conv-26 is our own work, beside imports and a warm MLflow store.

Usage: python bench/dev_share.py locomo10.json

Makes a workspace, warms the store with one dev run, then times a second one in a fresh process: imports, MLflow's
own calls, and the rest, which is ours. Prints shares of the wall time; absolute times depend on the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

TIMED = """
import json, sys, time
start = time.perf_counter()
import hydra, mlflow, mlflow.entities
from pathlib import Path
from mlflow import MlflowClient
from harness.workflow.compose import compose_dev
from harness.workflow.dev import dev_run, open_bench
from harness.workflow.dev_records import run_record
from harness.workflow.mirroring import send
from harness.workflow.workspace import open_workspace
imported = time.perf_counter()
workspace = open_workspace(Path(sys.argv[1]))
config = compose_dev("bm25", ["retrieval.layers=[raw]"], ["locomo"], workspace.root / "conf")
run = dev_run(open_bench(workspace, config.benchmark), config)
ranked = time.perf_counter()
assert not send(workspace, [run_record(run)]).waiting
end = time.perf_counter()
print(json.dumps({"imports": imported - start, "mlflow": end - ranked, "wall": end - start}))
"""


def main() -> None:
    """Measure and print."""
    source = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        harness = [sys.executable, "-m", "harness"]
        subprocess.run([*harness, "init", folder], check=True, capture_output=True)
        subprocess.run([*harness, "data", "import", "locomo", str(source), "--workspace", folder], check=True,
                       capture_output=True)  # fmt: skip
        dev = [*harness, "dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]", "--workspace", folder]
        subprocess.run(dev, check=True, capture_output=True)
        rows = []
        for _ in range(5):
            done = subprocess.run([sys.executable, "-c", TIMED, folder], check=True, capture_output=True, text=True)
            rows.append(json.loads(done.stdout))
    shares = sorted((row["wall"] - row["imports"] - row["mlflow"]) / row["wall"] for row in rows)
    print("one dev run on conv-26, bm25 over raw turns beside the version in force; five runs in fresh processes")
    for name in ("imports", "mlflow"):
        print(f"  {name:8} {100 * sorted(row[name] / row['wall'] for row in rows)[2]:5.1f} % of the wall time (median)")
    spread = f"{100 * shares[0]:.1f} to {100 * shares[-1]:.1f} %"
    print(f"  our own  {100 * shares[2]:5.1f} % (median), {spread}; goal: at most 20 %")


if __name__ == "__main__":
    main()
