"""
PtoFunctionsConsistent: what the ops of a `pto` function say of each other agrees.

Queues are opened once, used in their direction, on the core that may use them, and find the
buffer that the peer reserves; flags between cores have a place to be kept; entry functions return
nothing; no function calls itself; structures stay where they are declared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import Diagnostic, diagnose, note
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto.queue import EVEN_SPLITS, TO_VECTOR, QueueOp, verify_entry
from pypto_xdsl.dialects.pto.queue_buffer import ImportBase, ReserveBase
from pypto_xdsl.dialects.pto.queue_initialize import InitializeOp
from pypto_xdsl.dialects.pto.section import SectionOp
from pypto_xdsl.dialects.pto.unit_attributes import ENTRY, KERNEL_KIND
from pypto_xdsl.properties.registry import Property


@dataclass
class _Function:
    """What was found in one function."""

    op: FuncOp
    queues: dict[int, InitializeOp] = field(default_factory=dict[int, InitializeOp])
    reserved: dict[str, ReserveBase] = field(default_factory=dict[str, ReserveBase])
    imports: list[ImportBase] = field(default_factory=list[ImportBase])
    uses: list[QueueOp] = field(default_factory=list[QueueOp])
    cross_core: list[Operation] = field(default_factory=list[Operation])
    has_ffts: bool = False
    calls: list[str] = field(default_factory=list[str])


def _string(attribute: object) -> str:
    return attribute.data if isinstance(attribute, StringAttr) else ""


def _kernel_kind(op: Operation, function: FuncOp) -> pto.KernelKind | None:
    """The core that runs an op: that of its section, else of its function."""
    parent = op.parent_op()
    while parent is not None and parent is not function:
        if isinstance(parent, SectionOp):
            return parent.kernel_kind
        parent = parent.parent_op()
    kind = function.attributes.get(KERNEL_KIND)
    return kind.data if isinstance(kind, pto.KernelKindAttr) else None


def _read(function: FuncOp) -> Iterator[Diagnostic | _Function]:
    """The contents of a function, and what is wrong with it by itself."""
    found = _Function(function)
    seen_imports: set[tuple[str, str]] = set()
    for op in walk(function):
        if isinstance(op, CallOp):
            found.calls.append(op.callee.root_reference.data)
        declares = isinstance(op, pto.PtoOp) and op.ALLOCATES
        if not declares and any(isinstance(result.type, pto.StructType) for result in op.results):
            yield diagnose(op, "has a struct as a result; a struct stays where it is declared")
        if not isinstance(op, pto.PtoOp):
            continue
        core = op.DECLARATION.core
        if core is not None and _kernel_kind(op, function) != core:
            yield diagnose(op, f"must be inside a {core} kernel function or section")
        match op:
            case InitializeOp():
                first = found.queues.setdefault(op.queue_id, op)
                if first is not op:
                    yield diagnose(
                        op,
                        f"opens queue {op.queue_id}, which is open already",
                        [note(first, "it is opened here")],
                    )
            case ReserveBase():
                first = found.reserved.setdefault(_string(op.buffer_name), op)
                if first is not op:
                    yield diagnose(
                        op,
                        f"reserves a buffer '{_string(op.buffer_name)}' that is reserved already",
                        [note(first, "it is reserved here")],
                    )
            case ImportBase():
                key = (_string(op.buffer_name), str(op.peer_func))
                if key in seen_imports:
                    yield diagnose(op, f"imports buffer '{key[0]}' of {key[1]} twice")
                seen_imports.add(key)
                found.imports.append(op)
            case QueueOp() if op.DIRECTION:
                found.uses.append(op)
            case pto.SyncSetOp() | pto.SyncWaitOp():
                found.cross_core.append(op)
            case pto.SetFftsOp():
                found.has_ffts = True
            case _:
                pass
    yield found


def _uses(function: _Function) -> Iterator[Diagnostic]:
    """Ops on queues that their opening does not allow."""
    for op in function.uses:
        queue = function.queues.get(op.queue_id)
        if queue is None:
            yield diagnose(
                op,
                f"expects id = {op.queue_id} to match an initialize_pipe op in the same function",
            )
            continue
        opened = [note(queue, "it is opened here")]
        if not queue.directions & op.DIRECTION:
            yield diagnose(
                op,
                f"expects queue {op.queue_id} to have dir_mask = {op.DIRECTION} or 3, got "
                f"{queue.directions}",
                opened,
            )
        if op.split_code not in EVEN_SPLITS and not _takes_odd(queue):
            yield diagnose(
                op,
                f"uses split = {op.split_code}, for which queue {op.queue_id} needs dir_mask = 1, "
                "a slot in global memory and c2v_consumer_buf",
                opened,
            )
        yield from _entry(op, queue)


def _takes_odd(queue: InitializeOp) -> bool:
    in_gm = queue.gm_slot_buffer is not None or queue.gm_slot_tensor is not None
    return queue.directions == TO_VECTOR and in_gm and queue.c2v_consumer_buf is not None


def _entry(op: QueueOp, queue: InitializeOp) -> Iterator[Diagnostic]:
    """A tensor view of a slot is one of the queue's slots."""
    for value in (*op.operands, *op.results):
        if not isinstance(value.type, pto.TensorViewType):
            continue
        if queue.gm_slot_tensor is None:
            yield diagnose(
                op,
                f"expects queue {op.queue_id} to have gm_slot_tensor, since its entry is a "
                "tensor_view",
                [note(queue, "it is opened here")],
            )
            continue
        try:
            verify_entry(value.type, queue.gm_slot_tensor.type, "gm_slot_tensor")
        except VerifyException as e:
            yield diagnose(op, str(e))


