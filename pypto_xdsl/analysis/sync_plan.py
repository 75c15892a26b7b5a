"""What `insert-sync` is going to insert."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Operation


@dataclass(eq=False)
class Event:
    """One event: set after an op and waited for before another of the same block."""

    source: int
    destination: int
    first: Operation
    then: Operation
    loop: Operation | None
    """Where a loop's next iteration waits for this one's: the outermost loop around it."""
    number: int | None = None

    @property
    def pair(self) -> tuple[int, int]:
        return self.source, self.destination


@dataclass(frozen=True)
class Before:
    """A barrier before an op, as what makes pipes wait."""

    op: Operation


@dataclass
class Plan:
    """Events and barriers, by where they go."""

    events: dict[Event, None] = field(default_factory=dict[Event, None])
    barriers_before: dict[Operation, None] = field(default_factory=dict[Operation, None])
    barriers_after: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def drop(self, part: Event | Before) -> None:
        """Do without an event or a barrier before an op."""
        if isinstance(part, Event):
            del self.events[part]
        else:
            del self.barriers_before[part.op]

    def give_up(self, event: Event) -> None:
        """Take a barrier in the place of an event."""
        del self.events[event]
        self.barriers_before[event.then] = None

    def index(self) -> Index:
        """The events, none of them numbered, by the ops next to which something happens."""
        index = Index()
        for event in self.events:
            event.number = None
            index.add(event)
        return index


@dataclass
class Index:
    """The events of a plan by the ops next to which something happens."""

    sets: dict[Operation, list[Event]] = field(default_factory=dict[Operation, list[Event]])
    waits: dict[Operation, list[Event]] = field(default_factory=dict[Operation, list[Event]])
    carried: dict[Operation, list[Event]] = field(default_factory=dict[Operation, list[Event]])

    def add(self, event: Event) -> None:
        """Take a new event in."""
        self.sets.setdefault(event.first, []).append(event)
        self.waits.setdefault(event.then, []).append(event)
        if event.loop is not None:
            self.carried.setdefault(event.loop, []).append(event)
