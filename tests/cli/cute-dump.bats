# cute-dump as a user runs it: the views of a module, and the dump folder.

setup() {
    data=$BATS_TEST_DIRNAME/../data
    dump=$CUTE_BIN/cute-dump
    cd "$BATS_TEST_TMPDIR"
    unset ARCH
}

fails() { # CODE COMMAND...
    local code=$1
    shift
    run "$@"
    [ "$status" -eq "$code" ] || { echo "exit code $status, not $code: $output"; return 1; }
}

says() { grep -qF -- "$1" <<<"$output" || { echo "not said: $1"; echo "$output"; return 1; }; }

cubin() { "$CUTE_BIN/cute-link" -o k.cubin "$data/link_ok.ptx" "$@"; }

compiler() { [ -x "$CUTE_BIN/cute-ptx" ] || skip "no cute-ptx"; }

kernel() {
    cat >k.mlir <<'END'
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @scale(%p: memref<?xf32>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = gpu.thread_id x
    %in = arith.cmpi ult, %tid, %n : index
    scf.if %in {
      %v = memref.load %p[%tid] : memref<?xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %p[%tid] : memref<?xf32>
    }
    gpu.return
  }
}
func.func @host(%p: memref<?xf32>, %n: index) {
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  gpu.launch_func @kernels::@scale blocks in (%one, %one, %one) threads in (%threads, %one, %one)
    args(%p : memref<?xf32>, %n : index)
  return
}
}
END
}

@test "a cubin's kernels, parameters and sections are shown" {
    cubin
    fails 0 "$dump" k.cubin
    says 'cubin for sm_80, 1 kernel'
    says 'add_one'
    says 'at most 256 x 1 x 1'
    says '.nv.constant0.add_one'
}

@test "the sections are those that readelf lists" {
    cubin
    diff <("$dump" --json k.cubin | jq -r '.sections[] | "\(.name) \(.size)"') \
        <(readelf -SW k.cubin 2>/dev/null | sed 's/\[ *\([0-9]*\)\]/\1/' | awk '$1 ~ /^[1-9]/ && NF > 6 { print $2, $6 }' |
            while read -r name size; do echo "$name $((16#$size))"; done)
}

@test "PTX is shown as well, without registers" {
    fails 0 "$dump" "$data/link_ok.ptx"
    says 'ptx for sm_80'
    [ "$("$dump" --json "$data/link_ok.ptx" | jq -c '[.kernels[0].params[] | [.name, .offset, .size]]')" = \
        '[["add_one_param_0",0,8],["add_one_param_1",8,4]]' ]
    [ "$("$dump" --json "$data/link_ok.ptx" | jq '.kernels[0].resources.registers')" = null ]
}

@test "the PTX comes out of the cubin as it went in" {
    cubin
    "$dump" ptx k.cubin | cmp - "$data/link_ok.ptx"
    "$dump" ptx --json k.cubin | jq -r -j .ptx | cmp - "$data/link_ok.ptx"
    cubin --strip
    fails 1 "$dump" ptx k.cubin
    says 'no PTX'
}

@test "machine code is shown with source lines" {
    cubin
    "$dump" sass k.cubin >plain || { [ $? -eq 3 ] && skip "no nvdisasm"; }
    grep -q '^add_one:' plain
    grep -q 'EXIT' plain
    printf 'first\n  second line of the source\n' >source.mlir
    awk '/cvta/ { print "\t.loc 1 2 3" } /\.address_size/ { print; print ".file 1 \"source.mlir\""; next } { print }' \
        "$data/link_ok.ptx" >loc.ptx
    "$CUTE_BIN/cute-link" -lineinfo -o loc.cubin loc.ptx
    "$dump" sass loc.cubin | grep -q '// .*source.mlir:2  second line of the source'
    "$dump" sass --json loc.cubin | jq -e '.functions[0].instructions | length > 10 and any(.line == 2)' >/dev/null
    "$dump" sass loc.ptx | grep -q 'source.mlir:2'
}

