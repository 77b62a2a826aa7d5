# Textures and surfaces: bound in launch.json, read and written on the emulator, made with a driver's descriptors.

setup_file() {
    export WORK=$BATS_FILE_TMPDIR
    cd "$WORK"
    cat >t.mlir <<'E'
gpu.module @m {
  llvm.func @llvm.nvvm.suld.2d.i32.trap(i64, i32, i32) -> i32
  llvm.func @llvm.nvvm.sust.b.2d.i32.trap(i64, i32, i32, i32)
  // out[y, x] = the texture at (scale * (x + dx), scale * (y + dy)), all channels.
  gpu.func @sample(%t: i64, %scale: f32, %dx: f32, %dy: f32, %out: memref<?x?x4xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %x = gpu.thread_id x
    %y = gpu.block_id x
    %xi = arith.index_cast %x : index to i32
    %yi = arith.index_cast %y : index to i32
    %xf = arith.sitofp %xi : i32 to f32
    %yf = arith.sitofp %yi : i32 to f32
    %x0 = arith.addf %xf, %dx : f32
    %y0 = arith.addf %yf, %dy : f32
    %xc = arith.mulf %x0, %scale : f32
    %yc = arith.mulf %y0, %scale : f32
    %a = llvm.call_intrinsic "llvm.nvvm.tex.unified.2d.v4f32.f32"(%t, %xc, %yc) : (i64, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %r = llvm.extractvalue %a[0] : !llvm.struct<(f32, f32, f32, f32)>
    %g = llvm.extractvalue %a[1] : !llvm.struct<(f32, f32, f32, f32)>
    %b = llvm.extractvalue %a[2] : !llvm.struct<(f32, f32, f32, f32)>
    %al = llvm.extractvalue %a[3] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %r, %out[%y, %x, %c0] : memref<?x?x4xf32>
    memref.store %g, %out[%y, %x, %c1] : memref<?x?x4xf32>
    memref.store %b, %out[%y, %x, %c2] : memref<?x?x4xf32>
    memref.store %al, %out[%y, %x, %c3] : memref<?x?x4xf32>
    gpu.return
  }
  // out[i] = texel i of linear memory.
  gpu.func @fetch(%t: i64, %out: memref<?xi32>) kernel {
    %x = gpu.thread_id x
    %xi = arith.index_cast %x : index to i32
    %a = llvm.call_intrinsic "llvm.nvvm.tex.unified.1d.v4s32.s32"(%t, %xi) : (i64, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    %r = llvm.extractvalue %a[0] : !llvm.struct<(i32, i32, i32, i32)>
    memref.store %r, %out[%x] : memref<?xi32>
    gpu.return
  }
  // The surface's texel plus 1000, n rows of 32.
  gpu.func @add(%s: i64) kernel {
    %x = gpu.thread_id x
    %y = gpu.block_id x
    %xi = arith.index_cast %x : index to i32
    %yi = arith.index_cast %y : index to i32
    %c4 = arith.constant 4 : i32
    %c1000 = arith.constant 1000 : i32
    %at = arith.muli %xi, %c4 : i32
    %v = llvm.call @llvm.nvvm.suld.2d.i32.trap(%s, %at, %yi) : (i64, i32, i32) -> i32
    %w = arith.addi %v, %c1000 : i32
    llvm.call @llvm.nvvm.sust.b.2d.i32.trap(%s, %at, %yi, %w) : (i64, i32, i32, i32) -> ()
    gpu.return
  }
}
E
    "$CUTE_BIN/cute-ptx" t.mlir -o t.ptx
}

setup() {
    run_=$CUTE_BIN/cute-run
    cd "$WORK"
}

# sample JSON-of-the-texture [DTYPE SHAPE ROWS COLUMNS SCALE]: launch.json, with quotes ' for ".
sample() {
    echo "{'kernel': 'sample', 'grid': ${4-8}, 'block': ${5-16}, 'buffers': {'A': {'dtype': '${2-f32}', 'shape': ${3-[8, 16]}, 'init': ${7-{'expr': '(i * 37 + j * 11) % 64'\}}},
      'O': {'dtype': 'f32', 'shape': [${4-8}, ${5-16}, 4], 'unwritten': 'allow'}}, 'args': [{'texture': {'buffer': 'A'$1}}, ${6-1.0}, 0.75, 0.125, 'O'], 'outputs': {'O': 'O.npy'}}" |
        tr "'" '"' >launch.json
}

