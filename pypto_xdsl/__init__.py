"""The PyPTO compiler's middle end as MLIR dialects and passes on xDSL."""
