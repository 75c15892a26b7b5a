"""
Programs of any size, for benchmarks and for tests of growth.

Each function gives the text of a module of about the given number of operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_VECTOR = "tensor<16x256xf32>"
_TILE = "!tile.tile<16x256xf32>"
_COLUMN = "!tile.tile<16x1xf32>"


def kernels(operations: int) -> str:
    """Kernels that store two outputs in the wrong order, and one function that calls them all."""
    count = max(operations // 11, 1)
    parts: list[str] = []
    for k in range(count):
        parts.append(
            f"orch.func incore @kernel_{k}(in %x : {_VECTOR}, out %a : {_VECTOR}, "
            f"out %b : {_VECTOR}) -> ({_VECTOR}, {_VECTOR}) {{\n"
            f"  %t = tile.load %x[0, 0] : {_VECTOR} -> {_TILE}\n"
            f"  %sum = tile.add %t, %t : {_TILE}\n"
            f"  %exp = tile.exp %sum : {_TILE}\n"
            f"  %prod = tile.mul %exp, %t : {_TILE}\n"
            f"  %b1 = tile.store %prod, %b[0, 0] : {_TILE}, {_VECTOR}\n"
            f"  %a1 = tile.store %sum, %a[0, 0] : {_TILE}, {_VECTOR}\n"
            f"  orch.return %b1, %a1 : {_VECTOR}, {_VECTOR}\n"
            "}\n"
        )
    parts.append(
        f"orch.func orchestration @main(in %x : {_VECTOR}, out %a : {_VECTOR}, "
        f"out %b : {_VECTOR}) -> ({_VECTOR}, {_VECTOR}) {{\n"
    )
    a, b = "%a", "%b"
    for k in range(count):
        parts.append(
            f"  %b{k}, %a{k} = orch.call @kernel_{k}(%x, {a}, {b}) : "
            f"({_VECTOR}, {_VECTOR}, {_VECTOR}) -> ({_VECTOR}, {_VECTOR})\n"
        )
        a, b = f"%a{k}", f"%b{k}"
    parts.append(f"  orch.return {a}, {b} : {_VECTOR}, {_VECTOR}\n}}\n")
    return "".join(parts)


def calls(operations: int) -> str:
    """One kernel, and a function that calls it over and over on one local buffer."""
    parts = [
        f"orch.func incore @kernel(in %x : {_VECTOR}, out %a : {_VECTOR}) -> {_VECTOR} {{\n"
        f"  %t = tile.load %x[0, 0] : {_VECTOR} -> {_TILE}\n"
        f"  %a1 = tile.store %t, %a[0, 0] : {_TILE}, {_VECTOR}\n"
        f"  orch.return %a1 : {_VECTOR}\n"
        "}\n"
        f"orch.func orchestration @main(in %x : {_VECTOR}) -> {_VECTOR} {{\n"
        f"  %v0 = ptensor.create : {_VECTOR}\n"
    ]
    for k in range(operations):
        parts.append(
            f"  %v{k + 1} = orch.call @kernel(%x, %v{k}) : ({_VECTOR}, {_VECTOR}) -> {_VECTOR}\n"
        )
    parts.append(f"  orch.return %v{operations} : {_VECTOR}\n}}\n")
    return "".join(parts)


def scopes(operations: int) -> str:
    """A function with one in-core scope after the other, each of which reads the one before."""
    count = max(operations // 6, 1)
    parts = [f"orch.func opaque @main(in %x : {_VECTOR}, out %out : {_VECTOR}) -> {_VECTOR} {{\n"]
    out = "%out"
    for k in range(count):
        parts.append(
            f"  %o{k} = orch.incore -> ({_VECTOR}) {{\n"
            f"    %t = tile.load %x[0, 0] : {_VECTOR} -> {_TILE}\n"
            f"    %u = tile.load {out}[0, 0] : {_VECTOR} -> {_TILE}\n"
            f"    %s = tile.add %t, %u : {_TILE}\n"
            f"    %w = tile.store %s, {out}[0, 0] : {_TILE}, {_VECTOR}\n"
            f"    orch.yield %w : {_VECTOR}\n"
            "  }\n"
        )
        out = f"%o{k}"
    parts.append(f"  orch.return {out} : {_VECTOR}\n}}\n")
    return "".join(parts)


def columns(operations: int) -> str:
    """Kernels that compute on column vectors, which the target wants as rows."""
    count = max(operations // 10, 1)
    parts = ['module attributes {pto.target_arch = "a2a3"} {\n']
    for k in range(count):
        parts.append(
            f"orch.func incore @kernel_{k}(in %x : {_VECTOR}, out %a : tensor<16x1xf32>) "
            "-> tensor<16x1xf32> {\n"
            f"  %t = tile.load %x[0, 0] : {_VECTOR} -> {_TILE}\n"
            f"  %tmp = tile.create : {_TILE}\n"
            f"  %c0 = tile.row_max %t, %tmp : {_TILE} -> {_COLUMN}\n"
        )
        for step in range(1, 6):
            parts.append(f"  %c{step} = tile.add %c{step - 1}, %c0 : {_COLUMN}\n")
        parts.append(
            f"  %a1 = tile.store %c5, %a[0, 0] : {_COLUMN}, tensor<16x1xf32>\n"
            "  orch.return %a1 : tensor<16x1xf32>\n"
            "}\n"
        )
    parts.append("}\n")
    return "".join(parts)


def tensors(operations: int) -> str:
    """Tensor math in in-core scopes, as it comes from the front end."""
    count = max(operations // 9, 1)
    parts = [f"orch.func opaque @main(in %x : {_VECTOR}, out %out : {_VECTOR}) -> {_VECTOR} {{\n"]
    out = "%out"
    for k in range(count):
        parts.append(
            f"  %o{k} = orch.incore -> ({_VECTOR}) {{\n"
            f"    %m = ptensor.row_max %x : {_VECTOR} -> tensor<16x1xf32>\n"
            f"    %d = ptensor.row_expand_sub %x, %m : {_VECTOR}, tensor<16x1xf32>\n"
            f"    %e = ptensor.exp %d : {_VECTOR}\n"
            f"    %s = ptensor.row_sum %e : {_VECTOR} -> tensor<16x1xf32>\n"
            "    %r = ptensor.recip %s : tensor<16x1xf32>\n"
            f"    %p = ptensor.row_expand_mul %e, %r : {_VECTOR}, tensor<16x1xf32>\n"
            f"    %w = ptensor.assemble %p, {out}[0, 0] : {_VECTOR}\n"
            f"    orch.yield %w : {_VECTOR}\n"
            "  }\n"
        )
        out = f"%o{k}"
    parts.append(f"  orch.return {out} : {_VECTOR}\n}}\n")
    return "".join(parts)


def loops(operations: int) -> str:
    """
    Orchestration with loops that fill scratch and put it in place, and with tasks of a manual
    scope that wait for all tasks of an earlier loop.
    """
    count = max(operations // 20, 1)
    wide, task, tasks = "tensor<64x256xf32>", "!orch.task_id", "!orch.array<4x!orch.task_id>"
    signature = f"({_VECTOR}, {_VECTOR}) -> {_VECTOR}"
    submission = f"({_VECTOR}, {_VECTOR}) -> ({_VECTOR}, {task})"
    parts = [
        f"orch.func incore @kernel(in {_VECTOR}, out {_VECTOR}) -> {_VECTOR} returns [1]\n"
        f"orch.func orchestration @main(in %x : {_VECTOR}, inout %v0 : {_VECTOR}, "
        f"inout %w0 : {wide}) attributes {{auto_scope = false}} {{\n"
        "  %zero = arith.constant 0 : index\n"
        "  %one = arith.constant 1 : index\n"
        "  %four = arith.constant 4 : index\n"
    ]
    for k in range(count):
        parts.append(
            f"  %w{k + 1} = scf.for %i = %zero to %four step %one iter_args(%w = %w{k}) "
            f"-> ({wide}) {{\n"
            f"    %c = ptensor.create : {_VECTOR}\n"
            f"    %d = orch.call @kernel(input %x, output_existing %c) : {signature}\n"
            f"    %e = ptensor.assemble %d, %w[0, 0] : {_VECTOR}, {wide}\n"
            f"    scf.yield %e : {wide}\n"
            "  }\n"
            "  orch.task_scope manual {\n"
            f"    %none = orch.array.create : {tasks}\n"
            "    %all = scf.for %i = %zero to %four step %one iter_args(%some = %none) "
            f"-> ({tasks}) {{\n"
            f"      %y, %t = orch.submit @kernel(input %x, inout %v0) : {submission}\n"
            f"      %more = orch.array.update_element %t, %some[%i] : {task}, {tasks}\n"
            f"      scf.yield %more : {tasks}\n"
            "    }\n"
            "    scf.for %i = %zero to %four step %one {\n"
            f"      %s = ptensor.create : {_VECTOR}\n"
            "      %y, %t = orch.submit @kernel(input %x, output_existing %s) "
            f"deps [%all : {tasks}] : {submission}\n"
            "    }\n"
            "  }\n"
        )
    parts.append("  orch.return\n}\n")
    return "".join(parts)


def products(operations: int) -> str:
    """Kernels whose products do not fit beside the cube."""
    count = max(operations // 5, 1)
    lhs, rhs, result = "128x512xf16", "512x128xf16", "128x128xf32"
    parts = ['module attributes {pto.target_arch = "a2a3"} {\n']
    for k in range(count):
        parts.append(
            f"orch.func incore @kernel_{k}(in %a : tensor<{lhs}>, in %b : tensor<{rhs}>, "
            f"out %y : tensor<{result}>) -> tensor<{result}> {{\n"
            f"  %l = tile.load %a[0, 0] : tensor<{lhs}> -> !tile.tile<{lhs}>\n"
            f"  %r = tile.load %b[0, 0] : tensor<{rhs}> -> !tile.tile<{rhs}>\n"
            f"  %p = tile.matmul %l, %r : !tile.tile<{lhs}>, !tile.tile<{rhs}> "
            f"-> !tile.tile<{result}>\n"
            f"  %z = tile.store %p, %y[0, 0] : !tile.tile<{result}>, tensor<{result}>\n"
            f"  orch.return %z : tensor<{result}>\n"
            "}\n"
        )
    parts.append("}\n")
    return "".join(parts)


def mixed(operations: int) -> str:
    """A kernel whose tiles pass to and fro between the cores, split over two vector cores."""
    count = max(operations // 5, 1)
    tensor, tile = "tensor<16x16xf32>", "!tile.tile<16x16xf32"
    left, right, vec, acc = (f"{tile}, {space}>" for space in ("left", "right", "vec", "acc"))
    parts = [
        'module attributes {pto.target_arch = "a2a3"} {\n'
        f"orch.func incore @kernel(in %a : {tensor}, out %y : {tensor}) -> {tensor} "
        "attributes {orch.split = #orch<split up_down>} {\n"
        f"  %m = tile.load %a[0, 0] : {tensor} -> {tile}, mat>\n"
        f"  %r = tile.move %m : {tile}, mat> -> {right}\n"
        f"  %v0 = tile.load %a[0, 0] : {tensor} -> {vec}\n"
    ]
    parts += (
        f"  %l{k} = tile.move %v{k} : {vec} -> {left}\n"
        f"  %p{k} = tile.matmul %l{k}, %r : {left}, {right} -> {acc}\n"
        f"  %q{k} = tile.move %p{k} : {acc} -> {vec}\n"
        f"  %s{k} = tile.exp %q{k} : {vec}\n"
        f"  %v{k + 1} = tile.add %s{k}, %v{k} : {vec}\n"
        for k in range(count)
    )
    parts.append(
        f"  %z = tile.store %v{count}, %y[0, 0] : {vec}, {tensor}\n"
        f"  orch.return %z : {tensor}\n"
        "}\n}\n"
    )
    return "".join(parts)


def bare_loops(operations: int) -> str:
    """The same without any scope of the runtime but the manual ones."""
    return loops(operations).replace(" attributes {auto_scope = false}", "")


def tasks(operations: int) -> str:
    """Tasks with directions, which update one buffer in turn, and read it and a part of it."""
    half = "tensor<8x256xf32>"
    count = max(operations // 4, 1)
    parts = [
        f"orch.func incore @update(in {_VECTOR}, inout {_VECTOR}) -> {_VECTOR} returns [1]\n"
        f"orch.func incore @look(in {half}, inout {half}) -> {half} returns [1]\n"
        f"orch.func orchestration @main(in %x : {_VECTOR}, inout %v0 : {_VECTOR}, "
        f"inout %w0 : {half}) -> {_VECTOR} {{\n"
    ]
    for k in range(count):
        parts.append(
            f"  %v{k + 1} = orch.call @update(input %x, inout %v{k}) : "
            f"({_VECTOR}, {_VECTOR}) -> {_VECTOR}\n"
            f"  %s{k} = ptensor.slice %v{k + 1}[8, 0] : {_VECTOR} -> {half}\n"
            f"  %w{k + 1} = orch.call @look(input %s{k}, inout %w{k}) : "
            f"({half}, {half}) -> {half}\n"
        )
    parts.append(f"  orch.return %v{count} : {_VECTOR}\n}}\n")
    return "".join(parts)


def windows(operations: int) -> str:
    """One kernel, called with windows of two tensors in turn, and whole tensors."""
    wide, small = "tensor<16x512xf32>", "tensor<16x16xf32>"
    tile = "!tile.tile<16x16xf32>"
    parts = [
        f"orch.func incore @kernel(in %x : {small}, out %a : {small}) -> {small} {{\n"
        f"  %t = tile.load %x[0, 0] : {small} -> {tile}\n"
        f"  %a1 = tile.store %t, %a[0, 0] : {tile}, {small}\n"
        f"  orch.return %a1 : {small}\n"
        "}\n"
        f"orch.func orchestration @main(in %x : {_VECTOR}, in %y : {wide}, out %v0 : {small}) "
        f"-> {small} {{\n"
    ]
    count = max(operations // 2, 1)
    for k in range(count):
        source, type = (("%x", _VECTOR), ("%y", wide))[k % 2]
        parts.append(
            f"  %w{k} = ptensor.slice {source}[0, {16 * (k % 16)}] : {type} -> {small}\n"
            f"  %v{k + 1} = orch.call @kernel(%w{k}, %v{k}) : ({small}, {small}) -> {small}\n"
        )
    parts.append(f"  orch.return %v{count} : {small}\n}}\n")
    return "".join(parts)


def _assembly(operations: int, addresses: Sequence[int]) -> str:
    """
    A kernel in PTOAS's language that computes on one tile after the other; tiles take turns at
    the addresses, or have none yet.
    """
    tile = (
        "!pto.tile_buf<loc=vec, dtype=f32, rows=16, cols=256, v_row=16, v_col=256, "
        "blayout=row_major, slayout=none_box, fractal=512, pad=0>"
    )
    view, window = "!pto.tensor_view<16x256xf32>", "!pto.partition_tensor_view<16x256xf32>"
    parts = [
        'module attributes {pto.target_arch = "a2a3"} {\n'
        "func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {\n"
        "  %zero = arith.constant 0 : index\n"
        "  %one = arith.constant 1 : index\n"
        "  %rows = arith.constant 16 : index\n"
        "  %columns = arith.constant 256 : index\n"
    ]
    parts += [f"  %at{n} = arith.constant {address} : i64\n" for n, address in enumerate(addresses)]
    for name in "xy":
        parts.append(
            f"  %{name}_view = pto.make_tensor_view %{name}, shape = [%rows, %columns], "
            f"strides = [%columns, %one] : {view}\n"
            f"  %{name}_part = pto.partition_view %{name}_view, offsets = [%zero, %zero], "
            f"sizes = [%rows, %columns] : {view} -> {window}\n"
        )

    def allocate(k: int) -> str:
        address = f" addr = %at{k % len(addresses)}" if addresses else ""
        return f"  %t{k} = pto.alloc_tile{address} : {tile}\n"

    parts.append(f"{allocate(0)}  pto.tload ins(%x_part : {window}) outs(%t0 : {tile})\n")
    count = max(operations // 2, 1)
    for k in range(count):
        following = f"outs(%t{k + 1} : {tile})\n"
        parts.append(allocate(k + 1))
        if k % 2:
            parts.append(f"  pto.tadd ins(%t{k}, %t{k - 1} : {tile}, {tile}) {following}")
        else:
            parts.append(f"  pto.texp ins(%t{k} : {tile}) {following}")
    parts.append(
        f"  pto.tstore ins(%t{count} : {tile}) outs(%y_part : {window})\n  return\n}}\n}}\n"
    )
    return "".join(parts)


def assembly(operations: int) -> str:
    """A kernel in PTOAS's language whose tiles have no addresses yet."""
    return _assembly(operations, ())


