"""
How the `ascend910b` dialect runs: pipes that are in order each, on bytes that know who touched
them.

`run_program` runs a function of the dialect. For an xDSL interpreter of one's own: make a `Group`
and a `Core`, register `CoreFunctions` and `instruction_functions(...)`, and name the core by
`set_core`.
"""

from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.functions import (
    CoreFunctions,
    instruction_functions,
    set_core,
)
from pypto_xdsl.interpreters.ascend910b.group import Group
from pypto_xdsl.interpreters.ascend910b.programs import Part, run_program, run_together

__all__ = [
    "Core",
    "CoreFunctions",
    "Group",
    "Part",
    "instruction_functions",
    "run_program",
    "run_together",
    "set_core",
]
