// Kernels that a host function launches one behind the other may start before the one in front of them has ended, for which they wait; a kernel that is
// launched alone, and kernels of architectures without griddepcontrol, do not.
// RUN: cute-ptx -arch sm_90a %s | FileCheck %s
// RUN: cute-ptx -arch sm_80 %s | FileCheck %s --check-prefix=OLD
!X = !cute.memref<f32, gmem, "?:1">
!partial = !cute.memref<f32, gmem, align<256>, "?:1">
!out = !cute.memref<f32, gmem, "1:1">
gpu.module @kernels {
  // CHECK: "plan":"sum"{{.*}}"programmatic":{{.*}}"programmatic":
  // CHECK-LABEL: .entry alone(
  // CHECK-NOT:     griddepcontrol
  // CHECK:         ret;
  gpu.func @alone(%x: !X, %y: !X) kernel {
    %i = cute.tile.program<[2048]> %x
    %a = cute.tile.load<[2048]> %x[%i]
    cute.tile.store %a, %y[%i]
    gpu.return
  }
  // CHECK-LABEL: .entry partial(
  // CHECK-NOT:     ld.global
  // CHECK:         griddepcontrol.launch_dependents;
  // CHECK-NOT:     ld.global
  // CHECK:         griddepcontrol.wait;
  // CHECK:         ld.global
  gpu.func @partial(%x: !X, %partial: !partial) kernel {
    %i = cute.tile.program<[2048]> %x
    %a = cute.tile.load<[2048]> %x[%i]
    %s = cute.tile.reduce<add, 0> %a
    cute.tile.store %s, %partial[%i]
    gpu.return
  }
  // CHECK-LABEL: .entry total(
  // CHECK-NOT:     ld.global
  // CHECK:         griddepcontrol.wait;
  // OLD-NOT:     griddepcontrol
  // OLD-NOT:     "programmatic":
  gpu.func @total(%partial: !partial, %out: !out) kernel {
    %i = cute.tile.program<[1]> %out
    %a = cute.tile.load<[1024]> %partial[0]
    %s = cute.tile.reduce<add, 0> %a
    cute.tile.store %s, %out[%i]
    gpu.return
  }
}
func.func private @partial(!X, !partial)
func.func private @total(!partial, !out)
func.func @sum(%x: !X, %out: !out) {
  %size = cute.size %x
  %tiles = cute.ceil_div %size, 2048
  %n = cute.get_scalars %tiles
  %layout = cute.make_layout(%n)
  %partial = cute.temporary %layout : !partial
  func.call @partial(%x, %partial) : (!X, !partial) -> ()
  func.call @total(%partial, %out) : (!partial, !out) -> ()
  return
}
