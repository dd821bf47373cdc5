"""A writer of small workspaces that shares no code with the verifier: plain loops, numpy and scipy."""

import hashlib
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

IDENTIFIER = "sharper"
SEALED = [
    "questions.jsonl",
    "ranking-baseline.jsonl",
    "ranking-candidate.jsonl",
    "documents-baseline.jsonl",
    "documents-candidate.jsonl",
]


def spell(value) -> bytes:
    """Canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def tagged(domain: str, value) -> str:
    """A digest under a domain."""
    return "sha256:" + hashlib.sha256(b"retrieval-harness/" + domain.encode() + b"\n" + spell(value)).hexdigest()


def lines(values) -> bytes:
    """JSON lines."""
    return b"".join(spell(value) + b"\n" for value in values)


class Ledger:
    """Appends entries to a folder the way the format asks for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sequence: dict[str, int] = {}
        self.named: set[str] = set()
        (folder / "questions").mkdir(parents=True, exist_ok=True)

    def tips(self) -> list[str]:
        """Entries that nobody names."""
        return sorted(set(self.sequence) - self.named)

    def head(self) -> dict:
        """What a witness would write down now."""
        return {"count": len(self.sequence), "tips": self.tips()}

    def path(self, digest: str) -> Path:
        """Where an entry lies."""
        return self.folder / f"{self.sequence[digest]:06d}-{digest[:16]}.json"

    def append(self, kind: str, payload, parents=None, override=None) -> str:
        """Write an entry, by default after all tips, and return its digest."""
        parents = self.tips() if parents is None else sorted(parents)
        entry = {
            "format": 1,
            "sequence": 1 + max((self.sequence[parent] for parent in parents), default=0),
            "parents": parents,
            "kind": kind,
            "time": "2026-11-30T22:10:00+00:00",
            "git": {"commit": "ab" * 20, "dirty": False},
            "environment": "sha256:" + "0" * 64,
            "payload": payload,
        } | (override or {})
        digest = hashlib.sha256(b"retrieval-harness/ledger-entry/1\n" + spell(entry)).hexdigest()
        self.sequence[digest] = entry["sequence"]
        self.named |= set(parents)
        self.path(digest).write_bytes(spell(entry) + b"\n")
        return digest

    def question_set(self, members) -> str:
        """Write a held-out set and return its tagged digest."""
        digest = tagged("question-set/1", sorted(members))
        (self.folder / "questions" / f"{digest[7:]}.json").write_bytes(spell(sorted(members)))
        return digest


@dataclass
class Story:
    """A written workspace and what it takes to damage it."""

    workspace: Path
    ledger: Ledger
    run: Path
    digests: dict[str, str] = field(default_factory=dict)
    verdict: dict = field(default_factory=dict)

    def entry(self, kind: str) -> Path:
        """The file of the experiment's own lock, seal, claim or verdict."""
        return self.ledger.path(self.digests[kind])


def member(name: str) -> str:
    """A question as a member of a held-out set."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def make_questions() -> list[list]:
    """One dev conversation and six held-out ones, of eight questions each."""
    return [
        [f"conv-{c}/q{i}", f"conv-{c}", f"conv-{c}", "dev" if c == 1 else "heldout"]
        for c in range(1, 8)
        for i in range(8)
    ]


def make_document(position: int) -> list:
    """Raw chunks below 60, distilled chunks below 80, edges above."""
    if position < 60:
        return [position, "raw", 20, [position], [position]]
    if position < 80:
        return [position, "distill", 9, [position], [position - 60, position - 40]]
    return [position, "edge", 5, [position - 80, position - 60], [position - 80, position - 60]]


def make_evidence(questions, rng) -> list[list]:
    """Evidence with questions that have none, and labels that point nowhere."""
    categories = ["temporal", "multi-hop", "single-hop", "adversarial"]
    rows = []
    for index, question in enumerate(questions):
        repaired = sorted(rng.sample(range(70), rng.choice([0, 1, 1, 2, 3])))
        published = [chunk for chunk in repaired if rng.random() < 0.8]
        flags = ["image_dependent"] if index % 3 == 0 else []
        rows.append(
            [
                question[0],
                categories[index % 4],
                flags,
                repaired,
                published,
                len(published) + rng.choice([0, 0, 1]),
            ]
        )
    return rows


def make_rankings(evidence, depth: int, luck: float, rng) -> list[list]:
    """Random rankings into which each wanted chunk is put with some luck."""
    rows = []
    for name, _, _, repaired, _, _ in evidence:
        ranking = rng.sample(range(100), depth)
        for chunk in repaired:
            if rng.random() < luck and chunk not in ranking:
                ranking[rng.randrange(depth)] = chunk
        rows.append([name, list(dict.fromkeys(ranking))])
    return rows


def oracle_recall(ranking, evidence_row, k: int, *, source: bool = False, published: bool = False):
    """Recall as sets: what the first k documents yield, against the evidence."""
    wanted = set(evidence_row[4] if published else evidence_row[3])
    size = evidence_row[5] if published else len(wanted)
    if size == 0:
        return None
    yielded = set()
    for document in ranking[:k]:
        yielded |= set(make_document(document)[4 if source else 3])
    return len(yielded & wanted) / size


def oracle_tango_z(b, c, n, delta):
    """Tango's statistic exactly as published."""
    a2, a1, a0 = 2 * n, -b - c + (2 * n - b + c) * delta, -c * delta * (1 - delta)
    q = (math.sqrt(max(0.0, a1 * a1 - 4 * a2 * a0)) - a1) / (2 * a2)
    variance = n * (2 * q + delta * (1 - delta))
    return (b - c - n * delta) / math.sqrt(variance) if variance else 0.0


