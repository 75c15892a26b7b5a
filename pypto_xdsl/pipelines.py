"""
The named pipelines: what runs in which order to get from one level to another.

A pipeline is an entry of `PIPELINES`, its passes written as after `-p` (with options, if any:
`'resolve-backend-op-layouts{backend="ascend910b"}'`). Each is also registered as a pass, so
that `pypto-opt --<pipeline>` and `xdsl-opt -p <pipeline>` run it; `pypto-opt` runs its passes
one by one, and so can verify and print the program between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

_DEFAULT = (
    # Helpers, loops to unroll and what constants decide are out of the way.
    "inline-functions",
    "unroll-loops",
    "simplify",
    # Kernels become functions.
    "outline-hierarchy-scopes",
    "outline-incore-scopes",
    "outline-cluster-scopes",
    # Kernels compute on tiles, stored as the target wants them.
    "convert-tensor-to-tile-ops",
    "lower-composite-ops",
    'flatten-tile-nd-to-2d{backend="ascend910b"}',
    'legalize-tile-cast{backend="ascend910b"}',
    'auto-tile-matmul-l0{backend="ascend910b"}',
    'infer-tile-memory-space{backend="ascend910b"}',
    'resolve-backend-op-layouts{backend="ascend910b"}',
    # Each kernel runs on one kind of core.
    'expand-mixed-kernel{backend="ascend910b"}',
    'verify-target{backend="ascend910b"}',
    "normalize-return-order",
    # Tasks write where their results are put in the end, and kernels know where that is.
    "fuse-create-assemble-to-slice",
    "propagate-window-strides",
    # Tiles become bytes, and those that pass between cores have slots in global memory.
    "inject-gm-pipe-buffer",
    'convert-tile-to-pto{backend="ascend910b"}',
    "memory-reuse",
    "allocate-memory-addr",
    # What is launched is told what it does to its arguments, and what it waits for.
    "derive-call-directions",
    "expand-manual-phase-fence",
    # The text of orchestration has scopes, and a variable where a name does not do.
    "materialize-runtime-scopes",
    "classify-iter-arg-carry",
)
_DIRECTIONS = _DEFAULT.index("derive-call-directions") + 1

PIPELINES: dict[str, tuple[str, ...]] = {
    "default-pipeline": _DEFAULT,
    # What tasks wait for is named, not left to the runtime.
    "named-dependencies-pipeline": (
        *_DEFAULT[:_DIRECTIONS],
        "auto-derive-task-dependencies",
        *_DEFAULT[_DIRECTIONS:],
    ),
    "ascend910b-pipeline": (
        # From kernels on tiles in the language of PTO, ours or a public file's, to one that a
        # core's pipes run; where tiles have addresses and events, they stay.
        "memory-reuse",
        'allocate-memory-addr{backend="ascend910b"}',
        "convert-pto-to-ascend910b",
        "insert-sync",
    ),
}
"""Pipeline name -> the passes, in order."""


def pipeline_pass(
    name: str, pipelines: Mapping[str, tuple[str, ...]] = PIPELINES
) -> Callable[[], type[ModulePass]]:
    """A factory of the pass that runs a pipeline, for a `Universe`."""

    def factory() -> type[ModulePass]:
        # Universes are read at the start of every xDSL tool: nothing is imported before use.
        from dataclasses import dataclass

        from xdsl.context import Context
        from xdsl.dialects.builtin import ModuleOp
        from xdsl.passes import ModulePass, PassPipeline
        from xdsl.universe import Universe

        from pypto_xdsl.garbage_collection import collecting_rarely
        from pypto_xdsl.properties.checked_pass import CheckedPass
        from pypto_xdsl.properties.holding import remembering

        pipeline_name = name

        @dataclass(frozen=True)
        class PipelinePass(ModulePass):
            """Runs the passes of a named pipeline."""

            name = pipeline_name
            specs = pipelines[pipeline_name]

            def apply(self, ctx: Context, op: ModuleOp) -> None:
                passes = Universe.get_multiverse().all_passes
                with collecting_rarely(), remembering() as known:

                    def between(
                        previous: ModulePass | None, module: ModuleOp, _: ModulePass | None
                    ) -> None:
                        if not isinstance(previous, CheckedPass):
                            known.settle(module)

                    specs = ",".join(self.specs)
                    PassPipeline.parse_spec(passes, specs, between).apply(ctx, op)

        return PipelinePass

    return factory


def expand_pipelines(spec: str, pipelines: Mapping[str, tuple[str, ...]] = PIPELINES) -> str:
    """
    A pass list, as after `-p`, with each named pipeline replaced by its passes.

    Pipelines may contain pipelines; one that contains itself is an error of the table, found by
    its test.
    """
    from xdsl.utils.arg_spec import parse_pipeline

    parts: list[str] = []
    for element in parse_pipeline(spec):
        if element.name in pipelines and not element.parameters:
            parts.append(expand_pipelines(",".join(pipelines[element.name]), pipelines))
        else:
            parts.append(str(element))
    return ",".join(parts)
