// RUN: rm -rf %t && cute-ptx %s -o %t/
// RUN: FileCheck %s --check-prefix=A < %t/a.ptx
// RUN: FileCheck %s --check-prefix=B < %t/b.ptx
// RUN: not cute-ptx %s -o %t/one.ptx 2>&1 | FileCheck %s --check-prefix=ONE
// One behind the other they are for cute-link; nothing else takes two.
// RUN: cute-ptx %s | FileCheck %s --check-prefix=BOTH
// RUN: cute-ptx %s > %t/both.ptx
// RUN: not cute-run %t/both.ptx 2>&1 | FileCheck %s --check-prefix=SECOND

// A: .entry first
// A-NOT: second
// B: .entry second
// ONE: error: 2 gpu.modules make 2 PTX files
// ONE: give a folder for them: -o DIR/
// BOTH: {{^}}.version
// BOTH: .entry first
// BOTH: {{^}}.version
// BOTH: .entry second
// SECOND: both.ptx:[[#]]:1: error: expected one module, and here a second one begins: cute-link links them
gpu.module @a { gpu.func @first() kernel { gpu.return } }
gpu.module @b { gpu.func @second() kernel { gpu.return } }
