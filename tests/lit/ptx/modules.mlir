// RUN: rm -rf %t && cute-ptx %s -o %t/
// RUN: FileCheck %s --check-prefix=A < %t/a.ptx
// RUN: FileCheck %s --check-prefix=B < %t/b.ptx
// One behind the other they are for cute-link; nothing else takes two.
// RUN: cute-ptx %s | FileCheck %s --check-prefix=BOTH
// RUN: cute-ptx %s > %t/both.ptx
// RUN: cute-ptx %s -o %t/one.ptx && diff %t/both.ptx %t/one.ptx
// RUN: not cute-ptx %s --emit=llvm -o %t/one.ll 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not ls %t/one.ll
// RUN: not cute-run %t/both.ptx 2>&1 | FileCheck %s --check-prefix=SECOND

// A: .entry first
// A-NOT: second
// B: .entry second
// ONE: error: cannot write the LLVM IR of 2 gpu.modules to one file
// ONE: write to a folder: -o DIR/
// BOTH: {{^}}.version
// BOTH: .entry first
// BOTH: {{^}}.version
// BOTH: .entry second
// SECOND: both.ptx:[[#]]:1: error: expected one module (cute-link links several)
gpu.module @a { gpu.func @first() kernel { gpu.return } }
gpu.module @b { gpu.func @second() kernel { gpu.return } }
