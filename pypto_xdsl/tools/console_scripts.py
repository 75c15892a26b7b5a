"""
The console scripts: each loads its tool and runs it.

Loading takes most of a short run, so Ctrl-C often comes while it goes on. This module imports
next to nothing itself, to be there in time.
"""

import sys

_INTERRUPTED = 130
"""`command_line.INTERRUPTED`, which is not loaded yet."""


def pypto_opt() -> int:
    """`pypto-opt` on the arguments of the process; the exit status."""
    try:
        from pypto_xdsl.tools.pypto_opt import main
    except KeyboardInterrupt:
        return _interrupted("pypto-opt")
    return main()


def pypto_run() -> int:
    """`pypto-run` on the arguments of the process; the exit status."""
    try:
        from pypto_xdsl.tools.pypto_run import main
    except KeyboardInterrupt:
        return _interrupted("pypto-run")
    return main()


def _interrupted(tool: str) -> int:
    print(f"{tool}: error: interrupted", file=sys.stderr)
    return _INTERRUPTED
