"builtin.module"() ({
  "gpu.binary"() <{objects = [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "\7FELF\02\01abc\\\22q\0A">], offloadingHandler = #gpu.select_object, sym_name = "kernels"}> : () -> ()
  "gpu.binary"() <{objects = [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = "//\0A.version 8.0\0A.target sm_80\0A">, #gpu.object<#nvvm.target<O = 3, chip = "sm_90">, properties = {O = 3 : i32}, offload = "BLOB\01\02">], offloadingHandler = #gpu.select_object, sym_name = "two"}> : () -> ()
  "gpu.binary"() <{objects = [#gpu.object<#nvvm.target, "fatb">, #gpu.object<#nvvm.target<chip = "sm_90">, "fatb2">], offloadingHandler = #gpu.select_object<1 : i64>, sym_name = "three"}> : () -> ()
  "func.func"() <{function_type = (i32) -> i32, sym_name = "f"}> ({
  ^bb0(%arg0: i32):
    %0 = "arith.addi"(%arg0, %arg0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32
    "func.return"(%0) : (i32) -> ()
  }) : () -> ()
}) {gpu.container_module} : () -> ()