@test "one kernel of several is picked by name" {
    sed 's/add_one/add_two/g' "$data/link_ok.ptx" | grep -v '^\.[vta][ead]' >second
    cat "$data/link_ok.ptx" second >both.ptx
    "$CUTE_BIN/cute-link" -o both.cubin both.ptx
    [ "$("$dump" --json both.cubin | jq -r '.kernels | length')" = 2 ]
    [ "$("$dump" --json --kernel=add_two both.cubin | jq -r '.kernels[].kernel')" = add_two ]
    fails 1 "$dump" --kernel=add_tow both.cubin
    says "no kernel 'add_tow'; did you mean 'add_two'?"
}

@test "the inside of a cubin is shown as text and JSON" {
    cubin
    fails 0 "$dump" elf k.cubin
    says 'KPARAM_INFO'
    says 'parameter 1: offset 8, 4 bytes'
    for name in FRAME_SIZE MIN_STACK_SIZE REGCOUNT MAXREG_COUNT .text.add_one .nv.info .nv.info.add_one .nv.constant0.add_one .symtab; do
        grep -qE "[ ]$name( |$)" <<<"$output" || { echo "no $name"; false; }
    done
    "$dump" elf --json k.cubin | jq -e '.symbols | any(.name == "add_one" and .type == "FUNC")' >/dev/null
    fails 1 "$dump" elf "$data/link_ok.ptx"
    says 'PTX has no ELF sections'
}

@test "damaged cubins are refused, at whatever byte they are cut" {
    cubin
    size=$(stat -c %s k.cubin)
    for at in 1 4 40 63 64 200 1000 $((size / 2)) $((size - 64)) $((size - 1)); do
        head -c "$at" k.cubin >t.cubin
        fails 1 "$dump" t.cubin
        says 't.cubin: error:'
        fails 1 "$dump" elf --json t.cubin
    done
}

@test "metadata that contradict the kernel are refused, with the path in them" {
    printf '//!cute {"format":1,"kernel":"add_one","args":[{"name":"a","first":5}]}\n' | cat - "$data/link_ok.ptx" >k.ptx
    fails 1 "$dump" k.ptx
    says "kernel 'add_one' at \$.args[0].first"
    printf '//!cute {"format":9,"kernel":"add_one"}\n' | cat - "$data/link_ok.ptx" >k.ptx
    fails 1 "$dump" k.ptx
    says 'expected format 1'
    printf '//!cute {"format":1,\n' | cat - "$data/link_ok.ptx" >k.ptx
    fails 1 "$dump" k.ptx
}

@test "what is no module says what is wanted" {
    fails 1 "$dump" /dev/null
    says 'cubin'
    fails 3 "$dump" nowhere.cubin
    says "cannot read 'nowhere.cubin'"
}

@test "an unknown view names the nearest" {
    cubin
    fails 2 "$dump" sas k.cubin
    says "unknown view 'sas'; did you mean 'sass'?"
    fails 2 "$dump" k.cubin k.cubin
}

@test "a full disk is exit code 3 and a closed pipe is quiet" {
    cubin
    [ -c /dev/full ] || skip "no /dev/full"
    run bash -c '"$1" k.cubin >/dev/full' _ "$dump"
    [ "$status" -eq 3 ]
    "$dump" elf k.cubin 2>messages | true
    [ "${PIPESTATUS[0]}" -eq 0 ] && [ ! -s messages ]
}

@test "run writes the dump folder" {
    compiler
    kernel
    "$dump" run k.mlir -o d
    for file in 00-before.mlir zz-after.mlir kernels.ptx cubin/kernels.cubin cubin_index.json launch_sites.txt REPORT.json; do
        [ -s "d/$file" ] || { echo "no $file"; false; }
    done
    ls d/pass-000-*.mlir
    [ "$(jq -r '.[0].symbol + " " + .[0].file' d/cubin_index.json)" = 'kernels cubin/kernels.cubin' ]
    grep -q '^00-before.mlir:[0-9]*: gpu.launch_func @kernels::@scale .*args(' d/launch_sites.txt
    jq -e '.status == "ok" and .kernels[0].kernel == "scale" and .kernels[0].resources.registers > 0
           and .kernels[0].occupancy.threads == 128 and (.pipeline | length) > 5
           and .seconds["cute-ptx"].total > 0 and .seconds["cute-link kernels"].ptxas > 0
           and (.outputs | index("kernels.ptx")) != null' d/REPORT.json
}