passes() {
    run "$run_" t.ptx --config launch.json --device emulator "$@"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

refuses() {
    run "$run_" t.ptx --config launch.json --device emulator
    [ "$status" -eq 1 ] && [[ "$output" == *"$1"* ]] || { echo "$status: $output"; false; }
}

# Compares O.npy with the guide's formulas in Python: modes of y and x, filter, normalized, channels, divisor of integers.
formulas() {
    python3 - "$@" <<'E'
import math, struct, sys
mode_y, mode_x, filter, normalized, rows, columns, channels, divisor, border = sys.argv[1:]
rows, columns, channels, divisor, border, normalized = int(rows), int(columns), int(channels), float(divisor), float(border), normalized == "true"
raw = open("O.npy", "rb").read()
out = struct.unpack("<%df" % (8 * 16 * 4), raw[-8 * 16 * 4 * 4:])
single = lambda v: struct.unpack("<f", struct.pack("<f", v))[0]

def index(i, n, mode):
    if mode == "wrap":
        return i % n
    if mode == "mirror":
        return min(i % (2 * n), 2 * n - 1 - i % (2 * n))
    if 0 <= i < n:
        return i
    return None if mode == "border" else min(max(i, 0), n - 1)

def texel(y, x, c):
    y, x = index(y, rows, mode_y), index(x, columns, mode_x)
    if c >= channels:
        return 0
    if y is None or x is None:
        return border
    return single((y * 37 + x * 11 + c * 5) % 64 / divisor)

wrong = 0
for i in range(8):
    for j in range(16):
        scale = single(1 / 12) if normalized else 1
        x, y = single((j + 0.75) * scale), single((i + 0.125) * scale)
        if normalized:
            x, y = math.floor(x * 2**21) / 2**21 * columns, math.floor(y * 2**21) / 2**21 * rows
        for c in range(4):
            if filter == "point":
                want = texel(math.floor(y), math.floor(x), c)
            else:
                ix, iy = math.floor(x - 0.5), math.floor(y - 0.5)
                a, b = math.floor((x - 0.5 - ix) * 256 + 0.5) / 256, math.floor((y - 0.5 - iy) * 256 + 0.5) / 256
                want = ((1 - a) * (1 - b) * texel(iy, ix, c) + a * (1 - b) * texel(iy, ix + 1, c) +
                        (1 - a) * b * texel(iy + 1, ix, c) + a * b * texel(iy + 1, ix + 1, c))
            got = out[(i * 16 + j) * 4 + c]
            if abs(got - want) > 1e-6 * max(1, abs(want)):
                wrong += 1
                if wrong < 4:
                    print(f"({i}, {j}, {c}): {got}, expected {want}")
sys.exit(wrong != 0)
E
}

@test "textures are addressed and filtered as the guide says, against formulas in Python" {
    for filter in point linear; do
        for mode in clamp border; do
            sample ", 'kind': '2d', 'filter': '$filter', 'address': '$mode', 'border': 7, 'shape': [5, 13], 'strides': [16, 1]"
            passes
            formulas $mode $mode $filter false 5 13 1 1 7
        done
        for mode in wrap mirror clamp; do
            sample ", 'kind': '2d', 'filter': '$filter', 'address': ['$mode', 'clamp'], 'normalized': true" f32 "[8, 16]" 8 16 0.083333333333333
            passes
            formulas $mode clamp $filter true 8 16 1 1 0
        done
    done
}

@test "channels, integers as normalized numbers and half precision are read from the buffer" {
    sample ", 'kind': '2d', 'filter': 'linear', 'read': 'normalized'" u8 "[8, 16, 4]" 8 16 1.0 "{'expr': '(i * 37 + j * 11 + k * 5) % 64'}"
    passes
    formulas clamp clamp linear false 8 16 4 255 0
    sample ", 'kind': '2d', 'read': 'normalized'" i16 "[8, 16, 2]" 8 16 1.0 "{'expr': '(i * 37 + j * 11 + k * 5) % 64'}"
    passes
    formulas clamp clamp point false 8 16 2 32767 0
    sample ", 'kind': '2d', 'memory': 'pitch', 'filter': 'linear'" f16 "[8, 16]"
    passes
    formulas clamp clamp linear false 8 16 1 1 0
}

@test "the plan of a launch shows each texture and surface" {
    sample ", 'kind': '2d', 'filter': 'linear', 'address': ['wrap', 'clamp'], 'normalized': true, 'read': 'normalized', 'gather': true" u8 "[8, 16, 4]"
    passes --dry-run
    [[ "$output" == *"2d texture of 'A', 8x16 texels of 4 x u8, array, address wrap clamp, filter linear, normalized coordinates, read as normalized numbers, gather"* ]]
    passes --dry-run --json
    [[ "$output" == *'"textures"'* ]]
    echo '{"kernel": "add", "grid": 4, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": [4, 32], "init": "iota"}}, "args": [{"surface": {"buffer": "S", "kind": "2d"}}]}' >launch.json
    passes --dry-run
    [[ "$output" == *"2d surface of 'S', 4x32 texels of 1 x i32, array"* ]]
}

@test "a surface is read and written in its buffer" {
    echo '{"kernel": "add", "grid": 4, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": [4, 32], "init": "iota"}}, "args": [{"surface": {"buffer": "S", "kind": "2d"}}],
           "check": {"S": "i * 32 + j + 1000"}}' >launch.json
    passes --check=all
    [[ "$output" == *"check S: passed, 128 elements"* ]]
    sed -i 's/"grid": 4/"grid": 5/' launch.json
    refuses "suld.trap accesses row 4 of a 2d surface: expected 0 to 3"
}

