// The tiles of all groups, one after another: group g has rows offsets(g) to offsets(g+1), of which the last tile may have fewer than BM.
// Entry i of the map is (group, first row, rows from it to the end of the group, 0) of tile i; entries behind the last tile have 0 rows.
// Part of the modules of this folder, which define !offsets, !map and BM.
  // A block finds 32 tiles: the group of tile i is the number of groups whose tiles all come before i.
  gpu.func @tiles(%offsets: !offsets, %map: !map) kernel {
    %block, %all = cute.tile.program<[32, 4]> %map
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %ends_of_groups = cute.tile.count<0, 1> %offsets
    %groups = arith.subi %ends_of_groups, %c1 : i32
    %begins = cute.tile.rows %offsets, %c0, %groups
    %ends = cute.tile.rows %offsets, %c1, %groups
    %chunks = cute.tile.count<0, 256> %begins
    %from = arith.muli %block, %c32 : i32
    %tile = cute.tile.iota<[32, 1], 0> %from
    %none = arith.constant dense<0> : tensor<32x1xi32>
    %start = arith.constant dense<0> : tensor<1xi32>
    %group, %before, %last = scf.for %c = %c0 to %chunks step %c1
        iter_args(%g = %none, %b = %none, %sum = %start) -> (tensor<32x1xi32>, tensor<32x1xi32>, tensor<1xi32>) : i32 {
      %begin = cute.tile.load<[256]> %begins[%c]
      %end = cute.tile.load<[256]> %ends[%c]
      %rows = cute.tile.sub %end, %begin
      %up = cute.tile.add %rows, ${BM-1}
      %tiles = cute.tile.div %up, ${BM}
      %within = cute.tile.scan<add, 0> %tiles
      %until = cute.tile.add %within, %sum
      %passed = cute.tile.le %until, %tile
      %one = arith.constant dense<1> : tensor<32x256xi32>
      %zero = arith.constant dense<0> : tensor<32x256xi32>
      %is = cute.tile.where %passed, %one, %zero
      %count = cute.tile.reduce<add, 1> %is
      %g1 = cute.tile.add %g, %count
      %past = cute.tile.where %passed, %until, %zero
      %most = cute.tile.reduce<max, 1> %past
      %b1 = cute.tile.max %b, %most
      %here = cute.tile.reduce<add, 0> %tiles
      %sum1 = cute.tile.add %sum, %here
      scf.yield %g1, %b1, %sum1 : tensor<32x1xi32>, tensor<32x1xi32>, tensor<1xi32>
    }
    %there = cute.tile.lt %group, %groups
    %next = cute.tile.add %group, %c1
    %first = cute.tile.gather %offsets, %group
    %end = cute.tile.gather %offsets, %next
    %nth = cute.tile.sub %tile, %before
    %far = cute.tile.mul %nth, ${BM}
    %row = cute.tile.add %first, %far
    %left = cute.tile.sub %end, %row
    %rows = cute.tile.where %there, %left, %none
    %real = cute.tile.where %there, %group, %none
    %entry = cute.tile.stack %real, %row, %rows, %none
    %entries = cute.tile.reshape<[32, 4]> %entry
    cute.tile.store %entries, %map[%block, 0]
    gpu.return
  }
