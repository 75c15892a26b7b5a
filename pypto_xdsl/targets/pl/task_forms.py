"""Calls of ops on tasks, core counts and arrays."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from pypto_xdsl.dialects import orch, ptensor
from pypto_xdsl.targets.pl.parts import Parts, call, dtype_of, listed
from pypto_xdsl.targets.pl.shared_forms import Form


def _array_create(op: orch.ArrayCreateOp) -> Parts:
    type = op.result.type
    assert isinstance(type, orch.ArrayType)
    return call("array.create", [str(type.extent.data)], [dtype_of(op, type.element_type)])


def _task_dummy(op: orch.TaskDummyOp) -> Parts:
    return call("system.task_dummy", ["deps=", *listed(list(op.deps))])


FORMS: Mapping[type[Operation], Form] = {
    ptensor.GetBlockIdxOp: lambda op: call("tensor.get_block_idx"),
    orch.TaskInvalidOp: lambda op: call("system.task_invalid"),
    orch.TaskDummyOp: _task_dummy,
    orch.AvailableAivCountOp: lambda op: call("system.available_aiv_count"),
    orch.AvailableClusterCountOp: lambda op: call("system.available_cluster_count"),
    orch.ArrayCreateOp: _array_create,
    orch.ArrayGetOp: lambda op: call("array.get_element", [op.array], [op.index]),
    orch.ArrayUpdateOp: lambda op: call("array.update_element", [op.array], [op.index], [op.value]),
}
"""How ops of orchestration are called."""
