"""What happens to whom and when: events drawn from the templates and spread over the sessions."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from string import Formatter
from typing import TypeVar

from harness.benchmarks.data import synthetic_words as words
from harness.benchmarks.data.synthetic_away import EVENTS as AWAY
from harness.benchmarks.data.synthetic_home import EVENTS as HOME
from harness.benchmarks.data.synthetic_threads import CHAINS, EXTRAS, SERIES

T = TypeVar("T")

THEMED_SHARE = 0.7  # of the grouped events
EVENTS_WANTED = 24  # beside the threads, the yearly events and the extras
DAYS_SPANNED = 430  # so that every conversation reaches into a second year
CJK_EXTRAS = {3: 1, 7: 2}  # conversation -> group of EXTRAS


@dataclass(frozen=True)
class Template:
    """One kind of event: its topic, its short answer, and its lines by their first character."""

    name: str
    topic: str
    short: str
    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Templates told by one speaker, and the multi-hop question over them (`answer` empty: their answers)."""

    question: str
    answer: str
    theme: str = ""
    templates: list[Template] = field(default_factory=list)


@dataclass
class Event:
    """One event of a conversation: who, in which session, with which words; turn ids once it is told."""

    template: Template
    who: str
    other: str
    slots: dict[str, str]
    session: int = 0
    variant: int = 0
    when: str = ""
    theme: str = ""
    turn: str = ""
    more: str = ""

    def render(self, text: str, swap: bool = False) -> str:
        """Fills the slots of ``text``; with ``swap`` it speaks of the other speaker."""
        who, other = (self.other, self.who) if swap else (self.who, self.other)
        return text.format_map({**self.slots, "who": who, "other": other})

    def line(self, mark: str) -> str:
        """The rendered line ``mark`` in this event's variant."""
        lines = self.template.lines[mark]
        return self.render(lines[self.variant % len(lines)])

    def themed(self, text: str, ways: Sequence[str]) -> str:
        """``text`` with this event's theme, if it has one, in one of ``ways``."""
        if not self.theme:
            return text
        way = ways[(self.session + self.variant) % len(ways)]
        return way.format(text=text, theme=self.theme, Theme=self.theme.capitalize())


@dataclass
class Plan:
    """One conversation before it is told: speakers, session times, events and the groups among them."""

    number: int
    speakers: tuple[str, str]
    times: list[dt.datetime]
    groups: list[tuple[Group, list[Event]]] = field(default_factory=list)
    chains: list[tuple[Group, list[Event]]] = field(default_factory=list)
    series: list[tuple[Event, Event]] = field(default_factory=list)
    extras: list[Event] = field(default_factory=list)

    @property
    def events(self) -> list[Event]:
        """All events, in the order in which they were planned."""
        grouped = [event for _, events in (*self.groups, *self.chains) for event in events]
        return [*grouped, *(event for pair in self.series for event in pair), *self.extras]


def pick(rng: Random, items: Sequence[T]) -> T:
    """One of ``items`` by index."""
    return items[int(rng.random() * len(items))]


