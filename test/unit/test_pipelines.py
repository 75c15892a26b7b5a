"""Named pipelines run their passes in order, by name, in any driver."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline

from pypto_xdsl.pipelines import PIPELINES, expand_pipelines, pipeline_pass
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PYPTO_UNIVERSE

TOY = {
    "clean": ("cse", "canonicalize"),
    "clean-twice": ("clean", "dce", "clean"),
    "unroll": ("verify-property{property=SSAForm}",),
}


def test_runs_its_passes():
    pass_type = pipeline_pass("clean", TOY)()
    assert pass_type.name == "clean"
    ctx = Context()
    for dialect in (Builtin, Arith, Func):
        ctx.load_dialect(dialect)
    text = """
func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.addi %b, %c : i32
  func.return %d : i32
}"""
    module = parse_module(ctx, text, "a.mlir")
    pass_type.from_spec(ArgSpec("clean", {})).apply(ctx, module)
    assert str(module).count("arith.addi") == 2


def test_expands_to_its_passes():
    expanded = "cse,canonicalize,dce,cse,canonicalize"
    assert expand_pipelines("clean-twice", TOY) == expanded
    assert expand_pipelines("licm,clean", TOY) == "licm,cse,canonicalize"
    assert expand_pipelines("unroll", TOY) == 'verify-property{property="SSAForm"}'


@pytest.mark.parametrize("name", PIPELINES)
def test_registered_pipelines_name_passes_that_exist(name: str):
    from xdsl.universe import Universe

    known = Universe.get_multiverse().all_passes
    for spec in parse_pipeline(expand_pipelines(name)):
        known[spec.name]().from_spec(spec)
    assert name in PYPTO_UNIVERSE.all_passes
