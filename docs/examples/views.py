"""Views of tensors and tiles: strides, layouts, valid regions, padding."""

import pypto.language as pl


@pl.program
class Views:
    # The first 32 of 64 columns, of which `rows` rows hold something.
    @pl.function(type=pl.FunctionType.AIV)
    def pad(
        self,
        x: pl.Tensor[[16, 32], pl.FP32, pl.TensorView(stride=[64, 1], layout=pl.TensorLayout.ND)],
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

    # Weights that lie column by column: only the cube's staging buffer takes them so.
    @pl.function(type=pl.FunctionType.AIC)
    def multiply(
        self,
        a: pl.Tensor[[16, 32], pl.FP16],
        w: pl.Tensor[[32, 64], pl.FP16, pl.TensorView(stride=[1, 32], layout=pl.TensorLayout.DN)],
        y: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        left = pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
        right = pl.load(w, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
        product = pl.matmul(
            pl.move(left, target_memory=pl.Mem.Left), pl.move(right, target_memory=pl.Mem.Right)
        )
        y = pl.store(product, [0, 0], y)
        return y
