// NoNestedInCore: no in-core scope is inside another, at any depth. Checked at the start.

// RUN: pypto-opt --verify-property=NoNestedInCore --split-input-file --verify-diagnostics %s
// RUN: pypto-opt --split-input-file --verify-diagnostics %s

// Accepted: one after the other, and inside other scopes.

orch.func opaque @side_by_side() {
  orch.cluster {
    orch.incore {
    }
    orch.incore {
      %q = orch.split_aiv %core mode left_right -> (index) { orch.yield %core : index }
    }
  }
  orch.return
}

// -----

orch.func opaque @nested(in %c : i1) {
  // expected-note @+1 {{the enclosing scope is here}}
  orch.incore {
    scf.if %c {
      // expected-error @+1 {{'orch.incore' op is inside another in-core scope, but a kernel cannot launch a kernel}}
      orch.incore {
        // expected-error @+1 {{'orch.incore' op is inside another in-core scope}}
        orch.incore {
        }
      }
    }
  }
  orch.return
}
