// An op that nobody registered has no words, whatever it carries.

// RUN: pypto-opt --allow-unregistered-dialect -t pl --verify-diagnostics %s

orch.func orchestration @main(in %n: index) -> index {
  // expected-error @+1 {{'foo.bar' op has no spelling in the DSL}}
  %m = "foo.bar"(%n) {mark} : (index) -> index
  orch.return %m : index
}