@test "run passes -D and -arch on" {
    compiler
    kernel
    sed -i 's/arith.addf %v, %v/arith.${OP} %v, %v/' k.mlir
    "$dump" run k.mlir -D OP=mulf -arch sm_80 -o d
    grep -q 'mul' d/kernels.ptx
    [ "$(jq -r '.kernels | length' d/REPORT.json)" = 1 ]
    [ "$("$dump" --json d/cubin/kernels.cubin | jq -r .arch)" = sm_80 ]
}

@test "run passes a pipeline on, whose passes come first" {
    cat > p.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k(%a: memref<4xi32>) kernel {
    %c = arith.constant 0 : index
    %x = arith.constant 20 : i32
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%c] : memref<4xi32>
    gpu.return
  }
}
MLIR
    "$dump" run p.mlir -arch sm_80 --pass-pipeline='builtin.module(canonicalize)' -o piped
    grep -q 'arith.constant 40' piped/00-before.mlir || grep -q 'arith.constant 40' piped/pass-0*.mlir
    fails 1 "$dump" run p.mlir -arch sm_80 --pass-pipeline='builtin.module(canonicalise)' -o wrong || [ "$status" = 2 ]
    grep -q "'canonicalise' does not refer to a registered pass" <<<"$output"
}

@test "run of a module that does not parse gives its place, and a report that says failed and lists nothing" {
    compiler
    kernel
    sed -i 's/arith.addf %v, %v/arith.addf %v, %nothing/' k.mlir
    fails 1 "$dump" run k.mlir -o d
    says 'k.mlir:8:'
    jq -e '.status == "failed" and .messages[0].severity == "error" and .outputs == []' d/REPORT.json
    [ "$(find d -type f)" = d/REPORT.json ]
}

@test "run that fails in a pass leaves the whole passes up to it and names it" {
    compiler
    cat >k.mlir <<'END'
gpu.module @m {
  gpu.func @k(%x: memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>) kernel {
    %c = arith.constant 1 : index
    %v = memref.load %x[%c] : memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>
    memref.store %v, %x[%c] : memref<8xf32, affine_map<(d0) -> (d0 floordiv 2)>>
    gpu.return
  }
}
END
    fails 1 "$dump" run k.mlir -o d
    says 'k.mlir:'
    says "listed in its REPORT.json"
    jq -e '.status == "failed" and .pipeline[-1].failed and (.pipeline[:-1] | all(.failed == null))' d/REPORT.json
    last=$(jq -r '.pipeline[-1].file' d/REPORT.json)
    [ -s "d/$last" ] && [ -s d/00-before.mlir ] && [ ! -e d/zz-after.mlir ]
    # All that lies there is in the list, and the passes before the one that failed are valid MLIR.
    diff <(cd d && find . -type f ! -name REPORT.json | sed 's,^./,,' | LC_ALL=C sort) <(jq -r '.outputs[]' d/REPORT.json | LC_ALL=C sort)
    "$CUTE_BIN/cute-opt" "d/$(jq -r '.pipeline[-2].file' d/REPORT.json)" >/dev/null
}

@test "run with a stage that is missing says so, exits with 3 and keeps what the stages before it made" {
    compiler
    kernel
    fails 3 "$dump" run k.mlir -o d --cuda-path="$PWD"
    says "ptxas"
    [ -s d/kernels.ptx ] && [ -s d/zz-after.mlir ]
    jq -e '.status == "failed" and (.outputs | index("kernels.ptx")) != null and .kernels == []' d/REPORT.json
}

