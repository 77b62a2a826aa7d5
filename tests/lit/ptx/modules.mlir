// RUN: rm -rf %t && cute-ptx %s -o %t/
// RUN: FileCheck %s --check-prefix=A < %t/a.ptx
// RUN: FileCheck %s --check-prefix=B < %t/b.ptx
// RUN: not cute-ptx %s 2>&1 | FileCheck %s --check-prefix=ONE

// A: .entry first
// A-NOT: second
// B: .entry second
// ONE: error: 2 gpu.modules make 2 PTX files
// ONE: give a folder for them: -o DIR/
gpu.module @a { gpu.func @first() kernel { gpu.return } }
gpu.module @b { gpu.func @second() kernel { gpu.return } }
