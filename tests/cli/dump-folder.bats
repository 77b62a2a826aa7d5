# The dump folder of cute-dump run: what its options choose, its report, and that each file in it can be taken on from.
setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    dump=$CUTE_BIN/cute-dump
    find "${CUDA_PATH:-/usr/local/cuda}/bin/ptxas" >/dev/null 2>&1 || command -v ptxas >/dev/null || skip "no ptxas"
    cat >k.mlir <<'END'
gpu.module @m {
  gpu.func @first(%x: memref<?xf32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %x[%t] : memref<?xf32>
    gpu.return
  }
  gpu.func @_Z6secondPi(%x: memref<?xi32>) kernel {
    %c = arith.constant 3 : index
    %v = memref.load %x[%c] : memref<?xi32>
    %ok = arith.cmpi slt, %v, %v : i32
    cf.assert %ok, "never"
    gpu.return
  }
}
gpu.module @n { gpu.func @third(%x: i32) kernel { gpu.return } }
func.func @run(%x: memref<?xf32>) {
  %c = arith.constant 1 : index
  gpu.launch_func @m::@first blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : memref<?xf32>)
  return
}
END
}

# What a folder holds is what its report says; see the script.
whole() { # options of cute-dump run
    run "$BATS_TEST_DIRNAME/../dump/check" "$CUTE_BIN" "$@"
    [ "$status" -ne 3 ] || skip "no jsonschema for Python"
    [ "$status" -eq 0 ]
}

defines_of() { # kernel: its options of the list of kernels, one a line
    awk -v name="$1" '$1 == name { for (i = 3; i <= NF; i++) print "-D\n" $i }' "$BATS_TEST_DIRNAME/../../kernels/kernels.txt"
}

validates() { # folder
    "$dump" run --schema >schema.json
    local python=python3 # the system's, for which the package is, may be another
    "$python" -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3
    "$python" -c 'import jsonschema' 2>/dev/null || skip "no jsonschema for Python"
    "$python" - "$1/REPORT.json" <<'END'
import json, sys, jsonschema
schema = json.load(open("schema.json"))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(json.load(open(sys.argv[1])), schema)
END
}

@test "zz-after has the cubin of each module in a gpu.binary, and cute-link takes it out again" {
    "$dump" run k.mlir -o d -arch sm_90a
    [ "$(grep -c 'gpu.binary @' d/zz-after.mlir)" = 2 ] && ! grep -q 'gpu.module @' d/zz-after.mlir
    "$CUTE_BIN/cute-link" --extract=m -o m.cubin d/zz-after.mlir
    cmp m.cubin d/cubin/m.cubin
}

@test "the report has functions with their symbols, sizes of the IR, and the files with the hashes of sha256sum" {
    "$dump" run k.mlir -o d -arch sm_90a
    jq -c '.functions[] | [.name, .mangled, .kind, .module]' d/REPORT.json >functions
    diff functions - <<'END'
["first","first","kernel","m"]
["second(int*)","_Z6secondPi","kernel","m"]
["third","third","kernel","n"]
["run","run","host",null]
END
    (cd d && jq -r '.files[] | "\(.sha256)  \(.file)"' REPORT.json | sha256sum --quiet -c)
    [ "$(jq -c '[.files[].file]' d/REPORT.json)" = "$(jq -c .outputs d/REPORT.json)" ]
    for i in 0 20 -1; do
        file=$(jq -r ".pipeline[$i].file" d/REPORT.json)
        [ "$(jq ".pipeline[$i].bytes" d/REPORT.json)" = "$(grep -v '^//!' "d/$file" | wc -c)" ]
    done
}

@test "every report validates against the schema: whole, failed, with all options, without passes" {
    "$dump" run k.mlir -o d
    validates d
    "$dump" run k.mlir -o all -arch sm_80 -O1 -lineinfo --enable-assertions --tensor-map=memory --changed --func=first --pass-pipeline=cse --allow=setmaxnreg-ignored,wgmma-serialized
    validates all
    [ "$(jq -c .options.allow all/REPORT.json)" = '["setmaxnreg-ignored,wgmma-serialized"]' ]
    "$dump" run k.mlir -o none --print-each-pass=none
    validates none
    ! "$dump" run k.mlir -o failed --func=firts
    validates failed
    jq '.extra = 1' d/REPORT.json >d/other && mv d/other d/REPORT.json
    ! validates d
}

@test "from each file of the IR cute-opt comes to the same zz-after" {
    whole k.mlir -arch sm_90a
    whole k.mlir -arch sm_80 --func=run --enable-assertions --pass-pipeline='builtin.module(canonicalize,func.func(cse))'
    whole k.mlir --changed
}

@test "so it is of kernels with tensor maps, shared memory and products" {
    K=$BATS_TEST_DIRNAME/../../kernels
    whole "$K/copy_tma/copy_tma.mlir" -D T=f32 -D BITS=32 -D TM=4 -D TN=256 -arch sm_90a
    whole "$K/vector_add/vector_add.mlir" -arch sm_90a --changed
    mapfile -t defines < <(defines_of gemm_sm90)
    whole "$K/../bench/schedules/hand/gemm_sm90/gemm_sm90.mlir" "${defines[@]}" -arch sm_90a --changed
    mapfile -t defines < <(defines_of gemm_sm80)
    whole "$K/../bench/schedules/hand/gemm_sm80/gemm_sm80.mlir" "${defines[@]}" -arch sm_80 --changed
}

