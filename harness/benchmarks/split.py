"""Which questions are for development, where a benchmark does not say it: drawn by digest, alike by everyone."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Sequence

from harness.errors import UsageProblem


def draw_dev(clusters: Sequence[str], strata: Sequence[str], wanted: int, where: str = "") -> frozenset[str]:
    """Draw clusters for development, whole, so that no held-out question shares one with a question that was tuned on.

    Every stratum gives its share, rounded by largest remainders (Hamilton 1792), and takes clusters by the digest of
    their names until it has it; the order of the questions makes no difference.

    Args:
        clusters, strata: one a question.
        wanted: least number of questions; a cluster may bring more.
        where: what is split, for messages.

    Raises:
        UsageProblem: fewer than one, or nothing would be held out.
    """
    n = len(clusters)
    if not 0 < wanted < n:
        what = f"{wanted} of {n} questions for development"
        raise UsageProblem(what, where=where, allowed="at least one, and at least one that is held out", fix="--dev N")
    chosen = draw(clusters, strata, wanted)
    if len(chosen) == len(set(clusters)):
        what = f"{len(chosen)} clusters of questions: nothing is held out"
        raise UsageProblem(what, where=where, allowed="at least one cluster that is held out", fix="--dev N with less")
    return chosen


def draw(clusters: Sequence[str], strata: Sequence[str], wanted: int) -> frozenset[str]:
    """Draw clusters with ``wanted`` questions or a few more, as `draw_dev` does; all of them, if need be."""
    stratum: dict[str, str] = {}
    members: dict[str, Counter[str]] = defaultdict(Counter)
    for cluster, name in zip(clusters, strata, strict=True):
        stratum[cluster] = min(name, stratum.get(cluster, name))
        members[cluster][name] += 1
    order = sorted(stratum, key=lambda name: (hashlib.sha256(f"split/1\n{name}".encode()).hexdigest(), name))
    chosen: set[str] = set()
    have: Counter[str] = Counter()
    for name, share in sorted(_shares(Counter(strata), wanted).items()):
        for cluster in order:
            if have[name] >= share:
                break
            if stratum[cluster] == name and cluster not in chosen:
                chosen.add(cluster)
                have += members[cluster]
    return frozenset(chosen)


def _shares(counts: Counter[str], wanted: int) -> dict[str, int]:
    exact = {name: wanted * count / counts.total() for name, count in counts.items()}
    shares = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: wanted - sum(shares.values())]:
        shares[name] += 1
    return shares
