module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, bin = "\7FELF\02\01abc\\\"q\0A">]
  gpu.binary @two [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = "//\0A.version 8.0\0A.target sm_80\0A">, #gpu.object<#nvvm.target<O = 3, chip = "sm_90">, properties = {O = 3 : i32}, offload = "BLOB\01\02">]
  gpu.binary @three <#gpu.select_object<1>> [#gpu.object<#nvvm.target, "fatb">, #gpu.object<#nvvm.target<chip = "sm_90">, "fatb2">]
  func.func @f(%a: i32) -> i32 { %0 = arith.addi %a, %a : i32 return %0 : i32 }
}
