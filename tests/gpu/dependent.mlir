// Two kernels of a programmatic dependent launch: the second begins before the first has ended, and waits for its data.
gpu.module @kernels {
  gpu.func @first(%data: !llvm.ptr<1> {cute.name = "data", cute.dtype = i32}) kernel {
    %c1000 = arith.constant 1000 : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %size = nvvm.read.ptx.sreg.ntid.x : i32
    %start = arith.muli %block, %size : i32
    %i = arith.addi %start, %t : i32
    llvm.inline_asm has_side_effects "griddepcontrol.launch_dependents;", "~{memory}" : () -> ()
    %v = arith.addi %i, %c1000 : i32
    %to = llvm.getelementptr %data[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %v, %to : i32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @second(%data: !llvm.ptr<1> {cute.name = "data", cute.dtype = i32},
                   %out: !llvm.ptr<1> {cute.name = "out", cute.dtype = i32}) kernel {
    %two = arith.constant 2 : i32
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %size = nvvm.read.ptx.sreg.ntid.x : i32
    %start = arith.muli %block, %size : i32
    %i = arith.addi %start, %t : i32
    llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}" : () -> ()
    %from = llvm.getelementptr %data[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %v = llvm.load volatile %from : !llvm.ptr<1> -> i32
    %w = arith.muli %v, %two : i32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %w, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}
