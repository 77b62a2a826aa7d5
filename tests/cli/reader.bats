# Operations written without the types that follow.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    TYPELESS=$ROOT/tests/fuzz/typeless
    cd "$BATS_TEST_TMPDIR"
}

@test "the kernels without the types that follow are the same kernels" {
    grep -E '^(vector_add|hand_copy|hand_transpose|saxpy|matmul_tiled) ' "$ROOT/kernels/kernels.txt" >kernels
    [ "$(wc -l <kernels)" -eq 5 ]
    while read -r _ source defines; do
        "$TYPELESS" same cute-opt "$ROOT/kernels/$source" $defines
    done <kernels
}

@test "broken texts without types end in an error, not in a signal" {
    "$TYPELESS" mutate cute-opt 2000 7 "$ROOT"/tests/lit/cute/reader/*.mlir "$ROOT"/bench/schedules/hand/copy.mlir
}

@test "a literal takes what -D says" {
    cat >k.mlir <<'EOF'
func.func @f(%n: i32) -> i32 {
  %l = cute.make_layout (${BM}, %n), (%n, ${BM/8})
  %s = cute.size %l
  %i = cute.get_scalars %s
  return %i : i32
}
EOF
    run cute-opt -D BM=64 k.mlir
    [ "$status" -eq 0 ]
    [[ "$output" == *'!cute.layout<"(64,?):(?,8)">'* ]]
}

@test "an error in a line without types stands at its place, with the types of its operands" {
    printf 'func.func @f(%%n: i32) {\n  %%s = cute.make_shape(4, %%n)\n  %%x = cute.get<[2]> %%s\n  return\n}\n' >k.mlir
    run cute-opt k.mlir
    [ "$status" -eq 1 ]
    [[ "$output" == *"k.mlir:3:8: error: "*"mode index in [0, 2)"* ]]
    [[ "$output" == *"k.mlir:2:8: note: %s is a '!cute.shape<\"(4,?)\">'"* ]]
}

# The blocks of the chapter on writing IR, the first as 1.mlir.
blocks() {
    awk '/^```mlir/ { n++; on = 1; next } /^```/ { on = 0 } on { print > (n ".mlir") }' "$ROOT/docs/writing-ir.md"
    [ -e 3.mlir ]
}

@test "what the chapter on writing IR shows is read, and printed with all types" {
    blocks
    for block in ?.mlir; do
        cute-opt -D M=64 -D N=64 "$block" >typed
        grep -v '^//' typed | cute-opt | grep -v '^//' >again
        grep -v '^//' typed | cmp - again
    done
}

@test "the kernel of the chapter on writing IR copies, four elements at once" {
    blocks
    cute-opt -D M=64 -D N=64 1.mlir | cute-ptx >k.ptx
    grep -q 'ld.global.v4.f32' k.ptx
    grep -q 'st.global.v4.f32' k.ptx
    cat >launch.json <<'EOF'
{"kernel": "tiled_copy", "params": {"n": 64}, "grid": [4, 2], "block": 128,
 "buffers": {"a": {"dtype": "f32", "shape": ["n", "n"], "init": "normal"}, "b": {"dtype": "f32", "shape": ["n", "n"]}},
 "args": ["a", "b"], "check": {"b": {"expr": "a[i, j]", "ulp": 0}}}
EOF
    cute-run k.ptx --config launch.json --device emulator --check=all
}

@test "the histogram of the chapter on writing IR counts, in each block and then in all" {
    blocks
    cute-ptx "$(grep -l @histogram ?.mlir)" >k.ptx
    grep -q 'atom.relaxed.cta.shared.add.u32' k.ptx
    cute-run k.ptx -d emulator --check=all --no-bench -c - <<'EOF'
{"kernel": "histogram", "params": {"n": 1000}, "grid": ["(n + 255) / 256"], "block": 256,
 "buffers": {"x": {"dtype": "u8", "shape": ["n"], "init": "iota"}, "h": {"dtype": "i32", "shape": [256], "init": "zeros"}},
 "args": ["x", "h"], "check": {"h": "sum(q, 1000, x[q] == i ? 1 : 0)"}}
EOF
}

# product TYPE: tests/data/spellings.mlir on random elements.
product() {
    cute-opt -D T="$1" "$ROOT/tests/data/spellings.mlir" >typed
    grep -v '^//' typed | cute-opt | grep -v '^//' >again
    grep -v '^//' typed | cmp - again
    cute-ptx -arch sm_80 typed >k.ptx
    grep -q 'ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16' k.ptx
    grep -q "mma.sync.aligned.m16n8k16.row.col.f32.$1.$1.f32" k.ptx
    cat >launch.json <<EOF
{"kernel": "product", "grid": 1, "block": 32, "dynamic_smem": 768,
 "buffers": {"a": {"dtype": "$1", "shape": [16, 16], "init": "normal"}, "b": {"dtype": "$1", "shape": [16, 8], "init": "normal"},
             "c": {"dtype": "f32", "shape": [16, 8], "init": "normal"}, "r": {"dtype": "f32", "shape": [16, 8]}},
 "args": ["a", "b", "c", {"memref": "r"}],
 "check": {"r": {"expr": "sum(k, 16, a[i, k] * b[k, j]) + c[i, j]", "atol": 0.00001}}}
EOF
    cute-run k.ptx --config launch.json --device emulator --check=all
}

@test "a warp's product in the spellings of GPU texts: gpu.load, ldmatrix, warp_mma_f16bf16, barrier_wait, constants" {
    product f16
    product bf16
}
