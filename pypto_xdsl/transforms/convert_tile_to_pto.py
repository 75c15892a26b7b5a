"""
convert-tile-to-pto: moves each kernel into a `.pto` module of its own, its tiles into buffers.

    orch.func incore @k(in %x : tensor<64x128xf32>, out %y : tensor<64x128xf32>)
        -> tensor<64x128xf32> {
      %t = tile.load %x[0, 0] : tensor<64x128xf32> -> !tile.tile<64x128xf32, vec>
      %e = tile.exp %t : !tile.tile<64x128xf32, vec>
      %y1 = tile.store %e, %y[0, 0] : !tile.tile<64x128xf32, vec>, tensor<64x128xf32>
      orch.return %y1 : tensor<64x128xf32>
    }

becomes a declaration, which says what orchestration wants to know, and the code, in PTOAS's
language:

    orch.func incore @k(in tensor<64x128xf32>, out tensor<64x128xf32>) -> tensor<64x128xf32>
      returns [1] implemented_by @k_unit::@k
    builtin.module @k_unit attributes {pto.target_arch = "a2a3"} {
      func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
        ...
        %t = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=64, cols=128, ...>
        pto.tload ins(%x_pview : ...) outs(%t : ...)
        %e = pto.alloc_tile : ...
        pto.texp ins(%t : ...) outs(%e : ...)
        pto.tstore ins(%e : ...) outs(%y_pview : ...)
        func.return
      }
    }

This is bufferization: each tile gets storage, and those that must share it do (what loops carry,
what branches yield, views, updates in place), with a copy where that would lose a value that is
still needed. What else may share, and where all of it lies, is decided afterwards, on `pto`
(`memory-reuse`, `allocate-memory-addr`). The kernels of one group share a module. How one kernel
is lowered: `rewriting/kernel_lowering.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DenseArrayBase,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Operation, Region

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.core_lanes import Lane, lane
from pypto_xdsl.analysis.walk import ops_inside, walk
from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, OpError, note
from pypto_xdsl.dialects import orch, tile
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.dialects.pto.unit_attributes import TARGET_ARCH
from pypto_xdsl.dialects.tile.sync import FlagOp
from pypto_xdsl.properties.backend_pass import BackendPass, no_target
from pypto_xdsl.rewriting.kernel_lowering import lower_kernel
from pypto_xdsl.rewriting.locating import locate


@dataclass(frozen=True)
class ConvertTileToPtoPass(BackendPass):
    """Move each kernel into a `.pto` module of its own, its tiles into buffers."""

    name = "convert-tile-to-pto"
    required = ("SSAForm", "SplitIncoreOrch", "IncoreTileOps", "TileOps2D", "TileMemoryInferred")
    produced = ("SSAForm", "KernelsLowered")

    def run(self, ctx: Context, module: ModuleOp) -> None:
        backend = self.backend_of(module)
        kernels = [
            op
            for op in ops_inside(module)
            if isinstance(op, orch.FuncOp) and op.kind.data.is_in_core and not op.is_declaration
        ]
        if not kernels:
            return
        if backend is None:
            raise no_target(kernels[0])
        units = _Units(module, kernels, backend.arch)
        errors: list[Diagnostic] = []
        lowered: list[tuple[orch.FuncOp, func.FuncOp, list[int]]] = []
        for kernel in kernels:
            try:
                check_one_core(kernel)
                check_flags(kernel)
                code, returns = lower_kernel(kernel, backend)
                lowered.append((kernel, code, list(returns)))
            except OpError as error:
                errors += error.diagnostics
        if errors:
            raise DiagnosticsError(errors)
        for kernel, code, returns in lowered:
            units.add(kernel, code, returns)


def check_one_core(kernel: orch.FuncOp) -> None:
    """
    Raise `OpError` where a kernel mixes work of the cube core and of the vector core: they share
    no memory, and `expand-mixed-kernel` takes such a kernel apart.
    """
    first: dict[Lane, Operation] = {}
    for op in walk(kernel):
        if (where := lane(op)) is not None:
            first.setdefault(where, op)
    boundary = first.get(Lane.BOUNDARY)
    if boundary is not None:
        raise OpError(boundary, "passes a tile between cores, in a kernel that runs on one")
    if Lane.CUBE in first and Lane.VECTOR in first:
        cube, vector = first[Lane.CUBE], first[Lane.VECTOR]
        raise OpError(
            vector,
            f"runs on the vector core, in kernel '{kernel.sym_name.data}' that also has work of "
            "the cube core: run 'expand-mixed-kernel' first",
            [note(cube, "this runs on the cube core")],
        )


def check_flags(kernel: orch.FuncOp) -> None:
    """Raise `OpError` where a kernel uses flags between cores, and does not say where they are."""
    first: Operation | None = None
    for op in walk(kernel):
        if isinstance(op, tile.SetFftsOp):
            return
        if first is None and isinstance(op, FlagOp):
            first = op
    if first is not None:
        raise OpError(
            first,
            f"uses a flag between cores, in kernel '{kernel.sym_name.data}' that does not say "
            "where they are kept: tile.set_ffts does",
        )


class _Units:
    """The modules that kernels go to, one a group or lone kernel."""

    def __init__(self, module: ModuleOp, kernels: list[orch.FuncOp], arch: str):
        self._module = module
        self._arch = arch
        self._names = {
            name.data
            for op in ops_inside(module)
            if isinstance(name := op.properties.get("sym_name"), StringAttr)
        }
        self._units: dict[str, ModuleOp] = {}
        self._group: dict[orch.FuncOp, str] = {}
        graph = CallGraph(module)
        for function in graph.functions:
            if function.kind.data is FunctionKind.GROUP:
                for callee in graph.callees(function):
                    self._group.setdefault(callee, function.sym_name.data)
        for kernel in kernels:
            self._group.setdefault(kernel, kernel.sym_name.data)

    def add(self, kernel: orch.FuncOp, code: func.FuncOp, returns: list[int]) -> None:
        """Put the code of a kernel into its module, and a declaration in its place."""
        unit = self._unit(kernel)
        unit.body.block.add_op(code)
        name = unit.sym_name
        assert name is not None
        declaration = orch.FuncOp.create(
            properties={
                **kernel.properties,
                "returns": DenseArrayBase.from_list(i64, returns),
                "implementation": SymbolRefAttr(name, [kernel.sym_name]),
            },
            attributes=kernel.attributes,
            regions=[Region()],
            location=kernel.location,
        )
        block = kernel.parent_block()
        assert block is not None
        block.insert_op_before(declaration, kernel)
        block.erase_op(kernel)

    def _unit(self, kernel: orch.FuncOp) -> ModuleOp:
        group = self._group[kernel]
        if group not in self._units:
            name, number = f"{group}_unit", 0
            while name in self._names:
                number += 1
                name = f"{group}_unit_{number}"
            self._names.add(name)
            unit = ModuleOp([], {TARGET_ARCH: StringAttr(self._arch)}, StringAttr(name))
            locate(kernel.location, unit)
            self._module.body.block.add_op(unit)
            self._units[group] = unit
        return self._units[group]
