"""Flash attention as one kernel, which takes a cube core and its vector core."""

import pypto.language as pl

ROWS = 64
HEAD = 128
BLOCK = 64
KEYS = pl.dynamic("KEYS")
SCALE = 0.08838834764831845


@pl.program
class FlashAttention:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        q: pl.Tensor[[ROWS, HEAD], pl.FP16],
        k: pl.Tensor[[KEYS, HEAD], pl.FP16],
        v: pl.Tensor[[KEYS, HEAD], pl.FP16],
        out: pl.Out[pl.Tensor[[ROWS, HEAD], pl.FP32]],
    ) -> pl.Tensor[[ROWS, HEAD], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="attention"):
            keys = pl.tensor.dim(k, 0)
            largest = pl.full([ROWS, 1], dtype=pl.FP32, value=-1e30)
            total = pl.full([ROWS, 1], dtype=pl.FP32, value=0.0)
            mixed = pl.full([ROWS, HEAD], dtype=pl.FP32, value=0.0)
            for block in pl.range(keys // BLOCK):
                first = block * BLOCK
                scores = pl.matmul(q, k[first : first + BLOCK, :], out_dtype=pl.FP32, b_trans=True)
                scaled = pl.mul(scores, SCALE)
                now = pl.maximum(largest, pl.row_max(scaled))
                factor = pl.exp(pl.sub(largest, now))
                power = pl.exp(pl.row_expand_sub(scaled, now))
                total = pl.add(pl.mul(total, factor), pl.row_sum(power))
                largest = now
                weights = pl.cast(power, target_type=pl.FP16)
                product = pl.matmul(weights, v[first : first + BLOCK, :], out_dtype=pl.FP32)
                mixed = pl.add(pl.row_expand_mul(mixed, factor), product)
            out[:, :] = pl.row_expand_div(mixed, total)
        return out
