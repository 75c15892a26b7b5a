"""The `pto` dialect: PTOAS's language, in PTOAS's own text.

What this dialect prints, the PTO assembler (0.57) reads; what the assembler and PyPTO write for
A2/A3, this dialect reads. Ops are rows of family tables (`elementwise.py`, `load_store.py`, ...);
the text is theirs too.

**Building.** Operands in the order of the text, first `ins` then `outs`, or by name; attributes
by name, as an attribute or a plain value:

    tile = pto.TileBufType((16, 64), f32, pto.AddressSpace.VEC)
    t = pto.AllocTileOp(result_types=[tile])
    pto.TAddOp(a, b, t)                                  # ins(%a, %b) outs(%t)
    pto.TCvtOp(a, t, rmode=pto.RoundMode.RINT)
    pto.TMatmulAccOp(acc, left, right, acc)
    pto.TGatherOp(src, k_value=k, tmp=tmp, dst=idx, cdst=count, cmp_mode=pto.CmpMode.GT, offset=0)
    pto.SubViewOp(src, offsets=[r, c], sizes=[8, 64], result_types=[
        pto.SubViewOp.result_type(src.type, [8, 64])])
    pto.MakeTensorViewOp(ptr=p, shape=[m, n], strides=[n, one], layout=pto.Layout.ND,
                         result_types=[pto.TensorViewType([pto.DYNAMIC] * 2, f32)])

**Asking.** Every op is a `PtoOp`:

| question | answer |
|---|---|
| `op.pipe` | the pipe the instruction runs on, None if it issues none |
| `op.reads`, `op.writes` | operands whose bytes are read, are written |
| `op.workspaces` | operands that are scratch memory |
| `op.roles()` | name, `Role` and value of every operand |
| `op.aliased` | the operand whose bytes the results name (views, reshapes), else None |
| `op.ALLOCATES` | whether the results are new storage |
| `op.may_share("src0")` | whether a source may be the same bytes as the destination |
| `op.may_narrow("src")` | whether a destination of smaller elements may begin where a source does |
| `op.DECLARATION.distinct` | pairs of operands that may not be one buffer |
| `op.operand("src0")`, `op.optional_operand("tmp")` | an operand by its name |
| `op.DECLARATION` | all of the row: mnemonic, summary, operands, rules, order of the text |

`TileBufType.with_(...)` changes parts of a tile's type; `size_in_bytes`, `inner_box`, `space`,
`valid_shape` and the layout fields answer what memory planning asks. `constant_value(v)` is the
number an index operand is known to be.
"""

# One import for all names of a module, each marked as offered here.
# ruff: isort: skip_file

