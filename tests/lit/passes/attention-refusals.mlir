// Schedules of kernels/attention and kernels/grouped that passes refuse: docs/tile-programs.md lists the remarks.
// DEFINE: %{attention} = cute-ptx -arch sm_90a -o /dev/null -D T=bf16 -D TO=bf16 -D V=8 -D VT=0 -D LIMIT=16384.0 -D LSE=0 -D PACKED=0 -D CAUSAL=0 -D WINDOW=0 %S/../../../kernels/attention/attention.mlir
// DEFINE: %{decode} = cute-ptx -arch sm_90a -o /dev/null -D T=bf16 -D D=128 -D WINDOW=0 -D LSE=0 -D LIMIT=16384.0 %S/../../../kernels/attention/decode.mlir
// DEFINE: %{grouped} = cute-ptx -arch sm_90a -o /dev/null -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D SCALE=0 -D BIAS=0 -D BM=128 -D BN=128 -D BK=64 %S/../../../kernels/grouped/grouped.mlir
// RUN: %{attention} -D D=128 --schedule="stages=2 consumers=2 cluster=2x1" --remarks=cute-tile-cluster 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: %{attention} -D D=128 --schedule="stages=2 consumers=2 persistent=1 turns=1 tail=split" --remarks=cute-tile-persistent,cute-tile-schedule,cute-tile-split 2>&1 | FileCheck %s --check-prefix=RESIDENT
// RUN: %{attention} -D D=128 --schedule="stages=2 consumers=2 persistent=1 cluster=2x1" --remarks=cute-tile-persistent 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: cute-ptx -arch sm_90a -o /dev/null -D T=bf16 -D TO=bf16 -D V=8 -D VT=0 -D LIMIT=16384.0 -D LSE=0 -D PACKED=1 -D CAUSAL=0 -D WINDOW=0 -D D=128 %S/../../../kernels/attention/attention.mlir --schedule="stages=2 consumers=2 persistent=1" --remarks=cute-tile-persistent 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: %{attention} -D D=256 --schedule="stages=4 consumers=2" --remarks=cute-tile-schedule 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: %{attention} -D D=256 -D BN=128 --remarks=cute-tile-schedule 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: %{decode} -D SHARE=4 -D PAGE=64 --remarks=cute-tile-schedule 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: %{decode} -D SHARE=8 -D PAGE=4 --remarks=cute-tile-schedule 2>&1 | FileCheck %s --check-prefix=PAGE
// RUN: %{grouped} --schedule="stages=3 consumers=2 persistent=1 turns=1 tail=split" --remarks=cute-tile-schedule,cute-tile-split 2>&1 | FileCheck %s --check-prefix=GROUPED
// RUN: %{grouped} --schedule="stages=3 consumers=2 split=2" --remarks=cute-tile-schedule 2>&1 | FileCheck %s --check-prefix=DIVIDED

// CLUSTER: no clusters: expected cute.tile.program<EXTENTS> of a tensor, at the top level of the kernel
// RESIDENT-NOT: blocks are not resident
// RESIDENT-DAG: warpgroups share each tile, without turns: the number of iterations depends on the tile
// RESIDENT-DAG: clusters compute whole tiles: its loop carries several values
// PACKED: blocks are not resident: the first index of a cute.tile.from depends on the tile
// ALONE: blocks are not resident: expected cluster=1x1, or cute.tile.program<EXTENTS> of a tensor
// STAGES: 4 stages do not fit in shared memory: 2
// WIDE: no consumers=2: it needs 295968 bytes of shared memory, more than the limit of 232448
// ROWS: no consumers=1: expected a tile with M a multiple of 64, got 32
// PAGE: no consumers=1: the shape, type or order of an operand does not fit wgmma, or TMA cannot copy it
// GROUPED-DAG: warpgroups share each tile, without turns: the number of iterations depends on the tile
// GROUPED-DAG: clusters compute whole tiles: it has products outside of one loop for each tile
// DIVIDED: blocks of a cluster do not divide the k of a tile: it has no loop with products
