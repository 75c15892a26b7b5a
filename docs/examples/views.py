"""Views of tensors and tiles: strides, layouts, valid regions, padding."""

import pypto.language as pl


@pl.program
class Views:
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(
        self,
        x: pl.Tensor[[16, 32], pl.FP32, pl.TensorView(stride=[1, 16], layout=pl.TensorLayout.DN)],
        rows: pl.Scalar[pl.INDEX],
        y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
    ) -> pl.Tensor[[16, 32], pl.FP32]:
        pl.func_attr({"dual_aiv_dispatch": True})
        t = pl.load(x, [0, 0], [16, 32], valid_shape=[rows, 32])
        u: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.zero)] = pl.fillpad(
            t, pl.PadValue.zero
        )
        y = pl.store(u, [0, 0], y)
        return y
