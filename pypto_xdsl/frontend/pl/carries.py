"""What a loop carries: values that its body rebinds, and those first assigned in it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, BlockArgument, OpResult, SSAValue

from pypto_xdsl.dialects.orch.attributes import TaskIdType, is_array
from pypto_xdsl.dialects.orch.tasks import ArrayCreateOp, TaskInvalidOp
from pypto_xdsl.dialects.ptensor.memory import CreateOp as TensorCreateOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type, tensor_of
from pypto_xdsl.dialects.tile.memory import CreateOp as TileCreateOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.frontend.pl import handed_on, statements
from pypto_xdsl.frontend.pl.context import Construct, Context, as_tuple, hint
from pypto_xdsl.frontend.pl.merging import carried_type, settle
from pypto_xdsl.frontend.pl.names import Frame
from pypto_xdsl.frontend.pl.values import (
    Tuple,
    Unavailable,
    Value,
    is_literal,
    is_value,
)

YIELD = "%yield:"


def yield_name(context: Context, name: str) -> str:
    """The name under which a yielded value waits for the end of its block."""
    return f"{YIELD}{context.prefix}{name}"


# Yields


@dataclass
class Carry:
    """One value that a loop hands from iteration to iteration."""

    names: list[str]
    """The names that stand for it in the body (with their prefixes)."""
    init: SSAValue
    argument: BlockArgument | None = None
    explicit: str | None = None
    """The name that `init_values` gives it in the body."""
    yielded: SSAValue | None = None

    def reset(self) -> None:
        """Forget what a reading of the body found."""
        del self.names[1:]
        self.argument = self.yielded = None


class Parting(Exception):
    """
    Names that one carry stands for end an iteration with different values: the loop is read again
    with a carry for each.
    """

    def __init__(self, carry: Carry):
        super().__init__()
        self.names = carry.names


def explicit_carries(
    context: Context, target: ast.expr, init: ast.expr | None, node: ast.stmt
) -> list[Carry]:
    if init is None:
        return []
    values = as_tuple(context.read(init))
    if values is None:
        raise context.error(init, "init_values is a list or tuple")
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if len(names) != len(values):
        raise context.error(target, f"{len(names)} names for {len(values)} init_values")
    nodes: Sequence[ast.expr] = (
        init.elts if isinstance(init, ast.Tuple | ast.List) else [init] * len(names)
    )
    carries: list[Carry] = []
    for name, value, place in zip(names, values, nodes, strict=True):
        if not isinstance(name, ast.Name):
            raise context.error(name, "expected a name")
        carry = Carry([context.prefix + name.id], context.materialize(value, place))
        carry.explicit = context.prefix + name.id
        carries.append(carry)
    return carries


def implicit_carries(
    context: Context, statement: ast.For | ast.While, explicit: list[Carry]
) -> list[Carry]:
    """What the body rebinds and somebody reads again; one for all names of one tensor."""
    parted = context.parted.get(statement, ())
    carries: list[Carry] = []
    by_value: dict[SSAValue, Carry] = {}
    for carry in explicit:
        if is_tensor_type(carry.init.type) and not set(carry.names) & set(parted):
            by_value.setdefault(carry.init, carry)
    wanted = dict[str, None]()
    written = context.uncarried.get(statement, ())
    for name in (*written, *context.liveness.changed_names(statement)):
        full = name if ":" in name else context.prefix + name
        value = context.names.get(full)
        if isinstance(value, Unavailable):
            continue
        live = (
            name in written
            or context.liveness.is_live_after(statement, name)
            or context.liveness.is_read_again(statement, name)
        )
        if live:
            wanted[full] = None
        if is_value(value) and is_tensor_type(value.type):
            if not live and handed_on.sharers_alive(context, statement, value):
                # Others see what is written through it.
                wanted[full] = None
            # Other names of the tensor move on with it.
            for other in context.names.names_of(value):
                if (other != full and statements.is_live(context, statement, other)) or (
                    other.startswith(context.prefix)
                    and context.liveness.is_read_again(
                        statement, other.removeprefix(context.prefix)
                    )
                ):
                    wanted[other] = None
                    wanted[full] = None
    for full in sorted(wanted):
        value = context.names.get(full)
        if is_value(value) and is_tensor_type(value.type):
            value = context.current(value, statement)
        if isinstance(value, Tuple | Unavailable):
            continue
        if carried_type(value) is None:
            continue
        shares = full not in parted
        if shares and is_value(value) and is_tensor_type(value.type):
            known = by_value.get(value)
            if known is not None:
                known.names.append(full)
                continue
        carry = Carry([full], context.materialize(value, statement))
        if shares and is_tensor_type(carry.init.type):
            by_value[carry.init] = carry
        carries.append(carry)
    return carries


def enter_carries(
    context: Context, carries: Sequence[Carry], block: Block, statement: ast.stmt
) -> None:
    """Give the block an argument for each carry and let the names stand for it."""
    parted = context.parted.get(statement, ())
    for carry in carries:
        argument = block.insert_arg(carry.init.type, len(block.args))
        argument.name_hint = hint(carry.names[0].rpartition(":")[2])
        carry.argument = argument
        if is_tensor_type(argument.type):
            context.names.aliases.merge(argument, (carry.init,))
        if any(name in parted for name in carry.names):
            context.parted_arguments[argument] = statement
        for name in carry.names:
            if name == carry.explicit:
                context.names.bind(name, argument)
            else:
                context.names.move(name, argument)
    explicit = [carry for carry in carries if carry.explicit is not None]
    handed_on.enter(context, _arguments(carries), len(explicit))


def _arguments(carries: Sequence[Carry]) -> list[SSAValue]:
    return [carry.argument for carry in carries if carry.argument is not None]


def end_body(
    context: Context,
    statement: ast.stmt,
    frame: Frame,
    carries: Sequence[Carry],
    explicit: Sequence[Carry],
) -> handed_on.HandedOn:
    """At the end of the body of a loop: what tells after it what it wrote."""
    context.names.aliases.end_loop()
    carried = dict.fromkeys(name for carry in carries for name in carry.names)
    return handed_on.end_region(context, statement, frame, carried, _arguments(explicit))


def end_of(
    carry: Carry, explicit: Sequence[Carry], yields: Sequence[Value] | None, frame: Frame
) -> Value:
    """What a carry is at the end of an iteration. Raises `Parting`."""
    argument = carry.argument
    assert argument is not None
    ends: list[Value] = [frame.get(name, argument) for name in carry.names]
    if carry in explicit:
        ends[0] = argument if yields is None else yields[explicit.index(carry)]
    if any(end is not ends[0] for end in ends):
        raise Parting(carry)
    return ends[0]


def leave_carries(
    context: Context,
    carries: list[Carry],
    explicit: Sequence[Carry],
    yields: Sequence[Value] | None,
    frame: Frame,
    block: Block,
    statement: ast.stmt,
) -> list[Carry]:
    """Settle what each carry yields; carries that the body never changes are taken back."""
    kept: list[Carry] = []
    for carry in carries:
        argument = carry.argument
        assert argument is not None
        value = end_of(carry, explicit, yields, frame)
        if carry not in explicit and value is argument:
            argument.replace_all_uses_with(carry.init)
            block.erase_arg(argument)
            carry.argument = None
            continue
        name = carry.names[0].rpartition(":")[2]
        carry.yielded = settle(context, argument, carry.init, value, block, name, statement)
        kept.append(carry)
    return kept


def escaping_names(
    context: Context, statement: ast.For, frame: Frame, kept: list[Carry]
) -> list[tuple[str, Value]]:
    """Names first assigned in the body and read after the loop, with their last values."""
    found: list[tuple[str, Value]] = []
    carried = {name for carry in kept for name in carry.names}
    for name in sorted(frame):
        if name in carried or name.startswith(YIELD) or not name.startswith(context.prefix):
            continue
        if not isinstance(context.names.get(name), Unavailable):
            continue
        if context.liveness.is_live_after(statement, name.removeprefix(context.prefix)):
            found.append((name, frame[name]))
    return found


# For


def yields_of(
    context: Context,
    construct: Construct,
    frame: Frame,
    explicit: Sequence[Carry],
    statement: ast.stmt,
) -> list[Value] | None:
    """What the body yields for the explicit carries; None if it yields nothing."""
    if construct.yields is None:
        return None
    if len(construct.yields) != len(explicit):
        raise context.error(
            statement,
            f"the loop has {len(explicit)} init_values and yields {len(construct.yields)} values",
        )
    return [frame[yield_name(context, name)] for name in construct.yields]


def escape_values(
    context: Context,
    escaping: Sequence[tuple[str, Value]],
    kept: Sequence[Carry],
    block: Block,
    statement: ast.stmt,
    runs: bool,
) -> list[tuple[list[str], SSAValue, SSAValue, BlockArgument]]:
    """
    Carries for names that are first assigned in the body and read after the loop. Before the
    first iteration they hold nothing.
    """
    found: list[tuple[list[str], SSAValue, SSAValue, BlockArgument]] = []
    by_value: dict[int, int] = {}
    for name, value in escaping:
        if any(carry.yielded is value for carry in kept):
            continue
        if isinstance(value, Tuple | Unavailable) or carried_type(value) is None:
            context.names.bind(name, Unavailable("is assigned in a loop that may not run"))
            continue
        if is_literal(value):
            context.names.bind(name, value)
            continue
        if id(value) in by_value:
            found[by_value[id(value)]][0].append(name)
            continue
        outer = context.block
        context.block = block
        try:
            end = context.materialize(value, statement)
        finally:
            context.block = outer
        init = _nothing(context, end.type, statement, name, runs)
        argument = block.insert_arg(end.type, len(block.args))
        argument.name_hint = hint(name.rpartition(":")[2])
        by_value[id(value)] = len(found)
        found.append(([name], init, end, argument))
    return found


def _nothing(
    context: Context, type: Attribute, statement: ast.stmt, name: str, runs: bool
) -> SSAValue:
    """A value for a name that holds nothing yet."""
    shape: Sequence[int] = ()
    if is_tensor_type(type) or isinstance(type, TileType):
        shape = type.get_shape()
    if isinstance(type, TileType) and -1 not in (*shape, *type.valid_shape):
        static = all(extent >= 0 for extent in (*shape, *type.valid_shape))
        if static:
            return context.emit(TileCreateOp(type), statement).result
    if is_tensor_type(type) and all(extent >= 0 for extent in shape):
        return context.emit(TensorCreateOp(tensor_of(type)), statement).result
    if runs and not is_tensor_type(type) and not isinstance(type, TileType):
        return _scalar_nothing(context, type, statement)
    raise context.error(
        statement,
        f"'{name.rpartition(':')[2]}' is read after the loop, which may not run: "
        "assign it before the loop",
    )


def _scalar_nothing(context: Context, type: Attribute, statement: ast.stmt) -> SSAValue:
    if isinstance(type, TaskIdType):
        return context.emit(TaskInvalidOp(), statement).task
    if is_array(type):
        return context.emit(ArrayCreateOp(type), statement).result
    return context.constant(0, type, statement)


def bind_results(
    context: Context,
    construct: Construct,
    kept: Sequence[Carry],
    explicit: Sequence[Carry],
    results: Sequence[OpResult],
    frame: Frame,
) -> None:
    """Let the names after the loop stand for its results."""
    for carry, result in zip(kept, results, strict=False):
        if is_tensor_type(result.type):
            assert carry.yielded is not None
            context.names.aliases.merge(result, (carry.init, carry.yielded))
        outer_names = carry.names
        if carry in explicit:
            place = explicit.index(carry)
            name = _result_name(context, construct, place, carry)
            context.names.bind(name, result)
            result.name_hint = hint(name.rpartition(":")[2])
            outer_names = carry.names[1:]
        for name in outer_names:
            context.names.leave(name, result, frame)
            if result.name_hint is None:
                result.name_hint = hint(name.rpartition(":")[2])


def _result_name(context: Context, construct: Construct, place: int, carry: Carry) -> str:
    if construct.yields is not None:
        return context.prefix + construct.yields[place]
    assert carry.explicit is not None
    return f"{carry.explicit}_out"


# Unroll
