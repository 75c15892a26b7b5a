// No false alarm on the documentation's examples, and the directions have to be there.

// RUN: pypto-opt --derive-call-directions --report-hazards %S/../../../../docs/examples/call_directions.mlir 2>&1 | filecheck %s
// RUN: pypto-opt --normalize-return-order --derive-call-directions --report-hazards %S/../../../../docs/examples/return_order.mlir 2>&1 | filecheck %s
// RUN: not pypto-opt --report-hazards %S/../../../../docs/examples/call_directions.mlir 2>&1 | filecheck %s --check-prefix DIRECTIONS

// CHECK-NOT: warning

// DIRECTIONS: error: pass 'report-hazards' requires property CallDirectionsResolved: 'orch.call' op in function 'main', use of 'kernel' has no directions of its arguments
// DIRECTIONS: note: run 'derive-call-directions' first
