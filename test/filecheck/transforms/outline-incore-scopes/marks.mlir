// What a scope says beside its body, on the kernel and on its call.

// RUN: pypto-opt --outline-incore-scopes --split-input-file %s | filecheck %s

// E-T58, E-T59: no_dep by position, ascending; dump likewise, without what the scope does not use.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>, in %w: tensor<64xf32>) -> tensor<64xf32> {
// CHECK:         %y = orch.call @main_incore_0(%x, %w) no_dep [0, 1] dump [1] :
orch.func opaque @main(in %x : tensor<64xf32>, in %w : tensor<64xf32>, in %unused : tensor<64xf32>)
    -> tensor<64xf32> {
  %y = orch.incore no_dep [%w : tensor<64xf32>, %x : tensor<64xf32>]
      dump [%unused : tensor<64xf32>, %w : tensor<64xf32>, %w : tensor<64xf32>]
      -> (tensor<64xf32>) {
    %y1 = ptensor.add %x, %w : tensor<64xf32>
    orch.yield %y1 : tensor<64xf32>
  }
  orch.return %y : tensor<64xf32>
}

// -----

// The split, the ring and the window of a scope.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<64xf32>) attributes {orch.split = #orch<split up_down>, orch.slot_num = 4 : i64, orch.windowize} {
orch.func opaque @main(in %x : tensor<64xf32>) {
  orch.incore split up_down slots 4 windowize { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}

// -----

// E-T61, E-T67, E-T68, E-T70, E-T65: regions split by hand stay; the index of the core is defined
// there and is no parameter; the mode of all of them is the kernel's; the ring goes with it.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %x: tensor<4x64xf32>, out %out: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {orch.split_aiv, orch.split = #orch<split up_down>, orch.slot_num = 2 : i64} {
// CHECK-NEXT:    {{%.*}} = orch.split_aiv %core mode up_down -> (tensor<4x64xf32>) {
// CHECK-NEXT:      %t = tile.load %x[%core, 0]
// CHECK:           orch.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    {{%.*}} = orch.split_aiv %core_1 mode up_down
orch.func opaque @main(in %x : tensor<4x64xf32>, out %out : tensor<4x64xf32>) -> tensor<4x64xf32> {
  %r = orch.incore slots 2 -> (tensor<4x64xf32>) {
    %a = orch.split_aiv %core mode up_down -> (tensor<4x64xf32>) {
      %t = tile.load %x[%core, 0] : tensor<4x64xf32> -> !tile.tile<1x64xf32>
      %o = tile.store %t, %out[%core, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
      orch.yield %o : tensor<4x64xf32>
    }
    %b = orch.split_aiv %core mode up_down -> (tensor<4x64xf32>) {
      %t = tile.load %x[%core, 0] : tensor<4x64xf32> -> !tile.tile<1x64xf32>
      %o = tile.store %t, %a[%core, 0] : !tile.tile<1x64xf32>, tensor<4x64xf32>
      orch.yield %o : tensor<4x64xf32>
    }
    orch.yield %b : tensor<4x64xf32>
  }
  orch.return %r : tensor<4x64xf32>
}

// -----

// E-T66, E-T69: regions that differ, or that do not split, stand for no mode of the kernel.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0() attributes {orch.split_aiv} {
// CHECK:       orch.func incore @main_incore_1() attributes {orch.split_aiv} {
orch.func opaque @main() {
  orch.incore {
    orch.split_aiv %core mode up_down { }
    orch.split_aiv %core mode left_right { }
  }
  orch.incore {
    orch.split_aiv %core mode none { }
  }
  orch.return
}

// -----

// E-T84, E-T85, E-T86, E-T87: cache policies by position of the parameter, ascending, on the
// kernel alone; a tensor that is written may have the default.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func incore @main_incore_0(in %a: tensor<64xf32>, in %b: tensor<64xf32>, out %out: tensor<64xf32>) -> tensor<64xf32> attributes {orch.cache_policy = [{parameter = 0 : i64, policy = #orch<cache default>}, {parameter = 1 : i64, policy = #orch<cache bypass>}, {parameter = 2 : i64, policy = #orch<cache default>}]} {
// CHECK:       orch.func orchestration @main(
// CHECK-NOT:     cache
orch.func opaque @main(in %a : tensor<64xf32>, in %b : tensor<64xf32>, out %out : tensor<64xf32>)
    -> tensor<64xf32> {
  %r = orch.incore cache [bypass %b : tensor<64xf32>, default %out : tensor<64xf32>,
                          default %a : tensor<64xf32>] -> (tensor<64xf32>) {
    %t = tile.load %a[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %u = tile.load %b[0] : tensor<64xf32> -> !tile.tile<64xf32>
    %v = tile.add %t, %u : !tile.tile<64xf32>
    %o = tile.store %v, %out[0] : !tile.tile<64xf32>, tensor<64xf32>
    orch.yield %o : tensor<64xf32>
  }
  orch.return %r : tensor<64xf32>
}

// -----

// A function that becomes one of orchestration says nothing of the level and the role that follow
// from it.
// CHECK-LABEL: builtin.module
// CHECK:       orch.func orchestration @main(in %x: tensor<64xf32>)
orch.func opaque level chip role orchestrator @main(in %x : tensor<64xf32>) {
  orch.incore { %t = ptensor.add %x, %x : tensor<64xf32> }
  orch.return
}
