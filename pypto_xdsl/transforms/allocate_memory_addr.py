"""
allocate-memory-addr: gives every on-chip buffer its byte address.

    %t = pto.alloc_tile {pypto.buffer = 0 : i64} : T
    %e = pto.alloc_tile {pypto.buffer = 0 : i64} : T
    %l = pto.alloc_tile : T

becomes

    %c0_i64 = arith.constant 0 : i64
    %c32768_i64 = arith.constant 32768 : i64
    %t = pto.alloc_tile addr = %c0_i64 : T
    %e = pto.alloc_tile addr = %c0_i64 : T
    %l = pto.alloc_tile addr = %c32768_i64 : T

Buffers lie one after the other in each memory, in the order of the text, aligned as the memory
wants it; those that share (`memory-reuse`) have one address. What has an address keeps it, then
come the buffers that are reserved for queues (`pto.reserve_buffer`), then the rest. Where buffers
that share differ so much in size that they do not fit, each gets the lowest bytes that are free
while it is in use. Where that does not fit either, the error is at the op where most bytes are in
use, and lists the tiles in use there.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from pypto_xdsl.analysis.buffer_liveness import (
    Buffer,
    BufferLiveness,
    functions_with_buffers,
    peak,
)
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.backend.registry import backend_of
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, note
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace
from pypto_xdsl.dialects.pto.queue_buffer import ReserveBase
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.properties.backend_pass import BackendPass, no_target
from pypto_xdsl.transforms.memory_reuse import SHARED_BUFFER


@dataclass(frozen=True)
class AllocateMemoryAddrPass(BackendPass):
    """Give every on-chip buffer its byte address."""

    name = "allocate-memory-addr"
    required = ("SSAForm", "KernelsLowered")
    produced = ("SSAForm", "AllocatedMemoryAddr")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        errors: list[Diagnostic] = []
        for function in tuple(functions_with_buffers(walk(module))):
            backend = _backend_of(function, self.backend)
            if backend is None:
                errors += no_target(function).diagnostics
                continue
            errors += allocate(function, backend)
        if errors:
            raise DiagnosticsError(errors)


def _backend_of(function: Operation, name: str | None) -> Backend | None:
    """The backend of the innermost module around a function that names one."""
    parent = function.parent_op()
    while parent is not None:
        if isinstance(parent, ModuleOp) and (found := backend_of(parent, name)) is not None:
            return found
        parent = parent.parent_op()
    return None


def allocate(function: Operation, backend: Backend) -> list[Diagnostic]:
    """Give the buffers of a function addresses; what does not fit is an error."""
    liveness = BufferLiveness(function)
    by_space: dict[AddressSpace, list[Buffer]] = {}
    for buffer in liveness.buffers:
        by_space.setdefault(buffer.space, []).append(buffer)
    placed: list[tuple[Buffer, int]] = []
    errors: list[Diagnostic] = []
    floors, bases = _reserved(liveness, backend, errors)
    for space, buffers in by_space.items():
        memory = backend.on_chip[space]
        floor = floors.get(space, 0)
        addresses, end = _place(buffers, memory.alignment, floor)
        if end > memory.size and any(SHARED_BUFFER in b.op.attributes for b in buffers):
            addresses, end = first_fit(_without_address(buffers), memory.alignment, floor)
        if end > memory.size and (without := _without_address(buffers)):
            errors.append(_overflow(space, without, floor, end, memory.size, liveness))
        else:
            placed += addresses.items()
    if not errors:
        _set_addresses(function, placed)
        for op, base in bases:
            op.properties["base"] = IntegerAttr(base, i32)
            op.properties["autoAlloc"] = BoolAttr.from_bool(False)
    return errors


def _reserved(
    liveness: BufferLiveness, backend: Backend, errors: list[Diagnostic]
) -> tuple[Mapping[AddressSpace, int], Sequence[tuple[Operation, int]]]:
    """
    The end of what the program itself reserved in each memory, in bytes, and the bases of what it
    reserves without one, after the rest.
    """
    floors: dict[AddressSpace, int] = {}
    reserved = [op for op in liveness.order.ops if isinstance(op, ReserveBase)]
    for op in reserved:
        if op.base is not None:
            space, end = _space(op), _number(op.base) + _number(op.size)
            floors[space] = max(floors.get(space, 0), end)
    for buffer in liveness.buffers:
        if buffer.address is not None:
            space = buffer.space
            end = (constant_value(buffer.address) or 0) + buffer.size
            floors[space] = max(floors.get(space, 0), end)
    bases: list[tuple[Operation, int]] = []
    for op in reserved:
        if op.base is None:
            space = _space(op)
            memory = backend.on_chip[space]
            base = -(-floors.get(space, 0) // memory.alignment) * memory.alignment
            floors[space] = base + _number(op.size)
            bases.append((op, base))
            if floors[space] > memory.size:
                errors.append(
                    diagnose(
                        op,
                        f"reserves {_number(op.size)} bytes in {space}, of which "
                        f"{max(memory.size - base, 0)} are left",
                    )
                )
    return floors, bases


def _space(op: ReserveBase) -> AddressSpace:
    return cast(pto.AddressSpaceAttr, op.memory).data


def _number(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def _place(
    buffers: Sequence[Buffer], alignment: int, floor: int
) -> tuple[Mapping[Buffer, int], int]:
    """An address for each buffer that has none, and the end of all."""
    sizes: dict[object, int] = {}
    members: dict[object, list[Buffer]] = {}
    for buffer in _without_address(buffers):
        key = buffer.op.attributes.get(SHARED_BUFFER, buffer)
        sizes[key] = max(sizes.get(key, 0), buffer.size)
        members.setdefault(key, []).append(buffer)
    addresses: dict[Buffer, int] = {}
    end = floor
    for key, size in sizes.items():
        address = -(-end // alignment) * alignment
        end = address + size
        for buffer in members[key]:
            addresses[buffer] = address
    return addresses, end


def _without_address(buffers: Sequence[Buffer]) -> Sequence[Buffer]:
    return [buffer for buffer in buffers if buffer.address is None]


def first_fit(
    buffers: Sequence[Buffer], alignment: int, floor: int
) -> tuple[dict[Buffer, int], int]:
    """
    An address for each buffer, the lowest that is free while it is in use, and the end of all.

    This takes less than to let whole buffers share their bytes, where sizes differ.
    """
    addresses: dict[Buffer, int] = {}
    taken: list[tuple[int, int, int]] = []
    """(address, end, last time) of what is in use, by address."""
    total = floor
    for buffer in sorted(buffers, key=lambda b: b.live[0]):
        taken = [entry for entry in taken if entry[2] >= buffer.live[0]]
        address = -(-floor // alignment) * alignment
        for start, end, _ in taken:
            if address + buffer.size <= start:
                break
            address = max(address, -(-end // alignment) * alignment)
        insort(taken, (address, address + buffer.size, buffer.live[1]))
        addresses[buffer] = address
        total = max(total, address + buffer.size)
    return addresses, total


def _overflow(
    space: AddressSpace,
    buffers: Sequence[Buffer],
    floor: int,
    end: int,
    capacity: int,
    liveness: BufferLiveness,
) -> Diagnostic:
    """Tiles that have no address need more bytes than there are above `floor`."""
    time, live = peak(buffers)
    most = sum(buffer.size for buffer in live)
    # Nothing is in use where no tile is ever used.
    place = (liveness.order.at(time) if live else None) or buffers[0].op
    message = f"needs {end} bytes of tiles in {space}, which has {capacity}"
    if floor:
        message += f"; {floor} are taken by what has a place already"
    largest = max(buffer.size for buffer in buffers)
    if floor + max(most, largest) > capacity:
        message += f"; {most} are in use here" if live else ""
    elif any(SHARED_BUFFER in buffer.op.attributes for buffer in buffers):
        message += f"; {most} are in use here, more than anywhere, but they do not fit together"
    else:
        message += f"; {most} are in use here, more than anywhere: run 'memory-reuse' first"
    notes = [
        note(
            buffer.op, f"{buffer.name} is in use: {buffer.size} bytes, {buffer.op.results[0].type}"
        )
        for buffer in sorted(live, key=lambda b: -b.size)
    ]
    return diagnose(place, message, notes)


@lru_cache(maxsize=16)
def _with_address(segments: Attribute) -> Attribute:
    """The sizes of the operand segments of an allocation that gets an address, the first."""
    assert isinstance(segments, DenseArrayBase)
    return DenseArrayBase.from_list(i32, [1, *segments.get_values()[1:]])


def _set_addresses(function: Operation, placed: Sequence[tuple[Buffer, int]]) -> None:
    block = function.regions[0].block
    first = block.first_op
    assert first is not None
    constants: dict[int, SSAValue] = {}
    for buffer, address in placed:
        if address not in constants:
            constant = arith.ConstantOp.create(
                properties={"value": IntegerAttr(address, i64)}, result_types=[i64]
            )
            constant.location = buffer.op.location
            constant.result.name_hint = f"c{address}_i64"
            block.insert_op_before(constant, first)
            constants[address] = constant.result
        op = buffer.op
        segments = op.properties[AttrSizedOperandSegments.attribute_name]
        op.operands = (constants[address], *op.operands)
        op.properties[AttrSizedOperandSegments.attribute_name] = _with_address(segments)
        op.attributes.pop(SHARED_BUFFER, None)
