"""
Scopes: regions of a function that become something of their own.

    %y, %t = orch.incore "fused_add" deps [%t0] -> (tensor<16xf32>) as task {
      ...
      orch.yield %y1 : tensor<16xf32>
    }

A scope captures values implicitly and yields what is used after it. The scopes that become
functions (`incore`, `cluster`, `spmd`, `hierarchy`) have the clauses of a launch and these, which
list tensors as operands, so that they are renamed and counted like any other:

    no_dep [%w : T]          the user answers for the order of these
    dump [%w : T]            the runtime dumps these
    cache [bypass %w : T]    how loads of these go through the cache
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Literal, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    RangeOf,
    irdl_op_definition,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    RecursiveMemoryEffect,
    ReturnLike,
    SingleBlockImplicitTerminator,
    ensure_terminator,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.orch.attributes import (
    TASK_ID,
    CachePolicy,
    CachePolicyAttr,
    Level,
    LevelAttr,
    Role,
    RoleAttr,
    ScopeMode,
    ScopeModeAttr,
    SplitMode,
    SplitModeAttr,
    TaskIdType,
)
from pypto_xdsl.dialects.orch.launch import (
    LaunchingOp,
    Predicate,
    parse_typed_values,
    predicate_operands,
    print_typed_values,
)
from pypto_xdsl.dialects.ptensor.types import TENSOR
from pypto_xdsl.syntax.attributes import parse_attributes
from pypto_xdsl.syntax.op_syntax import INDEX, segments_property


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of a scope: what is used after it. Yielding a tensor names its buffer."""

    name = "orch.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])

    def verify_(self) -> None:
        scope = self.parent_op()
        if not isinstance(scope, ScopeOp):
            raise VerifyException("expected to end the region of a scope")
        wanted = tuple(output.type for output in scope.outputs)
        if tuple(self.values.types) != wanted:
            raise VerifyException(
                f"the scope has results ({', '.join(map(str, wanted))}), "
                f"got ({', '.join(map(str, self.values.types))})"
            )


class ScopeOp(IRDLOperation, ABC):
    """A region that captures implicitly and yields what is used after it."""

    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())

    @property
    def yield_op(self) -> YieldOp:
        """The end of the region."""
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last


def _parse_outputs(parser: Parser) -> list[Attribute]:
    if parser.parse_optional_punctuation("->") is None:
        return []
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)


def _print_outputs(printer: Printer, outputs: Sequence[OpResult]) -> None:
    if outputs:
        printer.print_string(" -> (")
        printer.print_list(outputs, lambda output: printer.print_attribute(output.type))
        printer.print_string(")")


def _end(op: ScopeOp) -> None:
    """Add the end of a region that yields nothing, which the text leaves out."""
    for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
        ensure_terminator(op, trait)


def _print_body(printer: Printer, op: ScopeOp) -> None:
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    end = None if op.body.last_block is None else op.body.last_block.last_op
    printer.print_region(
        op.body,
        print_entry_block_args=False,
        print_empty_block=False,
        # An end that yields nothing is left out, unless it carries something else.
        print_block_terminators=bool(op.outputs or (end is not None and end.attributes)),
    )


