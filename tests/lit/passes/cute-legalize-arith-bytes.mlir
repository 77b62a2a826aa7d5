// RUN: cute-opt %s --cute-legalize-arith | FileCheck %s

// Four bytes are shifted at a time, and two converted.
gpu.module @m {
  // CHECK-LABEL: @low
  // CHECK:         %[[W:.*]] = vector.bitcast %{{.*}} : vector<8xi8> to vector<2xi32>
  // CHECK-NOT:     arith.shrui
  // CHECK:         arith.andi %[[W]], %{{.*}} : vector<2xi32>
  // CHECK-NOT:     arith.shrsi
  // CHECK:         return
  func.func @low(%x: vector<8xi8>) -> vector<8xi8> {
    %four = arith.constant dense<4> : vector<8xi8>
    %up = arith.shli %x, %four : vector<8xi8>
    %low = arith.shrsi %up, %four : vector<8xi8>
    return %low : vector<8xi8>
  }
  // CHECK-LABEL: @high
  // CHECK:         arith.shrui %{{.*}} : vector<2xi32>
  // CHECK-COUNT-2: arith.xori
  // CHECK-NOT:     arith.shrsi
  func.func @high(%x: vector<8xi8>) -> vector<8xi8> {
    %two = arith.constant dense<2> : vector<8xi8>
    %high = arith.shrsi %x, %two : vector<8xi8>
    return %high : vector<8xi8>
  }
  // CHECK-LABEL: @converted
  // CHECK-COUNT-4: prmt.b32
  // CHECK:         arith.subf %{{.*}} : vector<8xf16>
  // CHECK-NOT:     arith.sitofp
  func.func @converted(%x: vector<8xi8>) -> vector<8xf16> {
    %y = arith.sitofp %x : vector<8xi8> to vector<8xf16>
    return %y : vector<8xf16>
  }
  // Others are left: too few bytes, and results that do not hold 1024 + 255 exactly.
  // CHECK-LABEL: @others
  // CHECK:         arith.shrsi %{{.*}} : vector<6xi8>
  // CHECK:         arith.uitofp %{{.*}} : vector<4xi8> to vector<4xbf16>
  func.func @others(%x: vector<6xi8>, %y: vector<4xi8>) -> (vector<6xi8>, vector<4xbf16>) {
    %one = arith.constant dense<1> : vector<6xi8>
    %a = arith.shrsi %x, %one : vector<6xi8>
    %b = arith.uitofp %y : vector<4xi8> to vector<4xbf16>
    return %a, %b : vector<6xi8>, vector<4xbf16>
  }
}

// Halves of bytes are converted as they are loaded, a mask for two.
gpu.module @halves {
  // CHECK-LABEL: @low_half
  // CHECK:         %[[W:.*]] = vector.bitcast %{{.*}} : vector<4xi8> to vector<1xi32>
  // CHECK-COUNT-2: lop3.b32
  // CHECK:         math.fma %{{.*}} : vector<4xf16>
  // CHECK-NOT:     arith.sitofp
  // CHECK:         return
  func.func @low_half(%x: vector<4xi8>) -> vector<4xf16> {
    %four = arith.constant dense<4> : vector<4xi8>
    %up = arith.shli %x, %four : vector<4xi8>
    %low = arith.shrsi %up, %four : vector<4xi8>
    %y = arith.sitofp %low : vector<4xi8> to vector<4xf16>
    return %y : vector<4xf16>
  }
  // The upper half of an f16 is 16 times its value: no shift but that of the odd bytes.
  // CHECK-LABEL: @high_half
  // CHECK:         lop3.b32
  // CHECK:         arith.shrui %{{.*}} : i32
  // CHECK:         lop3.b32
  // CHECK-NOT:     arith.shrui
  // CHECK:         dense<6.250000e-02> : vector<4xf16>
  // CHECK:         return
  func.func @high_half(%x: vector<4xi8>) -> vector<4xf16> {
    %four = arith.constant dense<4> : vector<4xi8>
    %high = arith.shrsi %x, %four : vector<4xi8>
    %y = arith.sitofp %high : vector<4xi8> to vector<4xf16>
    return %y : vector<4xf16>
  }
  // CHECK-LABEL: @high_half_bf16
  // CHECK-COUNT-2: arith.shrui %{{.*}} : i32
  // CHECK:         math.fma %{{.*}} : vector<4xbf16>
  func.func @high_half_bf16(%x: vector<4xi8>) -> vector<4xbf16> {
    %four = arith.constant dense<4> : vector<4xi8>
    %high = arith.shrsi %x, %four : vector<4xi8>
    %y = arith.sitofp %high : vector<4xi8> to vector<4xbf16>
    return %y : vector<4xbf16>
  }
  // With another use the shift itself is needed.
  // CHECK-LABEL: @both
  // CHECK-NOT:     arith.shrsi
  // CHECK:         prmt.b32
  func.func @both(%x: vector<4xi8>) -> (vector<4xi8>, vector<4xf16>) {
    %four = arith.constant dense<4> : vector<4xi8>
    %high = arith.shrsi %x, %four : vector<4xi8>
    %y = arith.sitofp %high : vector<4xi8> to vector<4xf16>
    return %high, %y : vector<4xi8>, vector<4xf16>
  }
}
