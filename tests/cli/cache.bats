#!/usr/bin/env bats
# $CUTE_CACHE: what the programs of the pipe made before comes out again, byte by byte, and nothing else does.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    cat > k.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k(%a: memref<?xi32>) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %i = gpu.thread_id x
    %v = arith.constant ${N} : i32
    memref.store %v, %a[%i] : memref<?xi32>
    gpu.return
  }
}
MLIR
    unset CUTE_CACHE
}

entries() { find "$PWD/cache" -name "$1-*" 2>/dev/null | wc -l; }

@test "the pipe gives the same bytes from the cache" {
    pipe() { cute-opt k.mlir -D N=7 | cute-ptx -arch sm_90a | cute-link >"$1"; }
    pipe without
    export CUTE_CACHE=$PWD/cache
    pipe first
    [ "$(entries cute-opt)" -eq 1 ]
    [ "$(entries cute-ptx)" -eq 1 ]
    [ "$(entries cute-link)" -eq 1 ]
    pipe second
    cmp without first
    cmp without second
    [ "$(find cache -type f | wc -l)" -eq 3 ]
}

@test "a hit is what stands in the cache, and it does not need the compiler" {
    export CUTE_CACHE=$PWD/cache
    cute-ptx k.mlir -D N=7 -o a.ptx
    # an entry that could not have been compiled shows where the output comes from
    for f in cache/cute-ptx-*; do
        python3 - "$f" <<'PY'
import struct, sys, zlib
path = sys.argv[1]
data = open(path, "rb").read()
magic, key_length, length, key_sum, _ = struct.unpack("<8sQQII", data[:32])
text = b"from the cache\n"
open(path, "wb").write(struct.pack("<8sQQII", magic, key_length, len(text), key_sum, zlib.crc32(text)) + data[32:32 + key_length] + text)
PY
    done
    cute-ptx k.mlir -D N=7 -o a.ptx
    [ "$(cat a.ptx)" = "from the cache" ]
    cute-ptx k.mlir -D N=8 -o a.ptx
    grep -q '^.version' a.ptx
    CUTE_CACHE='' cute-ptx k.mlir -D N=7 -o a.ptx
    grep -q '^.version' a.ptx
}

@test "CUTE_CACHE=off, or 0, is no cache and makes no folder" {
    for off in off 0; do
        CUTE_CACHE=$off cute-ptx k.mlir -D N=7 -o $off.ptx
        [ ! -e "$off" ]
    done
    CUTE_CACHE=./off cute-ptx k.mlir -D N=7 -o a.ptx
    [ -d off ]
    cmp a.ptx off.ptx
}

@test "another text, option, environment, folder or file is another entry" {
    export CUTE_CACHE=$PWD/cache
    count=0
    other() {
        count=$((count + 1))
        "$@" > /dev/null
        [ "$(entries cute-ptx)" -eq $count ] || { echo "$*: $(entries cute-ptx) entries, not $count"; false; }
    }
    other cute-ptx k.mlir -D N=1
    other cute-ptx k.mlir -D N=2
    other cute-ptx k.mlir -D N=1 -O1
    other cute-ptx k.mlir -D N=1 -arch sm_80
    other env ARCH=sm_89 cute-ptx k.mlir -D N=1
    sed -i 's/32, 1, 1/64, 1, 1/' k.mlir
    other cute-ptx k.mlir -D N=1
    cp k.mlir l.mlir
    other cute-ptx l.mlir -D N=1
    mkdir folder
    cp k.mlir folder/
    cd folder
    other() { "$@" >/dev/null; }
    other cute-ptx k.mlir -D N=1
    cd ..
    [ "$(entries cute-ptx)" -eq $((count + 1)) ]
}

@test "what says something, fails, or writes more than its output is not kept" {
    export CUTE_CACHE=$PWD/cache
    run -1 cute-ptx k.mlir
    run -1 cute-ptx k.mlir
    [[ "$output" == *"N"* ]]
    mkdir temps
    cute-ptx k.mlir -D N=1 --save-temps temps > /dev/null
    cute-ptx k.mlir -D N=1 --timing > /dev/null 2> timing
    cute-ptx k.mlir -D N=1 --remarks > /dev/null 2>&1
    cute-opt k.mlir -D N=1 --mlir-print-ir-after-all -canonicalize > /dev/null 2> printed
    cute-opt k.mlir -D N=1 --mlir-timing > /dev/null 2>&1
    [ "$(find cache -type f 2>/dev/null | wc -l)" -eq 0 ]
    grep -q total timing
    # a warning is told each time
    printf '.version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { .local .b8 x[64]; ret; }\n' > w.ptx
    cute-link w.ptx -v -o w.cubin 2> /dev/null
    [ "$(entries cute-link)" -eq 0 ]
}

