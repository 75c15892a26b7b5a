"""What the host side may ask of the chip that a program runs on."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import i32
from xdsl.irdl import IRDLOperation, eq, irdl_op_definition, result_def, traits_def
from xdsl.traits import Pure


class CoreCountOp(IRDLOperation, ABC):
    """A number of cores of the chip, the same for as long as a program runs."""

    result = result_def(eq(i32))

    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__(result_types=[i32])


@irdl_op_definition
class AvailableAivCountOp(CoreCountOp):
    """How many vector cores there are for kernels to run on."""

    name = "orch.available_aiv_count"


@irdl_op_definition
class AvailableClusterCountOp(CoreCountOp):
    """How many cube cores, each with its vector cores, there are for kernels to run on."""

    name = "orch.available_cluster_count"
