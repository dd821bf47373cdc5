"""Asks about a told conversation: questions of five categories, their answers, evidence and tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any

from harness.benchmarks.data import synthetic_words as words
from harness.benchmarks.data.synthetic_plan import Event, shuffled
from harness.benchmarks.data.synthetic_telling import Teller

SHARES = {"temporal": 0.16, "multi-hop": 0.14, "open-domain": 0.05, "adversarial": 0.22}
PARAPHRASED = 0.5  # of the single-hop and adversarial questions on events
PARAPHRASED_DATES = 0.7  # of the temporal questions on events that have a paraphrased one
LITERAL_WORDS = 2  # content words that a literal question shares with its evidence, at least

Question = dict[str, Any]
Attempt = Callable[[], bool]


def content(text: str) -> set[str]:
    """The words of ``text`` that carry meaning."""
    return set(re.findall(r"\w+", text.lower())) - words.GRAMMAR


def ordered(ids: list[str]) -> list[str]:
    """Turn ids in the order of the conversation."""
    return sorted(ids, key=lambda text: [int(part) for part in text[1:].split(":")])


class Asking:
    """The questions of one conversation, ``total`` of them."""

    def __init__(self, teller: Teller, rng: Random, total: int) -> None:
        self.teller = teller
        self.plan = teller.plan
        self.rng = rng
        self.total = total
        self.questions: list[Question] = []
        self.texts = {turn["id"]: turn["text"] for part in teller.sessions for turn in part["turns"]}
        self.names = {name.lower() for name in self.plan.speakers}
        self.asked: set[str] = set()

    def _add(self, category: str, text: str, answer: str | None, evidence: list[str], *tags: str) -> bool:
        if text in self.asked:
            return False
        self.asked.add(text)
        marks = set(tags)
        told = content(" ".join(self.texts[turn] for turn in evidence)) - self.names
        if "paraphrase" not in marks and len(told & content(text)) >= LITERAL_WORDS:
            marks.add("lexical")
        question: Question = {
            "text": text,
            "category": category,
            "answer": answer,
            "evidence": ordered(evidence),
            "tags": sorted(marks),
        }
        if answer is None:
            question["unanswerable"] = True
        self.questions.append(question)
        return True

    def _ask(self, event: Event, category: str, mark: str, *tags: str, swap: bool = False) -> bool:
        lines = event.template.lines[mark]
        evidence = event.more if mark == "M" else event.turn
        if not lines or not evidence:
            return False
        text, _, answer = lines[0].partition(" = ")
        marks = [*tags, *(["paraphrase"] if mark in "Pw" else [])]
        gold = None if swap else event.render(answer) if answer else event.when
        text = event.render(text, swap)
        if mark in "PwO":
            text = event.themed(text[0].lower() + text[1:] if event.theme else text, words.THEMED_QUESTIONS)
        return self._add(category, text, gold, [evidence], *marks)

    def _fill(self, category: str, until: int, ask: Iterator[Attempt]) -> None:
        have = sum(question["category"] == category for question in self.questions)
        for attempt in ask:
            if have >= until:
                return
            have += attempt()
        if have < until:
            raise ValueError(f"{self.plan.speakers}: {have} of {until} {category} questions")

    def _plain(self) -> list[Event]:
        grouped = [*self.plan.groups, *self.plan.chains]
        return shuffled(self.rng, [event for _, events in grouped for event in events])

    def _two_years(self) -> None:
        for turn, pair in enumerate(self.plan.series):
            for year, event in enumerate(pair):
                self._ask(event, "single-hop", "LP"[(turn + year) % 2], "two-years")
                self._ask(event, "temporal", "W", "two-years")
            text, _, answer = pair[0].template.lines["C"][0].partition(" = ")
            turns = [event.turn for event in pair]
            self._add("multi-hop", pair[0].render(text), pair[0].render(answer), turns, "two-years")

    def _ties(self) -> None:
        for number, recurring in enumerate([*self.teller.sign_offs, *self.teller.reminders]):
            text, answer = recurring.questions[0]
            turns = recurring.turns if number % 2 else [recurring.turns[number % len(recurring.turns)]]
            self._add("single-hop", text, answer, turns[:3], "tie")
        for bag in self.teller.bags:
            for turn, (text, answer) in zip(bag.turns, bag.questions, strict=True):
                self._add("temporal", text, answer, [turn], "tie")

    def _multi_hop(self) -> Iterator[Attempt]:
        for group, (cause, effect) in self.plan.chains:
            turns = [cause.turn, effect.turn]
            question, answer = effect.render(group.question), effect.render(group.answer)
            yield partial(self._add, "multi-hop", question, answer, turns, "causal")
        for group, events in self.plan.groups:
            turns = [event.turn for event in events]
            question = events[0].render(group.question)
            answer = ", ".join(event.render(event.template.short) for event in events)
            yield partial(self._add, "multi-hop", question, answer, turns)

    def _inferred(self) -> Iterator[Attempt]:
        for event in self._plain():
            yield partial(self._ask, event, "open-domain", "O")

    def _dated(self) -> Iterator[Attempt]:
        for event in self._plain():
            mark = "w" if event.template.lines["w"] and self.rng.random() < PARAPHRASED_DATES else "W"
            yield partial(self._ask, event, "temporal", mark)

    def _mixed(self, category: str, *tags: str, swap: bool = False) -> Iterator[Attempt]:
        for first in (True, False):
            for event in self._plain():
                paraphrased = (self.rng.random() < PARAPHRASED) == first
                mark = "P" if paraphrased else "M" if event.template.lines["M"] and not swap else "L"
                yield partial(self._ask, event, category, mark, *tags, swap=swap)

    def ask(self) -> list[Question]:
        """All questions, in random order; the yearly events, the extras and the ties are always asked."""
        self._two_years()
        self._ties()
        for event in self.plan.extras:
            script = "cjk" if re.search(r"[\u4e00-\u9fff]", event.line("T")) else "non-ascii"
            self._ask(event, "single-hop", "L", script)
        who = self.plan.speakers[self.plan.number % 2]
        missing = words.UNMENTIONED[self.plan.number - 1].format(who=who)
        self._add("adversarial", missing, None, [], "unanswerable")
        quota = {category: round(share * self.total) for category, share in SHARES.items()}
        self._fill("temporal", quota["temporal"], self._dated())
        self._fill("multi-hop", quota["multi-hop"], self._multi_hop())
        self._fill("open-domain", quota["open-domain"], self._inferred())
        self._fill("adversarial", quota["adversarial"], self._mixed("adversarial", "unanswerable", swap=True))
        self._fill("single-hop", self.total - sum(quota.values()), self._mixed("single-hop"))
        return shuffled(self.rng, self.questions)
