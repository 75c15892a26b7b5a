"""A mixed kernel of the DSL computes the same whole, and on the cores of a group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "mixed_kernel.py"


def example() -> ModuleOp:
    source = read_source(EXAMPLE.read_bytes(), str(EXAMPLE))
    (candidate,) = find_programs(source)
    return read_program(source, candidate)


def arguments() -> tuple[list[Any], Any]:
    """Small integers, whose sums are exact in any order, and what the program makes of them."""
    rng = np.random.default_rng(0)
    x, up, bias, down = (rng.integers(-1, 2, (64, 64)).astype(np.float32) for _ in range(4))
    wanted = np.maximum(x @ up + bias, 0) @ down - bias
    return [x, up, bias, down, np.zeros((64, 64), np.float32)], wanted


def test_as_one_kernel():
    given, wanted = arguments()
    (result,) = run(example(), "feed_forward", given).results
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_on_the_cores_of_a_group(seed: int | None):
    module = example()
    passes = expand_pipelines("default-pipeline,ascend910b-pipeline")
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, passes).apply(context(), module)
    given, wanted = arguments()
    (result,) = run(module, "feed_forward", given, cores=CoreSettings(seed)).results
    np.testing.assert_array_equal(result, wanted)