def shuffled(rng: Random, items: Sequence[T]) -> list[T]:
    """``items`` in random order (Fisher and Yates), from ``Random.random`` alone."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result


def parse(block: str) -> list[Group]:
    """Reads a template block in the notation of `synthetic_words`."""
    groups: list[Group] = []
    for line in filter(None, block.splitlines()):
        mark, text = line[0], line[2:]
        if mark == "=":
            question, _, answer = text.partition(" = ")
            question, _, theme = question.partition(" | ")
            groups.append(Group(question, answer, theme))
        elif mark == "*":
            name, topic, *short = text.split(" | ")
            groups[-1].templates.append(Template(name, topic, short[0] if short else topic))
        elif mark == "V":
            slot, _, values = text.partition(": ")
            groups[-1].templates[-1].values[slot] = tuple(values.split(", "))
        else:
            groups[-1].templates[-1].lines[mark].append(text)
    return groups


class Planner:
    """Draws one conversation's plan; names and numbers repeat within it only when a list is used up."""

    def __init__(self, number: int, rng: Random) -> None:
        self.rng = rng
        self.pools: dict[str, list[str]] = {}
        self.plan = Plan(number, words.SPEAKERS[number - 1], self._times())
        self.loads = [0] * len(self.plan.times)

    def _times(self) -> list[dt.datetime]:
        count = 6 + int(self.rng.random() * 4)
        start = dt.datetime(2020 + int(self.rng.random() * 4), 2 + int(self.rng.random() * 3), 3)
        times = []
        for index in range(count):
            day = index * DAYS_SPANNED // (count - 1) + int(self.rng.random() * 12)
            minute = 17 * 60 + 5 * int(self.rng.random() * 60)
            times.append(start + dt.timedelta(days=day, minutes=minute))
        return times

    def _draw(self, slot: str, values: Sequence[str]) -> str:
        pool = self.pools.setdefault(slot, [])
        if not pool:
            pool.extend(shuffled(self.rng, values))
        return pool.pop()

    def _slots(self, templates: Sequence[Template]) -> dict[str, str]:
        own = {slot: values for template in templates for slot, values in template.values.items()}
        slots = {slot: pick(self.rng, values) for slot, values in own.items()}
        texts = [text for template in templates for lines in template.lines.values() for text in lines]
        for name in sorted({part[1] for text in texts for part in Formatter().parse(text) if part[1]}):
            shared = name.rstrip("2")
            if name not in slots and shared in words.SLOTS:
                slots[name] = self._draw(shared, words.SLOTS[shared])
        return slots

    def _event(self, template: Template, speaker: int, slots: dict[str, str], sessions: Sequence[int]) -> Event:
        session = min(shuffled(self.rng, sessions), key=lambda index: self.loads[index])
        self.loads[session] += 1
        who, other = self.plan.speakers[speaker], self.plan.speakers[1 - speaker]
        event = Event(template, who, other, dict(slots), session, int(self.rng.random() * 2))
        phrase, event.when = self._when(self.plan.times[session])
        event.slots |= {"when": phrase, "When": phrase[0].upper() + phrase[1:]}
        return event

    def _when(self, time: dt.datetime) -> tuple[str, str]:
        kind = int(self.rng.random() * 5)
        if kind == 0:
            return "yesterday", date_text(time - dt.timedelta(days=1))
        if kind == 1:
            return "last week", f"the week before {date_text(time)}"
        if kind == 2:
            return "last weekend", f"the weekend before {date_text(time)}"
        day = time - dt.timedelta(days=2 + int(self.rng.random() * 5))
        return f"last {WEEKDAYS[day.weekday()]}", date_text(day)

    def _grouped(self) -> None:
        wanted = EVENTS_WANTED
        for turn, group in enumerate(shuffled(self.rng, [*parse(HOME), *parse(AWAY)])):
            if wanted <= 0:
                break
            free, events = list(range(len(self.loads))), []
            for template in group.templates:
                events.append(self._event(template, turn % 2, self._slots([template]), free))
                free.remove(events[-1].session)
                events[-1].theme = group.theme if self.rng.random() < THEMED_SHARE else ""
            self.plan.groups.append((group, events))
            wanted -= len(events)

    def _threads(self) -> None:
        count, year = len(self.loads), self.plan.times[0].year
        late = [index for index, time in enumerate(self.plan.times) if time.year > year]
        early = [index for index in range(count) if index not in late]
        for turn, group in enumerate(shuffled(self.rng, parse(CHAINS))[:4]):
            slots = self._slots(group.templates)
            cause = self._event(group.templates[0], turn % 2, slots, range(count // 2))
            effect = self._event(group.templates[1], turn % 2, slots, range(cause.session + 1, count))
            self.plan.chains.append((group, [cause, effect]))
        for turn, template in enumerate(shuffled(self.rng, parse(SERIES)[0].templates)[:2]):
            slots = self._slots([template]) | {"y1": str(year), "y2": str(year + 1)}
            pair = []
            for variant, sessions in enumerate((early, late)):
                event = self._event(template, turn % 2, slots, sessions)
                event.variant = variant
                event.slots |= {"p": slots[f"p{variant + 1}"], "y": slots[f"y{variant + 1}"]}
                pair.append(event)
            self.plan.series.append((pair[0], pair[1]))

    def _extras(self) -> None:
        number, groups, sessions = self.plan.number, parse(EXTRAS), range(len(self.loads))
        templates = [groups[0].templates[number % 2]]
        if number in CJK_EXTRAS:
            templates += groups[CJK_EXTRAS[number]].templates
        for turn, template in enumerate(templates):
            self.plan.extras.append(self._event(template, turn % 2, self._slots([template]), sessions))

    def draw(self) -> Plan:
        """The plan of one conversation."""
        self._threads()
        self._grouped()
        self._extras()
        return self.plan


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)


def date_text(time: dt.datetime) -> str:
    """A day in words, ``2 March 2021``; not by ``strftime``, which follows the locale."""
    return f"{time.day} {MONTHS[time.month - 1]} {time.year}"