def oracle_clause(rule, before, after, clusters, alpha, parts, rho) -> dict:
    """One clause by numpy and scipy."""
    before, after = np.array(before), np.array(after)
    d = after - before
    labels = sorted(set(clusters))
    sizes = np.array([clusters.count(label) for label in labels])
    n, g = len(d), len(labels)
    sums = np.array([d[[c == label for c in clusters]].sum() for label in labels])
    se = np.sqrt(g / (g - 1) * ((sums - sizes * d.mean()) ** 2).sum()) / n
    cv2 = sizes.var() / sizes.mean() ** 2
    deff = max(1.0, 1 + (sizes.mean() * (1 + cv2) - 1) * rho)
    b, c, m = d[d > 0].sum() / deff, -d[d < 0].sum() / deff, n / deff

    def tango(level):
        return optimize.brentq(
            lambda x: oracle_tango_z(b, c, m, x) - level, -1 + 1e-12, 1 - 1e-12, xtol=1e-15, rtol=1e-14
        )

    def upper(a):
        return max(d.mean() + stats.t.isf(a, g - 1) * se, tango(stats.norm.ppf(a)))

    t = stats.t(g - 1)

    def cluster_p(tail, threshold, good):
        return tail((d.mean() - threshold) / se) if se else 0.5 if d.mean() == threshold else 1.0 - good

    up, low = rule["pass_above"], rule["rollback_below"]
    return rule | {
        "n": n,
        "clusters": g,
        "effective_clusters": float(n**2 / (sizes**2).sum()),
        "testable": True,
        "baseline": float(before.mean()),
        "candidate": float(after.mean()),
        "estimate": float(d.mean()),
        "lower": max(-1.0, float(min(d.mean() - stats.t.isf(alpha, g - 1) * se, tango(stats.norm.isf(alpha))))),
        "upper": min(1.0, float(upper(alpha))),
        "upper_rollback": min(1.0, float(upper(alpha / parts))),
        "p_pass": float(max(cluster_p(t.sf, up, d.mean() > up), stats.norm.sf(oracle_tango_z(b, c, m, up)))),
        "p_rollback": float(max(cluster_p(t.cdf, low, d.mean() < low), stats.norm.cdf(oracle_tango_z(b, c, m, low)))),
        "wins": int((d > 0).sum()),
        "losses": int((d < 0).sum()),
        "ties": int((d == 0).sum()),
        "mde": float((t.isf(alpha) + t.ppf(0.8)) * d.std(ddof=1) * math.sqrt(deff / n)),
    }


def make_document_of_experiment() -> dict:
    """A valid locked document."""
    return {
        "format": 1,
        "id": IDENTIFIER,
        "title": "Sharper",
        "authors": ["A"],
        "hypothesis": "h",
        "rationale": "r",
        "due": None,
        "benchmark": {"name": "toy", "digest": None},
        "baseline": {"version": "bm25", "parameters": {}, "fingerprint": None},
        "candidate": {
            "version": "rrf",
            "parameters": {"k": 60},
            "fingerprint": None,
            "frozen": None,
            "trials": 3,
        },
        "straw": None,
        "budget": {"k": 10, "unit": "chunks"},
        "claim": {"kind": "superior", "pass_above": 0.01, "rollback_below": 0.0},
        "primary": [{"measure": "R@10", "slice": "all"}],
        "guards": [{"measure": "R(credit=source,evidence=published)@5", "slice": "temporal", "drop": 0.4}],
        "alpha": 0.05,
        "rho_plan": 0.01,
        "procedure": "cluster-t+tango/1",
        "expect": None,
        "outside_looks": [],
        "decide_on": "bounds",
    }


def lock_payload(document, heldout_set: str, look: int) -> dict:
    """A lock whose own statements agree."""
    return {
        "id": document["id"],
        "document": document,
        "document_digest": tagged("preregistration/1", document),
        "yaml_sha256": "1" * 64,
        "benchmark": {"name": "toy"}
        | dict.fromkeys(("digest", "corpus", "heldout_questions", "heldout_labels"), "sha256:" + "2" * 64),
        "fingerprints": {"baseline": "sha256:" + "3" * 64, "candidate": "sha256:" + "4" * 64},
        "code": "sha256:" + "5" * 64,
        "look": look,
        "alpha_k": document["alpha"] * 6 / (math.pi**2 * look**2),
        "heldout_set": heldout_set,
        "in_force": {"version": "bm25", "parameters": {}, "because": "shipped default"},
        "acknowledged": [],
    }


