"""Ops of other versions and targets: what is read as an op of 0.57, and what is refused, and why.

Forms of ops that exist in 0.57 (`tci`, masks, scaled stores, ...) are read by the ops themselves.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import device_transfer
from pypto_xdsl.dialects.pto.declaration import PtoOp
from pypto_xdsl.dialects.pto.tile_view import SubViewOp


class RenamedOp(Operation):
    """An older name; what is read is the op of today."""

    NOW: ClassVar[type[PtoOp]]

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        return cls.NOW.parse(parser)

    @classmethod
    def create(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.NOW.create(*args, **kwargs)


class RefusedOp(Operation):
    """An op that no A2/A3 program can use."""

    REASON: ClassVar[str]

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        parser.raise_error(f"'{cls.name}' {cls.REASON}", parser.pos - len(cls.name) - 1)

    def verify_(self) -> None:
        raise VerifyException(self.REASON)


RENAMED: dict[str, type[PtoOp]] = {
    op.DECLARATION.other_names["0.27"]: op
    for op in (
        SubViewOp,
        device_transfer.BuildAsyncSessionOp,
        device_transfer.TPutAsyncOp,
        device_transfer.TGetAsyncOp,
        device_transfer.WaitAsyncEventOp,
        device_transfer.TestAsyncEventOp,
    )
}
"""Names of 0.27, and the ops that they are now."""

_A5 = "exists on A5 only"
_INTERNAL = "is internal to the assembler"

REFUSED: dict[str, str] = {
    **dict.fromkeys(
        (
            "tmatmul.mx",
            "tmatmul.mx.acc",
            "tmatmul.mx.bias",
            "tgemv.mx",
            "tgemv.mx.acc",
            "tgemv.mx.bias",
            "tquant.mx",
            "thistogram",
            "trandom",
            "tget_scale_addr",
            "tpack",
            "section.simt",
            "set_cross_block",
            "wait_cross_block",
            "get_buf_dyn",
            "rls_buf_dyn",
        ),
        _A5,
    ),
    **dict.fromkeys(("bind_tile", "pointer_cast", "declare_tile_memref"), _INTERNAL),
}
"""Mnemonics of other targets and stages, and why an A2/A3 program cannot have them."""


def _class_name(mnemonic: str) -> str:
    return "".join(part.capitalize() for part in mnemonic.replace(".", "_").split("_")) + "Op"


OTHER_OPS: list[type[Operation]] = [
    *(
        type(f"Old{_class_name(name)}", (RenamedOp,), {"name": f"pto.{name}", "NOW": now})
        for name, now in RENAMED.items()
    ),
    *(
        type(_class_name(name), (RefusedOp,), {"name": f"pto.{name}", "REASON": reason})
        for name, reason in REFUSED.items()
    ),
]
"""Classes for both."""