@test "the launches of a sequence see the texels that earlier ones wrote" {
    echo '{"buffers": {"S": {"dtype": "i32", "shape": [1, 32], "init": "iota"}, "O": {"dtype": "i32", "shape": [40]}}, "launches": [
            {"kernel": "add", "grid": 1, "block": 32, "args": [{"surface": {"buffer": "S", "kind": "2d"}}]},
            {"kernel": "fetch", "grid": 1, "block": 40, "args": [{"texture": {"buffer": "S", "kind": "1d", "memory": "linear", "shape": 32}}, "O"]}],
           "check": {"O": "(i + 1000) * (i < 32)"}}' >launch.json
    passes --check=all
    [[ "$output" == *"check O: passed, 40 elements"* ]]
}

@test "each of several devices has objects of its own memory" {
    echo '{"buffers": {"S": {"dtype": "i32", "shape": [2, 32], "init": "iota", "shard": true}, "O": {"dtype": "i32", "shape": 64, "shard": true}}, "launches": [
            {"kernel": "add", "grid": 1, "block": 32, "args": [{"surface": {"buffer": "S", "kind": "2d"}}]},
            {"kernel": "fetch", "grid": 1, "block": 32, "args": [{"texture": {"buffer": "S", "kind": "1d", "shape": 32}}, "O"]}],
           "check": {"O": "i + 1000"}}' >launch.json
    passes --devices=2 --check=all
    [[ "$output" == *"check O: passed, 64 elements"* ]]
}

