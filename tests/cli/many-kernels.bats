# Time grows with the number of kernels, not with its square: four times as many take less than eight times as long.

setup() {
    PATH=$CUTE_BIN:$PATH
    cd "$BATS_TEST_TMPDIR"
}

# seconds COMMAND...: of the processor, in thousandths.
seconds() {
    local TIMEFORMAT='%U %S'
    { time "$@" >out; } 2>time
    awk '{ printf "%d\n", ($1 + $2) * 1000 }' time
}

# grows FEW MANY
grows() {
    echo "few: $1 ms, many: $2 ms"
    [ "$2" -lt $((8 * $1 + 100)) ]
}

kernels() {
    awk -v n="$1" 'BEGIN { print "gpu.module @m {"
        for (i = 0; i < n; i++) print "gpu.func @k" i "(%a: memref<?xf32>) kernel {\n %t = gpu.thread_id x\n" \
            " %v = memref.load %a[%t] : memref<?xf32>\n %w = arith.addf %v, %v : f32\n" \
            " memref.store %w, %a[%t] : memref<?xf32>\n gpu.return\n}"
        print "}" }'
}

entries() {
    awk -v n="$1" 'BEGIN {
        for (i = 0; i < n; i++) print "//!cute {\"format\":1,\"kernel\":\"k" i "\",\"args\":[{\"name\":\"a\",\"kind\":\"pointer\",\"first\":0,\"count\":1}]}"
        print ".version 8.0\n.target sm_90\n.address_size 64"
        for (i = 0; i < n; i++) print ".visible .entry k" i "(.param .u64 k" i "_param_0)\n{\nret;\n}" }'
}

@test "a module of many kernels becomes PTX in time that is linear" {
    kernels 1000 >few.mlir
    kernels 4000 >many.mlir
    grows "$(seconds cute-ptx few.mlir -o few.ptx)" "$(seconds cute-ptx many.mlir -o many.ptx)"
    [ "$(grep -c '^.visible .entry' many.ptx)" = 4000 ]
}

@test "the kernels of a module of many are listed in time that is linear" {
    entries 5000 >few.ptx
    entries 20000 >many.ptx
    grows "$(seconds cute-dump show few.ptx)" "$(seconds cute-dump show many.ptx)"
}
