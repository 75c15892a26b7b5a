"""What every xDSL tool on the machine sees of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.passes import PassPipeline
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.universe import XDSL_UNIVERSE, Universe

from pypto_xdsl import universe
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.pipelines import PIPELINES
from pypto_xdsl.properties.checked_pass import CheckedPass, passes_producing
from pypto_xdsl.properties.registry import PROPERTIES
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PASSES, PYPTO_UNIVERSE, module_name, pass_class_name

KINDS = ("all_dialects", "all_passes", "all_targets", "all_frontends")
PACKAGE = Path(universe.__file__).parent
TOOLS = Path(sys.executable).parent


@pytest.mark.parametrize("kind", KINDS)
def test_names_equal_keys_and_clash_with_none_of_xdsl(kind: str):
    ours = getattr(PYPTO_UNIVERSE, kind)
    assert not ours.keys() & getattr(XDSL_UNIVERSE, kind).keys()
    for name, factory in ours.items():
        assert factory().name == name


@pytest.mark.parametrize("kind", KINDS)
def test_tools_find_us(kind: str):
    assert getattr(PYPTO_UNIVERSE, kind).keys() <= getattr(Universe.get_multiverse(), kind).keys()


def test_the_name_of_a_pass_says_where_it_is():
    assert module_name("normalize-return-order") == "normalize_return_order"
    assert pass_class_name("normalize-return-order") == "NormalizeReturnOrderPass"
    assert pass_class_name("flatten-tile-nd-to-2d") == "FlattenTileNdTo2dPass"


def test_passes_are_listed_alphabetically():
    assert list(PASSES) == sorted(set(PASSES))


def test_what_exists_is_registered():
    """A pass that nobody can run is a mistake."""
    files = {path.stem for path in (PACKAGE / "transforms").glob("[!_]*.py")}
    assert files == set(map(module_name, PASSES))


@pytest.mark.parametrize("name", [name for name in PYPTO_UNIVERSE.all_passes if name in PASSES])
def test_passes_name_properties_that_exist(name: str):
    pass_type = PYPTO_UNIVERSE.all_passes[name]()
    assert pass_type.__doc__
    if issubclass(pass_type, CheckedPass):
        for properties in (pass_type.required, pass_type.produced, pass_type.invalidated):
            assert set(properties) <= PROPERTIES.keys()


def context() -> Context:
    """A context that knows every dialect, as the drivers have it."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def loaded_by(*args: str) -> set[str]:
    """The modules that a Python process has imported at its end."""
    code = f"import sys\n{args[0]}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *args[1:]], check=True, capture_output=True, text=True
    )
    return set(done.stderr.split())


def test_the_universe_imports_nothing():
    ours = {name for name in loaded_by("import pypto_xdsl.universe") if name.startswith("pypto_")}
    assert ours == {"pypto_xdsl", "pypto_xdsl.universe", "pypto_xdsl.pipelines"}


def test_pypto_opt_loads_only_what_the_program_uses(tmp_path: Path):
    source = tmp_path / "a.mlir"
    source.write_text("builtin.module {}")
    run = "from pypto_xdsl.tools.pypto_opt import main\nassert main(sys.argv[1:]) == 0"
    loaded = loaded_by(run, str(source))
    assert "numpy" not in loaded
    assert not any(name.startswith("pypto_xdsl.dialects.") for name in loaded)
    assert not any(name.startswith("pypto_xdsl.transforms.") for name in loaded)
    assert not any(name.startswith("xdsl.dialects.arith") for name in loaded)


def test_plain_xdsl_opt_runs_our_passes(tmp_path: Path):
    source = tmp_path / "a.mlir"
    source.write_text("func.func @f(%a: i32) -> i32 { func.return %a : i32 }")
    command = [str(TOOLS / "xdsl-opt"), "-p", "canonicalize,verify-property{property=SSAForm},cse"]
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "func.func @f" in done.stdout


