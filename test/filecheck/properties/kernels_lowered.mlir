// No kernel computes on tensors or tiles any more: each is in the language of PTO.

// RUN: pypto-opt --verify-diagnostics --verify-property=KernelsLowered %s

// A declaration says where the kernel went.
orch.func incore @lowered(in tensor<8x64xf32>, out tensor<8x64xf32>) -> tensor<8x64xf32> returns [1] implemented_by @unit::@lowered
builtin.module @unit {
  func.func @lowered(%x : !pto.ptr<f32>, %y : !pto.ptr<f32>) {
    func.return
  }
}

// expected-error @+1 {{kernel 'on_tiles' computes on tensors or tiles}}
orch.func incore @on_tiles(in %x : tensor<8x64xf32>, out %y : tensor<8x64xf32>) -> tensor<8x64xf32> {
  %t = tile.load %x[0, 0] : tensor<8x64xf32> -> !tile.tile<8x64xf32>
  %y1 = tile.store %t, %y[0, 0] : !tile.tile<8x64xf32>, tensor<8x64xf32>
  orch.return %y1 : tensor<8x64xf32>
}

orch.func orchestration @main(in %x : tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{'orch.incore' op computes on tensors or tiles, in no kernel of its own}}
  %y = orch.incore "work" -> (tensor<8x64xf32>) {
    %z = ptensor.exp %x : tensor<8x64xf32>
    orch.yield %z : tensor<8x64xf32>
  }
  orch.return %y : tensor<8x64xf32>
}

// What stands in a function of another dialect becomes no kernel.
func.func @other(%x : tensor<8x64xf32>, %y : tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @+1 {{'tile.load' op computes on tensors or tiles in no 'orch.func', which alone becomes a kernel}}
  %t = tile.load %x[0, 0] : tensor<8x64xf32> -> !tile.tile<8x64xf32>
  // expected-error @+1 {{'tile.store' op computes on tensors or tiles in no 'orch.func'}}
  %y1 = tile.store %t, %y[0, 0] : !tile.tile<8x64xf32>, tensor<8x64xf32>
  // expected-error @+1 {{'ptensor.exp' op computes on tensors or tiles in no 'orch.func'}}
  %z = ptensor.exp %x : tensor<8x64xf32>
  func.return %y1 : tensor<8x64xf32>
}