def _imports(function: _Function, by_name: dict[str, _Function]) -> Iterator[Diagnostic]:
    """Buffers of peers that do not reserve them."""
    for op in function.imports:
        peer_name = op.peer_func
        assert isinstance(peer_name, SymbolRefAttr)
        peer = by_name.get(peer_name.root_reference.data)
        if peer is None:
            yield diagnose(op, f"expects peer_func {peer_name} to be a function of the module")
        elif _string(op.buffer_name) not in peer.reserved:
            yield diagnose(
                op,
                f"expects {peer_name} to reserve a buffer '{_string(op.buffer_name)}'",
                [note(peer.op, "the function is defined here")],
            )


def _splits(functions: Iterable[_Function]) -> Iterator[Diagnostic]:
    """Ends of one queue in a pair of kernels, one that divides tiles and one that does not.

    Without a local buffer nothing names the peer: the two kernels of a module are a pair.
    """
    whole: dict[int, QueueOp] = {}
    divided: dict[int, QueueOp] = {}
    for function in functions:
        for op in function.uses:
            queue = function.queues.get(op.queue_id)
            if queue is not None and queue.gm_slot_tensor is not None:
                (divided if op.split_code else whole).setdefault(op.queue_id, op)
    for number, op in divided.items():
        if number in whole:
            yield diagnose(
                op,
                f"divides the tiles of queue {number}, whose other end does not",
                [note(whole[number], "split is 0 here")],
            )


def _peer_sizes(function: _Function, by_name: dict[str, _Function]) -> Iterator[Diagnostic]:
    """Ends of one queue whose slots differ in size."""
    for op in function.imports:
        peer_name = op.peer_func
        assert isinstance(peer_name, SymbolRefAttr)
        peer = by_name.get(peer_name.root_reference.data)
        if peer is None:
            continue
        reserved = peer.reserved.get(_string(op.buffer_name))
        if reserved is None:
            continue
        for mine in _queues_of(function, op):
            for theirs in _queues_of(peer, reserved):
                if mine.slot_size != theirs.slot_size:
                    yield diagnose(
                        mine,
                        "expects both ends of a queue to have one slot_size",
                        [note(theirs, "the other end is opened here")],
                    )


def _queues_of(function: _Function, buffer: Operation) -> Iterator[InitializeOp]:
    for queue in function.queues.values():
        if any(operand.owner is buffer for operand in queue.operands):
            yield queue


def _entry_functions(functions: Iterable[_Function]) -> Iterator[Diagnostic]:
    for function in functions:
        type_ = function.op.function_type
        if ENTRY in function.op.attributes and type_.outputs.data:
            yield diagnose(function.op, "is an entry function, so it must return nothing")
        for position, argument in enumerate((*type_.inputs.data, *type_.outputs.data)):
            if isinstance(argument, pto.StructType):
                yield diagnose(
                    function.op,
                    f"takes or returns a struct (#{position}); a struct stays where it is declared",
                )


def _recursion(by_name: dict[str, _Function]) -> Iterator[Diagnostic]:
    """Functions that call themselves, directly or through others."""
    state: dict[str, bool] = {}  # False while on the path, True when done
    for start in by_name:
        if start in state:
            continue
        state[start] = False
        stack = [(start, iter(by_name[start].calls))]
        while stack:
            name, calls = stack[-1]
            callee = next(calls, None)
            if callee is None:
                state[name] = True
                stack.pop()
            elif callee in by_name and callee not in state:
                state[callee] = False
                stack.append((callee, iter(by_name[callee].calls)))
            elif state.get(callee) is False:
                yield diagnose(
                    by_name[callee].op, "calls itself; recursive calls are not supported"
                )


def _inconsistencies(module: ModuleOp) -> Iterable[Diagnostic]:
    """Everything that does not agree, module by module."""
    found: list[Diagnostic] = []
    by_module: dict[Operation | None, dict[str, _Function]] = defaultdict(dict)
    for op in walk(module):
        if not isinstance(op, FuncOp):
            continue
        for result in _read(op):
            if isinstance(result, _Function):
                by_module[op.parent_op()][op.sym_name.data] = result
            else:
                found.append(result)
    for by_name in by_module.values():
        for function in by_name.values():
            found.extend(_uses(function))
            found.extend(_imports(function, by_name))
            found.extend(_peer_sizes(function, by_name))
            if function.cross_core and not function.has_ffts:
                found.append(
                    diagnose(
                        function.cross_core[0],
                        "needs pto.set_ffts in the same function",
                    )
                )
        found.extend(_splits(by_name.values()))
        found.extend(_entry_functions(by_name.values()))
        found.extend(_recursion(by_name))
    return sorted(found, key=lambda d: (d.line, d.column))


PROPERTY = Property(
    "PtoFunctionsConsistent",
    "queues, buffers, flags and entry functions of `pto` code agree with each other",
    _inconsistencies,
)
