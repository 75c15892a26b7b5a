"""
The `ptensor` dialect: tensors in global memory, and PyPTO's math on whole tensors.

A tensor value is a reference: it names a buffer, or a window of one. An op that writes returns
the buffer's next name; the names make the order of reads and writes visible, the bytes are one.
"""

from xdsl.ir import Dialect

from pypto_xdsl.dialects.declaration_checks import declared_ops
from pypto_xdsl.dialects.ptensor import (
    aliases,
    elementwise,
    fill,
    gather,
    grid,
    matmul,
    memory,
    reductions,
    selection,
    sort,
)
from pypto_xdsl.dialects.ptensor.aliases import *
from pypto_xdsl.dialects.ptensor.attributes import *
from pypto_xdsl.dialects.ptensor.elementwise import *
from pypto_xdsl.dialects.ptensor.fill import *
from pypto_xdsl.dialects.ptensor.gather import *
from pypto_xdsl.dialects.ptensor.grid import *
from pypto_xdsl.dialects.ptensor.matmul import *
from pypto_xdsl.dialects.ptensor.memory import *
from pypto_xdsl.dialects.ptensor.reductions import *
from pypto_xdsl.dialects.ptensor.selection import *
from pypto_xdsl.dialects.ptensor.sort import *
from pypto_xdsl.dialects.ptensor.types import *

PTensor = Dialect(
    "ptensor",
    declared_ops(
        memory,
        aliases,
        elementwise,
        selection,
        reductions,
        fill,
        matmul,
        gather,
        sort,
        grid,
    ),
    [
        ViewAttr,
        TensorLayoutAttr,
        PadValueAttr,
        RoundModeAttr,
        CompareModeAttr,
        AtomicKindAttr,
        MaskPatternAttr,
        TransportSplitAttr,
    ],
)
