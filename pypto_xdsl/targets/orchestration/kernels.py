"""
What a call launches: kernels, their cores, their numbers and their arguments.

A call names a kernel, or a wrapper around one, or around the kernels of a group. The runtime knows
kernels by numbers, given in the order of first use, the cube core's first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.kernel_cores import cores_of_kernel
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.scalar_computation import is_scalar_computation
from pypto_xdsl.analysis.walk import ops_inside, walk
from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.ascend910b import Core
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp, FunctionKind, ReturnOp
from pypto_xdsl.dialects.orch.function_marks import is_for_both
from pypto_xdsl.targets.orchestration.liveness import Liveness


@dataclass(frozen=True)
class Argument:
    """What a kernel gets: an argument of the call by its position, or a scalar of a wrapper."""

    position: int | None = None
    scalar: SSAValue | None = None


@dataclass(frozen=True)
class Launch:
    """What a call launches as one task."""

    comment: str
    """What it is, for people; `Task #` at its start stands for the number of the task."""
    arguments: tuple[Argument, ...]
    aic: FuncOp | None
    aiv: FuncOp | None
    is_dual: bool
    """Both vector cores of a group run the vector kernel."""
    is_wrapped: bool
    width: SSAValue | Argument | None = None
    """On how many cores: a value of the caller, or what a wrapper says."""
    sync_start: bool = False
    parameters: Sequence[tuple[SSAValue, Argument]] = ()
    """The parameters of wrappers that these compute with."""
    computations: Sequence[Operation] = ()
    """What wrappers compute of their scalars, for the caller to do."""


@dataclass
class _Found:
    """The kernels inside a wrapper, and what each gets."""

    kernels: list[tuple[FuncOp, tuple[Argument, ...]]] = field(
        default_factory=list[tuple[FuncOp, tuple[Argument, ...]]]
    )
    width: Argument | None = None
    sync_start: bool = False
    parameters: list[tuple[SSAValue, Argument]] = field(
        default_factory=list[tuple[SSAValue, Argument]]
    )
    computations: list[Operation] = field(default_factory=list[Operation])


class Kernels:
    """The kernels that the functions of one text use."""

    def __init__(self, module: ModuleOp, lineage: ReturnLineage):
        self.lineage = lineage
        self._lowered: dict[tuple[str, ...], func.FuncOp] = {}
        self._cores: dict[FuncOp, Core] = {}
        self._found: dict[FuncOp, _Found] = {}
        self.numbers: dict[FuncOp, int] = {}
        """The number of each kernel that was used so far."""
        for op in ops_inside(module):
            if isinstance(op, func.FuncOp):
                self._lowered[(op.sym_name.data,)] = op
            elif isinstance(op, ModuleOp) and op.sym_name is not None:
                for inner in ops_inside(op):
                    if isinstance(inner, func.FuncOp):
                        self._lowered[op.sym_name.data, inner.sym_name.data] = inner

    def number(self, kernel: FuncOp) -> int:
        """The number of a kernel, a new one at its first use."""
        return self.numbers.setdefault(kernel, len(self.numbers))

    def used(self) -> Iterator[tuple[int, str, Core]]:
        """The kernels used so far: number, name and core."""
        for kernel, number in self.numbers.items():
            yield number, kernel.sym_name.data, self._cores[kernel]

    def restart(self) -> None:
        """Number kernels anew, for another text."""
        self.numbers = {}

    def core(self, kernel: FuncOp, user: DispatchOp) -> Core:
        """The core that a kernel runs on. Raises `OpError` at the user of one that needs two."""
        if kernel not in self._cores:
            implementation = kernel.implementation
            lowered = None
            if implementation is not None:
                path = [implementation.root_reference.data]
                path += [part.data for part in implementation.nested_references]
                lowered = self._lowered.get(tuple(path))
            cores = cores_of_kernel(kernel, lowered)
            if len(cores) > 1:
                notes = [note(op, f"this runs on the {core.value}") for core, op in cores.items()]
                raise OpError(
                    user,
                    f"launches '{kernel.sym_name.data}', which needs a cube core and a vector "
                    "core: a task has a kernel for each",
                    notes,
                )
            self._cores[kernel] = next(iter(cores))
        return self._cores[kernel]

    def launch(self, dispatch: DispatchOp) -> Launch:
        """What a call launches. Raises `OpError` where that is no task."""
        callee = self.lineage.calls.callee(dispatch)
        assert callee is not None, "OrchestrationReferencesResolved holds"
        found = self._found.get(callee)
        if found is None:
            found = self._found[callee] = _Found()
            own = tuple(Argument(index) for index in range(len(callee.directions)))
            self._enter(dispatch, callee, own, found, dispatch)
        lanes: dict[Core, FuncOp] = {}
        first_kernel, arguments = found.kernels[0]
        for kernel, given in found.kernels:
            core = self.core(kernel, dispatch)
            if core in lanes:
                raise OpError(
                    dispatch,
                    f"launches '{lanes[core].sym_name.data}' and '{kernel.sym_name.data}' as one "
                    f"task, which has one kernel for the {core.value}",
                )
            lanes[core] = kernel
            if given != arguments:
                raise OpError(
                    dispatch,
                    f"launches '{first_kernel.sym_name.data}' and '{kernel.sym_name.data}' as one "
                    "task, with different arguments: its kernels share one list",
                )
        aiv = lanes.get(Core.AIV)
        is_dual = aiv is not None and (is_for_both(aiv) or is_for_both(callee))
        name = callee.sym_name.data
        if callee.kind.data.is_in_core:
            comment = f"Task #: {name}"
        elif len(lanes) > 1:
            comment = f"Group {name}: MixedKernels (AIC + AIV lanes)"
        elif callee.kind.data is FunctionKind.GROUP and aiv is not None:
            comment = f"Group {name}: AIV-only SPMD"
        else:
            comment = f"Spmd {name}: {first_kernel.sym_name.data}"
        width = dispatch.launch if dispatch.launch is not None else found.width
        sync = dispatch.sync_start is not None if dispatch.launch is not None else found.sync_start
        return Launch(
            comment,
            arguments,
            lanes.get(Core.AIC),
            aiv,
            is_dual,
            not callee.kind.data.is_in_core,
            width,
            sync,
            found.parameters,
            found.computations,
        )

    def _enter(
        self,
        dispatch: DispatchOp,
        callee: FuncOp,
        arguments: tuple[Argument, ...],
        found: _Found,
        user: DispatchOp,
    ) -> None:
        """Add what a callee launches, given its arguments in terms of the outermost call."""
        if callee.kind.data.is_in_core:
            found.kernels.append((callee, arguments))
            return
        self._expect_wrapper(dispatch, callee, user)
        before = len(found.kernels)
        tracer = self.lineage.tracer(callee)

        def given(value: SSAValue, inner: DispatchOp) -> Argument:
            if value in parameters:
                return arguments[parameters[value]]
            if value in computed:
                return Argument(scalar=value)
            lineage = tracer.trace(value)
            if lineage is None:
                raise OpError(
                    inner,
                    f"passes a value to '{inner.callee_name}' that is no parameter of "
                    f"'{callee.sym_name.data}': a task gets what its launch passes",
                    [note(user, "it is launched here")],
                )
            return arguments[lineage.parameter]

        parameters: dict[SSAValue, int] = {
            value: index for index, value in enumerate(callee.parameters)
        }
        found.parameters += zip(callee.parameters, arguments, strict=True)
        computed: set[SSAValue] = set()
        needed = Liveness(callee)
        for op in walk(callee):
            if isinstance(op, DispatchOp):
                inner = self.lineage.calls.callee(op)
                if inner is None:
                    raise OpError(op, f"uses '{op.callee_name}', which is no function here")
                passed = tuple(given(argument, op) for argument in op.arguments)
                if op.launch is not None:
                    found.width = given(op.launch, op)
                    found.sync_start = op.sync_start is not None
                self._enter(op, inner, passed, found, user)
            elif isinstance(op, ptensor.DimOp) or is_scalar_computation(op):
                computed.update(op.results)
                if not needed.is_idle(op):
                    found.computations.append(op)
            elif op is not callee and not isinstance(op, ReturnOp):
                raise OpError(
                    op,
                    f"stands in '{callee.sym_name.data}', which only launches kernels as one task",
                    [note(user, "it is launched here")],
                )
        if len(found.kernels) == before:
            raise OpError(user, f"launches '{callee.sym_name.data}', which has no kernel")

    def _expect_wrapper(self, dispatch: DispatchOp, callee: FuncOp, user: DispatchOp) -> None:
        """Raise `OpError` at the user unless a callee is a wrapper whose body is here."""
        kind = callee.kind.data
        if not kind.is_wrapper or callee.is_declaration:
            what = "has no body here" if kind.is_wrapper else f"is a function of kind {kind.value}"
            raise OpError(
                user,
                f"calls '{callee.sym_name.data}', which {what}: orchestration launches kernels "
                "and wrappers of kernels",
                [note(callee, "it is declared here")],
            )
        if self.lineage.calls.is_recursive(dispatch):
            raise OpError(user, f"calls '{callee.sym_name.data}', which calls itself")
