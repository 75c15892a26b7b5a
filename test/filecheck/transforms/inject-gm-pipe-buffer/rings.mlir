// RUN: pypto-opt --inject-gm-pipe-buffer --split-input-file --verify-diagnostics %s | filecheck %s
// A second run finds nothing to do, and what is printed is read back.
// RUN: pypto-opt --inject-gm-pipe-buffer --inject-gm-pipe-buffer --split-input-file --verify-diagnostics %s | pypto-opt --split-input-file | filecheck %s

// Both ends of a ring get the same tensor from their group, which gets it from who launches it:
// two directions of two slots of 1024 bytes are 1024 elements. A ring of its own has its own.
builtin.module {
// CHECK:      orch.func aic @cube(in %x: tensor<16xf32>, out %gm_pipe_buffer: tensor<1024xf32>, out %gm_pipe_buffer_1: tensor<64xf32>) {
// CHECK:        tile.aic_initialize_pipe %n, %n, %gm_pipe_buffer, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32, i32, tensor<1024xf32>
// CHECK-NEXT:   tile.aic_initialize_pipe %n, %n, %gm_pipe_buffer_1, dir_mask = 1, slot_size = 32, id = 1 : i32, i32, tensor<64xf32>
orch.func aic @cube(in %x : tensor<16xf32>) {
  %n = arith.constant 0 : i32
  tile.aic_initialize_pipe %n, %n, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32
  tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 32, id = 1 : i32
  orch.return
}
// CHECK:      orch.func aiv @vector(in %x: tensor<16xf32>, out %gm_pipe_buffer: tensor<1024xf32>, out %gm_pipe_buffer_1: tensor<64xf32>) {
orch.func aiv @vector(in %x : tensor<16xf32>) {
  %n = arith.constant 0 : i32
  tile.aiv_initialize_pipe %n, %n, dir_mask = 3, slot_size = 1024, slot_num = 2 : i32
  tile.aiv_initialize_pipe %n, %n, dir_mask = 1, slot_size = 32, id = 1 : i32
  orch.return
}
// CHECK:      orch.func group @both(in %x: tensor<16xf32>, out %gm_pipe_buffer: tensor<1024xf32>, out %gm_pipe_buffer_1: tensor<64xf32>) {
// CHECK-NEXT:   orch.call @cube(%x, %gm_pipe_buffer, %gm_pipe_buffer_1)
// CHECK-NEXT:   orch.call @vector(%x, %gm_pipe_buffer, %gm_pipe_buffer_1)
orch.func group @both(in %x : tensor<16xf32>) {
  orch.call @cube(%x) : (tensor<16xf32>) -> ()
  orch.call @vector(%x) : (tensor<16xf32>) -> ()
  orch.return
}
// CHECK:      orch.func orchestration @main
// CHECK-NEXT:   %gm_pipe_buffer = ptensor.create : tensor<1024xf32>
// CHECK-NEXT:   %gm_pipe_buffer_1 = ptensor.create : tensor<64xf32>
// CHECK-NEXT:   orch.call @both(%x, %gm_pipe_buffer, %gm_pipe_buffer_1)
// CHECK-NEXT:   %gm_pipe_buffer_2 = ptensor.create : tensor<1024xf32>
// CHECK-NEXT:   %gm_pipe_buffer_3 = ptensor.create : tensor<64xf32>
// CHECK-NEXT:   orch.call @both(%x, %gm_pipe_buffer_2, %gm_pipe_buffer_3)
orch.func orchestration @main(in %x : tensor<16xf32>) {
  orch.call @both(%x) : (tensor<16xf32>) -> ()
  orch.call @both(%x) : (tensor<16xf32>) -> ()
  orch.return
}
}

// -----

// Two cores have a ring between them.
builtin.module {
  // expected-error @+1 {{sets a ring to another core up, and is used by 0 functions: kernels that share a ring belong to one group}}
  orch.func aic @alone() {
    %n = arith.constant 0 : i32
    tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 1024 : i32
    orch.return
  }
}

// -----

