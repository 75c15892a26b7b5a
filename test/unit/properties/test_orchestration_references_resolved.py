"""OrchestrationReferencesResolved, asked without the structural properties that imply it."""

from __future__ import annotations

from support.programs import program

from pypto_xdsl.properties.holding import derive


def found(name: str, text: str) -> list[tuple[int, str]]:
    """The line and the message of each violation."""
    return [(error.line, error.message) for error in derive(name, program(text))]


T = "tensor<64xf32>"


def test_orchestration_references_resolved() -> None:
    """A near miss, and one that is nowhere; functions of other kinds are not asked."""
    text = f"""orch.func incore @kernel(in {T})
orch.func orchestration @main(in %x : {T}) {{
  orch.call @kernel(%x) : ({T}) -> ()
  orch.call @kernal(%x) : ({T}) -> ()
  %t = orch.submit @other(%x) : ({T}) -> !orch.task_id
  orch.return
}}
orch.func opaque @opaque(in %x : {T}) {{
  orch.call @nowhere(%x) : ({T}) -> ()
  orch.return
}}
"""
    assert found("OrchestrationReferencesResolved", text) == [
        (
            4,
            "'orch.call' op uses 'kernal', which is no function here; did you mean 'kernel'?",
        ),
        (5, "'orch.submit' op uses 'other', which is no function here"),
    ]
