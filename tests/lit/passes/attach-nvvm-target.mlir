// RUN: cute-opt %s -attach-nvvm-target | FileCheck %s --check-prefix=DEFAULT
// RUN: cute-opt %s -attach-nvvm-target="chip=sm_90a features=+ptx83 opt-level=3" | FileCheck %s --check-prefix=SET
// RUN: cute-opt %s -attach-nvvm-target=chip=sm_90a -attach-nvvm-target=chip=sm_80 -attach-nvvm-target=chip=sm_90a | FileCheck %s --check-prefix=BOTH
// RUN: not cute-opt %s -attach-nvvm-target=opt-level=4 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not cute-opt %s -attach-nvvm-target=level=2 2>&1 | FileCheck %s --check-prefix=OPTION

// Each gpu.module gets the target; what is as by default is not printed.
// DEFAULT: gpu.module @one [#nvvm.target<chip = "sm_80">]
// DEFAULT: gpu.module @two [#nvvm.target<chip = "sm_80">]
// SET:     gpu.module @one [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx83">]
// Targets add up, each once.
// BOTH:    gpu.module @one [#nvvm.target<chip = "sm_90a">, #nvvm.target<chip = "sm_80">]
// LEVEL:   error: attach-nvvm-target expects opt-level from 0 to 3, got
// OPTION:  no such option level
gpu.module @one {}
gpu.module @two {}
