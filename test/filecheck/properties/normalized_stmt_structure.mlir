// Bodies are one block each: control flow is structured, also inside scopes. Only functions that
// compute on scalars may jump.

// RUN: pypto-opt --verify-diagnostics --split-input-file --verify-property=NormalizedStmtStructure %s

orch.func orchestration @jumps(in %c : i1) {
  // expected-error @+1 {{'cf.cond_br' op jumps to another block: loops and branches are scf.for, scf.while, scf.if}}
  cf.cond_br %c, ^yes, ^no
^yes:
  orch.return
^no:
  orch.return
}
orch.func opaque @inside() {
  orch.incore {
    scf.execute_region {
      // expected-error @+1 {{'cf.br' op jumps to another block}}
      cf.br ^next
    ^next:
      scf.yield
    }
  }
  orch.return
}
func.func @on_core(%p : !pto.partition_tensor_view<16x32xf32>) {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf32>
  // expected-error @+1 {{'cf.br' op jumps to another block}}
  cf.br ^next
^next:
  pto.tload ins(%p : !pto.partition_tensor_view<16x32xf32>) outs(%a : !pto.tile_buf<vec, 16x32xf32>)
  func.return
}
func.func @calls(%n : index) {
  // expected-error @+1 {{'cf.br' op jumps to another block}}
  cf.br ^next
^next:
  %m = func.call @scalars(%n) : (index) -> index
  func.return
}
func.func @scalars(%n : index) -> index {
  cf.br ^next(%n : index)
^next(%m : index):
  func.return %m : index
}
