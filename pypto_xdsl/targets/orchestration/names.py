"""Names of C++ variables: the hints that values carry, made unique and legal."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, SSAValue

from pypto_xdsl.dialects.orch import TASK_ID, is_array
from pypto_xdsl.targets.unique_names import UniqueNames

_NUMBERED = re.compile(r"(_\d+)+$")
_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class
compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum
explicit export extern false float for friend goto if inline int long mutable namespace new noexcept
not not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short
signed sizeof static static_assert static_cast struct switch template this thread_local throw true
try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
char8_t co_await co_return co_yield concept consteval constinit requires
"""
_NAMES_IN_SCOPE = """
std size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t
uintptr_t half bfloat16_t NULL stdin stdout stderr errno main printf remove rename
alloc_tensors get_tensor_data set_tensor_data make_tensor_external make_tensor_strided to_u64
from_u64 orch_args aicpu_orchestration_config aicpu_orchestration_entry current_runtime
linux unix i386
"""
"""What the header, or a macro, may mean by a name."""
_RESERVED = frozenset((*_KEYWORDS.split(), *_NAMES_IN_SCOPE.split()))
_PREFIXES = ("rt_", "PTO2", "framework_", "INT", "UINT")
"""Names that begin so may be the runtime's, or macros."""


class Names(UniqueNames):
    """The names in one function; each is given once, so that none hides another."""

    def __init__(self) -> None:
        super().__init__(_RESERVED)


def base_name(value: SSAValue) -> str:
    """What the user calls a value, as a legal name of C++; what it is, if nobody calls it."""
    hint = value.name_hint or ""
    # xDSL takes a number at the end of a name for its own; PyPTO counts versions behind `__`.
    word = _NUMBERED.sub("", hint.strip("_").partition("__")[0])
    word = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in word)
    word = re.sub("__+", "_", word).strip("_")
    if not word:
        return _by_type(value)
    if word[0].isdigit() or word.startswith(_PREFIXES):
        return f"v_{word}"
    return word


def _by_type(value: SSAValue) -> str:
    if isinstance(value, BlockArgument) and value.index == 0:
        return "i"
    if isinstance(value.type, TensorType):
        return "tensor"
    if value.type == TASK_ID:
        return "task"
    return "array" if is_array(value.type) else "v"
