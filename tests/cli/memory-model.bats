# Fences and atomic accesses of llvm and memref, lowered to the PTX memory model and run on the emulator.

setup() {
    ptx="$CUTE_BIN/cute-ptx" run="$CUTE_BIN/cute-run"
    cd "$BATS_TEST_TMPDIR"
}

# Block 0 writes data and then the flag (SEND); block 1 waits for the flag (WAIT gives %seen), then AFTER, then
# reads the data.
message_passing() {
    cat >mp.mlir <<MLIR
gpu.module @m {
  llvm.func @k(%data: !llvm.ptr<1>, %flag: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c42 = llvm.mlir.constant(42 : i32) : i32
    %first = llvm.icmp "eq" %block, %c0 : i32
    llvm.cond_br %first, ^send, ^wait
  ^send:
    llvm.store %c42, %data : i32, !llvm.ptr<1>
    $1
    llvm.br ^done
  ^wait:
    $2
    %ready = llvm.icmp "ne" %seen, %c0 : i32
    llvm.cond_br %ready, ^read, ^wait
  ^read:
    $3
    %v = llvm.load %data : !llvm.ptr<1> -> i32
    llvm.store %v, %out : i32, !llvm.ptr<1>
    llvm.br ^done
  ^done:
    llvm.return
  }
}
MLIR
    cat >mp.json <<'JSON'
{"grid": 2, "block": 1,
 "buffers": {"data": {"dtype": "i32", "shape": [1], "init": 0}, "flag": {"dtype": "i32", "shape": [1], "init": 0},
             "out": {"dtype": "i32", "shape": [1], "init": 0}},
 "args": ["data", "flag", "out"], "check": {"out": "42"}}
JSON
    "$ptx" mp.mlir -o mp.ptx
    run "$run" mp.ptx --config mp.json --device emulator --check=race
}

relaxed_store='llvm.store %c1, %flag atomic syncscope("device") monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>'
relaxed_load='%seen = llvm.load %flag atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32'

@test "a message is passed by release and acquire, by fences, and by updates with an order" {
    for order in "release acquire" "seq_cst seq_cst"; do
        message_passing "${relaxed_store/monotonic/${order% *}}" "${relaxed_load/monotonic/${order#* }}" ""
        [ "$status" -eq 0 ] || { echo "$order: $output"; false; }
    done
    for order in "release acquire" "acq_rel acq_rel" "seq_cst seq_cst"; do
        message_passing "llvm.fence syncscope(\"device\") ${order% *}
    $relaxed_store" "$relaxed_load" "llvm.fence syncscope(\"device\") ${order#* }"
        [ "$status" -eq 0 ] || { echo "fences $order: $output"; false; }
    done
    for order in acq_rel seq_cst; do
        message_passing "%o = llvm.atomicrmw xchg %flag, %c1 syncscope(\"device\") $order : !llvm.ptr<1>, i32" \
            "%pair = llvm.cmpxchg %flag, %c1, %c1 $order acquire : !llvm.ptr<1>, i32
    %seen = llvm.extractvalue %pair[0] : !llvm.struct<(i32, i1)>" ""
        [ "$status" -eq 0 ] || { echo "updates $order: $output"; false; }
    done
}

@test "without an order, or with one for fewer threads, the race is found" {
    message_passing "$relaxed_store" "$relaxed_load" ""
    [ "$status" -eq 4 ]
    [[ "$output" == *"race: "* ]]
    message_passing "llvm.fence syncscope(\"block\") release
    $relaxed_store" "$relaxed_load" 'llvm.fence syncscope("block") acquire'
    [ "$status" -eq 4 ]
    message_passing "%o = llvm.atomicrmw xchg %flag, %c1 monotonic : !llvm.ptr<1>, i32" "$relaxed_load" ""
    [ "$status" -eq 4 ]
}
