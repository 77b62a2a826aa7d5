#!/usr/bin/env bats
# The layouts in a kernel and their pictures (cute-dump layouts).
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
    [ -x "$CUTE_BIN/cute-ptx" ] || skip "no cute-ptx"
    cat >k.mlir <<'END'
gpu.module @m {
  gpu.func @k(%a: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>>
    %s = cute.make_view %smem, "S<3,3,3> o 0 o (64,64,2):(64,1,4096)"
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %copy = cute.make_tiled_copy %atom, "(8,8):(8,1)", "(1,8):(0,1)"
    %mma_atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %mma_atom, "(2,1,1):(1,0,0)"
    gpu.return
  }
}
END
    cute-ptx -arch sm_90a k.mlir -o k.ptx
}

@test "tensors, tiled copies and MMAs of a kernel are listed with their lines" {
    run -0 cute-dump layouts k.ptx
    [[ "$output" == *"k: 3 layouts"* ]]
    [[ "$output" == *"1  tensor      k.mlir:4  S<3,3,3> o 0 o (64,64,2):(64,1,4096)  16384 bytes"*"smem f16, swizzle S<3,3,3>"* ]]
    [[ "$output" == *"2  tiled copy  k.mlir:6 "*"64 threads, 8 values"* ]]
    [[ "$output" == *"3  MMA         k.mlir:8 "*"64 threads"* ]]
    run -0 cute-dump layouts k.ptx --json
    python3 - "$output" <<'PYTHON'
import json, sys
tensor, copy, mma = json.loads(sys.argv[1])["kernels"][0]["layouts"]
assert (tensor["kind"], tensor["space"], tensor["type"], tensor["bytes"], tensor["line"]) == ("tensor", "smem", "f16", 16384, 4)
assert (copy["threads"], copy["values"]) == (64, 8)
assert mma["threads"] == 64 and mma["atom"].startswith("!cute_nvgpu.sm80.mma<16x8x16")
PYTHON
}

@test "pictures show where the swizzle puts elements, as text, SVG and on a page" {
    run -0 cute-dump layouts k.ptx --table
    # Row 1 begins at element 64 + 8: chunks of 8 are exchanged.
    [[ "$output" == *"16 x 16 of 64 x 64, the first of 2"* ]]
    grep -Eq '\| +72 \| +73 ' <<<"$output"
    cute-dump layouts k.ptx --svg --number=1 -o s.svg
    python3 - <<'PYTHON'
import xml.etree.ElementTree as tree
texts = [t.text for t in tree.parse("s.svg").iter("{http://www.w3.org/2000/svg}text")]
assert texts.count("72") == 1 and texts.count("4095") == 1
PYTHON
    cute-dump layouts k.ptx --html -o k.html
    [ "$(grep -o '<svg' k.html | wc -l)" -ge 3 ]
    run ! grep -E 'src=|href="[^#]|<script' k.html
}

@test "a picture is asked for by its number" {
    run -2 cute-dump layouts k.ptx --svg
    [[ "$output" == *"--svg draws one layout, got 3"*"--number=N"* ]]
    run -2 cute-dump layouts k.ptx --svg --number=9
    [[ "$output" == *"expected a layout from 1 to 3, got 9"* ]]
    run -2 cute-dump layouts k.ptx --svg --json
    [[ "$output" == *"are mutually exclusive"* ]]
}

@test "boxes of TMA are listed with their swizzle; types of other versions as they stand; bad metadata is refused" {
    cat >t.ptx <<'END'
//!cute {"format":1,"kernel":"k","args":[{"name":"map","type":"tma","kind":"tensor_map","dtype":"f16","first":0,"count":1,"box":[64,64],"swizzle":"128B"}],"params":[{"size":128,"align":64}],"tensors":[{"type":"new kind","op":"x","line":3}]}
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) { ret; }
END
    run -0 cute-dump layouts t.ptx
    [[ "$output" == *"2  TMA box"*"map"*"(64,64)"*"f16, 128B"* ]]
    run -0 cute-dump layouts t.ptx --table
    grep -Eq '\| +72 \| +73 ' <<<"$output"
    sed 's/"type":"new kind",//' t.ptx >u.ptx
    run -1 cute-dump layouts u.ptx
    [[ "$output" == *"the metadata has a tensor without a type"* ]]
}

@test "a kernel without layouts says why, and pictures of it are refused" {
    cat >p.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .entry plain() { ret; }
END
    run -0 cute-dump layouts p.ptx
    [[ "$output" == "plain: 0 layouts: it has no metadata of cute-ptx" ]]
    run -0 cute-dump layouts p.ptx --json
    [[ "$output" == *'"no_layouts": "it has no metadata'* ]]
    run -2 cute-dump layouts p.ptx --svg --number=1
    run -2 cute-dump layouts k.ptx --number=1
    [[ "$output" == *"--number requires --svg"* ]]
    run -1 cute-dump layouts k.ptx --kernel nope
    [[ "$output" == *"no kernel 'nope'"*"kernels: k"* ]]
    printf 'gpu.module @m { gpu.func @k() kernel { gpu.return } }\n' >e.mlir
    run -0 cute-dump layouts e.mlir
    [[ "$output" == "k: 0 layouts: its IR has no tensors, tiled copies or MMAs" ]]
}
