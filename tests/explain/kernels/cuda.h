/* As much of CUDA C as the kernels here need: clang compiles them without a toolkit (tests/explain/compile). */
#define __global__  __attribute__((global))
#define __device__  __attribute__((device))
#define __shared__  __attribute__((shared))
#define KERNEL(...) extern "C" __global__ void __attribute__((launch_bounds(256))) __VA_ARGS__
#define tid         ((int)__nvvm_read_ptx_sreg_tid_x())
#define ntid        ((int)__nvvm_read_ptx_sreg_ntid_x())
#define bid         ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define nbid        ((int)__nvvm_read_ptx_sreg_nctaid_x())
#define barrier()   __syncthreads()
typedef float float4 __attribute__((ext_vector_type(4)));
typedef unsigned uint4 __attribute__((ext_vector_type(4)));
typedef _Float16 half;
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