def placed_assembly(operations: int) -> str:
    """A kernel in PTOAS's language whose tiles have addresses."""
    return _assembly(operations, (0, 16384, 32768))


PROGRAMS: dict[str, Callable[[int], str]] = {
    "kernels": kernels,
    "calls": calls,
    "scopes": scopes,
    "columns": columns,
    "tensors": tensors,
    "loops": loops,
    "bare_loops": bare_loops,
    "tasks": tasks,
    "windows": windows,
    "products": products,
    "mixed": mixed,
    "assembly": assembly,
    "placed_assembly": placed_assembly,
}

FOR_PASS: dict[str, str] = {
    "auto-derive-task-dependencies": "tasks",
    "normalize-return-order": "kernels",
    "classify-iter-arg-carry": "loops",
    "expand-manual-phase-fence": "loops",
    "materialize-runtime-scopes": "bare_loops",
    "propagate-window-strides": "windows",
    "report-hazards": "tasks",
    "fuse-create-assemble-to-slice": "loops",
    "derive-call-directions": "calls",
    "outline-incore-scopes": "scopes",
    "resolve-backend-op-layouts": "columns",
    "default-pipeline": "tensors",
    "auto-tile-matmul-l0": "products",
    "expand-mixed-kernel": "mixed",
    "memory-reuse": "assembly",
    "convert-pto-to-ascend910b": "placed_assembly",
}
"""The program that gives a pass the most to do; `kernels` for the others."""

FOR_PROPERTY: dict[str, str] = {"NoStaleRead": "loops"}
"""The program that gives the verifier of a property the most to do."""
