"""
What the package offers to any xDSL driver: `xdsl-opt` finds `PYPTO_UNIVERSE` by the entry point.

Every `xdsl-opt` on the machine imports this file at each start, so it holds names only; a
dialect, pass, target or frontend is imported when it is first used.

* A **pass** is its name in `PASSES`. The name says the rest: `normalize-return-order` is
  `NormalizeReturnOrderPass` in `transforms/normalize_return_order.py`.
* A **dialect** is its name and the name of its `Dialect` in `DIALECTS`, found in
  `dialects/<name>.py`; likewise a **target** and a **frontend** with their classes in
  `targets/` and `frontend/`.
* A **pipeline** is an entry of `pipelines.PIPELINES`, and a pass here.

Names must differ from all of xDSL's: a clash stops every xDSL tool (a test guards it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.universe import Universe

from pypto_xdsl.pipelines import PIPELINES, pipeline_pass

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.frontend import Frontend
    from xdsl.utils.target import Target

DIALECTS: dict[str, str] = {
    "ascend910b": "Ascend910B",
    "orch": "Orch",
    "pld": "Pld",
    "ptensor": "PTensor",
    "pto": "Pto",
    "tile": "Tile",
}
"""Dialect name -> name of its `Dialect` object in `dialects/<dialect name>.py`."""

PASSES: tuple[str, ...] = (
    "allocate-memory-addr",
    "auto-derive-task-dependencies",
    "auto-tile-matmul-l0",
    "classify-iter-arg-carry",
    "convert-pto-to-ascend910b",
    "convert-tensor-to-tile-ops",
    "convert-tile-to-pto",
    "derive-call-directions",
    "expand-manual-phase-fence",
    "expand-mixed-kernel",
    "flatten-tile-nd-to-2d",
    "fuse-create-assemble-to-slice",
    "infer-tile-memory-space",
    "inject-gm-pipe-buffer",
    "inline-functions",
    "insert-sync",
    "legalize-tile-cast",
    "lower-composite-ops",
    "materialize-runtime-scopes",
    "memory-reuse",
    "normalize-return-order",
    "outline-cluster-scopes",
    "outline-hierarchy-scopes",
    "outline-incore-scopes",
    "propagate-window-strides",
    "report-hazards",
    "resolve-backend-op-layouts",
    "simplify",
    "unroll-loops",
    "verify-property",
    "verify-target",
)
"""Pass names, alphabetically."""

TARGETS: dict[str, str] = {
    "orchestration": "OrchestrationTarget",
    "pl": "PlTarget",
    "pto": "PtoTarget",
    "task-graph": "TaskGraphTarget",
}
"""Target name -> name of its class in `targets/<target name>.py`."""

FRONTENDS: dict[str, str] = {"pl": "PlFrontend", "pto": "PtoFrontend"}
"""Frontend name (the file ending that it reads) -> name of its class in `frontend/<name>.py`."""


def module_name(name: str) -> str:
    """The file of a thing with a kebab-case name: `normalize-return-order` -> its snake case."""
    return name.replace("-", "_")


def pass_class_name(name: str) -> str:
    """The class of a pass: `normalize-return-order` -> `NormalizeReturnOrderPass`."""
    return "".join(word[0].upper() + word[1:] for word in name.split("-")) + "Pass"


def _lazily(room: str, name: str, attribute: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(f"pypto_xdsl.{room}.{module_name(name)}"), attribute)


def get_dialects(table: Mapping[str, str] = DIALECTS) -> dict[str, Callable[[], Dialect]]:
    """A lazy factory for each dialect."""
    return {name: _lazily("dialects", name, attribute) for name, attribute in table.items()}


def get_passes(names: Iterable[str] = PASSES) -> dict[str, Callable[[], type[ModulePass]]]:
    """A lazy factory for each pass and each pipeline."""
    passes: dict[str, Callable[[], type[ModulePass]]] = {
        name: _lazily("transforms", name, pass_class_name(name)) for name in names
    }
    passes.update({name: pipeline_pass(name) for name in PIPELINES})
    return passes


def get_targets(table: Mapping[str, str] = TARGETS) -> dict[str, Callable[[], type[Target]]]:
    """A lazy factory for each target."""
    return {name: _lazily("targets", name, attribute) for name, attribute in table.items()}


def get_frontends(table: Mapping[str, str] = FRONTENDS) -> dict[str, Callable[[], type[Frontend]]]:
    """A lazy factory for each frontend."""
    return {name: _lazily("frontend", name, attribute) for name, attribute in table.items()}


PYPTO_UNIVERSE = Universe(
    all_dialects=get_dialects(),
    all_passes=get_passes(),
    all_targets=get_targets(),
    all_frontends=get_frontends(),
)
