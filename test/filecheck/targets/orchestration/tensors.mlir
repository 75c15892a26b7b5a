// Buffers are created together, before the first op of their block; views, elements and extents.

// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="create"}' | filecheck %s --check-prefix CREATE
// RUN: pypto-opt %s --derive-call-directions --materialize-runtime-scopes --classify-iter-arg-carry -t 'orchestration{function="views"}' | filecheck %s --check-prefix VIEWS

orch.func incore @k(in tensor<16x32xf32>, out tensor<16x32xf32>) -> tensor<16x32xf32> returns [1]
orch.func incore @dynamic(inout tensor<?x32xf16>) -> tensor<?x32xf16> returns [0]
orch.func incore @row(in tensor<32xf32>, inout tensor<32xf32>) -> tensor<32xf32> returns [1]
orch.func incore @flipped(in tensor<32x64xf32, #ptensor.view<layout = dn>>, inout tensor<16x32xf32>) -> tensor<16x32xf32> returns [1]

// What a manual scope creates is created before it; what nobody uses is not created; an extent that
// is computed in the block keeps the creation behind it.
orch.func orchestration @create(in %x : tensor<16x32xf32>, in %n : index) {
  orch.task_scope manual {
    %a = ptensor.create : tensor<16x32xf32>
    %unused = ptensor.create : tensor<16x32xf32>
    %a1 = orch.call @k(%x, %a) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %zero = arith.constant 0.0 : f32
    %b = ptensor.full %zero : f32 -> tensor<16x32xf32>
    %b1 = orch.call @k(%a1, %b) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    %one = arith.constant 1 : index
    %m = arith.addi %n, %one : index
    %c = ptensor.create sizes = [%m, 32] : tensor<?x32xf16>
    %c1 = orch.call @dynamic(%c) : (tensor<?x32xf16>) -> tensor<?x32xf16>
  }
  orch.return
}

// CREATE:      PTO2_SCOPE() {
// CREATE-NEXT:   uint32_t a_ci_shapes[2] = {16, 32};
// CREATE-NEXT:   TensorCreateInfo a_ci(a_ci_shapes, 2, DataType::FLOAT32);
// CREATE-NEXT:   uint32_t b_ci_shapes[2] = {16, 32};
// CREATE-NEXT:   TensorCreateInfo b_ci(b_ci_shapes, 2, DataType::FLOAT32);
// CREATE-NEXT:   b_ci.set_initial_value(0);
// CREATE-NEXT:   TaskOutputTensors alloc_0 = alloc_tensors(a_ci, b_ci);
// CREATE-NEXT:   const ChipTensor& a = alloc_0.get_ref(0);
// CREATE-NEXT:   const ChipTensor& b = alloc_0.get_ref(1);
// CREATE-NEXT:   PTO2_SCOPE(PTO2ScopeMode::MANUAL) {
// CREATE:          // Task 1: k
// CREATE:          rt_submit_aiv_task(0, params_t1);
// CREATE-NEXT:     int64_t m = (n + 1);
// CREATE-NEXT:     uint32_t c_ci_shapes[2] = {static_cast<uint32_t>(m), 32};
// CREATE-NEXT:     TensorCreateInfo c_ci(c_ci_shapes, 2, DataType::FLOAT16);
// CREATE-NEXT:     TaskOutputTensors alloc_1 = alloc_tensors(c_ci);
// CREATE-NEXT:     const ChipTensor& c = alloc_1.get_ref(0);

// A window is cut off at the edge of its tensor; one that loses dimensions is made from a view that
// has them; a window that is put back where it is costs nothing.
orch.func orchestration @views(in %x : tensor<?x32xf32>, inout %y : tensor<64x32xf32>, inout %z : tensor<32xf32>, in %n : index) -> tensor<64x32xf32> {
  %rows = ptensor.dim %x, axis = 0 : tensor<?x32xf32> -> index
  %half = arith.subi %rows, %n : index
  %a = ptensor.slice %x[%half, 0] : tensor<?x32xf32> -> tensor<16x32xf32>
  %b = ptensor.slice %y[16, 0] : tensor<64x32xf32> -> tensor<16x32xf32>
  %b1 = orch.call @k(%a, %b) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %y1 = ptensor.assemble %b1, %y[16, 0] : tensor<16x32xf32>, tensor<64x32xf32>
  %line = ptensor.slice %y1[3, 0] : tensor<64x32xf32> -> tensor<32xf32>
  %z1 = orch.call @row(%line, %z) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %t = ptensor.transpose %y1 : tensor<64x32xf32> -> tensor<32x64xf32, #ptensor.view<layout = dn>>
  %w = ptensor.reshape %y1 : tensor<64x32xf32> -> tensor<128x16xf32>
  %v = ptensor.reshape %w : tensor<128x16xf32> -> tensor<4x16x32xf32>
  %u = ptensor.slice %v[1, 0, 0] : tensor<4x16x32xf32> -> tensor<16x32xf32>
  %u1 = orch.call @flipped(%t, %u) : (tensor<32x64xf32, #ptensor.view<layout = dn>>, tensor<16x32xf32>) -> tensor<16x32xf32>
  orch.return %y1 : tensor<64x32xf32>
}

// VIEWS:      int64_t rows = static_cast<int64_t>(ext_x.shapes[0]);
// VIEWS-NEXT: int64_t half_1 = (rows - n);
// VIEWS-NEXT: uint32_t a_offsets[2] = {static_cast<uint32_t>(half_1), 0};
// VIEWS-NEXT: uint32_t a_shapes[2] = {(a_offsets[0] >= ext_x.shapes[0] ? 0u : std::min<uint32_t>(16, ext_x.shapes[0] - a_offsets[0])), (a_offsets[1] >= ext_x.shapes[1] ? 0u : std::min<uint32_t>(32, ext_x.shapes[1] - a_offsets[1]))};
// VIEWS-NEXT: ChipTensor a = ext_x.view(a_shapes, a_offsets);
// VIEWS:      ChipTensor b = ext_y.view(b_shapes, b_offsets);
// VIEWS:      params_t0.add_input(a);
// VIEWS-NEXT: params_t0.add_inout(b);
// VIEWS:      ChipTensor line_view = ext_y.view(line_view_shapes, line_offsets);
// VIEWS-NEXT: ChipTensor line = line_view;
// VIEWS-NEXT: line.ndims = 1;
// VIEWS-NEXT: line.shapes[0] = line_view.shapes[1];
// VIEWS-NEXT: line.strides[0] = line_view.strides[1];
// VIEWS-NEXT: if (line_view.numel() == 0) {
// VIEWS-NEXT:   line.shapes[0] = 0;
// VIEWS-NEXT: }
// VIEWS-NEXT: uint64_t line_expected_stride = 1;
// VIEWS-NEXT: bool line_contiguous = true;
// VIEWS-NEXT: for (int32_t axis = 0; axis >= 0; --axis) {
// VIEWS-NEXT:   line_contiguous = line_contiguous && line.strides[axis] == line_expected_stride;
// VIEWS-NEXT:   line_expected_stride *= line.shapes[axis];
// VIEWS-NEXT: }
// VIEWS-NEXT: line.is_contiguous = line_contiguous;
// VIEWS:      params_t1.add_input(line);
// VIEWS:      ChipTensor t = ext_y.transpose(0, 1);
// VIEWS-NEXT: uint32_t w_shapes[2] = {128, 16};
// VIEWS-NEXT: ChipTensor w = ext_y.reshape(w_shapes, 2);
// VIEWS-NEXT: uint32_t v_shapes[3] = {4, 16, 32};
// VIEWS-NEXT: ChipTensor v = w.reshape(v_shapes, 3);
// VIEWS:      params_t2.add_input(t);
// VIEWS-NEXT: params_t2.add_inout(u);