@test "reads of unwritten texels, and of texels that the same kernel writes, are found" {
    echo '{"steps": [{"kernel": "add", "grid": 1, "block": 32, "args": [{"surface": {"buffer": "S", "kind": "2d"}}]}],
           "buffers": {"S": {"dtype": "i32", "shape": [1, 32]}}}' >launch.json
    run "$run_" t.ptx --config launch.json --device emulator --check=uninit
    [ "$status" -eq 4 ] && [[ "$output" == *"uninitialised: suld reads byte 0 of S, which was never written"* ]] || { echo "$status: $output"; false; }
    cat >race.ptx <<'E'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 p) {
  .reg .b64 %d<4>; .reg .b32 %r<8>;
  ld.param.u64 %d0, [t];
  ld.param.u64 %d1, [p];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r0;
  tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%d0, {%r0}];
  st.global.u32 [%d1], %r1;
  ret;
}
E
    echo '{"grid": 1, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": 32, "init": "iota"}},
           "args": [{"texture": {"buffer": "S", "kind": "1d", "memory": "linear"}}, "S"]}' >launch.json
    run "$run_" race.ptx --config launch.json --device emulator --check=race
    [ "$status" -eq 4 ] && [[ "$output" == *"race: tex reads through the non-coherent path data that the same kernel writes"* ]] || { echo "$status: $output"; false; }
}

@test "each mistake in the binding of a texture is refused with what would be right" {
    # the argument
    echo '{"kernel": "add", "grid": 1, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": [4, 32], "init": "iota"}}, "args": ["S"]}' >launch.json
    refuses "argument 0"
    echo '{"kernel": "fetch", "grid": 1, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": [32], "init": "iota"}}, "args": [7, "S"]}' >launch.json
    refuses "tex uses 0x7, which is not the handle of a texture object; fix: bind the argument to one"
    echo '{"kernel": "fetch", "grid": 1, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": [32], "init": "iota"}}, "args": [0, {"texture": {"buffer": "S", "kind": "1d"}}]}' >launch.json
    refuses "expected an argument of i64 for the handle of a texture, got argument 1 (out), a memref of i32"
    sample ", 'kind': '2d'" f32 "[8, 16]" 8 16 1.0 '"none"'
    sed -i 's/, "init": "none"//' launch.json
    refuses "the texture reads buffer 'A', which has no 'init' and is not written by an earlier launch"
    # the buffer
    sample ", 'kind': '2d'" f64
    refuses "expected texels of u8, u16, u32, i8, i16, i32, f16 or f32, got 'A' of f64"
    sample ", 'kind': '3d'"
    refuses "expected 3 dimensions for kind 3d, or one more for the channels, got 2 in buffer 'A'"
    sample ", 'kind': '1d'"
    refuses "expected 1, 2 or 4 channels in the last dimension, got 16"
    sample ", 'kind': '2d', 'shape': [4, 8], 'strides': [16, 2]"
    refuses "expected the texels of a row without gaps, got stride 2 between them"
    sample ", 'kind': '2d', 'shape': [0, 8]"
    refuses "expected at least 1 element in dimension 0 of a texture, got 0"
    sample ", 'kind': 'cube', 'shape': [4, 4, 4]"
    refuses "expected 6 faces in dimension 0 of kind cube, got 4"
    sample ", 'kind': 'cube_layered', 'shape': [2, 6, 2, 2], 'strides': [30, 4, 2, 1]"
    refuses "expected cubes without gaps, got stride 30 between them"
    # how it is read
    sample ", 'kind': '2d', 'address': ['wrap', 'wrap', 'clamp']"
    refuses "expected 2 address modes, one for each dimension, got 3"
    sample ", 'kind': '2d', 'address': 'wrap'"
    refuses "expected normalized coordinates for address mode wrap; others are clamp and border"
    sample ", 'kind': '2d', 'filter': 'linear'" i32
    refuses "expected floating-point texels for filter linear, got i32"
    sample ", 'kind': '2d', 'filter': 'cubic'"
    refuses "unknown value 'cubic'"
    sample ", 'kind': '2d'" i32
    refuses "tex reads .f32, but texels of i32 are integers: expected .v4.s32 or .v4.u32"
    sample ", 'kind': '2d', 'memory': 'pitch', 'offset': 16, 'shape': [4, 16]"
    refuses "expected texels at a multiple of 512 bytes, got 0x40; memory 'array' has no alignment"
    # arrays are copies
    echo '{"kernel": "sample", "grid": 8, "block": 16, "buffers": {"O": {"dtype": "f32", "shape": [8, 16, 4], "init": "ones"}},
           "args": [{"texture": {"buffer": "O", "kind": "2d"}}, 1.0, 0.0, 0.0, "O"]}' >launch.json
    refuses "buffer 'O' is bound to a texture and to another argument that may write it"
    [[ "$output" == *"note: expected another buffer: during the launch the texture is an array, a copy of its buffer"* ]]
}

