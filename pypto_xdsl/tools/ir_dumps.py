"""`--print-ir-before-all`, `--print-ir-after-all`, `--print-ir-after-change`: IR on stderr."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from pypto_xdsl.analysis.snapshot import Snapshot
from pypto_xdsl.rewriting.value_names import settle_hints


@dataclass
class IRDumps:
    """Prints the program between passes, as the flags ask."""

    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    generic: bool = False
    _before: Snapshot | None = None

    def before(self, pass_name: str, module: ModuleOp) -> None:
        """A pass is about to run."""
        if self.before_all:
            self.show(f"Before {pass_name}", module)
        self._before = Snapshot(module) if self.after_change else None

    def after(self, pass_name: str, module: ModuleOp) -> None:
        """A pass has run."""
        changed = self._before is not None and not self._before.is_current(module)
        if self.after_all or changed:
            self.show(f"After {pass_name}", module)

    def failed(self, pass_name: str, module: ModuleOp) -> None:
        """A pass gave up, or left invalid IR; this shows how far it came."""
        if self.after_all or self.after_change:
            self.show(f"After {pass_name} Failed", module)

    def show(self, when: str, module: ModuleOp) -> None:
        """Print the program under a heading."""
        settle_hints(module)
        print(f"// -----// IR Dump {when} //----- //", file=sys.stderr)
        Printer(sys.stderr, print_generic_format=self.generic).print_op(module)
        print("\n", file=sys.stderr)