class OutlinableScopeOp(LaunchingOp, ScopeOp, ABC):
    """A scope that becomes a function, and a call or a submit of it."""

    hint_attr = opt_prop_def(StringAttr, prop_name="name_hint")
    """The name that the function should have."""
    no_dep = var_operand_def(TENSOR)
    dump = var_operand_def(TENSOR)
    cached = var_operand_def(TENSOR)
    cache_policies = opt_prop_def(ArrayAttr[CachePolicyAttr])
    """The policy of each `cached` tensor."""
    outputs = var_result_def()
    task = opt_result_def(TaskIdType)

    irdl_options = (
        AttrSizedOperandSegments(as_property=True),
        AttrSizedResultSegments(as_property=True),
    )

    @property
    def hint(self) -> str | None:
        """The name that the function should have, if the user gave one."""
        return None if self.hint_attr is None else self.hint_attr.data

    @property
    def policies(self) -> Sequence[tuple[SSAValue, CachePolicy]]:
        """The tensors with a cache policy."""
        if self.cache_policies is None:
            return ()
        return tuple(
            (tensor, policy.data)
            for tensor, policy in zip(self.cached, self.cache_policies, strict=True)
        )

    def list_tensors(self, clause: Literal["no_dep", "dump"], tensors: Sequence[SSAValue]) -> None:
        """Add tensors to what a clause lists."""
        self.set_operand_group(clause, (*getattr(self, clause), *tensors))

    def verify_(self) -> None:
        self.verify_clauses()
        policies = 0 if self.cache_policies is None else len(self.cache_policies)
        if policies != len(self.cached):
            raise VerifyException(f"{len(self.cached)} cached tensors have {policies} policies")

    @classmethod
    def parse_own(cls, parser: Parser) -> dict[str, Attribute]:
        """Parse what this kind of scope alone has."""
        return {}

    def print_own(self, printer: Printer) -> None:
        """Print what `parse_own` reads."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        properties = cls.parse_own(parser)
        if (hint := parser.parse_optional_str_literal()) is not None:
            properties["name_hint"] = StringAttr(hint)
        clauses = cls.parse_clauses(parser)
        no_dep = parse_typed_values(parser) if parser.parse_optional_keyword("no_dep") else []
        dump = parse_typed_values(parser) if parser.parse_optional_keyword("dump") else []
        cached: list[SSAValue] = []
        if parser.parse_optional_keyword("cache"):
            policies: list[CachePolicyAttr] = []

            def policy() -> None:
                policies.append(CachePolicyAttr(parser.parse_str_enum(CachePolicy)))
                operand = parser.parse_unresolved_operand()
                parser.parse_punctuation(":")
                cached.append(parser.resolve_operand(operand, parser.parse_type()))

            parser.parse_comma_separated_list(parser.Delimiter.SQUARE, policy)
            properties["cache_policies"] = ArrayAttr(policies)
        outputs = _parse_outputs(parser)
        tasks: list[Attribute] = []
        if parser.parse_optional_keyword("as"):
            parser.parse_keyword("task")
            tasks.append(TASK_ID)
        attributes = parse_attributes(parser, cls, after_keyword=True)
        body = parser.parse_region()
        operand_groups = {
            "deps": clauses.deps,
            "launch": clauses.launch,
            "predicate_tensor": clauses.predicate,
            "predicate_indices": clauses.predicate_indices,
            "no_dep": no_dep,
            "dump": dump,
            "cached": cached,
        }
        op = cls._assemble(
            operand_groups,
            properties | clauses.properties,
            outputs,
            tasks,
            body,
            attributes,
        )
        _end(op)
        return op

    def print(self, printer: Printer) -> None:
        self.print_own(printer)
        if self.hint_attr is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.hint_attr.data)
        self.print_clauses(printer)
        if self.no_dep:
            printer.print_string(" no_dep ")
            print_typed_values(printer, self.no_dep)
        if self.dump:
            printer.print_string(" dump ")
            print_typed_values(printer, self.dump)
        if self.cached:
            printer.print_string(" cache [")

            def policy(entry: tuple[SSAValue, CachePolicy]) -> None:
                printer.print_string(f"{entry[1].value} ")
                printer.print_ssa_value(entry[0])
                printer.print_string(" : ")
                printer.print_attribute(entry[0].type)

            printer.print_list(self.policies, policy)
            printer.print_string("]")
        _print_outputs(printer, self.outputs)
        if self.task is not None:
            printer.print_string(" as task")
        _print_body(printer, self)

    @classmethod
    def _assemble(
        cls,
        operands: Mapping[str, Sequence[SSAValue]],
        properties: Mapping[str, Attribute],
        outputs: Sequence[Attribute],
        tasks: Sequence[Attribute],
        body: Region,
        attributes: Mapping[str, Attribute],
    ) -> Self:
        groups = [operands.get(name, ()) for name, _ in cls.get_irdl_definition().operands]
        return cls.create(
            operands=[operand for group in groups for operand in group],
            result_types=[*outputs, *tasks],
            properties={
                **properties,
                **segments_property(tuple(len(group) for group in groups)),
                AttrSizedResultSegments.attribute_name: DenseArrayBase.from_list(
                    i32, [len(outputs), len(tasks)]
                ),
            },
            attributes=attributes,
            regions=[body],
        )

    @classmethod
    def around(
        cls,
        body: Region,
        outputs: Sequence[Attribute] = (),
        *,
        hint: str | None = None,
        deps: Sequence[SSAValue] = (),
        launch: SSAValue | None = None,
        sync_start: bool = False,
        predicate: Predicate | None = None,
        early_resolve: bool = False,
        no_dep: Sequence[SSAValue] = (),
        dump: Sequence[SSAValue] = (),
        cached: Sequence[tuple[SSAValue, CachePolicy]] = (),
        as_task: bool = False,
        properties: Mapping[str, Attribute] | None = None,
    ) -> Self:
        """
        A scope around `body`, which ends in an `orch.yield` of the outputs. `properties` are those
        that this kind of scope alone has.
        """
        own = dict(properties or {})
        if hint is not None:
            own["name_hint"] = StringAttr(hint)
        if cached:
            own["cache_policies"] = ArrayAttr(CachePolicyAttr(policy) for _, policy in cached)
        indices, predicate_properties = predicate_operands(predicate)
        own |= predicate_properties
        if sync_start:
            own["sync_start"] = UnitAttr()
        if early_resolve:
            own["early_resolve"] = UnitAttr()
        operands = {
            "deps": deps,
            "launch": () if launch is None else (launch,),
            "predicate_tensor": () if predicate is None else (predicate.tensor,),
            "predicate_indices": indices,
            "no_dep": no_dep,
            "dump": dump,
            "cached": [tensor for tensor, _ in cached],
        }
        return cls._assemble(operands, own, outputs, [TASK_ID] if as_task else [], body, {})


@irdl_op_definition
class IncoreOp(OutlinableScopeOp):
    """
    Work of one core group: it becomes a kernel.

    `split` says how the two vector cores share it, `slots` how many slots the ring between cube
    and vector cores has.
    """

    name = "orch.incore"

    split = opt_prop_def(SplitModeAttr)
    slot_num = opt_prop_def(IntegerAttr[IntegerType])
    windowize = opt_prop_def(UnitAttr)

    @classmethod
    def parse_own(cls, parser: Parser) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("split"):
            properties["split"] = SplitModeAttr(parser.parse_str_enum(SplitMode))
        if parser.parse_optional_keyword("slots"):
            properties["slot_num"] = IntegerAttr(parser.parse_integer(), i64)
        if parser.parse_optional_keyword("windowize"):
            properties["windowize"] = UnitAttr()
        return properties

    def print_own(self, printer: Printer) -> None:
        if self.split is not None:
            printer.print_string(f" split {self.split.data.value}")
        if self.slot_num is not None:
            printer.print_string(f" slots {self.slot_num.value.data}")
        if self.windowize is not None:
            printer.print_string(" windowize")

    def verify_(self) -> None:
        super().verify_()
        if self.split is not None and self.split.data is SplitMode.NONE:
            raise VerifyException("no split is spelled by leaving it out")
        if self.launch is not None:
            raise VerifyException("an incore scope runs on one core group: use orch.spmd for more")


@irdl_op_definition
class ClusterOp(OutlinableScopeOp):
    """Kernels of one cube core and its vector cores, scheduled together: it becomes a group."""

    name = "orch.cluster"

    def verify_(self) -> None:
        super().verify_()
        if self.launch is not None:
            raise VerifyException("a cluster has the launch width of the orch.spmd inside it")


@irdl_op_definition
class SpmdOp(OutlinableScopeOp):
    """One body on `launch` cores, each of which knows its index."""

    name = "orch.spmd"

    def verify_(self) -> None:
        super().verify_()
        if self.launch is None:
            raise VerifyException("an spmd scope needs a launch width")


@irdl_op_definition
class HierarchyOp(OutlinableScopeOp):
    """Work of another level of the machine: it becomes a function of that level."""

    name = "orch.hierarchy"

    level = prop_def(LevelAttr)
    role = opt_prop_def(RoleAttr)

    @classmethod
    def parse_own(cls, parser: Parser) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {"level": LevelAttr(parser.parse_str_enum(Level))}
        for role in Role:
            # Not an enum's text: that may be a string too, and a string is the name here.
            if parser.parse_optional_keyword(role.value) is not None:
                properties["role"] = RoleAttr(role)
                break
        return properties

    def print_own(self, printer: Printer) -> None:
        printer.print_string(f" {self.level.data.value}")
        if self.role is not None:
            printer.print_string(f" {self.role.data.value}")

    def verify_(self) -> None:
        super().verify_()
        if self.level.data is Level.CORE_GROUP:
            raise VerifyException("work of a core group is an orch.incore scope")


@irdl_op_definition
class SplitAivOp(ScopeOp):
    """
    A part of a kernel that both vector cores of a group run, each with its own index.

        %y = orch.split_aiv %core mode up_down -> (tensor<16xf32>) { ... }
    """

    name = "orch.split_aiv"

    mode = prop_def(SplitModeAttr)
    outputs = var_result_def()
    body = region_def("single_block", entry_args=RangeOf(IndexType))

    def __init__(self, mode: SplitMode, outputs: Sequence[Attribute], body: Region):
        super().__init__(
            properties={"mode": SplitModeAttr(mode)}, result_types=[outputs], regions=[body]
        )

    @property
    def core(self) -> BlockArgument:
        """The index of the vector core, 0 or 1."""
        return self.body.block.args[0]

    def verify_(self) -> None:
        if len(self.body.block.args) != 1:
            raise VerifyException("the region has one argument, the index of the vector core")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        core = parser.parse_argument(expect_type=False).resolve(INDEX)
        parser.parse_keyword("mode")
        mode = parser.parse_str_enum(SplitMode)
        outputs = _parse_outputs(parser)
        attributes = parse_attributes(parser, cls, after_keyword=True)
        op = cls(mode, outputs, parser.parse_region([core]))
        op.attributes |= attributes
        _end(op)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.core)
        printer.print_string(f" mode {self.mode.data.value}")
        _print_outputs(printer, self.outputs)
        _print_body(printer, self)


@irdl_op_definition
class TaskScopeOp(ScopeOp):
    """
    Tasks that are ordered by the runtime (`auto`) or by the program (`manual`).

        orch.task_scope manual { ... }

    It only changes scheduling: values pass through it.
    """

    name = "orch.task_scope"

    mode = prop_def(ScopeModeAttr)
    outputs = var_result_def()
    body = region_def("single_block")

    def __init__(self, mode: ScopeMode, outputs: Sequence[Attribute], body: Region):
        super().__init__(
            properties={"mode": ScopeModeAttr(mode)}, result_types=[outputs], regions=[body]
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        mode = parser.parse_str_enum(ScopeMode)
        outputs = _parse_outputs(parser)
        attributes = parse_attributes(parser, cls, after_keyword=True)
        op = cls(mode, outputs, parser.parse_region())
        op.attributes |= attributes
        _end(op)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.mode.data.value}")
        _print_outputs(printer, self.outputs)
        _print_body(printer, self)