@test "the instructions of objects are held to their forms" {
    while IFS='|' read -r text message; do
        printf '%s\n' ".version 8.0" ".target sm_80" ".address_size 64" ".visible .entry k(.param .u64 t) {" \
            ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f<8>; ld.param.u64 %d0, [t]; mov.u32 %r0, 0; mov.f32 %f0, 0f00000000;" "$text" "ret; }" >w.ptx
        echo '{"grid": 1, "block": 1, "args": [{"type": "i64", "value": 0}]}' >launch.json
        run "$run_" w.ptx --config launch.json --device emulator
        [ "$status" -eq 1 ] && [[ "$output" == *"$message"* ]] || { echo "$text: $status: $output"; false; }
    done <<'E'
tex.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%d0, {%r0}];|expected a geometry: .1d, .2d, .3d, .a1d, .a2d, .cube or .acube
tex.2d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%d0, {%r0}];|expected 2 coordinates, got 1
tex.1d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%r0, {%r0}];|expected a handle of 64 bits
tex.1d.v4.f16.s32 {%r1,%r2,%r3,%r4}, [%d0, {%r0}];|expected texels of .u32, .s32 or .f32 and coordinates of .s32 or .f32
tld4.r.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d0, {%r0,%r0}];|and coordinates of .f32
tex.1d.s32.s32 %r1, [%d0, {%r0}];|expected .v4 and a list of 4 registers
tex.grad.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d0, {%f0}], %f0, %f0;|expected a list of gradients
tld4.r.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d0, {%f0,%f0}];|expected a geometry
tld4.r.cube.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d0, {%f0,%f0,%f0}];|tld4 is not supported: emulated for .2d
suld.b.1d.f32.trap {%f1}, [%d0, {%r0}];|expected .b8, .b16, .b32 or .b64, and at most 16 bytes
suld.b.1d.v4.b64.trap {%d1,%d1,%d1,%d1}, [%d0, {%r0}];|expected .b8, .b16, .b32 or .b64, and at most 16 bytes
suld.b.1d.b32 {%r1}, [%d0, {%r0}];|expected .trap, .clamp or .zero
suld.b.1d.v2.b32.trap {%r1}, [%d0, {%r0}];|expected a list of 2 registers
sured.b.add.1d.u16.trap [%d0, {%r0}], %r0;|expected a type of 32 or 64 bits
sust.p.1d.v4.b32.trap [%d0, {%r0}], {%r0,%r0,%r0,%r0};|formatted stores are not emulated; fix: sust.b
txq.filter_mode.b32 %r1, [%d0];|the emulated queries are .width
E
}

