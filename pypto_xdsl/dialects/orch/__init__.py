"""
The `orch` dialect: functions of every kind, what launches them, and what becomes one.

Functions with directions on their parameters (`functions`), calls and submits (`calls`), scopes
(`scopes`), what these have in common (`launch`), task identities and arrays (`tasks`), questions
about the chip (`chip`), and the kinds of loops (`loops`).
"""

from xdsl.ir import Dialect

from pypto_xdsl.dialects.declared_op import ops_defined_in
from pypto_xdsl.dialects.orch import calls, chip, functions, scopes, tasks
from pypto_xdsl.dialects.orch.attributes import *
from pypto_xdsl.dialects.orch.calls import *
from pypto_xdsl.dialects.orch.chip import *
from pypto_xdsl.dialects.orch.functions import *
from pypto_xdsl.dialects.orch.launch import *
from pypto_xdsl.dialects.orch.loops import *
from pypto_xdsl.dialects.orch.scopes import *
from pypto_xdsl.dialects.orch.tasks import *

Orch = Dialect(
    "orch",
    ops_defined_in(functions, calls, scopes, tasks, chip),
    [
        TaskIdType,
        ArrayType,
        FunctionKindAttr,
        DirectionAttr,
        ArgDirectionAttr,
        LevelAttr,
        RoleAttr,
        SplitModeAttr,
        LoopKindAttr,
        ScopeModeAttr,
        CachePolicyAttr,
        ComparisonAttr,
    ],
)