@test "so it is of the eight largest modules of CuTe DSL that compile" {
    [ -n "${CUTE_DUMPS:-}" ] || skip "NOT TESTED: CUTE_DUMPS names no folder with *_0_.mlir of CuTe DSL"
    count=0
    while read -r module; do
        case $module in
        */blackwell_geforce/*) arch=sm_120a ;;
        */blackwell/*) arch=sm_100a ;;
        */hopper/*) arch=sm_90a ;;
        *) arch=sm_80 ;;
        esac
        rm -rf tried
        "$dump" run "$module" -arch "$arch" --print-each-pass=none -o tried >/dev/null 2>&1 || continue
        whole "$module" -arch "$arch"
        count=$((count + 1))
        [ "$count" -lt 8 ] || break
    done < <(find "$CUTE_DUMPS" \( -name '*_0_.mlir' -o -name '*_0_with_loc.mlir' \) -printf '%s %p\n' | sort -rn | cut -d' ' -f2-)
    [ "$count" = 8 ]
}

@test "the check of a folder sees another file, another hash and another end" {
    # A tool that adds a file, changes one, or lowers otherwise.
    mkdir bin && ln -s "$CUTE_BIN"/* bin/ && rm bin/cute-dump
    broken() { # what is done to the folder
        printf '#!/bin/sh\n"%s" "$@" || exit\n[ "$2" = --schema ] && exit\nfor last; do :; done\ncd "$last" && %s\n' "$dump" "$1" >bin/cute-dump
        chmod +x bin/cute-dump
        run "$BATS_TEST_DIRNAME/../dump/check" "$PWD/bin" k.mlir -arch sm_90a --changed
        [ "$status" -eq 1 ] && [[ "$output" == *"$2"* ]]
    }
    broken 'echo >more' 'the list of files'
    broken 'echo >>launch_sites.txt' 'hashes of files'
    broken 'sed -i "s/fadd/fmul/" pass-*.mlir' 'ends differently'
}

@test "--changed leaves out the passes that changed nothing, --print-each-pass=none all" {
    "$dump" run k.mlir -o all
    "$dump" run k.mlir -o some --changed
    "$dump" run k.mlir -o none --print-each-pass=none
    [ -z "$(find none -name 'pass-*')" ] && [ -s none/00-before.mlir ]
    # What is left out is what the file before has.
    diff <(cd some && ls pass-*) <(cd all && before=00-before.mlir && for file in pass-*; do
        cmp -s <(grep -v '^//!' "$before") <(grep -v '^//!' "$file") || echo "$file"
        before=$file
    done)
    cmp all/kernels.ptx none/kernels.ptx 2>/dev/null || cmp all/m.ptx none/m.ptx
    fails() { run "$@"; [ "$status" -eq 2 ]; }
    fails "$dump" run k.mlir -o x --changed --print-each-pass=none
    fails "$dump" run k.mlir -o x --print-each-pass=some
    [ ! -e x/m.ptx ]
}

@test "--func keeps a kernel, or a function of the host with what it launches" {
    "$dump" run k.mlir -o kernel --func=_Z6secondPi
    [ "$(jq -c '[.kernels[].kernel]' kernel/REPORT.json)" = '["_Z6secondPi"]' ] && [ ! -e kernel/n.ptx ]
    "$dump" run k.mlir -o host --func run
    [ "$(jq -c '[.functions[].mangled]' host/REPORT.json)" = '["first","run"]' ]
    ! grep -qv '@first' host/launch_sites.txt
    "$dump" run k.mlir -o alone --func third
    [ "$(jq -c '[.functions[].mangled]' alone/REPORT.json)" = '["third"]' ]
    [ ! -s alone/launch_sites.txt ]
    [ "$(jq -c '[.kernels[].kernel]' host/REPORT.json)" = '["first"]' ]
    run "$dump" run k.mlir -o wrong --func=firts
    [ "$status" -eq 1 ]
    [[ "$output" == *"cute-only expects the name of a function, got 'firts'; did you mean 'first'?"* ]]
}

@test "a dump takes the processors at most twice as long as compiling and linking, and half a second" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "a sanitizer slows text down more than machine code" ;; esac
    K=$BATS_TEST_DIRNAME/../../bench/schedules/hand/gemm_sm90/gemm_sm90.mlir
    mapfile -t defines < <(defines_of gemm_sm90)
    export CUTE_CACHE=
    # Of the processors, in turns: what else runs here slows both down. One pair of five has to be undisturbed.
    spent() { (TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1) 2>&1 | awk '{print int(1000 * ($1 + $2))}'; }
    plain() { "$CUTE_BIN/cute-ptx" "${defines[@]}" -arch sm_90a "$K" -o p.ptx && "$CUTE_BIN/cute-link" p.ptx -o p.cubin; }
    folder() { "$dump" run "$K" "${defines[@]}" -arch sm_90a -o d; }
    plain && folder
    for _ in 1 2 3 4 5; do
        a=$(spent plain) b=$(spent folder)
        echo "compiling $a ms, dumping $b ms"
        [ "$b" -gt $((2 * a + 500)) ] || break
    done
    [ "$b" -le $((2 * a + 500)) ]
}

@test "--file is the module in the place of an operand" {
    "$dump" run k.mlir -o operand --func run -arch sm_90a
    "$dump" run --file k.mlir --func run --print-each-pass -o option -arch sm_90a
    diff -r -x REPORT.json -x zz-after.mlir operand option
    [ "$(jq -c '[.input, .functions]' operand/REPORT.json)" = "$(jq -c '[.input, .functions]' option/REPORT.json)" ]
    run "$dump" run --file k.mlir k.mlir -o both
    [ "$status" -eq 2 ] && [[ "$output" == *"expected one file, got --file=k.mlir and 'k.mlir'"* ]]
    run "$dump" sass --file k.mlir
    [ "$status" -eq 2 ]
}
