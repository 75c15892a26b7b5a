"""
SSAForm: every value is defined once, before its uses.

The IR's own verification meets it: a value has one definition by construction, loops and ifs
carry what they change as operands and results, and `pypto-opt` verifies dominance.  xDSL's own
drivers do not, hence the check here.
"""

from __future__ import annotations

from pypto_xdsl.analysis.verification import dominance_errors
from pypto_xdsl.properties.registry import Property

PROPERTY = Property(
    "SSAForm",
    "every value is defined once and each use is dominated by its definition",
    dominance_errors,
)