def write_sealed(run: Path, questions, rankings, touch) -> dict[str, str]:
    """Write the files of a seal and return their digests."""
    contents = {"questions.jsonl": lines(questions), "budget.json": b"{}\n", "environment.json": b"{}\n"}
    for role, ranking in rankings.items():
        contents[f"ranking-{role}.jsonl"] = lines(ranking)
        used = sorted({document for _, listed in ranking for document in listed})
        contents[f"documents-{role}.jsonl"] = lines(make_document(document) for document in used)
    return write_files(run, contents, touch)


def write_files(run: Path, contents, touch) -> dict[str, str]:
    """Write files, damaged where asked for, and return the digests of what was written."""
    for name, raw in contents.items():
        (run / name).write_bytes(touch.get(name, bytes)(raw))
    return {name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in contents}


def score_and_decide(document, questions, rankings, evidence, look):
    """Scores and clauses by the oracles."""
    scores, clauses = {}, []
    alpha = document["alpha"] * 6 / (math.pi**2 * look**2)
    promises = [(kind, each) for kind in ("primary", "guards") for each in document[kind]]
    for kind, each in promises:
        name = each["measure"]
        options = {"source": "credit=source" in name, "published": "evidence=published" in name}
        scores[name] = {
            role: [
                oracle_recall(row[1], facts, int(name.split("@")[1]), **options)
                for row, facts in zip(rankings[role], evidence, strict=True)
            ]
            for role in rankings
        }
        chosen = [
            i
            for i, question in enumerate(questions)
            if question[3] == "heldout"
            and scores[name]["baseline"][i] is not None
            and each["slice"] in ("all", evidence[i][1])
        ]
        if not chosen:
            continue
        rule = {"kind": kind.removesuffix("s"), "measure": name, "slice": each["slice"]}
        claim = document["claim"]
        rule["pass_above"] = claim["pass_above"] if kind == "primary" else -each["drop"]
        rule["rollback_below"] = claim["rollback_below"] if kind == "primary" else -each["drop"]
        columns = [[scores[name][role][i] for i in chosen] for role in ("baseline", "candidate")]
        clusters = [questions[i][2] for i in chosen]
        clauses.append(oracle_clause(rule, *columns, clusters, alpha, len(promises), document["rho_plan"]))
    return scores, clauses


def write_story(
    workspace: Path,
    *,
    edit: dict[str, Callable[[dict], None]] | None = None,
    touch: dict[str, Callable[[bytes], bytes]] | None = None,
    document: dict | None = None,
    look: int = 1,
    before: Callable[[Ledger, list[str]], None] | None = None,
    until: str = "verdict",
    same_rankings: bool = False,
    luck: float = 0.8,
) -> Story:
    """Write one experiment; ``edit`` changes payloads and ``touch`` files before they are digested."""
    edit, touch = edit or {}, touch or {}
    document = make_document_of_experiment() | (document or {})
    rng = random.Random(5)
    questions = make_questions()
    evidence = make_evidence(questions, rng)
    rankings = {"baseline": make_rankings(evidence, 12, 0.2, rng)}
    rankings["candidate"] = rankings["baseline"] if same_rankings else make_rankings(evidence, 12, luck, rng)
    ledger = Ledger(workspace / "preregistrations" / "ledger")
    story = Story(workspace, ledger, workspace / "runs" / "full" / IDENTIFIER)
    story.run.mkdir(parents=True)
    heldout = [member(question[0]) for question in questions if question[3] == "heldout"]
    if before is not None:
        before(ledger, heldout)

    def append(kind: str, payload: dict) -> None:
        edit.get(kind, lambda _: None)(payload)
        story.digests[kind] = ledger.append(kind, payload)
        (story.run / "head.json").write_bytes(spell(ledger.head()))

    append("lock", lock_payload(document, ledger.question_set(heldout), look))
    names = {"id": IDENTIFIER, "lock": story.digests["lock"]}
    if until == "lock":
        return story
    files = write_sealed(story.run, questions, rankings, touch)
    append(
        "seal",
        names | {"files": files, "questions": len(questions), "depth": 12, "repeat": {"baseline": True}},
    )
    if until == "seal":
        return story
    append("claim", names | {"seal": story.digests["seal"]})
    scores, clauses = score_and_decide(document, questions, rankings, evidence, look)
    contents = {"evidence.jsonl": lines(evidence), "scores.json": spell({"measures": scores})}
    story.verdict = names | {
        "seal": story.digests["seal"],
        "claim": story.digests["claim"],
        "state": "PASS",
        "reason": "all_clauses_hold",
        "look": look,
        "alpha_k": document["alpha"] * 6 / (math.pi**2 * look**2),
        "clauses": clauses,
        "files": write_files(story.run, contents, touch),
    }
    append("verdict", story.verdict)
    return story


@pytest.fixture
def write(tmp_path):
    """Write a workspace into a fresh folder."""
    return lambda **options: write_story(tmp_path / "workspace", **options)


@pytest.fixture
def new_ledger(tmp_path):
    """An empty ledger writer in a fresh folder."""
    return Ledger(tmp_path / "ledger")
