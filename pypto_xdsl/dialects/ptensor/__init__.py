"""
The `ptensor` dialect: tensors in global memory, and PyPTO's math on whole tensors.

A tensor value is a reference: it names a buffer, or a window of one. An op that writes returns
the buffer's next name; the names make the order of reads and writes visible, the bytes are one.
"""

from xdsl.ir import Dialect

from pypto_xdsl.dialects.declared_op import ops_defined_in
from pypto_xdsl.dialects.ptensor import elementwise, memory, reductions, selection
from pypto_xdsl.dialects.ptensor.attributes import *
from pypto_xdsl.dialects.ptensor.elementwise import *
from pypto_xdsl.dialects.ptensor.memory import *
from pypto_xdsl.dialects.ptensor.reductions import *
from pypto_xdsl.dialects.ptensor.selection import *
from pypto_xdsl.dialects.ptensor.types import *

PTensor = Dialect(
    "ptensor",
    ops_defined_in(memory, elementwise, selection, reductions),
    [
        ViewAttr,
        TensorLayoutAttr,
        PadValueAttr,
        RoundModeAttr,
        CompareModeAttr,
        AtomicKindAttr,
        MaskPatternAttr,
    ],
)
