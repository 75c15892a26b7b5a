"""docs/orchestration.md shows what the target writes."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

from support.orchestration_cpp import generate
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.frontend.pl import PlFrontend
from pypto_xdsl.pipelines import expand_pipelines

DOCS = Path(__file__).parents[4] / "docs"
PASSES = "default-pipeline"


def test_the_example() -> None:
    page = (DOCS / "orchestration.md").read_text()
    (shown,) = re.findall(r"```cpp\n(.*?)```", page, re.DOTALL)
    source = (DOCS / "examples" / "spmd.py").read_bytes()
    module = PlFrontend().parse(context(), BytesIO(source), "spmd.py")
    with collecting():
        passes = Universe.get_multiverse().all_passes
        PassPipeline.parse_spec(passes, expand_pipelines(PASSES)).apply(context(), module)
    text = generate(module)
    entry = text.partition("aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {\n")[2]
    assert entry == f'{shown}}}\n\n}}  // extern "C"\n'