@test "run takes its options' faults for the command line's and writes no folder for an unknown architecture" {
    kernel
    fails 2 "$dump" run k.mlir -o d -arch sm_91
    says "did you mean 'sm_90'?"
    fails 2 "$dump" run k.mlir -o d -O7
    fails 3 "$dump" run nowhere.mlir -o d
    [ ! -e d ]
    fails 3 "$dump" run k.mlir -o k.mlir
    fails 2 "$dump" run k.mlir -o d -D 3
}

@test "run replaces what an earlier run left, and nothing else" {
    compiler
    kernel
    mkdir d
    echo mine >d/mine.ptx
    "$dump" run k.mlir -o d -lineinfo
    mv d/REPORT.json r && jq '.outputs += ["../k.mlir", "pass-999-old.mlir"]' r >d/REPORT.json
    echo old >d/pass-999-old.mlir
    mkdir d/.ptx-000000 && echo old >d/.ptx-000000/k.ptx
    sed 's/gpu.module @kernels/gpu.module @others/; s/@kernels::/@others::/' k.mlir >o.mlir
    "$dump" run o.mlir -o d
    [ -e k.mlir ] && [ -e d/mine.ptx ] && [ ! -e d/cubin/mine.cubin ]
    [ ! -e d/kernels.ptx ] && [ ! -e d/cubin/kernels.cubin ] && [ ! -e d/pass-999-old.mlir ] && [ ! -e d/.ptx-000000 ]
    [ -s d/others.ptx ] && [ -s d/cubin/others.cubin ]
    diff <(cd d && find . -type f ! -name REPORT.json ! -name mine.ptx | sed 's,^./,,' | LC_ALL=C sort) <(jq -r '.outputs[]' d/REPORT.json | LC_ALL=C sort)
}

@test "run of several modules makes one PTX and one cubin of each, whatever they are called" {
    compiler
    cat >k.mlir <<'END'
gpu.module @"../a" { gpu.func @k1(%x: i32) kernel { gpu.return } }
gpu.module @".._a" { gpu.func @k2(%x: i32) kernel { gpu.return } }
gpu.module @b { gpu.func @k3(%x: i32) kernel { gpu.return } }
END
    "$dump" run - -o d -arch sm_80 <k.mlir
    [ "$(ls d/cubin | wc -l)" = 3 ] && [ ! -e a.ptx ]
    [ "$(jq -r '[.[].kernels[]] | sort | join(" ")' d/cubin_index.json)" = "k1 k2 k3" ]
    jq -e '.input == "<stdin>" and (.kernels | length) == 3 and .options.arch == "sm_80" and all(.kernels[].cubin; startswith("cubin/"))' d/REPORT.json
    for file in $(jq -r '.[].file' d/cubin_index.json); do "$dump" "d/$file" | grep -q sm_80; done
}

@test "the report has pipeline, options with defaults, versions, times, resources and warnings" {
    compiler
    kernel
    "$dump" run k.mlir -o d --json -lineinfo -D A=1 >r.json
    cmp r.json d/REPORT.json
    jq -e '.options == {arch: "sm_90a", O: "3", defines: ["A=1"], lineinfo: true, assertions: false, tensor_map: "param", passes: "all"} and .warnings == []
           and (.versions | has("cute") and has("llvm") and has("cute-ptx") and has("cute-link") and has("ptxas"))
           and (.versions.llvm | startswith("19.")) and ([.pipeline[].seconds] | add) < .seconds["cute-ptx"].total
           and ([.pipeline[].file] - .outputs) == [] and .seconds.total > .seconds["cute-ptx"].total' d/REPORT.json
    grep -q '\.loc' d/kernels.ptx
}

@test "run extracts the cubins of a gpu.binary" {
    cubin
    python3 - <<'END' >b.mlir
data = open("k.cubin", "rb").read()
print('gpu.binary @done [#gpu.object<#nvvm.target<chip = "sm_80">, bin = "%s">]' % "".join("\\%02X" % b for b in data))
END
    "$dump" run b.mlir -o d
    cmp k.cubin d/cubin/done.cubin
    [ "$(jq -r '.[0].kernels[0]' d/cubin_index.json)" = add_one ]
}

@test "run without a folder is exit code 2" {
    kernel
    fails 2 "$dump" run k.mlir
    says '-o DIR'
}

