// RUN: rm -rf %t && mkdir %t && printf '\177ELF"\\x' > %t/m.cubin && printf 'text' > %t/wrong.cubin
// RUN: cute-opt %s "-cute-embed-cubins=folder=%t" | FileCheck %s
// RUN: cute-opt %s "-cute-embed-cubins=folder=%t" | cute-opt | FileCheck %s
// RUN: sed 's/@m /@wrong /' %s | not cute-opt "-cute-embed-cubins=folder=%t" 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: sed 's/@m /@absent /' %s | not cute-opt "-cute-embed-cubins=folder=%t" 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: sed 's/ \[#nvvm.*\] / /' %s | not cute-opt "-cute-embed-cubins=folder=%t" 2>&1 | FileCheck %s --check-prefix=TARGET

// CHECK: gpu.binary @m {mine = 1 : i32} [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a">, bin = "\7FELF\22\\x">]
// CHECK-NOT: gpu.module
// WRONG: error: cute-embed-cubins expects a cubin, got '{{.*}}wrong.cubin'
// ABSENT: error: cute-embed-cubins cannot read '{{.*}}absent.cubin'
// TARGET: error: cute-embed-cubins expects one target on each gpu.module; attach it with 'attach-nvvm-target'

gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a">] attributes {mine = 1 : i32} {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
