// What cannot be spliced in.

// RUN: pypto-opt --inline-functions --verify-diagnostics --split-input-file %s

orch.func inline @a(in %x : f32) {
  // expected-error @+1 {{'orch.call' op calls inline function 'b' from within itself, so that its body would never end: break the circle, or make it no inline function}}
  orch.call @b(%x) : (f32) -> ()
  orch.return
}
orch.func inline @b(in %x : f32) { // expected-note {{the function is here}}
  orch.call @a(%x) : (f32) -> ()
  orch.return
}

// -----

orch.func inline @a(in %x : f32) { // expected-note {{the function is here}}
  // expected-error @+1 {{calls inline function 'a' from within itself}}
  orch.call @a(%x) : (f32) -> ()
  orch.return
}

// -----

// Each use is reported.
orch.func inline @a(in %x : f32) { // expected-note 2 {{the function is here}}
  orch.return
}
orch.func orchestration @main(in %x : f32, in %n : index) {
  // expected-error @+1 {{submits inline function 'a', which is no task: call it instead}}
  %t = orch.submit @a(%x) : (f32) -> !orch.task_id
  // expected-error @+1 {{launches inline function 'a' on several cores, but it is part of its caller: put the call into an orch.spmd scope}}
  orch.call @a(%x) launch %n : (f32) -> ()
  orch.return
}

// -----

orch.func inline @a(in f32) // expected-note {{the function is here}}
orch.func orchestration @main(in %x : f32) {
  // expected-error @+1 {{calls inline function 'a', which has no body}}
  orch.call @a(%x) : (f32) -> ()
  orch.return
}
