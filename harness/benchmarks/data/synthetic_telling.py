"""Tells a plan as a conversation: turns, and what was written down about them (facts, summaries, causes)."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.benchmarks.data import synthetic_words as words
from harness.benchmarks.data.synthetic_plan import Event, Plan, date_text, pick, shuffled

SHORT_REPLY_SHARE = 0.45
SECOND_TURN_SHARE = 0.75
SMALL_TALK_SHARE = 0.25
REMINDER_NOTES = 2
ECHOES_PER_GROUP = 2
ECHO_NOTED_SHARE = 0.7


@dataclass
class Recurring:
    """Turns of one speaker that are equal, or equal as bags of words, and the questions on them."""

    who: str
    questions: list[tuple[str, str]]
    turns: list[str] = field(default_factory=list)


def capital(text: str) -> str:
    """``text`` with a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


class Teller:
    """Tells one conversation, session by session."""

    def __init__(self, plan: Plan, rng: Random) -> None:
        self.plan = plan
        self.rng = rng
        self.sessions: list[dict[str, Any]] = []
        self.distilled: list[dict[str, Any]] = []
        self.summaries: list[dict[str, Any]] = []
        self.causal: list[dict[str, Any]] = []
        self.sign_offs: list[Recurring] = []
        self.reminders: list[Recurring] = []
        self.bags: list[Recurring] = []
        self.small_talk = shuffled(rng, words.SMALL_TALK)
        self.echoes: list[tuple[int, tuple[str, str, str], dict[str, str]]] = []
        self._recur()
        self._plan_echoes()

    def _recur(self) -> None:
        first, second = self.plan.speakers
        names = {first: {"who": first, "other": second}, second: {"who": second, "other": first}}
        farewells = shuffled(self.rng, words.SIGN_OFFS)
        notes = shuffled(self.rng, words.REMINDERS)
        for who, farewell, note in zip(self.plan.speakers, farewells, notes, strict=False):
            question = farewell[1].format_map(names[who])
            self.sign_offs.append(Recurring(who, [(question, farewell[2])]))
            self.reminders.append(Recurring(who, [(note[1].format_map(names[who]), note[2])]))
        self._farewells = [farewell[0] for farewell in farewells]
        self._notes = [(note[0], note[3]) for note in notes]
        bag = pick(self.rng, words.BAGS)
        dates = [self.plan.times[index] for index in (1, -2)]
        asked = zip((bag[2], bag[3]), dates, strict=True)
        pairs = [(text.format_map(names[second]), date_text(time)) for text, time in asked]
        self.bags.append(Recurring(second, pairs))
        self._bag_texts = dict(zip((1, len(self.plan.times) - 2), bag[:2], strict=True))

    def _plan_echoes(self) -> None:
        for group, events in self.plan.groups:
            names = {"who": events[0].who, "other": events[0].other, "theme": group.theme}
            sessions = shuffled(self.rng, range(len(self.plan.times)))[:ECHOES_PER_GROUP]
            echoes = shuffled(self.rng, words.ECHOES)
            for session, echo in zip(sessions, echoes, strict=False):
                self.echoes.append((session, echo, names))

    def _echo(self, echo: tuple[str, str, str], names: dict[str, str]) -> None:
        self._say(names["other"], echo[0].format_map(names))
        answer = self._say(names["who"], echo[1].format_map(names))
        if self.rng.random() < ECHO_NOTED_SHARE:
            self._note(echo[2].format_map(names), [answer])

    def _say(self, speaker: str, text: str) -> str:
        turns = self.sessions[-1]["turns"]
        turn_id = f"D{len(self.sessions)}:{len(turns) + 1}"
        turns.append({"id": turn_id, "speaker": speaker, "text": capital(text)})
        return turn_id

    def _exchange(self, lines: tuple[str, str], who: str, other: str, **slots: str) -> None:
        names = {"who": who, "other": other, **slots}
        self._say(who, lines[0].format_map(names))
        self._say(other, lines[1].format_map(names))

    def _note(self, text: str, sources: list[str]) -> None:
        session = len(self.sessions)
        number = len(self.distilled) + 1
        self.distilled.append({"id": f"O{number}", "session": session, "text": capital(text), "sources": sources})

    def _tell(self, event: Event) -> None:
        lines = event.template.lines
        event.turn = self._say(event.who, event.themed(event.line("T"), words.THEMED_TURNS))
        self._say(event.other, event.line("R"))
        self._note(event.themed(event.line("F"), words.THEMED_FACTS), [event.turn])
        if lines["S"] and (lines["E"] or lines["M"] or self.rng.random() < SECOND_TURN_SHARE):
            event.more = self._say(event.who, event.line("S"))
            if lines["E"]:
                self._note(event.line("E"), [event.more])
            if self.rng.random() < SHORT_REPLY_SHARE:
                self._say(event.other, pick(self.rng, words.SHORT_REPLIES))

    def _look_back(self, index: int, who: str, other: str) -> None:
        earlier = [event for event in self.plan.events if event.session < index and event.who == other]
        if earlier:
            topic = pick(self.rng, earlier)
            known = re.sub("^an? ", "the ", topic.render(topic.template.topic))
            self._exchange(pick(self.rng, words.FOLLOW_UPS), who, other, topic=known)

    def _session(self, index: int, time: dt.datetime) -> None:
        self.sessions.append({"number": index + 1, "time": time.isoformat(), "turns": []})
        who, other = self.plan.speakers if index % 2 == 0 else self.plan.speakers[::-1]
        self._exchange(pick(self.rng, words.GREETINGS), who, other)
        events = shuffled(self.rng, [event for event in self.plan.events if event.session == index])
        for event in events:
            if self.rng.random() < SMALL_TALK_SHARE and self.small_talk:
                self._exchange(self.small_talk.pop(), other, who)
            self._tell(event)
        for session, echo, names in self.echoes:
            if session == index:
                self._echo(echo, names)
        self._look_back(index, who, other)
        if index in self._bag_texts:
            self.bags[0].turns.append(self._say(self.bags[0].who, self._bag_texts[index]))
        for turn, note in enumerate(self.reminders):
            if (index + turn) % 2 == 0:
                text, fact = self._notes[turn]
                note.turns.append(self._say(note.who, text))
                if len(note.turns) <= REMINDER_NOTES:
                    self._note(fact.format_map({"who": note.who}), [note.turns[-1]])
        for farewell, text in zip(self.sign_offs, self._farewells, strict=False):
            farewell.turns.append(self._say(farewell.who, text))
        topics = [
            f"{name} tells about {', '.join(e.render(e.template.topic) for e in events if e.who == name)}"
            for name in dict.fromkeys(event.who for event in events)
        ]
        opening = f"{who} and {other} catch up on {date_text(time)}."
        self.summaries.append({"session": index + 1, "text": f"{opening} {'; '.join(topics)}."})

    def _link(self, cause: Event, effect: Event, confidence: float) -> None:
        edge = {"from": cause.turn, "to": effect.turn, "relation": "caused", "confidence": confidence}
        self.causal.append(edge)

    def tell(self) -> None:
        """Tells all sessions, then links causes to effects and each yearly event to its second year."""
        for index, time in enumerate(self.plan.times):
            self._session(index, time)
        for _, (cause, effect) in self.plan.chains:
            self._link(cause, effect, pick(self.rng, (0.6, 0.7, 0.8, 0.9)))
        for first, second in self.plan.series:
            self._link(first, second, pick(self.rng, (0.4, 0.5, 0.6)))
            topic = second.render("{who} took part in " + second.template.topic + " in {y1} and in {y2}.")
            self._note(topic, [first.turn, second.turn])
            self.distilled[-1]["session"] = second.session + 1
        self.distilled.sort(key=lambda fact: fact["session"])
        for number, fact in enumerate(self.distilled, start=1):
            fact["id"] = f"O{number}"
