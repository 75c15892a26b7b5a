// Integer arithmetic with negative operands: division to zero, down and up, remainders, shifts.

orch.func orchestration @main(in %x: tensor<16x64xf32>, in %n: index, in %k: i32) -> tensor<16x64xf32> {
  %RR = orch.incore -> (tensor<16x64xf32>) {
    %m1 = arith.constant -7 : i32
    %two = arith.constant 2 : i32
    %d = arith.divsi %k, %two : i32
    %e = arith.remsi %k, %two : i32
    %fl = arith.floordivsi %k, %two : i32
    %ce = arith.ceildivsi %k, %two : i32
    %sh = arith.shrsi %k, %two : i32
    %d2 = arith.divsi %m1, %two : i32
    %e2 = arith.remsi %m1, %two : i32
    %f2 = arith.floordivsi %m1, %two : i32
    %s1 = arith.addi %d, %e : i32
    %s2 = arith.muli %s1, %fl : i32
    %s3 = arith.subi %s2, %ce : i32
    %s4 = arith.xori %s3, %sh : i32
    %s5 = arith.addi %d2, %e2 : i32
    %s6 = arith.subi %s5, %f2 : i32
    %s7 = arith.addi %s4, %s6 : i32
    %mx = arith.maxsi %s7, %m1 : i32
    %f = arith.sitofp %mx : i32 to f32
    %u = ptensor.muls %x, %f : tensor<16x64xf32>, f32
    orch.yield %u : tensor<16x64xf32>
  }
  orch.return %RR : tensor<16x64xf32>
}