@test "an option that has no effect is refused" {
    "$CUTE_BIN/cute-link" -o k.cubin "$data/link_ok.ptx"
    for level in 77 -1 4 fast; do
        fails 2 "$dump" -O$level sass "$data/link_ok.ptx"
        says "-O expects 0, 1, 2 or 3, got '$level'"
    done
    fails 2 "$dump" -O2 sass k.cubin
    says "-O has no effect on a cubin, which is already compiled"
    fails 2 "$dump" -O2 k.cubin
    says "-O has no effect on 'show'"
    says "-O applies to 'sass', 'cfg', 'histogram', 'lines', 'resources', 'explain', 'all', 'run'"
    fails 2 "$dump" show k.cubin --counters=x.json
    says "--counters has no effect on 'show'"
    fails 2 "$dump" elf k.cubin --kernel=add_one
    says "--kernel has no effect on 'elf'"
    fails 2 "$dump" ptx k.cubin --kernel=add_one
    says "--kernel has no effect on 'ptx' without --counters"
    fails 2 "$dump" source --json x.json
    says "--json has no effect on 'source'"
    for view in show ptx elf sass; do
        fails 1 "$dump" $view -arch sm_90 k.cubin
        says "expected a module for sm_90, got one for sm_80"
        [ $view = sass ] || "$dump" $view -arch sm_80 k.cubin >/dev/null
    done
    "$dump" sass -arch sm_80 k.cubin >/dev/null || { [ $? -eq 3 ] && skip "no nvdisasm"; }
    "$dump" sass -arch sm_90 -O1 "$data/link_ok.ptx" >/dev/null
}

@test "occupancy answers for numbers alone, with what one step would need" {
    fails 0 "$dump" occupancy --registers 32 --shared 65536 --block 128 -arch sm_90
    says "occupancy: 3 blocks, 12 of 64 warps (19%), limited by shared memory"
    says "for 4 blocks: at most 57344 bytes of shared memory, 8192 fewer"
    fails 0 "$dump" occupancy --registers 168 --block 384
    says "for 2 blocks: at most 80 registers, 88 fewer"
    says "or blocks of at most 192 threads with as many registers"
    fails 0 "$dump" occupancy --registers 32 --block 16x20x2 -arch sm_86
    says "2 blocks, 40 of 48 warps (83%), limited by warps"
    says "for 3 blocks: at most 512 threads, 128 fewer"
}

@test "occupancy as JSON has each limit and three tables" {
    "$dump" occupancy --registers 168 --block 384 -arch sm_90 --json | jq -e '
        .blocks == 1 and .limits == ["registers"] and .blocks_by.registers == 1 and .blocks_by.warps == 5
        and (.blocks_by | has("barriers") | not) and .one_more_with.registers == 80
        and (.by_block | length) == 32 and .by_block[3].at == 128 and .by_block[3].blocks == 3
        and (.by_registers | length) == 32 and .by_registers[9].blocks == 2
        and (.by_shared | map(.blocks) | max) == 1'
    "$dump" occupancy --registers 32 --json | jq -e '(has("blocks") or has("threads") | not) and (.by_block | length) == 32'
}

@test "resources of a cubin as they are, and what if" {
    cubin -arch sm_90
    fails 0 "$dump" resources k.cubin --block 256
    says "256 threads, "
    says "occupancy: "
    fails 0 "$dump" resources k.cubin --block 128 --registers 168 --shared 1000 --table
    says "128 threads, 168 registers, 1000 bytes of shared memory on sm_90"
    says "*      128       3     12        19%  registers"
    fails 0 "$dump" resources k.cubin --block 256 --registers 32 -arch sm_75
    says "4 blocks, 32 of 32 warps (100%)"
    says "registers and shared memory are those of the code for sm_90"
    "$dump" resources k.cubin --block 256 --json | jq -e '.kernels[0] | .resources.registers > 0 and
        .occupancy.what_if and .occupancy.threads == 256 and .occupancy.arch == "sm_90"'
    fails 0 "$dump" resources "$data/link_ok.ptx" --block 64 -arch sm_80
    says "64 threads, "
    says "on sm_80"
}

