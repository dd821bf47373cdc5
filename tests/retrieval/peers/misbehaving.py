"""Answers the first questions well and then does what its argument says."""

import json
import os
import sys
import time
from pathlib import Path

what, patience = sys.argv[1], int(sys.argv[2])
hello = json.loads(sys.stdin.readline())
if what == "crashes at the start":
    sys.exit("no model found")
documents = [json.loads(line) for line in Path(hello["corpus"]).read_text("utf-8").splitlines()]
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    mine = [one["id"] for one in documents if one["partition"] == asked["partition"]]
    theirs = [one["id"] for one in documents if one["partition"] != asked["partition"]]
    answer = {"question": asked["question"], "documents": mine[: hello["depth"]]}
    if number == patience:
        if what == "hangs":
            time.sleep(600)
        elif what == "crashes":
            print("out of memory", file=sys.stderr, flush=True)
            os._exit(7)
        elif what == "ends":
            sys.exit(0)
        elif what == "prints nonsense":
            print("loading model…", flush=True)
        elif what == "prints a number":
            answer = 3
        elif what == "prints half a line":
            print('{"question": ', end="", flush=True)
            os._exit(0)
        elif what == "answers another question":
            answer["question"] = "q-of-others"
        elif what == "finds an unknown document":
            answer["documents"] = ["nowhere/1"]
        elif what == "finds a number":
            answer["documents"] = [7]
        elif what == "finds a document twice":
            answer["documents"] = [*mine[:3], mine[1]]
        elif what == "finds what lies elsewhere":
            answer["documents"] = theirs[:1]
        elif what == "scores too few":
            answer["scores"] = [1.0]
        elif what == "scores with NaN":
            answer["scores"] = [float("nan")] * len(answer["documents"])
        elif what == "scores with text":
            answer["scores"] = ["high"] * len(answer["documents"])
        elif what == "sorts the wrong way":
            answer["scores"] = list(range(len(answer["documents"])))
        elif what == "finds nothing":
            answer["documents"] = []
        elif what == "finds fewer":
            answer["documents"] = mine[:2]
        elif what == "finds more":
            answer["documents"] = mine
    print(json.dumps(answer), flush=True)
if what == "does not end":
    time.sleep(600)
if what == "ends badly":
    sys.exit("could not save")
