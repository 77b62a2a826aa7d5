// D = act(alpha P + beta C + bias), element by element, for GEMM kernels without a fused epilogue.
// P, C and D are (M,N) with any strides, bias has N elements.
// -D EP: type of the sums, f32 or i32; ED: type of C, D and bias; ES: type of the computation, f32, or f64
// if ED is i32; EC, EBIAS, ERELU, EGELU: 1 or 0. gelu is the tanh approximation,
// x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))). EFROM, EEXT, ETO: arith operations from EP
// and ED to ES, and from ES to ED; ETOF32 EFROMF32: from ES to f32 and back.
!sums = memref<?x?x${EP}, strided<[?, ?], offset: ?>>
!some = memref<?x?x${ED}, strided<[?, ?], offset: ?>>
!line = memref<?x${ED}, strided<[?], offset: ?>>
gpu.module @epilogue {
  gpu.func @gemm_epilogue(%P: !sums {cute.name = "P"}, %C: !some {cute.name = "C"}, %bias: !line {cute.name = "bias"},
                          %D: !some {cute.name = "D"}, %alpha: ${ES} {cute.name = "alpha"},
                          %beta: ${ES} {cute.name = "beta"}) kernel
      attributes {nvvm.reqntid = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %use_c = arith.constant ${EC} : i1
    %use_bias = arith.constant ${EBIAS} : i1
    %relu = arith.constant ${ERELU} : i1
    %gelu = arith.constant ${EGELU} : i1
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %i0 = arith.muli %bx, %c8 : index
    %j0 = arith.muli %by, %c32 : index
    %i = arith.addi %i0, %ty : index
    %j = arith.addi %j0, %tx : index
    %m = memref.dim %D, %c0 : !some
    %n = memref.dim %D, %c1 : !some
    %a = arith.cmpi ult, %i, %m : index
    %b = arith.cmpi ult, %j, %n : index
    %is_there = arith.andi %a, %b : i1
    scf.if %is_there {
      %p0 = memref.load %P[%i, %j] : !sums
      %p = arith.${EFROM} %p0 : ${EP} to ${ES}
      %x0 = arith.mulf %p, %alpha : ${ES}
      %x1 = scf.if %use_c -> (${ES}) {
        %y0 = memref.load %C[%i, %j] : !some
        %y = arith.${EEXT} %y0 : ${ED} to ${ES}
        %z = arith.mulf %y, %beta : ${ES}
        %s = arith.addf %x0, %z : ${ES}
        scf.yield %s : ${ES}
      } else {
        scf.yield %x0 : ${ES}
      }
      %x2 = scf.if %use_bias -> (${ES}) {
        %y0 = memref.load %bias[%j] : !line
        %y = arith.${EEXT} %y0 : ${ED} to ${ES}
        %s = arith.addf %x1, %y : ${ES}
        scf.yield %s : ${ES}
      } else {
        scf.yield %x1 : ${ES}
      }
      %zero = arith.constant 0.0 : ${ES}
      %positive = arith.maximumf %x2, %zero : ${ES}
      %x3 = arith.select %relu, %positive, %x2 : ${ES}
      %x4 = scf.if %gelu -> (${ES}) {
        %f = arith.${ETOF32} %x3 : ${ES} to f32
        %one = arith.constant 1.0 : f32
        %cubic = arith.constant 0.044715 : f32
        %scale = arith.constant -1.5957691216057308 : f32
        %ff = arith.mulf %f, %f : f32
        %fff = arith.mulf %ff, %f : f32
        %inner = math.fma %fff, %cubic, %f : f32
        %scaled = arith.mulf %inner, %scale : f32
        %e = math.exp %scaled : f32
        %below = arith.addf %one, %e : f32
        %g = arith.divf %f, %below : f32
        %s = arith.${EFROMF32} %g : f32 to ${ES}
        scf.yield %s : ${ES}
      } else {
        scf.yield %x3 : ${ES}
      }
      %r = arith.${ETO} %x4 : ${ES} to ${ED}
      memref.store %r, %D[%i, %j] : !some
    }
    gpu.return
  }
}
func.func @gemm_epilogue(%P: !sums {cute.name = "P"}, %C: !some {cute.name = "C"}, %bias: !line {cute.name = "bias"},
                         %D: !some {cute.name = "D"}, %alpha: ${ES} {cute.name = "alpha"}, %beta: ${ES} {cute.name = "beta"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %m = memref.dim %D, %c0 : !some
  %n = memref.dim %D, %c1 : !some
  %gm = arith.ceildivui %m, %c8 : index
  %gn = arith.ceildivui %n, %c32 : index
  gpu.launch_func @epilogue::@gemm_epilogue blocks in (%gm, %gn, %c1) threads in (%c32, %c8, %c1)
    args(%P : !sums, %C : !some, %bias : !line, %D : !some, %alpha : ${ES}, %beta : ${ES})
  return
}
// In an editor: -D EP=f32 -D ED=f16 -D ES=f32 -D EFROM=bitcast -D EEXT=extf -D ETO=truncf -D ETOF32=bitcast
// -D EFROMF32=bitcast -D EC=1 -D EBIAS=1 -D ERELU=1 -D EGELU=0
