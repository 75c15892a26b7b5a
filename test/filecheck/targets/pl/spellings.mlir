// What the DSL has other words for than MLIR; what is read back is written the same.
// RUN: pypto-opt %s -t pl | filecheck %s
// RUN: pypto-opt %s -t pl > %t.py
// RUN: pypto-opt %t.py -t pl > %t.again.py
// RUN: diff %t.py %t.again.py

// Symbols and functions may have names that Python, or the text itself, has taken.
// CHECK: class_ = pl.dynamic("class")
// CHECK: nan = float("nan")
// CHECK: class in_:

builtin.module @in {
  // CHECK: def def_(self, x: pl.Tensor{{\[\[}}class_], pl.FP32], pl_1: pl.Scalar[pl.INDEX])
  // CHECK-NEXT: pl.func_attr({"symbol": 'def'})
  orch.func opaque @def(in %x : tensor<?xf32, #ptensor.view<dims = [class]>>, in %pl_ : index) {
    orch.return
  }

  // CHECK: self.def_(x, n)
  orch.func orchestration @calls(in %x : tensor<?xf32, #ptensor.view<dims = [class]>>,
                                 in %n : index) {
    orch.call @def(%x, %n) : (tensor<?xf32, #ptensor.view<dims = [class]>>, index) -> ()
    orch.return
  }

  // What follows from the kind is not said.
  // CHECK: @pl.function(type=pl.FunctionType.InCore)
  // CHECK-NEXT: def level(self):
  orch.func incore level chip_die role sub_worker @level() {
    orch.return
  }

  // The DSL has neither a conditional expression nor a division that rounds up. What a loop counts
  // is never negative, so that its unsigned remainder is the plain one.
  orch.func opaque @arithmetic(in %c : i1, in %a : index, in %b : index) -> (index, index, index) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    // CHECK: if c:
    // CHECK-NEXT: [[S:\w+]] = pl.yield_(a)
    // CHECK-NEXT: else:
    // CHECK-NEXT: [[S]] = pl.yield_(b)
    %s = arith.select %c, %a, %b : index
    // CHECK: up: pl.Scalar[pl.INDEX] = 0 - ((0 - a) // 3)
    %up = arith.ceildivsi %a, %three : index
    // CHECK: pl.yield_((k + (i % 3)))
    %r = scf.for %i = %zero to %a step %one iter_args(%k = %b) -> (index) {
      %rest = arith.remui %i, %three : index
      %next = arith.addi %k, %rest : index
      scf.yield %next : index
    }
    %u = arith.addi %up, %one : index
    orch.return %s, %u, %r : index, index, index
  }

  // Arithmetic on constants would be worked out where it is read, unless their types are said.
  orch.func opaque @constants() -> (index, i32, i1) {
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %i = arith.constant 7 : i32
    // CHECK: return ((pl.const(2, pl.INDEX) + pl.const(3, pl.INDEX)) * 3), pl.cast(pl.cast(pl.const(7, pl.INT32), pl.INDEX), pl.INT32), (pl.const(2, pl.INDEX) < pl.const(3, pl.INDEX))
    %a = arith.addi %two, %three : index
    %m = arith.muli %a, %three : index
    %j = arith.index_cast %i : i32 to index
    %k = arith.index_cast %j : index to i32
    %l = arith.cmpi slt, %two, %three : index
    orch.return %m, %k, %l : index, i32, i1
  }

  // What a type leaves open has a symbol of its own in a signature.
  // CHECK: def open(self, x: pl.Tensor{{\[\[}}dim, 4], pl.FP32], y: pl.Tensor{{\[\[}}8], pl.FP32, pl.TensorView(valid_shape=[valid], stride=[], layout=pl.TensorLayout.ND)])
  orch.func opaque @open(in %x : tensor<?x4xf32>, in %y : tensor<8xf32, #ptensor.view<valid = [?]>>) {
    orch.return
  }

  // A step is positive in MLIR; the reader wants to be told.
  orch.func opaque @steps(in %n : index, in %s : index) {
    %zero = arith.constant 0 : index
    // CHECK: for i in pl.range(0, n, s, attrs={"positive_step": True}):
    scf.for %i = %zero to %n step %s {
    }
    orch.return
  }

  // A condition is one expression, with the calls in it.
  orch.func incore @while(in %n : index, in %v : f32, out %o : tensor<8xf32>) -> tensor<8xf32> {
    // CHECK: for (k,) in pl.while_(init_values=(n,)):
    // CHECK-NEXT: pl.cond((pl.tile.get_block_idx() < k))
    %r = scf.while (%k = %n) : (index) -> (index) {
      %b = tile.get_block_idx : index
      %c = arith.cmpi slt, %b, %k : index
      scf.condition(%c) %k : index
    } do {
    ^bb0(%k : index):
      %one = arith.constant 1 : index
      %next = arith.subi %k, %one : index
      scf.yield %next : index
    }
    %w = ptensor.write %v, %o[%r] : f32, tensor<8xf32>
    orch.return %w : tensor<8xf32>
  }

  // What is known of the values that a loop carries is written as PyPTO's marks.
  orch.func orchestration @carries(in %n : index, out %x : tensor<64xf32>) -> tensor<64xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    // CHECK: for i, (a, b) in pl.range(n, init_values=(n, x,), attrs={"iter_arg_rebind_0": True}):
    %r, %s = scf.for %i = %zero to %n step %one iter_args(%a = %n, %b = %x) -> (index, tensor<64xf32>) {
      %next = arith.addi %a, %i : index
      scf.yield %next, %b : index, tensor<64xf32>
    } {orch.rebound = array<i1: true, false>}
    orch.return %s : tensor<64xf32>
  }

  // A scope may give a new name to what is from before it.
  orch.func orchestration @renamed(in %x : tensor<16xf32>) -> tensor<16xf32> {
    // CHECK: with pl.manual_scope():
    // CHECK-NEXT: y = x
    // CHECK-NEXT: return y
    %y = orch.task_scope manual -> (tensor<16xf32>) {
      orch.yield %x : tensor<16xf32>
    }
    orch.return %y : tensor<16xf32>
  }

  // What a tensor is filled with is a literal, of the type that the call says.
  orch.func opaque @filled() -> tensor<16xf16> {
    %one = arith.constant 1.0 : f16
    // CHECK: pl.tensor.full([16], dtype=pl.FP16, value=1.0)
    %f = ptensor.full %one : f16 -> tensor<16xf16>
    orch.return %f : tensor<16xf16>
  }

  // A tensor under another type of the same bytes is a name with that type.
  // CHECK: v: pl.Tensor{{\[\[}}16, 32], pl.FP32, pl.TensorView(stride=[64, 1], layout=pl.TensorLayout.ND)] = x
  orch.func opaque @strided(in %x : tensor<16x32xf32>) {
    %v = ptensor.type_cast %x : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<strides = [64, 1]>>
    orch.return
  }

  // Infinity is a literal too large for a float; what is no number is a constant of the module.
  orch.func opaque @special(in %x : f32) -> (f32, f16, f32, f16) {
    %inf = arith.constant 0x7F800000 : f32
    %neg = arith.constant 0xFC00 : f16
    %nan = arith.constant 0x7FC00000 : f32
    %half = arith.constant 0x7E00 : f16
    // CHECK: return 1e999, pl.const(-1e999, pl.FP16), (x + nan), pl.cast(nan, pl.FP16)
    %sum = arith.addf %x, %nan : f32
    orch.return %inf, %neg, %sum, %half : f32, f16, f32, f16
  }

  // A window and the part of it that is valid, known at run time, are one call. An extent that a
  // type does not know stays so though a constant gives it.
  orch.func opaque @windows(in %x : tensor<64xf32>, in %n : index) -> tensor<16xf32, #ptensor.view<valid = [?]>> {
    %eight = arith.constant 8 : index
    %w = ptensor.slice %x[32] : tensor<64xf32> -> tensor<16xf32>
    // CHECK: v: pl.Tensor{{\[\[}}16], pl.FP32] = pl.tensor.slice(x, [16], [32], [n])
    %v = ptensor.set_validshape %w, valid = [%n] : tensor<16xf32> -> tensor<16xf32, #ptensor.view<valid = [?]>>
    // CHECK: c = pl.tensor.create([pl.const(8, pl.INDEX)], dtype=pl.FP32
    %c = ptensor.create sizes = [%eight] : tensor<?xf32>
    // CHECK: k: pl.Tensor{{\[\[}}extent], pl.FP32] = x
    %k = ptensor.type_cast %x : tensor<64xf32> -> tensor<?xf32>
    orch.return %v : tensor<16xf32, #ptensor.view<valid = [?]>>
  }

  // What is valid of a tile at run time is in its type, by the name of the value that says it.
  orch.func incore @partly(in %n : index) {
    %c = arith.constant 16 : index
    // CHECK: m: pl.Scalar[pl.INDEX] = pl.min(n, 16)
    // CHECK-NEXT: t: pl.Tile{{\[\[}}16, 64], pl.FP32, pl.TileView(valid_shape=[m, 64])] = pl.tile.create([16, 64], dtype=pl.FP32)
    %m = arith.minsi %n, %c : index
    %t = tile.create valid = [%m, 64] : !tile.tile<16x64xf32, valid = [?, 64]>
    orch.return
  }

  // A tile is placed where it is made, in one statement with the arithmetic that tells the slot; one
  // that something else uses as well is placed by another name for it.
  orch.func incore @placed(in %x : tensor<16x64xf32>, in %i : index, out %y : tensor<16x64xf32>) {
    %ping = tile.alloc buffer = "ping", slots = 2, pinned : !tile.buffer
    %c = arith.constant 2 : index
    %t = tile.load %x[0, 0] : tensor<16x64xf32> -> !tile.tile<16x64xf32, vec>
    %s = arith.remsi %i, %c : index
    // CHECK: p: pl.Tile{{\[\[}}16, 64], pl.FP32, pl.MemRef("ping", slots=2)[i % 2], pl.Mem.Vec] = pl.tile.load(x,
    %p = tile.place %t, %ping[%s], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
    // CHECK-NEXT: u: pl.Tile{{\[\[}}16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.neg(p)
    %u = tile.neg %p : !tile.tile<16x64xf32, vec>
    // CHECK-NEXT: q: pl.Tile{{\[\[}}16, 64], pl.FP32, pl.MemRef("ping", slots=2)[0], pl.Mem.Vec] = u
    %q = tile.place %u, %ping[0], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer
    %v = tile.add %u, %q : !tile.tile<16x64xf32, vec>
    %y1 = tile.store %v, %y[0, 0] : !tile.tile<16x64xf32, vec>, tensor<16x64xf32>
    orch.return
  }

  // What a type leaves open stays so, where the text tells of which tensor it is an extent.
  orch.func opaque @left_open(in %x : tensor<?x1x8xf32, #ptensor.view<dims = [class, _, _]>>) {
    %n = ptensor.dim %x, axis = 0 : tensor<?x1x8xf32, #ptensor.view<dims = [class, _, _]>> -> index
    // CHECK: r: pl.Tensor{{\[\[}}[[E:extent\w*]], 8], pl.FP32] = pl.tensor.reshape(x, [n, 8])
    %r = ptensor.reshape %x, sizes = [%n, 8] : tensor<?x1x8xf32, #ptensor.view<dims = [class, _, _]>> -> tensor<?x8xf32>
    // CHECK: k: pl.Tensor{{\[\[}}[[E]], class_], pl.FP32] = pl.tensor.create([n, n],
    %k = ptensor.create sizes = [%n, %n] : tensor<?x?xf32, #ptensor.view<dims = [_, class]>>
    // CHECK: l = pl.tensor.create([n], dtype=pl.FP32
    %l = ptensor.create sizes = [%n] : tensor<?xf32, #ptensor.view<dims = [class]>>
    orch.return
  }

  // What is valid of a tile that comes from the other core is in its type.
  orch.func aiv @popped(in %n : index) {
    // CHECK: t: pl.Tile{{\[\[}}16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[n, 64])] = pl.tile.tpop_from_aic(shape=[16, 64], dtype=pl.FP32, split=1, id=3)
    %t = tile.tpop_from_aic valid = [%n, 64], split = up_down, id = 3 : !tile.tile<16x64xf32, vec, valid = [?, 64]>
    // CHECK-NEXT: u: pl.Tile{{\[\[}}16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[extent{{\w*}}, 64])] = pl.tile.tpop_from_aic(
    %u = tile.tpop_from_aic : !tile.tile<16x64xf32, vec, valid = [?, 64]>
    orch.return
  }

  // A next name of a buffer that nobody uses is none.
  orch.func opaque @unused(inout %x : tensor<8xf32>) {
    // CHECK: def unused
    // CHECK-NEXT: pass
    %y = ptensor.updated %x : tensor<8xf32>
    %z = ptensor.updated %y : tensor<8xf32>
    orch.return
  }
}
