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

// Several groups at once would use the same slots.
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
  orch.func spmd @wide() {
    // expected-error @+1 {{launches 'both' on several cores at once, whose ring between cube and vector cores has slots for one}}
    orch.call @both() : () -> ()
    orch.return
  }
}