// Several groups at once have slots each: 256 elements a block, and as many blocks as the largest
// launch has. Who launches one group uses the first ones. A ring with a number has its own.
builtin.module {
// CHECK:      orch.func aic @cube(out %gm_pipe_buffer: tensor<1024xf32>, out %gm_pipe_buffer_1: tensor<64xf32>) {
// CHECK:        [[BLOCK:%.*]] = tile.get_block_idx : index
// CHECK-NEXT:   [[SIZE:%.*]] = arith.constant 256 : index
// CHECK-NEXT:   [[START:%.*]] = arith.muli [[BLOCK]], [[SIZE]] : index
// CHECK-NEXT:   %gm_pipe_buffer_block = ptensor.slice %gm_pipe_buffer[[[START]]] : tensor<1024xf32> -> tensor<256xf32>
// CHECK-NEXT:   tile.aic_initialize_pipe %n, %n, %gm_pipe_buffer_block, dir_mask = 1, slot_size = 512, slot_num = 2 : i32, i32, tensor<256xf32>
// CHECK:        [[SIZE:%.*]] = arith.constant 16 : index
// CHECK:        ptensor.slice %gm_pipe_buffer_1
orch.func aic @cube() {
  %n = arith.constant 0 : i32
  tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 512, slot_num = 2 : i32
  tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 32, slot_num = 2, id = 1 : i32
  orch.return
}
orch.func group @both() {
  orch.call @cube() : () -> ()
  orch.return
}
orch.func spmd @wide() {
  orch.call @both() : () -> ()
  orch.return
}
// CHECK:      orch.func orchestration @main
// CHECK:        ptensor.create : tensor<1024xf32>
// CHECK:        ptensor.create : tensor<64xf32>
orch.func orchestration @main(in %n : index) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %bounded = arith.minsi %n, %c4 : index
  orch.call @wide() launch %bounded : () -> ()
  orch.call @both() launch %c2 : () -> ()
  orch.call @both() : () -> ()
  orch.return
}
}

// -----

// Where nothing bounds how many there are, each launch makes slots for as many as it has.
builtin.module {
// CHECK:      orch.func aic @cube(out %gm_pipe_buffer: tensor<?xf32>) {
// CHECK:        [[BLOCK:%.*]] = tile.get_block_idx : index
// CHECK-NEXT:   [[SIZE:%.*]] = arith.constant 256 : index
// CHECK-NEXT:   [[START:%.*]] = arith.muli [[BLOCK]], [[SIZE]] : index
// CHECK-NEXT:   ptensor.slice %gm_pipe_buffer[[[START]]] : tensor<?xf32> -> tensor<256xf32>
orch.func aic @cube() {
  %n = arith.constant 0 : i32
  tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 512, slot_num = 2 : i32
  orch.return
}
orch.func group @both() {
  orch.call @cube() : () -> ()
  orch.return
}
orch.func spmd @wide() {
  %c3 = arith.constant 3 : index
  orch.call @both() launch %c3 : () -> ()
  orch.return
}
// CHECK:      orch.func orchestration @main
// CHECK:        [[SIZE:%.*]] = arith.constant 256 : index
// CHECK-NEXT:   [[EXTENT:%.*]] = arith.muli %n, [[SIZE]] : index
// CHECK-NEXT:   [[SLOTS:%.*]] = ptensor.create sizes = [[[EXTENT]]] : tensor<?xf32>
// CHECK-NEXT:   orch.call @both([[SLOTS]]) launch %n
// CHECK-NEXT:   [[EXTENT:%.*]] = arith.constant 768 : index
// CHECK-NEXT:   [[SLOTS:%.*]] = ptensor.create sizes = [[[EXTENT]]] : tensor<?xf32>
// CHECK-NEXT:   orch.call @wide([[SLOTS]])
// CHECK-NEXT:   [[EXTENT:%.*]] = arith.constant 256 : index
// CHECK-NEXT:   [[SLOTS:%.*]] = ptensor.create sizes = [[[EXTENT]]] : tensor<?xf32>
// CHECK-NEXT:   orch.call @both([[SLOTS]])
orch.func orchestration @main(in %n : index) {
  orch.call @both() launch %n : () -> ()
  orch.call @wide() : () -> ()
  orch.call @both() : () -> ()
  orch.return
}
}

// -----

// What a wrapper launches has its slots from who uses the wrapper, who has to know how many.
builtin.module {
  orch.func aic @cube() {
    %n = arith.constant 0 : i32
    tile.aic_initialize_pipe %n, %n, dir_mask = 1, slot_size = 1024 : i32
    orch.return
  }
  orch.func group @both() {
    orch.call @cube() : () -> ()
    orch.return
  }
  // expected-note @+1 {{the number is made here}}
  orch.func spmd @wide(in %n : index) {
    // expected-error @+1 {{launches 'both' on a number of cores that is known at run time only, and the ring between its cube and vector cores needs slots for each, which who launches all makes: launch 'wide' on that number}}
    orch.call @both() launch %n : () -> ()
    orch.return
  }
  orch.func orchestration @main(in %n : index) {
    orch.call @wide(%n) : (index) -> ()
    orch.return
  }
}