@test "a driver gets arrays, descriptors and copies for textures and surfaces" {
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/librecordcuda.so" RECORDCUDA="$PWD/record.txt"
    "$CUTE_BIN/cute-link" t.ptx -o t.cubin
    records() {
        rm -f record.txt
        run "$run_" t.cubin --config launch.json --device 0 --no-check "$@"
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    }
    has() { grep -q "^$1" record.txt || { echo "no $1 in:"; cat record.txt; false; }; }
    sample ", 'kind': '2d', 'filter': 'linear', 'address': ['border', 'clamp'], 'border': [0.5, 2]" f32 "[8, 16]"
    records
    has "array 16x8x0 format 32 channels 1 flags 0"
    has "copy 64 bytes x 8 x 1 from memory to array"
    has "texture 1 of array 16x8x0 modes 1 3 1 filter 1 flags 0 border 0.5 2"
    has "sample grid 8 1 1 block 16 1 1 shared 0 |0100000000000000 |"
    [ "$(grep -c '^array [0-9]' record.txt)" -eq "$(grep -c '^array destroyed' record.txt)" ]
    [ "$(grep -c '^texture [0-9]' record.txt)" -eq "$(grep -c '^texture destroyed' record.txt)" ]
    sample ", 'kind': '2d', 'address': ['wrap', 'mirror'], 'normalized': true, 'gather': true" u8 "[8, 16, 4]"
    records
    has "array 16x8x0 format 1 channels 4 flags 8"
    has "texture 1 of array 16x8x0 modes 2 0 1 filter 0 flags 3"
    sample ", 'kind': '2d', 'memory': 'pitch'" f16 "[8, 16]"
    records
    has "texture 1 of memory kind 3 format 16 channels 1: 16 8 32 modes 1 1 1 filter 0 flags 0"
    sample ", 'kind': 'cube_layered', 'shape': [2, 6, 2, 2]" i16 "[64]" 8 16 1.0 "'iota'"
    records
    has "array 2x2x12 format 9 channels 1 flags 5"
    sample ", 'kind': '1d_layered', 'read': 'normalized'" i8 "[3, 16, 2]" 8 16 1.0 "'iota'"
    records
    has "array 16x0x3 format 8 channels 2 flags 1"
    has "copy 32 bytes x 1 x 3 from memory to array"
    sample ", 'kind': '3d'" u32 "[2, 4, 16]" 8 16 1.0 "'iota'"
    records
    has "array 16x4x2 format 3 channels 1 flags 0"
    echo '{"kernel": "fetch", "grid": 1, "block": 32, "buffers": {"S": {"dtype": "i32", "shape": [32], "init": "iota"}, "O": {"dtype": "i32", "shape": 32, "unwritten": "allow"}},
           "args": [{"texture": {"buffer": "S", "kind": "1d", "memory": "linear"}}, "O"]}' >launch.json
    records
    has "texture 1 of memory kind 2 format 10 channels 1: 128 0 0 modes 1 1 1 filter 0 flags 1"
    # a surface's array is loaded before each launch and stored after it
    echo '{"grid": 4, "block": 32, "buffers": {"S": {"dtype": "u16", "shape": [4, 64], "init": "ones"}}, "kernel": "add", "args": [{"surface": {"buffer": "S", "kind": "2d"}}]}' >launch.json
    records
    has "array 64x4x0 format 2 channels 1 flags 2"
    has "surface 1 of array 64x4x0"
    [ "$(grep -n '^copy 128 bytes x 4 x 1 from array to memory' record.txt | cut -d: -f1)" -gt "$(grep -n '^add grid' record.txt | cut -d: -f1)" ]
    # a driver without them
    printf '%s\n' ".version 8.0" ".target sm_80" ".address_size 64" ".visible .entry vector_add(.param .u64 t) { ret; }" >old.ptx
    echo '{"grid": 1, "block": 1, "buffers": {"S": {"dtype": "f32", "shape": 4, "init": "ones"}}, "args": [{"texture": {"buffer": "S", "kind": "1d"}}]}' >launch.json
    CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" run "$run_" old.ptx --config launch.json --device 0 --no-check
    [ "$status" -eq 3 ] && [[ "$output" == *"this driver is too old for textures and surfaces"* ]] || { echo "$status: $output"; false; }
}

@test "random fetches of all kinds, as compared with a GPU, run on the emulator" {
    run "$BATS_TEST_DIRNAME/../gpu/textures" "$CUTE_BIN" --cases=24 --devices=emulator,emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"cube_layered"* && "$output" == *"2d linear"* ]]
}
