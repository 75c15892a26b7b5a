"""Flash attention as tasks: cube and vector kernels in turn, what they exchange in tensors."""

import pypto.language as pl

ROWS = 64
HEAD = 128
BLOCK = 64
KEYS = pl.dynamic("KEYS")
SCALE = 0.08838834764831845


@pl.program
class FlashAttentionTasks:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        q: pl.Tensor[[ROWS, HEAD], pl.FP16],
        k: pl.Tensor[[KEYS, HEAD], pl.FP16],
        v: pl.Tensor[[KEYS, HEAD], pl.FP16],
        out: pl.Out[pl.Tensor[[ROWS, HEAD], pl.FP32]],
    ) -> pl.Tensor[[ROWS, HEAD], pl.FP32]:
        keys = pl.tensor.dim(k, 0)
        largest = pl.create_tensor([ROWS, 1], dtype=pl.FP32)
        total = pl.create_tensor([ROWS, 1], dtype=pl.FP32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="start"):
            largest[:, :] = pl.full([ROWS, 1], dtype=pl.FP32, value=-1e30)
            total[:, :] = pl.full([ROWS, 1], dtype=pl.FP32, value=0.0)
            out[:, :] = pl.full([ROWS, HEAD], dtype=pl.FP32, value=0.0)
        for block in pl.range(keys // BLOCK):
            first = block * BLOCK
            # Buffers of their own: a task that writes one waits for nobody who still reads it.
            scores = pl.create_tensor([ROWS, BLOCK], dtype=pl.FP32)
            shrink = pl.create_tensor([ROWS, 1], dtype=pl.FP32)
            weights = pl.create_tensor([ROWS, BLOCK], dtype=pl.FP16)
            product = pl.create_tensor([ROWS, HEAD], dtype=pl.FP32)
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="score"):
                scores[:, :] = pl.matmul(
                    q, k[first : first + BLOCK, :], out_dtype=pl.FP32, b_trans=True
                )
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="weigh"):
                scaled = pl.mul(scores, SCALE)
                before = largest[:, :]
                now = pl.maximum(before, pl.row_max(scaled))
                factor = pl.exp(pl.sub(before, now))
                power = pl.exp(pl.row_expand_sub(scaled, now))
                total[:, :] = pl.add(pl.mul(total[:, :], factor), pl.row_sum(power))
                largest[:, :] = now
                shrink[:, :] = factor
                weights[:, :] = pl.cast(power, target_type=pl.FP16)
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="mix"):
                product[:, :] = pl.matmul(weights, v[first : first + BLOCK, :], out_dtype=pl.FP32)
            with pl.at(level=pl.Level.CORE_GROUP, name_hint="update"):
                out[:, :] = pl.add(pl.row_expand_mul(out[:, :], shrink[:, :]), product)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="finish"):
            out[:, :] = pl.row_expand_div(out[:, :], total[:, :])
        return out