@test "registers by class, and the lines that spill" {
    {
        printf '.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry spills(.param .u64 p)\n{\n'
        printf '.reg .b64 %%rd1;\n.reg .b32 %%r<49>;\n.loc 1 7 1\nld.param.u64 %%rd1, [p];\n'
        for i in $(seq 1 48); do printf '.loc 1 %s 1\nld.volatile.global.u32 %%r%s, [%%rd1+%s];\n' $((10 + i)) $i $((4 * i)); done
        for i in $(seq 48 -1 1); do printf '.loc 1 %s 1\nst.volatile.global.u32 [%%rd1+%s], %%r%s;\n' $((100 + i)) $((4 * i)) $i; done
        printf 'ret;\n}\n.file 1 "spills.cu"\n'
    } >s.ptx
    "$CUTE_BIN/cute-link" -maxrregcount 24 s.ptx -o s.cubin 2>messages
    run "$dump" sass s.cubin
    [ "$status" -eq 0 ] || skip "no nvdisasm"
    fails 0 "$dump" resources s.cubin --block 256
    says "peak live registers: 2"
    grep -Eq 'spills.cu:[0-9]+ +[0-9]+ +[0-9]+ ' <<<"$output" # stores at lines
    # What the lines store and load is what ptxas says, 4 bytes an instruction.
    "$dump" resources s.cubin --json | jq -e '.kernels[0] | .live_registers.R <= 24 and .live_registers.P >= 0
        and ([.local_memory[].bytes_stored] | add) == .resources.spill_stores and .resources.spill_stores > 0
        and ([.local_memory[].bytes_loaded] | add) == .resources.spill_loads
        and all(.local_memory[]; .file == "spills.cu" and .line > 6 and .line < 149)'
    # Without nvdisasm the rest is there.
    fails 0 env PATH=/usr/bin:/bin "$dump" resources s.cubin --cuda-path=/nowhere
    says "registers by class and spill lines are unavailable"
    says "spill stores"
}

@test "dynamic shared memory that only the launch knows is not counted, and that is said" {
    cat >d.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry k(.param .u64 p) .reqntid 128, 1, 1
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    ld.shared.u32 %r1, [smem];
    st.global.u32 [%rd1], %r1;
    ret;
}
END
    fails 0 "$dump" resources d.ptx
    says "dynamic shared memory is not counted: its size is set at launch (--dynamic)"
    says "occupancy: at most 16 blocks"
    fails 0 "$dump" resources d.ptx --dynamic 65536
    says "occupancy: 3 blocks"
    "$dump" resources d.ptx --json | jq -e '.kernels[0].occupancy.dynamic_smem_unknown'
    "$CUTE_BIN/cute-link" -o d.cubin d.ptx
    fails 0 "$dump" d.cubin
    says "occupancy with 128 threads and no dynamic shared memory: 16 blocks"
}

@test "the occupancy as a picture" {
    fails 0 "$dump" occupancy --registers 168 --block 384 -arch sm_90 --svg -o o.svg
    xmllint --noout o.svg 2>/dev/null || python3 -c 'import sys, xml.dom.minidom as x; x.parse("o.svg")'
    [ "$(grep -c 'class="area"' o.svg)" -eq 3 ]
    grep -q 'sm_90: 384 threads, 168 registers, 0 bytes of shared memory: 1 block, 12 of 64 warps (19%), limited by registers' o.svg
    fails 0 "$dump" occupancy --registers 168 --svg -o o.svg
    [ "$(grep -c 'class="area"' o.svg)" -eq 1 ]
}