@test "a cache that is damaged or can't be written changes nothing" {
    export CUTE_CACHE=$PWD/cache
    cute-ptx k.mlir -D N=3 -o a.ptx
    for f in cache/*; do truncate -s 100 "$f"; done
    cute-ptx k.mlir -D N=3 -o b.ptx
    cute-ptx k.mlir -D N=3 -o b.ptx
    cmp a.ptx b.ptx
    CUTE_CACHE=/proc/none cute-ptx k.mlir -D N=3 -o b.ptx
    cmp a.ptx b.ptx
    cute-run --cache-clear
    [ "$(find cache -type f | wc -l)" -eq 0 ]
}

@test "a variable that is the default of an option is part of the key, as that option is" {
    export CUTE_CACHE=$PWD/cache
    sed -i 's/%v = arith/cf.assert %ok, "x" %v = arith/; s/%i = gpu/%ok = arith.constant false %i = gpu/' k.mlir
    sed -i 's/ %v = arith/\n    %v = arith/; s/false %i/false\n    %i/' k.mlir
    CUTLASS_ARCH=sm_80 cute-ptx k.mlir -D N=1 > a.ptx
    cute-ptx k.mlir -D N=1 > b.ptx
    grep -q 'target sm_80' a.ptx
    grep -q 'target sm_90a' b.ptx
    CUTLASS_LINEINFO=1 cute-ptx k.mlir -D N=1 > l.ptx
    grep -q '\.loc' l.ptx
    ! grep -q '\.loc' b.ptx || false
    CUTLASS_ENABLE_ASSERTIONS=1 cute-ptx k.mlir -D N=1 > c.ptx
    grep -q assertfail c.ptx
    ! grep -q assertfail b.ptx || false
    cute-link l.ptx -o plain.cubin
    CUTLASS_LINEINFO=1 cute-link l.ptx -o plain.cubin
    [ "$(entries cute-link)" -eq 2 ]
    # another level of the log makes nothing else
    CUTE_LOG_LEVEL=error cute-ptx k.mlir -D N=1 > d.ptx
    cmp b.ptx d.ptx
    [ "$(entries cute-ptx)" -eq 4 ]
}

@test "what a file of ptxas's options says is part of the key, and so is which ptxas and libdevice there are" {
    export CUTE_CACHE=$PWD/cache
    cute-ptx k.mlir -D N=1 > k.ptx
    echo -O1 > options
    cute-link k.ptx -Xptxas --options-file=options -o a.cubin
    cute-link k.ptx -Xptxas --options-file=options -o a.cubin
    [ "$(entries cute-link)" -eq 1 ]
    echo -O0 > options
    touch -d '2001-01-01' options
    cute-link k.ptx -Xptxas --options-file=options -o a.cubin
    [ "$(entries cute-link)" -eq 2 ]
    mkdir -p toolkit/bin toolkit/nvvm/libdevice
    export CUTE_CUDA_PATH=$PWD/toolkit
    for program in ptxas nvlink fatbinary; do printf '#!/bin/sh\nexit 1\n' > toolkit/bin/$program; chmod +x toolkit/bin/$program; done
    cute-opt k.mlir -D N=1 -canonicalize > /dev/null
    cute-opt k.mlir -D N=1 -canonicalize > /dev/null
    [ "$(entries cute-opt)" -eq 1 ]
    touch -d '2001-01-01' toolkit/bin/ptxas
    cute-opt k.mlir -D N=1 -canonicalize > /dev/null
    [ "$(entries cute-opt)" -eq 2 ]
}

@test "a cache that others may write is not used, and says so" {
    export CUTE_CACHE=$PWD/cache
    mkdir cache
    chmod 777 cache
    run -0 --separate-stderr cute-ptx k.mlir -D N=1
    [[ $stderr == *"the cache $PWD/cache is not used: other users can write to it; fix: chmod go-w"* ]]
    [ "$(entries cute-ptx)" -eq 0 ]
    chmod 1777 cache
    cute-ptx k.mlir -D N=1 > a.ptx
    [ "$(entries cute-ptx)" -eq 1 ]
}

@test "an entry's name that is a FIFO or a link is neither waited for nor followed" {
    export CUTE_CACHE=$PWD/cache
    cute-ptx k.mlir -D N=1 > a.ptx
    entry=$(ls cache/*)
    rm "$entry"
    mkfifo "$entry"
    timeout 20 cute-ptx k.mlir -D N=1 > b.ptx
    cmp a.ptx b.ptx
    [ -f "$entry" ]
    echo precious > precious
    ln -sf "$PWD/precious" "$entry"
    cute-ptx k.mlir -D N=1 > b.ptx
    cmp a.ptx b.ptx
    [ "$(cat precious)" = precious ]
    [ -f "$entry" ] && [ ! -L "$entry" ]
}
