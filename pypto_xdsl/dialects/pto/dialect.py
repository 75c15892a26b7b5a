"""The `pto` dialect: all its ops, types and attributes."""

from types import ModuleType

from xdsl.ir import Dialect

from pypto_xdsl.dialects.pto import (
    aggregate,
    collective,
    cross_core_sync,
    debug,
    device_transfer,
    elementwise,
    elementwise_scalar,
    extract_insert,
    gather_scatter,
    global_gather_scatter,
    load_store,
    local_array,
    matmul,
    memory_order,
    move,
    prefetch,
    quantization,
    queue,
    queue_buffer,
    queue_handle,
    queue_initialize,
    rearrange,
    reduction,
    scalar,
    section,
    selection,
    sort,
    sync,
    tensor_view,
    tile_buffer,
    tile_view,
)
from pypto_xdsl.dialects.pto.attributes import ATTRIBUTES
from pypto_xdsl.dialects.pto.declaration import PtoOp
from pypto_xdsl.dialects.pto.handle_types import (
    AsyncEventType,
    AsyncSessionType,
    EventIdArrayType,
    PipeType,
    PrefetchAsyncContextType,
    StructType,
)
from pypto_xdsl.dialects.pto.other_versions import OTHER_OPS
from pypto_xdsl.dialects.pto.shaped_types import (
    LocalArrayType,
    PartitionTensorViewType,
    PtrType,
    TensorViewType,
)
from pypto_xdsl.dialects.pto.tile_types import MultiTileBufType, TileBufType, TileConfigAttr

FAMILIES: tuple[ModuleType, ...] = (
    tensor_view,
    tile_buffer,
    tile_view,
    load_store,
    move,
    extract_insert,
    rearrange,
    elementwise,
    elementwise_scalar,
    selection,
    reduction,
    gather_scatter,
    global_gather_scatter,
    sort,
    matmul,
    scalar,
    local_array,
    debug,
    aggregate,
    sync,
    cross_core_sync,
    memory_order,
    queue,
    queue_initialize,
    queue_buffer,
    queue_handle,
    quantization,
    device_transfer,
    collective,
    prefetch,
    section,
)
"""The modules that declare ops, in the order of the reference."""


def declared_ops(module: ModuleType) -> list[type[PtoOp]]:
    """The ops that a module declares, in its order."""
    return [
        value
        for value in vars(module).values()
        # Asking for a subclass is dear on abstract classes, hence last.
        if isinstance(value, type)
        and "DECLARATION" in vars(value)
        and value.__module__ == module.__name__
        and issubclass(value, PtoOp)
    ]


OPS = [op for module in FAMILIES for op in declared_ops(module)]
"""Every op of the dialect."""

TYPES = [
    AsyncEventType,
    AsyncSessionType,
    EventIdArrayType,
    LocalArrayType,
    MultiTileBufType,
    PartitionTensorViewType,
    PipeType,
    PrefetchAsyncContextType,
    PtrType,
    StructType,
    TensorViewType,
    TileBufType,
    TileConfigAttr,
]
"""Every type of the dialect, and the attribute that tile types hold."""

Pto = Dialect("pto", [*OPS, *OTHER_OPS], [*ATTRIBUTES, *TYPES])
