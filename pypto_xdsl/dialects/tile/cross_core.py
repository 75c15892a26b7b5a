"""
What passes between the cube core and the two vector cores of a group.

Before mixed kernels are expanded, `aiv_shard` and `aic_gather` mark the boundary. After, tiles
go through a ring of slots: the producer pushes, the consumer pops and frees. (PyPTO has the
set-up and the frees under `system`.)
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, StringAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_freely, lives_in, reads, updates
from pypto_xdsl.dialects.extents import verify_extents
from pypto_xdsl.dialects.ptensor.attributes import TransportSplit, TransportSplitAttr
from pypto_xdsl.dialects.ptensor.types import TENSOR
from pypto_xdsl.dialects.ring_slots import BOTH_DIRECTIONS, default_slots
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp, ReifiesValidShapeInterface
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import TypedOp, Types, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    indices_prop,
    integer_attr,
    integer_prop,
    opt_integer_prop,
    string_prop,
    word_prop,
)

_NO_SPLIT = TransportSplitAttr(TransportSplit.NONE)


def _scale(tile: TileType, split: Attribute, scale: Callable[[int], int]) -> TileType:
    assert isinstance(split, TransportSplitAttr)
    axis = split.data.axis
    shape, valid = list(tile.get_shape()), list(tile.valid_shape)
    if axis is not None:
        if len(shape) != 2:
            raise VerifyException(f"a tile that is split has two dimensions, got {tile}")
        for extents in (shape, valid):
            if extents[axis] != DYNAMIC_INDEX:
                extents[axis] = scale(extents[axis])
    return TileType(shape, tile.element_type, valid=valid, pad=tile.pad_value)


@irdl_op_definition
class AivShardOp(InferringTileOp):
    """The part of a cube core's tile that this vector core gets."""

    name = "tile.aiv_shard"
    TAKEN_APART_BY: ClassVar[str] = "expand-mixed-kernel"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE))
    split = word_prop(TransportSplitAttr)
    lane_stride = opt_integer_prop(minimum=0)
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        shard = _scale(source, properties["split"], lambda extent: -(-extent // 2))
        known = source.memory_space is not None
        return (shard.with_space(MemorySpace.VEC if known else None),)


@irdl_op_definition
class AicGatherOp(InferringTileOp):
    """The tile that a cube core gets, from the parts of the two vector cores."""

    name = "tile.aic_gather"
    TAKEN_APART_BY: ClassVar[str] = "expand-mixed-kernel"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE))
    split = word_prop(TransportSplitAttr)
    result = result_def(lives_in(MemorySpace.MAT, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        whole = _scale(source, properties["split"], lambda extent: 2 * extent)
        known = source.memory_space is not None
        return (whole.with_space(MemorySpace.MAT if known else None),)


class RingOp(TypedOp, ABC):
    """An op on a ring of slots; where a kernel has several rings, `id` says which."""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True


class PushOp(RingOp, ABC):
    """A tile, put into the next free slot."""

    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    tile = operand_def(reads(TILE))
    split = word_prop(TransportSplitAttr, _NO_SPLIT)
    id = opt_integer_prop(minimum=0)

    def __init__(self, tile: Value, split: TransportSplit = TransportSplit.NONE):
        self._fill(properties={"split": TransportSplitAttr(split)}, tile=tile)


class PopOp(RingOp, ReifiesValidShapeInterface, ABC):
    """
    The tile in the next full slot; the slot stays taken until it is freed. `valid` gives the
    extents of its valid region that its type leaves to run time.
    """

    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")
    split = word_prop(TransportSplitAttr, _NO_SPLIT)
    id = opt_integer_prop(minimum=0)
    result = result_def(lives_freely(TILE))

    def __init__(
        self,
        result_type: TileType,
        split: TransportSplit = TransportSplit.NONE,
        valid: Sequence[Index] = (),
    ):
        self._fill([result_type], {"split": TransportSplitAttr(split)}, valid=valid)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The run-time extents of the valid region, if it is said."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        super().verify_()
        if self.valid_extents:
            type = TileType.of(self.result.type)
            verify_extents("valid", self.valid_extents, type.valid_shape)


class FreeOp(RingOp, ABC):
    """The slot of a tile that was popped is free again."""

    tile = operand_def(reads(TILE))
    split = word_prop(TransportSplitAttr, _NO_SPLIT)
    id = opt_integer_prop(minimum=0)

    def __init__(self, tile: Value, split: TransportSplit = TransportSplit.NONE):
        self._fill(properties={"split": TransportSplitAttr(split)}, tile=tile)


@irdl_op_definition
class TpushToAivOp(PushOp):
    """The cube core's tile into the next free slot to the vector cores."""

    name = "tile.tpush_to_aiv"
    lane_stride = opt_integer_prop(minimum=0)


@irdl_op_definition
class TpushToAicOp(PushOp):
    """A vector core's tile into the next free slot to the cube core."""

    name = "tile.tpush_to_aic"


@irdl_op_definition
class TpopFromAicOp(PopOp):
    """On a vector core, the tile in the next slot that the cube core filled."""

    name = "tile.tpop_from_aic"
    lane_stride = opt_integer_prop(minimum=0)


@irdl_op_definition
class TpopFromAivOp(PopOp):
    """On the cube core, the tile in the next slot that the vector cores filled."""

    name = "tile.tpop_from_aiv"


@irdl_op_definition
class TfreeToAicOp(FreeOp):
    """On a vector core, gives the cube core its slot back."""

    name = "tile.tfree_to_aic"


@irdl_op_definition
class TfreeToAivOp(FreeOp):
    """On the cube core, gives the vector cores their slot back."""

    name = "tile.tfree_to_aiv"


class InitializePipeOp(RingOp, ABC):
    """
    Sets up the ring: `dir_mask` is 1 for cube to vector, 2 for vector to cube, 3 for both;
    `slot_size` is in bytes. The operands are the consumers' local buffers, and the tensor that
    holds the slots where the cores share no memory.
    """

    c2v_consumer_buf = opt_operand_def(reads(base(IntegerType)))
    v2c_consumer_buf = opt_operand_def(reads(base(IntegerType)))
    gm_slot_buffer = opt_operand_def(updates(TENSOR))
    dir_mask = integer_prop(minimum=1, maximum=3)
    slot_size = integer_prop(minimum=1)
    slot_num = opt_integer_prop(minimum=1)
    local_slot_num = opt_integer_prop(minimum=1)
    id = opt_integer_prop(minimum=0)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        c2v_consumer_buf: Value | None,
        v2c_consumer_buf: Value | None,
        gm_slot_buffer: Value | None = None,
        *,
        dir_mask: int,
        slot_size: int,
        slot_num: int | None = None,
    ):
        properties = {"dir_mask": integer_attr(dir_mask), "slot_size": integer_attr(slot_size)}
        if slot_num is not None:
            properties["slot_num"] = integer_attr(slot_num)
        self._fill(
            properties=properties,
            c2v_consumer_buf=c2v_consumer_buf,
            v2c_consumer_buf=v2c_consumer_buf,
            gm_slot_buffer=gm_slot_buffer,
        )

    @property
    def slots(self) -> int:
        """How many slots there are in each direction."""
        if self.slot_num is not None:
            return self.slot_num.value.data
        return default_slots(self.dir_mask.value.data)

    @property
    def ring_size(self) -> int:
        """The bytes of the slots in all directions."""
        directions = 2 if self.dir_mask.value.data == BOTH_DIRECTIONS else 1
        return directions * self.slots * self.slot_size.value.data


@irdl_op_definition
class AicInitializePipeOp(InitializePipeOp):
    """Sets up the cube core's end of the ring."""

    name = "tile.aic_initialize_pipe"


@irdl_op_definition
class AivInitializePipeOp(InitializePipeOp):
    """Sets up a vector core's end of the ring."""

    name = "tile.aiv_initialize_pipe"


@irdl_op_definition
class ReserveBufferOp(RingOp):
    """The address of a local buffer that is kept free under a name; `base` if it is fixed."""

    name = "tile.reserve_buffer"

    buffer = string_prop()
    size = integer_prop(minimum=1)
    """In bytes."""
    base = opt_integer_prop(minimum=0)
    result = result_def(eq(i32))

    def __init__(self, buffer: str, size: int):
        self._fill([i32], {"buffer": StringAttr(buffer), "size": integer_attr(size)})


@irdl_op_definition
class ImportPeerBufferOp(RingOp):
    """The address of a buffer that another function of the group keeps free."""

    name = "tile.import_peer_buffer"

    buffer = string_prop()
    peer_func = string_prop()
    result = result_def(eq(i32))

    def __init__(self, buffer: str, peer_func: str):
        self._fill([i32], {"buffer": StringAttr(buffer), "peer_func": StringAttr(peer_func)})
