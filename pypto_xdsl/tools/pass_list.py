"""`--list-passes`: what there is to run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xdsl.universe import XDSL_UNIVERSE, Universe

from pypto_xdsl.pipelines import PIPELINES

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


def pass_list() -> str:
    """
    The pipelines with their passes, the passes of this package and of other plug-ins with a
    line on each, and the names of xDSL's own, which are too many to load.
    """
    lines: list[str] = []
    if PIPELINES:
        lines.append("Pipelines:")
        lines.extend(f"  --{name}: {', '.join(passes)}" for name, passes in PIPELINES.items())
    lines.append("Passes:")
    own = sorted(XDSL_UNIVERSE.all_passes)
    for name, factory in sorted(Universe.get_multiverse().all_passes.items()):
        if name not in PIPELINES and name not in XDSL_UNIVERSE.all_passes:
            try:
                lines.extend(_describe(name, factory()))
            except ImportError as e:
                lines.append(f"  --{name}: cannot be loaded: {e}")
    lines.append("Passes of xDSL:")
    lines.extend(f"  --{name}" for name in own)
    return "\n".join(lines) + "\n"


def _describe(name: str, pass_type: type[ModulePass]) -> Iterator[str]:
    from pypto_xdsl.tools.pass_flags import option_types

    summary = (pass_type.__doc__ or "").strip().partition("\n")[0]
    yield f"  --{name}: {summary}"
    for option, hint in option_types(pass_type).items():
        kind = hint.__name__ if isinstance(hint, type) else str(hint)
        yield f"      {option.replace('_', '-')}: {kind}"