@test "questions that have no answer" {
    cubin -arch sm_90
    fails 2 "$dump" occupancy
    says "'occupancy' requires registers per thread: --registers=N"
    fails 2 "$dump" occupancy --registers 32 k.cubin
    says "'occupancy' takes no input file, got 'k.cubin'"
    says "'cute-dump resources k.cubin' prints the occupancy of the kernels in a file"
    fails 2 "$dump" occupancy --registers 300 --block 32
    says "expected 0 to 256 registers per thread, got 300"
    fails 2 "$dump" occupancy --registers -2 --block 32
    says "expected --registers=N with N >= 0, got -2"
    fails 2 "$dump" occupancy --registers 32 --block 64x32
    says "expected --block=X, XxY or XxYxZ of 1 to 1024 in total, got '64x32'"
    fails 2 "$dump" occupancy --registers 32 --block 64y2
    says "expected 'x' between the dimensions of --block, got 'y2'"
    fails 2 "$dump" occupancy --registers 32 --block 99999999999999999999
    fails 2 "$dump" occupancy --registers 32 --shared 1 --dynamic 1
    says "--shared and --dynamic are mutually exclusive"
    fails 2 "$dump" occupancy --registers 32 -arch sm_88
    says "the multiprocessor limits of sm_88 are not published"
    fails 2 "$dump" occupancy --registers 32 -arch sm_80 --cluster 2
    says "sm_80 does not support clusters"
    fails 2 "$dump" elf k.cubin --block 128
    says "--block applies to 'resources', 'occupancy'"
    fails 2 "$dump" resources k.cubin --svg --json
}

# A kernel with a loop and source lines.
looped() {
    cat >loop.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.file 1 "loop.cu"
.visible .entry looped(.param .u64 p, .param .u32 n) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<4>;
  .reg .f32 %f<3>;
  .reg .pred %p<2>;
  .loc 1 3 1
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
  mov.f32 %f1, 0f00000000;
L:
  .loc 1 5 1
  ld.volatile.global.f32 %f2, [%rd1];
  fma.rn.f32 %f1, %f1, %f2, %f2;
  .loc 1 6 1
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra L;
  .loc 1 7 1
  st.global.v2.f32 [%rd1], {%f1, %f1};
  ret;
}
END
    printf 'one\ntwo\nvoid looped\nfour\n  the load\n  the count\n  the store\n' >loop.cu
    "$CUTE_BIN/cute-link" -lineinfo -o loop.cubin loop.ptx
    "$dump" sass loop.cubin >plain || { [ $? -eq 3 ] && skip "no nvdisasm"; }
}

@test "the graph of machine code is shown as text, JSON, dot and a picture" {
    looped
    "$dump" cfg loop.cubin | grep -q 'loop 0: header B'
    "$dump" cfg --json loop.cubin | jq -e '.functions[0] | .name == "looped" and (.loops | length >= 1) and
        (.blocks | map(.instructions) | add) > 10 and all(.blocks[].edges[]; .to >= 0)' >/dev/null
    "$dump" cfg --dot loop.cubin | grep -q '^digraph'
    "$dump" -cfg loop.cubin | cmp - <("$dump" cfg --dot loop.cubin)
    "$dump" cfg --svg loop.cubin >g.svg
    grep -q '</svg>' g.svg
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("g.svg")'
    fails 2 "$dump" cfg --svg --dot loop.cubin
}

@test "instructions and memory operations are counted" {
    looped
    "$dump" histogram --json loop.cubin >h.json
    jq -e '.functions[0] | (.memory | any(.space == "global" and .access == "load" and .width == 4 and .in_loops >= 1))
        and (.memory | any(.space == "global" and .access == "store" and .width == 8 and .in_loops == 0))
        and (.loops | length >= 1) and .tensor_share == 0 and (.opcodes | map(.count) | add) == .instructions
        and (.classes | map(.count) | add) == .instructions' h.json >/dev/null
    "$dump" histogram loop.cubin | grep -q 'load.global'
    "$dump" histogram loop.ptx -arch sm_90a | grep -q 'FFMA'
}

