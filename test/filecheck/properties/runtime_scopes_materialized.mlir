// RuntimeScopesMaterialized: every orchestration function has all its scopes of the runtime.

// RUN: pypto-opt --verify-property=RuntimeScopesMaterialized --split-input-file --verify-diagnostics %s

orch.func orchestration @done() attributes {auto_scope = false} {
  orch.return
}
orch.func group @no_orchestration() {
  orch.return
}
orch.func orchestration @declared()

// -----

// expected-error @+1 {{'orch.func' op 'open' has no scopes of the runtime yet}}
orch.func orchestration @open() {
  orch.return
}
// expected-error @+1 {{'said_otherwise' has no scopes of the runtime yet}}
orch.func orchestration @said_otherwise() attributes {auto_scope = true} {
  orch.return
}
