"""What the functions of a `.pto` file must agree on."""

from __future__ import annotations

import pytest
from pto_programs import FORMS, parse

from pypto_xdsl.properties.pto_functions_consistent import PROPERTY

OPEN = (
    "pto.{kind}_initialize_pipe {{dir_mask = {mask}, slot_size = {size}}}"
    " (gm_slot_buffer = %slots : !pto.ptr<f32>, {buffer} = %room : i32)"
)
TILE = "!pto.tile_buf<acc, 16x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"


def messages(*functions: str) -> list[str]:
    text = "\n".join(functions)
    module = parse(f'module attributes {{pto.target_arch = "a2a3"}} {{\n{text}\n}}')
    module.verify()
    return [diagnostic.message for diagnostic in PROPERTY.verifier(module)]


def function(name: str, *lines: str, kind: str = "cube") -> str:
    body = "\n".join(lines)
    return (
        f"func.func @{name}(%slots: !pto.ptr<f32>, %tile: {TILE}) attributes "
        f"{{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{\n{body}\nreturn\n}}"
    )


def reserve(name: str) -> str:
    return (
        f'%room = pto.reserve_buffer {{name = "{name}", size = 16384, '
        "location = #pto.address_space<vec>, auto = true} -> i32"
    )


def import_(name: str, peer: str) -> str:
    return f'%room = pto.import_reserved_buffer {{name = "{name}", peer_func = @{peer}}} -> i32'


def open_(kind: str, mask: int, size: int = 2048) -> str:
    buffer = "c2v_consumer_buf" if mask == 1 else "v2c_consumer_buf"
    return OPEN.format(kind=kind, mask=mask, size=size, buffer=buffer)


PUSH = f"pto.tpush_to_aiv(%tile : {TILE}) {{split = 0}}"
CONSUMER = function("v", reserve("q"), open_("aiv", 1), kind="vector")


def test_a_pair_that_agrees() -> None:
    assert not messages(function("c", import_("q", "v"), open_("aic", 1), PUSH), CONSUMER)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([function("c", PUSH)], "expects id = 0 to match an initialize_pipe op"),
        (
            [function("c", import_("q", "v"), open_("aic", 2), PUSH), CONSUMER],
            "expects queue 0 to have dir_mask = 1 or 3, got 2",
        ),
        (
            [function("c", import_("q", "v"), open_("aic", 1), open_("aic", 1)), CONSUMER],
            "opens queue 0, which is open already",
        ),
        ([function("c", import_("q", "v"))], "expects peer_func @v to be a function"),
        (
            [function("c", import_("other", "v")), CONSUMER],
            "expects @v to reserve a buffer 'other'",
        ),
        (
            [function("c", import_("q", "v"), open_("aic", 1, 1024), PUSH), CONSUMER],
            "expects both ends of a queue to have one slot_size",
        ),
        (
            [function("v", reserve("q").replace("%room", "%r"), reserve("q"), kind="vector")],
            "reserves a buffer 'q' that is reserved already",
        ),
        (
            [function("c", import_("q", "v"), open_("aic", 1), PUSH, kind="vector"), CONSUMER],
            "must be inside a cube kernel function or section",
        ),
        ([function("c", "pto.sync.set <PIPE_FIX>, 3")], "needs pto.set_ffts in the same function"),
        (
            [
                "func.func @e() -> i32 attributes {pto.entry} {\n"
                "%x = arith.constant 0 : i32\nreturn %x : i32\n}"
            ],
            "is an entry function, so it must return nothing",
        ),
        (
            [
                "func.func @a() {\nfunc.call @b() : () -> ()\nreturn\n}",
                "func.func @b() {\nfunc.call @a() : () -> ()\nreturn\n}",
            ],
            "calls itself; recursive calls are not supported",
        ),
        (
            ["func.func @s(%s: !pto.struct<i32>) {\nreturn\n}"],
            "takes or returns a struct (#0)",
        ),
    ],
)
def test_disagreements(functions: list[str], message: str) -> None:
    found = messages(*functions)
    assert any(message in text for text in found), found


@pytest.mark.parametrize("name", ["queue.pto", "queue_depth.pto", "functions.pto", "section.pto"])
def test_forms_agree(name: str) -> None:
    assert not list(PROPERTY.verifier(parse((FORMS / name).read_text())))