from pypto_xdsl.dialects.pto.aggregate import (
    DeclareStructOp as DeclareStructOp,
    StructGetOp as StructGetOp,
    StructSetOp as StructSetOp,
)
from pypto_xdsl.dialects.pto.attributes import (
    AccPhaseAttr as AccPhaseAttr,
    AccPushEpilogueAttr as AccPushEpilogueAttr,
    AccToVecModeAttr as AccToVecModeAttr,
    AddressSpaceAttr as AddressSpaceAttr,
    AtomicTypeAttr as AtomicTypeAttr,
    CmpModeAttr as CmpModeAttr,
    CoalesceAttr as CoalesceAttr,
    DivPrecisionAttr as DivPrecisionAttr,
    EventAttr as EventAttr,
    ExpPrecisionAttr as ExpPrecisionAttr,
    FenceScopeAttr as FenceScopeAttr,
    FmodPrecisionAttr as FmodPrecisionAttr,
    GatherOobAttr as GatherOobAttr,
    KernelKindAttr as KernelKindAttr,
    LayoutAttr as LayoutAttr,
    LogPrecisionAttr as LogPrecisionAttr,
    MaskPatternAttr as MaskPatternAttr,
    NotifyOpAttr as NotifyOpAttr,
    PadModeAttr as PadModeAttr,
    PadValueAttr as PadValueAttr,
    PipeAttr as PipeAttr,
    PipeEventTypeAttr as PipeEventTypeAttr,
    PowPrecisionAttr as PowPrecisionAttr,
    PrintFormatAttr as PrintFormatAttr,
    QuantTypeAttr as QuantTypeAttr,
    RecipPrecisionAttr as RecipPrecisionAttr,
    ReduceOpAttr as ReduceOpAttr,
    ReluPreModeAttr as ReluPreModeAttr,
    RemPrecisionAttr as RemPrecisionAttr,
    RoundModeAttr as RoundModeAttr,
    RsqrtPrecisionAttr as RsqrtPrecisionAttr,
    SaturationModeAttr as SaturationModeAttr,
    ScatterAtomicOpAttr as ScatterAtomicOpAttr,
    ScatterConflictAttr as ScatterConflictAttr,
    ScatterOobAttr as ScatterOobAttr,
    SqrtPrecisionAttr as SqrtPrecisionAttr,
    STPhaseAttr as STPhaseAttr,
    SyncAllModeAttr as SyncAllModeAttr,
    SyncCoreTypeAttr as SyncCoreTypeAttr,
    SyncOpTypeAttr as SyncOpTypeAttr,
    TInsertModeAttr as TInsertModeAttr,
    WaitCmpAttr as WaitCmpAttr,
)
from pypto_xdsl.dialects.pto.collective import (
    CommTGatherOp as CommTGatherOp,
    CommTScatterOp as CommTScatterOp,
    TBroadcastOp as TBroadcastOp,
    TReduceOp as TReduceOp,
)
from pypto_xdsl.dialects.pto.device_transfer import (
    BuildAsyncSessionOp as BuildAsyncSessionOp,
    TestAsyncEventOp as TestAsyncEventOp,
    TGetAsyncOp as TGetAsyncOp,
    TGetOp as TGetOp,
    TNotifyOp as TNotifyOp,
    TPutAsyncOp as TPutAsyncOp,
    TPutOp as TPutOp,
    TTestOp as TTestOp,
    TWaitOp as TWaitOp,
    WaitAsyncEventOp as WaitAsyncEventOp,
)
from pypto_xdsl.dialects.pto.prefetch import (
    GetPrefetchAsyncSessionOp as GetPrefetchAsyncSessionOp,
    MakePrefetchAsyncContextOp as MakePrefetchAsyncContextOp,
    TPrefetchAsyncOp as TPrefetchAsyncOp,
)
from pypto_xdsl.dialects.pto.cross_core_sync import (
    SetFftsOp as SetFftsOp,
    SetIntraBlockOp as SetIntraBlockOp,
    SyncAllOp as SyncAllOp,
    SyncSetOp as SyncSetOp,
    SyncWaitOp as SyncWaitOp,
    WaitIntraBlockOp as WaitIntraBlockOp,
)
from pypto_xdsl.dialects.pto.declaration import (
    Declaration as Declaration,
    OperandInfo as OperandInfo,
    PtoOp as PtoOp,
    Role as Role,
    Rule as Rule,
)
from pypto_xdsl.dialects.pto.dialect import FAMILIES as FAMILIES, OPS as OPS, Pto as Pto
from pypto_xdsl.dialects.pto.elementwise import (
    TAbsOp as TAbsOp,
    TAddCOp as TAddCOp,
    TAddOp as TAddOp,
    TAddReluOp as TAddReluOp,
    TAndOp as TAndOp,
    TDivOp as TDivOp,
    TExpOp as TExpOp,
    TFModOp as TFModOp,
    TLogOp as TLogOp,
    TMaxOp as TMaxOp,
    TMinOp as TMinOp,
    TMulOp as TMulOp,
    TNegOp as TNegOp,
    TNotOp as TNotOp,
    TOrOp as TOrOp,
    TPowOp as TPowOp,
    TPReluOp as TPReluOp,
    TRecipOp as TRecipOp,
    TReluOp as TReluOp,
    TRemOp as TRemOp,
    TRsqrtOp as TRsqrtOp,
    TShlOp as TShlOp,
    TShrOp as TShrOp,
    TSqrtOp as TSqrtOp,
    TSubCOp as TSubCOp,
    TSubOp as TSubOp,
    TXorOp as TXorOp,
)
from pypto_xdsl.dialects.pto.elementwise_scalar import (
    TAddSCOp as TAddSCOp,
    TAddSOp as TAddSOp,
    TAndSOp as TAndSOp,
    TAxpyOp as TAxpyOp,
    TDivSOp as TDivSOp,
    TFModSOp as TFModSOp,
    TLReluOp as TLReluOp,
    TMaxSOp as TMaxSOp,
    TMinSOp as TMinSOp,
    TMulSOp as TMulSOp,
    TOrSOp as TOrSOp,
    TPowSOp as TPowSOp,
    TRemSOp as TRemSOp,
    TShlSOp as TShlSOp,
    TShrSOp as TShrSOp,
    TSubSCOp as TSubSCOp,
    TSubSOp as TSubSOp,
    TXorSOp as TXorSOp,
)
from pypto_xdsl.dialects.pto.enumerations import (
    AccToVecMode as AccToVecMode,
    AddressSpace as AddressSpace,
    AtomicType as AtomicType,
    BLayout as BLayout,
    CmpMode as CmpMode,
    Coalesce as Coalesce,
    Compact as Compact,
    Event as Event,
    FenceScope as FenceScope,
    FixpipeLayout as FixpipeLayout,
    FixpipeQuant as FixpipeQuant,
    FixpipeRelu as FixpipeRelu,
    GatherOob as GatherOob,
    KernelKind as KernelKind,
    Layout as Layout,
    MaskPattern as MaskPattern,
    NotifyOp as NotifyOp,
    Pad as Pad,
    PadMode as PadMode,
    Phase as Phase,
    Pipe as Pipe,
    Precision as Precision,
    PrintFormat as PrintFormat,
    QuantType as QuantType,
    ReduceOp as ReduceOp,
    ReluPreMode as ReluPreMode,
    RoundMode as RoundMode,
    SaturationMode as SaturationMode,
    ScatterAtomicOp as ScatterAtomicOp,
    ScatterConflict as ScatterConflict,
    ScatterOob as ScatterOob,
    SLayout as SLayout,
    SyncAllMode as SyncAllMode,
    SyncCoreType as SyncCoreType,
    SyncOpType as SyncOpType,
    TInsertMode as TInsertMode,
)
from pypto_xdsl.dialects.pto.extract_insert import (
    TExtractFPOp as TExtractFPOp,
    TExtractOp as TExtractOp,
    TInsertFPOp as TInsertFPOp,
    TInsertOp as TInsertOp,
)
from pypto_xdsl.dialects.pto.gather_scatter import (
    TGatherBOp as TGatherBOp,
    TGatherOp as TGatherOp,
    TScatterOp as TScatterOp,
)
from pypto_xdsl.dialects.pto.global_gather_scatter import (
    MGatherOp as MGatherOp,
    MScatterOp as MScatterOp,
)
from pypto_xdsl.dialects.pto.handle_types import (
    AsyncEventType as AsyncEventType,
    AsyncSessionType as AsyncSessionType,
    EventIdArrayType as EventIdArrayType,
    PipeType as PipeType,
    PrefetchAsyncContextType as PrefetchAsyncContextType,
    StructType as StructType,
)
from pypto_xdsl.dialects.pto.load_store import (
    TLoadOp as TLoadOp,
    TPrefetchOp as TPrefetchOp,
    TStoreFPOp as TStoreFPOp,
    TStoreOp as TStoreOp,
)
from pypto_xdsl.dialects.pto.matmul import (
    TGemvAccOp as TGemvAccOp,
    TGemvBiasOp as TGemvBiasOp,
    TGemvOp as TGemvOp,
    TMatmulAccOp as TMatmulAccOp,
    TMatmulBiasOp as TMatmulBiasOp,
    TMatmulOp as TMatmulOp,
)
from pypto_xdsl.dialects.pto.memory_order import (
    CmoCacheInvalidOp as CmoCacheInvalidOp,
    FenceBarrierAllOp as FenceBarrierAllOp,
)
from pypto_xdsl.dialects.pto.move import TMovFPOp as TMovFPOp, TMovOp as TMovOp
from pypto_xdsl.dialects.pto.quantization import (
    SetQuantScalarOp as SetQuantScalarOp,
    SetQuantVectorOp as SetQuantVectorOp,
)
from pypto_xdsl.dialects.pto.queue import (
    TAllocToAicOp as TAllocToAicOp,
    TAllocToAivOp as TAllocToAivOp,
    TFreeFromAicOp as TFreeFromAicOp,
    TFreeFromAivOp as TFreeFromAivOp,
    TPopFromAicOp as TPopFromAicOp,
    TPopFromAivOp as TPopFromAivOp,
    TPushToAicOp as TPushToAicOp,
    TPushToAivOp as TPushToAivOp,
)
from pypto_xdsl.dialects.pto.queue_buffer import (
    ImportReservedBufferOp as ImportReservedBufferOp,
    ReserveBufferOp as ReserveBufferOp,
)
from pypto_xdsl.dialects.pto.queue_handle import (
    TAllocOp as TAllocOp,
    TFreeOp as TFreeOp,
    TPopOp as TPopOp,
    TPushOp as TPushOp,
)
from pypto_xdsl.dialects.pto.queue_initialize import (
    AicInitializePipeOp as AicInitializePipeOp,
    AivInitializePipeOp as AivInitializePipeOp,
    InitializeL2G2LPipeOp as InitializeL2G2LPipeOp,
    InitializeL2LPipeOp as InitializeL2LPipeOp,
)
from pypto_xdsl.dialects.pto.rearrange import (
    TConcatIdxOp as TConcatIdxOp,
    TConcatOp as TConcatOp,
    TFillPadExpandOp as TFillPadExpandOp,
    TFillPadInplaceOp as TFillPadInplaceOp,
    TFillPadOp as TFillPadOp,
    TTransOp as TTransOp,
)
from pypto_xdsl.dialects.pto.reduction import (
    TColArgMaxOp as TColArgMaxOp,
    TColArgMinOp as TColArgMinOp,
    TColExpandAddOp as TColExpandAddOp,
    TColExpandDivOp as TColExpandDivOp,
    TColExpandExpDifOp as TColExpandExpDifOp,
    TColExpandMaxOp as TColExpandMaxOp,
    TColExpandMinOp as TColExpandMinOp,
    TColExpandMulOp as TColExpandMulOp,
    TColExpandOp as TColExpandOp,
    TColExpandSubOp as TColExpandSubOp,
    TColMaxOp as TColMaxOp,
    TColMinOp as TColMinOp,
    TColProdOp as TColProdOp,
    TColSumOp as TColSumOp,
    TRowArgMaxOp as TRowArgMaxOp,
    TRowArgMinOp as TRowArgMinOp,
    TRowExpandAddOp as TRowExpandAddOp,
    TRowExpandDivOp as TRowExpandDivOp,
    TRowExpandExpDifOp as TRowExpandExpDifOp,
    TRowExpandMaxOp as TRowExpandMaxOp,
    TRowExpandMinOp as TRowExpandMinOp,
    TRowExpandMulOp as TRowExpandMulOp,
    TRowExpandOp as TRowExpandOp,
    TRowExpandSubOp as TRowExpandSubOp,
    TRowMaxOp as TRowMaxOp,
    TRowMinOp as TRowMinOp,
    TRowProdOp as TRowProdOp,
    TRowSumOp as TRowSumOp,
)
from pypto_xdsl.dialects.pto.rules import constant_value as constant_value
from pypto_xdsl.dialects.pto.debug import (
    PrintOp as PrintOp,
    TPrintOp as TPrintOp,
    TrapOp as TrapOp,
)
from pypto_xdsl.dialects.pto.local_array import (
    DeclareLocalArrayOp as DeclareLocalArrayOp,
    LocalArrayGetOp as LocalArrayGetOp,
    LocalArraySetOp as LocalArraySetOp,
)
from pypto_xdsl.dialects.pto.scalar import (
    AddPtrOp as AddPtrOp,
    CastPtrOp as CastPtrOp,
    GetBlockIdxOp as GetBlockIdxOp,
    GetBlockNumOp as GetBlockNumOp,
    GetSubBlockIdxOp as GetSubBlockIdxOp,
    GetSubBlockNumOp as GetSubBlockNumOp,
    IntToPtrOp as IntToPtrOp,
    LoadScalarOp as LoadScalarOp,
    PtrToIntOp as PtrToIntOp,
    StoreScalarOp as StoreScalarOp,
    TGetValOp as TGetValOp,
    TSetValOp as TSetValOp,
)
from pypto_xdsl.dialects.pto.section import (
    FusionRegionOp as FusionRegionOp,
    SectionCubeOp as SectionCubeOp,
    SectionVectorOp as SectionVectorOp,
    YieldOp as YieldOp,
)
from pypto_xdsl.dialects.pto.selection import (
    TCIOp as TCIOp,
    TCmpOp as TCmpOp,
    TCmpSOp as TCmpSOp,
    TCvtOp as TCvtOp,
    TDequantOp as TDequantOp,
    TExpandSOp as TExpandSOp,
    TPartAddOp as TPartAddOp,
    TPartArgMaxOp as TPartArgMaxOp,
    TPartArgMinOp as TPartArgMinOp,
    TPartMaxOp as TPartMaxOp,
    TPartMinOp as TPartMinOp,
    TPartMulOp as TPartMulOp,
    TQuantOp as TQuantOp,
    TSelOp as TSelOp,
    TSelSOp as TSelSOp,
    TTriOp as TTriOp,
)
from pypto_xdsl.dialects.pto.shaped_types import (
    DYNAMIC as DYNAMIC,
    LocalArrayType as LocalArrayType,
    PartitionTensorViewType as PartitionTensorViewType,
    PtrType as PtrType,
    TensorViewType as TensorViewType,
    element_bits as element_bits,
    element_bytes as element_bytes,
)
from pypto_xdsl.dialects.pto.sort import TMrgSortOp as TMrgSortOp, TSort32Op as TSort32Op
from pypto_xdsl.dialects.pto.sync import (
    BarrierOp as BarrierOp,
    BarrierSyncOp as BarrierSyncOp,
    DeclareEventIdArrayOp as DeclareEventIdArrayOp,
    EventIdArrayGetOp as EventIdArrayGetOp,
    EventIdArraySetOp as EventIdArraySetOp,
    GetBufOp as GetBufOp,
    RecordEventOp as RecordEventOp,
    RlsBufOp as RlsBufOp,
    SetFlagDynOp as SetFlagDynOp,
    SetFlagOp as SetFlagOp,
    TSyncOp as TSyncOp,
    WaitEventOp as WaitEventOp,
    WaitFlagDynOp as WaitFlagDynOp,
    WaitFlagOp as WaitFlagOp,
)
from pypto_xdsl.dialects.pto.syntax import Grammar as Grammar, TileOp as TileOp
from pypto_xdsl.dialects.pto.tensor_view import (
    DeclareGlobalOp as DeclareGlobalOp,
    GetTensorViewDimOp as GetTensorViewDimOp,
    GetTensorViewStrideOp as GetTensorViewStrideOp,
    MakeTensorViewOp as MakeTensorViewOp,
    PartitionViewOp as PartitionViewOp,
)
from pypto_xdsl.dialects.pto.tile_buffer import (
    AllocMultiTileOp as AllocMultiTileOp,
    AllocTileOp as AllocTileOp,
    DeclareTileOp as DeclareTileOp,
    MultiTileGetOp as MultiTileGetOp,
    TAssignOp as TAssignOp,
)
from pypto_xdsl.dialects.pto.tile_types import (
    MultiTileBufType as MultiTileBufType,
    TileBufType as TileBufType,
    TileConfigAttr as TileConfigAttr,
)
from pypto_xdsl.dialects.pto.tile_view import (
    BitcastOp as BitcastOp,
    GetValidShapeOp as GetValidShapeOp,
    SetValidShapeOp as SetValidShapeOp,
    SubViewOp as SubViewOp,
    TileValidColsOp as TileValidColsOp,
    TileValidRowsOp as TileValidRowsOp,
    TReshapeOp as TReshapeOp,
)
