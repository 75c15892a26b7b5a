"""
Running our ops on an interpreter of xDSL's that somebody else has made.

    interpreter = Interpreter(module)
    xdsl.interpreters.register_implementations(interpreter, ctx)
    pypto_xdsl.interpreters.registration.register_implementations(interpreter)
    interpreter.call_op("main", (tensor_holding(array, f32), ...))

What the interpreter knows already stays as it is. Functions of `orch` are called like any other,
be their kernels on tensors, tiles, in the language of PTO or programs of cores; ops of ours in a
function of another dialect run one by one, on scalars as xDSL's `arith` has them.
"""

from __future__ import annotations

from xdsl.interpreter import Interpreter
from xdsl.ir import Attribute

from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.elements import Array, element_of
from pypto_xdsl.interpreters.machine import set_machine
from pypto_xdsl.interpreters.run import machine_for
from pypto_xdsl.interpreters.values import Tensor

_TABLES = ("_impl_dict", "_cast_impl_dict", "_attr_impl_dict", "_callable_impl_dict")


def register_implementations(
    interpreter: Interpreter, *, strict: bool = True, cores: CoreSettings | None = None
) -> None:
    """
    Make an interpreter run the ops of this package that it does not run yet, as
    `xdsl.interpreters.register_implementations` does for those of xDSL. `strict` and `cores` are
    as for `run`.
    """
    machine = machine_for(
        interpreter.module, strict=strict, cores=cores, listeners=interpreter.listeners
    )
    theirs, ours = interpreter._impls, machine._impls  # pyright: ignore[reportPrivateUsage]
    for table in _TABLES:
        known, added = getattr(theirs, table), getattr(ours, table)
        for key, implementation in tuple(added.items()):
            known.setdefault(key, implementation)
        for key, implementation in known.items():
            # What our functions hold of other dialects, the interpreter has said how to run.
            added.setdefault(key, implementation)
    set_machine(interpreter, machine)


def tensor_holding(array: Array, element_type: Attribute) -> Tensor:
    """A tensor value of the elements of an array, which it shares; `bf16` is held as its bits."""
    return Tensor.holding(array, element_of(element_type))


__all__ = ["register_implementations", "tensor_holding"]
