"""What the module and the functions of a `.pto` file say about themselves, as PTOAS spells it."""

TARGET_ARCH = "pto.target_arch"
"""Of a module: the target, as `"a2a3"`."""
KERNEL_KIND = "pto.kernel_kind"
"""Of a function: the core that runs it, a `KernelKindAttr`."""
ENTRY = "pto.entry"
"""Of a function: the runtime starts it."""