def test_plain_xdsl_opt_shows_our_errors(tmp_path: Path):
    """xDSL's parser gives no locations, so the op itself is shown; its driver, a traceback."""
    source = tmp_path / "a.mlir"
    source.write_text('"test.op"(%a) : (i32) -> ()\n%a = "test.op"() : () -> i32')
    command = [str(TOOLS / "xdsl-opt"), "-p", "verify-property{property=SSAForm}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "error: 'test.op' op operand #0 (%a) does not dominate this use" in done.stderr
    assert 'note: see: "test.op"(%a) : (i32) -> ()' in done.stderr


KERNEL = """
orch.func incore @kernel(in %x: tensor<16xf32>, out %a: tensor<16xf32>, out %b: tensor<16xf32>)
    -> (tensor<16xf32>, tensor<16xf32>) {
  %t = tile.load %x[0] : tensor<16xf32> -> !tile.tile<16xf32>
  %sum = tile.add %t, %t : !tile.tile<16xf32>
  %prod = tile.mul %t, %t : !tile.tile<16xf32>
  %b1 = tile.store %prod, %b[0] : !tile.tile<16xf32>, tensor<16xf32>
  %a1 = tile.store %sum, %a[0] : !tile.tile<16xf32>, tensor<16xf32>
  orch.return %b1, %a1 : tensor<16xf32>, tensor<16xf32>
}
"""

SCOPE = """
orch.func orchestration @main(in %x: tensor<64xf32>, out %o: tensor<64xf32>) -> tensor<64xf32> {
  %r = orch.incore -> (tensor<64xf32>) {
    %t = tile.load %x[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %s = tile.store %t, %o[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %s : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}
"""


def test_plain_xdsl_opt_runs_a_pass_on_our_dialects(tmp_path: Path):
    source = tmp_path / "a.mlir"
    source.write_text(KERNEL)
    command = [str(TOOLS / "xdsl-opt"), "-p", "cse,normalize-return-order,dce", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "orch.return %a, %b : tensor<16xf32>, tensor<16xf32>" in done.stdout


def test_a_python_pipeline_runs_our_passes_between_those_of_xdsl():
    module = parse_module(context(), KERNEL + SCOPE, "a.mlir")
    canonicalize, cse = CanonicalizePass(), CommonSubexpressionElimination()
    passes = Universe.get_multiverse().all_passes
    outline = passes["outline-incore-scopes"]()()
    normalize = passes["normalize-return-order"]()()
    # The scope must have become a function first.
    with pytest.raises(DiagnosticsError) as raised:
        PassPipeline((canonicalize, cse, normalize, cse)).apply(context(), module)
    first = str(raised.value).splitlines()[0]
    assert first.startswith("a.mlir:13:8: error: pass 'normalize-return-order' requires property ")
    assert "property SplitIncoreOrch: 'orch.incore' op is left in orchestration" in first
    assert "a.mlir:13:8: note: run 'outline-incore-scopes' first" in str(raised.value)
    PassPipeline((canonicalize, outline, cse, normalize, cse)).apply(context(), module)
    assert "orch.return %a, %b : tensor<16xf32>, tensor<16xf32>" in str(module)


def test_who_produces_a_property(monkeypatch: pytest.MonkeyPatch):
    class Produces(CheckedPass):
        name = "produces"
        produced = ("SSAForm",)

    class Keeps(CheckedPass):
        name = "keeps"
        required = ("SSAForm",)
        produced = ("SSAForm",)

    multiverse = Universe(all_passes={"keeps": lambda: Keeps, "produces": lambda: Produces})
    monkeypatch.setattr(Universe, "get_multiverse", lambda: multiverse)
    assert passes_producing("SSAForm") == ["produces"]
    assert passes_producing("NoSuchThing") == []


def test_pipelines_are_passes():
    assert PIPELINES.keys() <= PYPTO_UNIVERSE.all_passes.keys()
    assert not PIPELINES.keys() & set(PASSES)