@test "lines lead to instructions, and addresses to lines" {
    looped
    "$dump" lines loop.cubin | grep -q 'loop.cu:5  the load  ('
    "$dump" lines loop.cubin --at=5 >five
    grep -q 'LDG' five
    ! grep -q 'STG' five || false
    "$dump" lines loop.cubin --at=loop.cu:7 | grep -q 'STG'
    address=$("$dump" lines --json loop.cubin --at=7 | jq '.lines[0].instructions[] | select(.sass | test("STG")) | .offset')
    "$dump" lines loop.cubin --at="$(printf '0x%x' "$address")" | grep -q 'loop.cu:7'
    fails 1 "$dump" lines loop.cubin --at=other.cu:7
    says 'no instruction of line other.cu:7'
    fails 2 "$dump" lines loop.cubin --at=x:y
    says "expected a line (12 or k.mlir:12) or an address (0x1f0), got 'x:y'"
    "$CUTE_BIN/cute-link" -o bare.cubin "$data/link_ok.ptx"
    fails 1 "$dump" lines bare.cubin
    says 'has no source lines'
}

@test "cuobjdump's and nvdisasm's spellings choose views" {
    looped
    "$dump" -sass loop.cubin | cmp - plain
    "$dump" -sass -fun looped loop.cubin | cmp - plain
    "$dump" -c loop.cubin | cmp - plain
    "$dump" -ptx loop.cubin | cmp - <("$dump" ptx loop.cubin)
    "$dump" -elf loop.cubin | cmp - <("$dump" elf loop.cubin)
    "$dump" -res-usage loop.cubin | cmp - <("$dump" resources loop.cubin)
    "$dump" -plr loop.cubin | grep -q 'live registers: R (at most'
    "$dump" -lrm count loop.cubin | cmp - <("$dump" sass --liveness loop.cubin)
    "$dump" -hex loop.cubin | grep -qE '^ +[0-9a-f]{4}  [0-9a-f]{16} [0-9a-f]{16}  '
    "$dump" -lelf loop.cubin | grep -q 'elf'
    "$dump" -all loop.cubin >all
    for part in show elf ptx sass; do grep -q "^==== $part ====" all; done
    "$dump" all --json loop.cubin | jq -e '.show and .elf and .ptx and .sass' >/dev/null
    fails 2 "$dump" -sass -ptx loop.cubin
    says "expected one view, got"
    fails 2 "$dump" cfg -sass loop.cubin
    fails 2 "$dump" -lrm tall loop.cubin
    says "expected count, wide or narrow after -lrm, got 'tall'"
}

@test "-fun, -lrm and -g without a value: the functions, and machine code with its lines" {
    looped
    "$dump" -fun loop.cubin | cmp - <("$dump" loop.cubin)
    "$dump" loop.cubin | grep -q '^looped '
    for flags in -lrm -g -gi "-c -g" "sass -lrm"; do
        # shellcheck disable=SC2086
        "$dump" $flags loop.cubin | cmp - plain
    done
    "$dump" -lrm loop.cubin | grep -q "loop.cu:3"
    # a kernel of that name is meant where there is a file, too
    touch looped
    "$dump" -fun looped loop.cubin | cmp - <("$dump" -k looped loop.cubin)
    fails 1 "$dump" sass -fun other loop.cubin
}

@test "live registers are those that nvdisasm counts" {
    looped
    nvdisasm=$(find "$CUTE_BIN/../cuda/bin" "${CUTE_CUDA_PATH:-/nowhere}/bin" -name nvdisasm 2>/dev/null | head -1)
    [ -n "$nvdisasm" ] || nvdisasm=$(command -v nvdisasm) || skip "no nvdisasm"
    "$nvdisasm" -c -plr -lrm count loop.cubin 2>/dev/null | grep -oE '^ +/\*[0-9a-f]{4}\*/.*// \| *[0-9]+' |
        sed -E 's/^ +\/\*([0-9a-f]+)\*.*\| *([0-9]+)$/\1 \2/' >theirs
    "$dump" sass --liveness loop.cubin | grep -E '^    [0-9a-f]{4}  ' | awk '{ print $1, $2 }' >ours
    last=$(awk '/EXIT/ { print NR; exit }' <("$dump" sass loop.cubin | grep -E '^    [0-9a-f]{4}'))
    [ "$last" -gt 5 ]
    diff <(head -"$last" theirs) <(head -"$last" ours)
}
