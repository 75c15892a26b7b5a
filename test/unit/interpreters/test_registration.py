"""Functions and ops of the package on an interpreter that xDSL makes."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_programs import parsed
from support.programs import context
from xdsl.dialects.builtin import IndexType, IntegerAttr, f32
from xdsl.interpreter import Interpreter
from xdsl.interpreters import register_implementations as register_implementations_of_xdsl

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.registration import register_implementations, tensor_holding

T = "tensor<16x64xf32>"
TEXT = f"""
orch.func incore @double(in %x : {T}, out %y : {T}) -> {T} {{
  %s = ptensor.add %x, %x : {T}
  %y1 = ptensor.assemble %s, %y[0, 0] : {T}, {T}
  orch.return %y1 : {T}
}}
orch.func orchestration @main(in %x : {T}, out %y : {T}) -> {T} {{
  %y1 = orch.call @double(%x, %y) : ({T}, {T}) -> {T}
  orch.return %y1 : {T}
}}
"""
HOST = f"""
func.func @host(%x : {T}, %y : {T}, %n : index) -> {T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%value = %x) -> ({T}) {{
    %next = ptensor.add %value, %value : {T}
    scf.yield %next : {T}
  }}
  %r = orch.call @main(%last, %y) : ({T}, {T}) -> {T}
  func.return %r : {T}
}}
"""


def interpreter_of(text: str, passes: str = "", cores: CoreSettings | None = None) -> Interpreter:
    module = parsed(text, passes)
    interpreter = Interpreter(module)
    register_implementations_of_xdsl(interpreter, context())
    register_implementations(interpreter, cores=cores)
    return interpreter


@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("passes", ["", "default-pipeline", "default-pipeline,ascend910b-pipeline"])
def test_functions_are_called_like_any_other(passes: str, seed: int | None) -> None:
    interpreter = interpreter_of(TEXT, passes, CoreSettings(seed))
    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64)
    y = np.zeros((16, 64), np.float32)
    (result,) = interpreter.call_op("main", (tensor_holding(x, f32), tensor_holding(y, f32)))
    np.testing.assert_array_equal(result.array, 2 * x)
    # The tensor shares the elements of the array.
    np.testing.assert_array_equal(y, 2 * x)


def test_ops_in_functions_of_xdsl() -> None:
    """xDSL's own functions run the function, the loop and the numbers; ours the tensors."""
    interpreter = interpreter_of(TEXT + HOST)
    x = np.ones((16, 64), np.float32)
    y = np.zeros((16, 64), np.float32)
    three = IntegerAttr(3, IndexType())
    (result,) = interpreter.call_op("host", (tensor_holding(x, f32), tensor_holding(y, f32), three))
    np.testing.assert_array_equal(result.array, np.full((16, 64), 16))


def test_a_wrong_program_is_an_error_at_its_line() -> None:
    interpreter = interpreter_of(TEXT)
    x = tensor_holding(np.ones((16, 64), np.float32), f32)
    x.buffer.defined = np.zeros(16 * 64 * 4, np.bool_)
    with pytest.raises(DiagnosticsError) as error:
        interpreter.call_op("main", (x, tensor_holding(np.zeros((16, 64), np.float32), f32)))
    assert error.value.diagnostics[0].line is not None
