gpu.launch_func @k::@f blocks in (%a, %b, %c)
  threads in (%a, %b, %c) args(%p : memref<?xf32>)
gpu.launch blocks(%x, %y, %z) in (%u = %a, %v = %a, %w = %a) threads(%i, %j, %k) in (%l = %a, %m = %a, %n = %a) { gpu.terminator }
#obj = #gpu.object<#t, "x">
#t = #nvvm.target<chip = "sm_90">
gpu.binary @aliased [#obj]
