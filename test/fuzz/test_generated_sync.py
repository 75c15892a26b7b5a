"""
Generated programs of a vector core, before and after `insert-sync`.

A program loads, computes and stores tiles that share bytes with each other, in nested loops whose
trips are known at run time, may be none, and in branches. The machine is strict: what no event
orders is found whatever order is taken, so runs that complain of nothing prove that no event is
missing, and runs that do once an event is taken out prove that it was needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.machine_programs import parsed, run_core
from support.programs import context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pypto_xdsl.analysis.pipe_accesses import PipeAccesses
from pypto_xdsl.analysis.sync_finding import Finding
from pypto_xdsl.analysis.sync_plan import Plan
from pypto_xdsl.analysis.sync_reduction import reduce_sync
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, collecting
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.pto import Pipe
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.transforms.insert_sync import InsertSyncPass

T = "!pto.tile_buf<vec, 8x8xf32>"
P = "!pto.partition_tensor_view<8x8xf32>"
V = "!pto.tensor_view<?x?xf32>"
PLACES = (0, 128, 256, 512, 768, 1024)
"""Of tiles of 256 bytes: some overlap."""

MOST_TRIPS = 3
LARGEST = 400
"""Statements that run in a program, before it only comes to an end."""

HEAD = """
func.func @main(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>, %n: index, %m: index,
    %bits: i64) attributes {ascend910b.core = #ascend910b<core aiv>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i64
  %f = arith.constant 1.0 : f32
""" + "".join(
    f"""  %{p}v = pto.make_tensor_view %{p}, shape = [%c8, %c8], strides = [%c8, %c1] : {V}
  %{p}p = pto.partition_view %{p}v, offsets = [%c0, %c0], sizes = [%c8, %c8] : {V} -> {P}
"""
    for p in "xyz"
)
TILES = "".join(f"  %t{place} = ascend910b.view ub[{place}] : {T}\n" for place in PLACES)


@dataclass
class Writer(DrawnProgram):
    """The body of a program while it is drawn."""

    branches: bool
    cost: int = 0
    """How often statements run, at the most."""

    def tile(self) -> str:
        return f"%t{self.draw(st.sampled_from(PLACES))}"

    def one_of(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def statement(self, depth: int, counters: Sequence[str]) -> None:
        kinds = ["load", "abs", "add", "store", "load", "abs", "store"]
        self.cost += MOST_TRIPS ** len(counters)
        is_large = self.cost > LARGEST
        if depth < (5 if self.branches else 3) and not is_large:
            kinds += ["loop", "loop"]
        if self.branches and not is_large:
            # An element is less than the tile that the pass takes it for.
            kinds += ["get", "set", *(["branch"] if depth < 5 else [])]
        match self.one_of(*kinds):
            case "load":
                source = self.one_of("%xp", "%zp")
                self.put(depth, f"pto.tload ins({source} : {P}) outs({self.tile()} : {T})")
            case "store":
                target = self.one_of("%yp", "%zp")
                self.put(depth, f"pto.tstore ins({self.tile()} : {T}) outs({target} : {P})")
            case "abs":
                self.put(depth, f"pto.tabs ins({self.tile()} : {T}) outs({self.tile()} : {T})")
            case "add":
                inputs = f"{self.tile()}, {self.tile()} : {T}, {T}"
                self.put(depth, f"pto.tadd ins({inputs}) outs({self.tile()} : {T})")
            case "get":
                read = self.name("q")
                self.put(
                    depth, f"{read} = pto.tgetval ins({self.tile()}, %c0 : {T}, index) outs : f32"
                )
            case "set":
                self.put(depth, f"pto.tsetval ins(%c0, %f : index, f32) outs({self.tile()} : {T})")
            case "loop":
                trips = self.one_of("%n", "%m", "%c2") if self.branches else "%c2"
                counter = self.name("q")
                self.put(depth, f"scf.for {counter} = %c0 to {trips} step %c1 {{")
                self.block(depth + 1, [*counters, counter])
                self.put(depth, "}")
            case _:
                self.branch(depth, counters)

    def branch(self, depth: int, counters: Sequence[str]) -> None:
        """It goes another way in another iteration: by a bit of `%bits`."""
        place = "%c0"
        for counter in counters:
            following = self.name("q")
            self.put(depth, f"{following} = arith.addi {place}, {counter} : index")
            place = following
        cast, first, bit, shifted, last, condition = (self.name("q") for _ in range(6))
        self.put(depth, f"{cast} = arith.index_cast {place} : index to i64")
        self.put(depth, f"{first} = arith.constant {self.draw(st.integers(0, 23))} : i64")
        self.put(depth, f"{bit} = arith.addi {cast}, {first} : i64")
        self.put(depth, f"{shifted} = arith.shrui %bits, {bit} : i64")
        self.put(depth, f"{last} = arith.andi {shifted}, %one : i64")
        self.put(depth, f"{condition} = arith.cmpi eq, {last}, %one : i64")
        self.put(depth, f"scf.if {condition} {{")
        self.block(depth + 1, counters)
        if self.draw(st.booleans()):
            self.put(depth, "} else {")
            self.block(depth + 1, counters)
        self.put(depth, "}")

    def block(self, depth: int, counters: Sequence[str], most: int = 3) -> None:
        for _ in range(self.draw(st.integers(1, 1 if self.cost > LARGEST else most))):
            self.statement(depth, counters)


@st.composite
def programs(draw: st.DrawFn, *, branches: bool) -> str:
    writer = Writer(draw, branches)
    writer.block(1, [], 7)
    return HEAD + TILES + "\n".join(writer.lines) + "\n  return\n}\n"


RUNS = (
    (2, 3, (1 << 40) - 1),
    (2, 2, 0),
    (0, 0, (1 << 40) - 1),
    (0, 1, 0),
    (1, 0, 0x5A5A5A5A5A),
    (1, 2, 0xA5A5A5A5A5),
    (3, 2, 0x1234567891),
    (2, 1, 0xF0F00FF0FE),
)
"""`%n`, `%m` and `%bits`."""

FUZZING = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def synchronized(module: ModuleOp) -> list[Diagnostic]:
    """Insert events; what is reported."""
    with collecting() as found:
        InsertSyncPass().apply(context(), module)
    module.verify()
    return list(found)


def complaint(module: ModuleOp, n: int, m: int, bits: int, seed: int | None = None) -> str | None:
    """Run a program; what the machine has against it. Bytes that nobody wrote do not matter."""
    arrays = {name: np.ones((8, 8)) for name in "xyz"}
    settings = CoreSettings(seed, frozenset({Check.UNDEFINED}))
    try:
        with collecting():
            run_core(module, {**arrays, "n": n, "m": m, "bits": bits}, cores=settings)
    except DiagnosticsError as e:
        return e.diagnostics[0].message
    return None


@FUZZING
@given(text=programs(branches=True))
def test_nothing_is_missing(text: str) -> None:
    module = parsed(text)
    assert synchronized(module) == []
    for n, m, bits in RUNS:
        assert complaint(module, n, m, bits) is None
    assert complaint(module, *RUNS[0], seed=1) is None
    again = module.clone()
    synchronized(again)
    assert str(again) == str(module)


def found_in(module: ModuleOp) -> Finding:
    """What the pass finds in a program."""
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    finding = Finding(function, ascend910b.Core.AIV, Plan(), PipeAccesses())
    finding.run()
    return finding


def groups(module: ModuleOp) -> Iterator[set[int]]:
    """Sets and waits that belong together, and barriers, by their places among all ops."""
    finding = found_in(module)
    # As if nothing were needed: then everything is redundant.
    finding.needed.clear()
    places = {op: place for place, op in enumerate(module.walk())}
    for found in finding.spare():
        yield {places[op] for op in (*found.waits, *found.sets)}


def without(module: ModuleOp, group: set[int]) -> ModuleOp:
    """A copy in which some ops are missing."""
    copy = module.clone()
    gone: list[Operation] = [op for place, op in enumerate(copy.walk()) if place in group]
    for op in gone:
        op.detach()
        op.erase()
    return copy


@FUZZING
@given(text=programs(branches=False))
def test_nothing_is_needless(text: str) -> None:
    """
    Where it is known which way a program goes, all that is inserted is needed: after any part is
    taken out, a run complains. (A barrier that stands for an event orders more than it must.)
    """
    module = parsed(text)
    synchronized(module)
    assume(not any(isinstance(op, ascend910b.BarrierOp) for op in module.walk()))
    assert synchronized(module.clone()) == []
    for group in groups(module):
        less = without(module, group)
        assert complaint(less, *RUNS[0]) is not None, str(less)


@FUZZING
@given(text=programs(branches=True))
def test_nothing_can_be_taken_out(text: str) -> None:
    """
    Where it is not known which way a program goes, what the pass goes by needs all that it inserts,
    events and barriers: after any part is taken out, it finds something missing. (Not all ways need
    be there: what pipes know after a branch is less than what they know on each.)
    """
    module = parsed(text)
    synchronized(module)
    assert not found_in(module).added
    for group in groups(module):
        assert found_in(without(module, group)).added, str(module)


@FUZZING
@given(text=programs(branches=True), data=st.data())
def test_what_is_reported_can_go(text: str, data: st.DataObject) -> None:
    """Needless events are found among needed ones, and the rest orders all that there is."""
    module = parsed(text)
    synchronized(module)
    _add_needless(module, data)
    # Beside a barrier that is not needed the pass may ask for an event more; it comes to an end.
    finding = found_in(module)
    for _ in range(2):
        if finding.added:
            synchronized(module)
            finding = found_in(module)
    assert not finding.added
    places = {op: place for place, op in enumerate(module.walk())}
    redundant = reduce_sync(finding, trims=False)
    gone = {places[op] for found in redundant for op in (*found.waits, *found.sets)}
    less = without(module, gone)
    for n, m, bits in RUNS:
        assert complaint(module, n, m, bits) is None
        assert complaint(less, n, m, bits) is None


def _add_needless(module: ModuleOp, data: st.DataObject) -> None:
    """Barriers and events of a number that is free, each set and waited for in one place."""
    ops = [
        op
        for op in module.walk()
        if op.name.startswith(("pto.t", "scf.for", "scf.if")) and op.parent is not None
    ]
    # By their places: what is drawn is printed, and an op prints all that is around it.
    every = range(len(ops))
    chosen = data.draw(st.lists(st.sampled_from(every), max_size=3, unique=True)) if ops else []
    for op in (ops[place] for place in chosen):
        block = op.parent
        assert block is not None
        if data.draw(st.booleans()):
            block.insert_op_before(ascend910b.BarrierOp(Pipe.ALL), op)
            continue
        source, destination = data.draw(
            st.permutations(["MTE2", "V", "MTE3"]).map(lambda names: names[:2])
        )
        pipes = ascend910b.PIPES[source], ascend910b.PIPES[destination]
        used = {
            event.known_event
            for event in module.walk()
            if isinstance(event, ascend910b.EventOp) and (event.source, event.destination) == pipes
        }
        free = [number for number in range(ascend910b.EVENT_COUNT) if number not in used]
        if not free:
            continue
        block.insert_op_before(ascend910b.SetFlagOp(*pipes, free[-1]), op)
        block.insert_op_before(ascend910b.WaitFlagOp(*pipes, free[-1]), op)
