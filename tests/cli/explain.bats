# cute-dump explain: why a kernel is slow. tests/explain has the kernels.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    dump=$CUTE_BIN/cute-dump
    kernels=$BATS_TEST_DIRNAME/../explain/kernels
}

@test "what is planted is found at its line in PTX and machine code, not in the cure; tuned kernels have no significant findings" {
    "$BATS_TEST_DIRNAME/../explain/run" --build "${CUTE_BIN%/bin}" >out || { grep -A9 '^not ok' out; false; }
}

@test "a finding has its line, its share, its evidence and a fix; minor ones are asked for" {
    "$dump" explain "$kernels/banks.ptx" --kernel=slow >out
    grep -q 'banks.cu:9.*bank-conflict' out && grep -q '32 wavefronts instead of 1 (32-way conflict)' out && grep -q 'fix: pad the rows' out
    ! grep -q integer-division out
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --all-findings | grep -q integer-division
    "$dump" explain "$kernels/banks.ptx" --kernel=cured | grep -q '^cured, blocks of 256 x 1 x 1 (.maxntid): no significant findings'
}

@test "--svg draws the report as the terminal shows it; the picture of the README is one" {
    sed 's/slow/transpose/; s#[.]/kernels/banks.cu#transpose.cu#' "$kernels/banks.ptx" >transpose.ptx
    "$dump" explain transpose.ptx --kernel=transpose --svg -o out.svg
    xmllint --noout out.svg 2>/dev/null || python3 -c 'import sys, xml.dom.minidom as m; m.parse("out.svg")'
    "$dump" explain transpose.ptx --kernel=transpose >out
    # The text of the picture is the report; the colour marks the name of the finding.
    sed -n 's/^<text[^>]*>//; s#</text>$##p' out.svg | sed 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s/&quot;/"/g' | diff - <(tr '\t' ' ' <out)
    grep -q '<tspan class="c31">bank-conflict</tspan>' out.svg
    # Addresses, registers and shares depend on the version of ptxas.
    normal() { sed 's/0x[0-9a-f]*/ADDRESS/g; s/%[a-z]*[0-9]*/REGISTER/g; s/[0-9][0-9]*/N/g' "$1"; }
    diff <(normal out.svg) <(normal "$BATS_TEST_DIRNAME/../../docs/explain.svg")
    run -2 "$dump" explain transpose.ptx --svg --json
    [[ $output == *"--json, --html and --svg are mutually exclusive"* ]]
}

@test "halves that ptxas joins to pairs are not told; without machine code nobody knows" {
    cat >k.ptx <<'END'
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
.reg .b64 %d<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .pred %p;
ld.param.u64 %d0, [a]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d0, %d1;
ld.global.b16 %h0, [%d2]; ld.global.b16 %h1, [%d2+2]; mov.b16 %h2, 0x3800;
L: fma.rn.f16 %h0, %h0, %h0, %h2;
fma.rn.f16 %h1, %h1, %h1, %h2;
sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra L;
st.global.b16 [%d2], %h0; st.global.b16 [%d2+2], %h1; ret;
}
END
    "$dump" explain k.ptx --all-findings >out
    ! grep -q scalar-half out
    "$dump" explain k.ptx --cuda-path=/nowhere | grep -q scalar-half
}

@test "arrays that L1 holds are not sent to shared memory; loads of the same sectors cost little" {
    for size in 8 64; do
        cat >k.ptx <<END
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
.maxntid 256, 1, 1
{
.local .align 4 .b8 mine[$((4 * size))];
.reg .b64 %d<6>; .reg .b32 %r<6>; .reg .pred %p;
ld.param.u64 %d0, [a]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d0, %d1;
mov.u64 %d3, mine;
L: ld.global.u32 %r2, [%d2]; and.b32 %r2, %r2, $((size - 1)); mul.wide.u32 %d4, %r2, 4; add.s64 %d4, %d3, %d4;
ld.local.u32 %r3, [%d4]; add.u32 %r3, %r3, %r2; st.local.u32 [%d4], %r3;
add.s64 %d2, %d2, 1024; sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra L;
st.global.u32 [%d2], %r3; ret;
}
END
        "$dump" explain k.ptx --json | jq -r '.kernels[0].findings[] | select(.id == "local-array") | .evidence + .cure' >out
        [ "$(grep -c "all resident threads need $((size * 8)) KiB" out)" -ge 1 ]
        [ "$(grep -c "shared memory would not be faster" out)" -eq "$([ $size = 8 ] && grep -c . out || echo 0)" ]
    done
    # a thread's four floats are in the sectors of the first, which L1 has then
    "$dump" explain "$kernels/vector.ptx" --kernel=slow --json |
        jq -e '.kernels[0].findings[] | select(.id == "vector-width") | .share < 0.25 and (.evidence | contains("if DRAM is the bottleneck"))'
}

@test "the launches of bench/explain have no fault" {
    "$BATS_TEST_DIRNAME/../../bench/explain/run" --bin="$CUTE_BIN" --check
}

@test "JSON has the findings, HTML is a page that needs no other file" {
    "$dump" explain "$kernels/double.ptx" --json | jq -e '.arch == "sm_80" and (.kernels | length) == 2
        and any(.kernels[].findings[]; .id == "double" and .weight == "high" and .line == 9 and .share > 0.2 and .share <= 1
                and (.cure | contains("0.5f")) and .address > 0)'
    "$dump" explain "$kernels/double.ptx" --html -o page.html
    grep -q '<section class="high">' page.html && ! grep -qE 'src=|href=' page.html
    run "$dump" explain "$kernels/double.ptx" --html --json
    [ "$status" = 2 ]
}

@test "without a toolkit PTX is looked at alone, and the report says so" {
    "$dump" explain "$kernels/atomic.ptx" --kernel=slow --cuda-path=/nowhere >out
    grep -q contended-atomic out && grep -q '(from PTX' out && grep -q 'not analysed: SASS' out
}

@test "without lines the PTX's own are named, and of a cubin without PTX the address" {
    sed -e '/\.loc/d' -e '/\.file/d' "$kernels/division.ptx" >d.ptx
    "$dump" explain d.ptx --kernel=slow --cuda-path=/nowhere | grep -qE 'd.ptx:[0-9]+: integer-division'
    "$CUTE_BIN/cute-link" d.ptx --strip -o d.cubin
    "$dump" explain d.cubin --kernel=slow | grep -qE 'slow \(0x[0-9a-f]+\): integer-division'
}

@test "with a launch the emulator counts: blocks, grid, how often lines run" {
    cat >launch.json <<'END'
{"kernel": "slow", "grid": [200], "block": [256],
 "buffers": {"a": {"dtype": "f32", "shape": [1048576], "init": "ones"}, "out": {"dtype": "f32", "shape": [1048576], "init": "zeros"}},
 "args": [{"buffer": "a"}, {"buffer": "out"}, {"value": 5, "type": "i32"}]}
END
    "$dump" explain "$kernels/uncoalesced.ptx" --kernel=slow --config=launch.json --json >e.json
    jq -e 'any(.kernels[0].findings[]; .id == "uncoalesced" and .line == 8 and .measured and (.evidence | contains("counted")))' e.json
    jq -e '(.kernels[0].not_looked_at | length) == 0' e.json
}

@test "ncu's pages: stall reasons of the kernel, shares by samples" {
    cat >details.csv <<'END'
"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"
"0","slow(const float *, float *, int)","WarpStateStats","smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio","inst","9.0"
"0","slow(const float *, float *, int)","WarpStateStats","smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio","inst","1.0"
END
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=details.csv | grep -q 'stalls: 90 % waiting for global or local memory, 10 % waiting at a block barrier'
    printf '"ID","Kernel Name","Block Size","Grid Size","Device","smsp__average_warps_issue_stalled_membar_per_issue_active.ratio"\n"","","","","","inst"\n"0","slow","256","1","0","2.5"\n' >raw.csv
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=raw.csv | grep -q 'stalls: 100 % waiting for a memory fence'
    printf '"#","Source","Warp Stall Sampling (All Samples)","stall_short_sb","stall_wait"\n"8","x","20","1","19"\n"9","y","80","70","10"\n' >source.csv
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=source.csv --json |
        jq -e 'any(.kernels[0].findings[]; .id == "bank-conflict" and .share == 0.8 and .measured and (.stall | contains("shared memory")))'
    echo 'a,b' >bad.csv
    run "$dump" explain "$kernels/banks.ptx" --ncu=bad.csv
    [ "$status" = 1 ]
    [[ $output == *"expected a table of ncu"* ]]
}

@test "ncu's tables of its versions: banners, several kernels and launches, units, other separators, UTF-16" {
    cat >details.csv <<'END'
==PROF== Connected to process 4711 (/usr/bin/app)
It's 5" wide
"ID","Process ID","Kernel Name","Block Size","Grid Size","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Description"
"0","1","other(int *)","(64, 1, 1)","(4, 1, 1)","9.0","Warp State Statistics","Stall Wait","inst","90.00","",""
"1","1","slow(const float *, float *, int)","(128, 2, 1)","(7, 1, 1)","9.0","Warp State Statistics","Stall Long Scoreboard","inst","9.00","",""
"1","1","slow(const float *, float *, int)","(128, 2, 1)","(7, 1, 1)","9.0","Warp State Statistics","Stall Barrier","inst","1.00","",""
"1","1","slow(const float *, float *, int)","(128, 2, 1)","(7, 1, 1)","9.0","Launch Statistics","","","","CPIStall","each warp spends ""9"" cycles"
END
    stalls='stalls: 90 % waiting for global or local memory, 10 % waiting at a block barrier'
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=details.csv --sms=132 >out
    grep -q "$stalls" out && grep -q 'small-grid' out && grep -q 'launch: execution counts are estimated' out
    sed 's/slow(const float \*, float \*, int)/void slow<(int)3>(const float *)/' details.csv | iconv -f ASCII -t UTF-16 >wide.csv
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=wide.csv | grep -q "$stalls"
    sed 's/","/";"/g; s/\.00"/,00"/; s/$/\r/' details.csv >semicolons.csv
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=semicolons.csv | grep -q "$stalls"
    printf '%s\n' '"ID","Process ID","Kernel Name","Block Size","Grid Size","launch__block_size","smsp__average_warps_issue_stalled_membar_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio","smsp__pcsamp_warps_issue_stalled_wait","smsp__pcsamp_warps_issue_stalled_wait_not_issued"' \
        '"","","","","","thread","inst","inst","",""' '"0","1","slow","(256, 1, 1)","(2, 1, 1)","256","2.5","0.5","1,000","n/a"' \
        '"1","1","cured","(256, 1, 1)","(2, 1, 1)","256","0","2","1,000","n/a"' '"2","1","slow","(256, 1, 1)","(2, 1, 1)","256","3.5","1.5","1,000","n/a"' >raw.csv
    "$dump" explain "$kernels/banks.ptx" --ncu=raw.csv --json |
        jq -e '[.kernels[] | .kernel + " " + .stalls] | sort == ["cured stalls: 100 % fixed latency of the previous instruction",
            "slow stalls: 75 % waiting for a memory fence, 25 % fixed latency of the previous instruction"]'
    for title in 'Warp Stall Sampling (All Cycles)' 'Sampling Data (All)' '# Samples'; do
        printf '%s\n' '"Kernel Name","slow(const float *, float *, int)",' "\"#\",\"Source\",\"$title\",\"stall_short_sb\",\"stall_wait\",\"stall_short_sb (Not Issued)\"" \
            '"8","x","20","1","19","7"' '"9","y","80","70","10","700"' '"Kernel Name","cured(const float *, float *, int)",' \
            "\"#\",\"Source\",\"$title\",\"stall_long_sb\"" '"9","x","50","50"' >source.csv
        "$dump" explain "$kernels/banks.ptx" --ncu=source.csv --json | jq -e 'any(.kernels[]; .kernel == "slow" and (.stalls | contains("71 %"))
            and any(.findings[]; .id == "bank-conflict" and .share == 0.8 and .measured)) and any(.kernels[]; .kernel == "cured" and (.stalls | contains("100 %")))'
    done
    # Machine code: addresses as they were loaded. The load of line 9 is at 0x440 of the function.
    at=$("$dump" explain "$kernels/banks.ptx" --kernel=slow --json | jq '.kernels[0].findings[] | select(.id == "bank-conflict").address')
    printf '"Kernel Name","slow"\n"Address","Source","Warp Stall Sampling (All Samples)","stall_short_sb"\n' >sass.csv
    for n in $(seq 0 99); do printf '"0x%x","X","%d","%d"\n' $((0x7f2000000000 + 16 * n)) $((16 * n == at ? 300 : 7)) 1; done >>sass.csv
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=sass.csv --json | jq -e 'any(.kernels[].findings[]; .id == "bank-conflict" and .measured and .share > 0.3)'
}

@test "what is no table of ncu, or none of the module, is refused with what would do" {
    refused() { # file, message
        run "$dump" explain "$kernels/banks.ptx" --ncu="$1"
        [ "$status" = 1 ] && [[ $output == *"$2"* ]]
    }
    printf 'NVR\0\0\0' >r.ncu-rep
    refused r.ncu-rep 'convert it with ncu --import FILE --page source --csv'
    printf '  slow (1,1,1)\n    Section: GPU Speed Of Light\n' >text
    refused text 'run ncu with --csv and --page raw'
    printf '"Time (%%)","Total Time (ns)","Instances"\n"50","3","1"\n' >nsys.csv
    refused nsys.csv 'got one of nsys'
    printf '"Kernel Name","foo(int)"\n"#","Source","# Samples"\n"1","x","1"\n' >other.csv
    refused other.csv "expected slow or another kernel, got 'foo(int)'"
    printf '"#","Source","# Samples"\n"1","x","1"\n' >unnamed.csv
    refused unnamed.csv 'expected --kernel=NAME'
    printf '"Kernel Name","slow"\n"#","Source","Instructions Executed"\n"1","x","1"\n' >samples.csv
    refused samples.csv 'collect them with ncu --section SourceCounters'
    printf '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"\n"0","slow","x","Duration","us","3"\n' >none.csv
    "$dump" explain "$kernels/banks.ptx" --kernel=slow --ncu=none.csv | tr -s ' \n' ' ' | grep -q 'not analysed: stalls: none.csv has neither stall reasons'
}

@test "a launch tells of blocks that are too small, of a last wave that is nearly empty, of idle multiprocessors" {
    launch() { # grid block
        printf '{"kernel": "cured", "grid": [%s], "block": [%s], "buffers": {"a": {"dtype": "f32", "shape": [1048576], "init": "ones"},
            "out": {"dtype": "f32", "shape": [1048576], "init": "zeros"}}, "args": [{"buffer": "a"}, {"buffer": "out"}, {"value": 0, "type": "i32"}]}' "$1" "$2" >l.json
        "$dump" explain "$kernels/structures.ptx" --kernel=cured --config=l.json --json --sms="$3" >e.json
        jq -r '.kernels[0].findings[] | select(.weight != "low") | .id' e.json
    }
    [[ $(launch 64 32 2) == *small-block* ]]
    [[ $(launch 2 256 100) == *small-grid* ]]
    [[ $(launch 17 256 2) == *tail-wave* ]]
    [[ $(launch 16 256 2) != *tail-wave* ]]
}

@test "shared memory that a launch asks for counts: few warps, and a wave of one block" {
    launch() { # bytes
        printf '{"kernel": "slow", "grid": [3], "block": [256], "dynamic_smem": %d, "buffers": {"a": {"dtype": "f32", "shape": [65536], "init": "ones"},
            "out": {"dtype": "f32", "shape": [1048576], "init": "zeros"}}, "args": [{"buffer": "a"}, {"buffer": "out"}, {"value": 64, "type": "i32"}]}' "$1" >l.json
        "$dump" explain "$kernels/inplace.ptx" --kernel=slow --config=l.json --json --sms=2 >e.json
        jq -r '.kernels[0].findings[] | select(.weight != "low") | "\(.id): \(.evidence)"' e.json
    }
    [[ $(launch 1024) != *occupancy* && $(launch 1024) != *tail-wave* ]]
    [[ $(launch 120000) == *"occupancy: 8 of 64 warps are resident, limited by shared memory"* ]]
    [[ $(launch 120000) == *"tail-wave: 3 blocks, 2 resident on 2 multiprocessors"* ]]
}

@test "code that comes from a header is told at the line of the kernel's author" {
    cat >inlined.ptx <<'PTX'
.version 8.3
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.file 2 "some/include/helpers.hpp"
.visible .entry k(.param .u64 a, .param .u64 b)
.maxntid 256, 1, 1
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<3>;
    .loc 1 20 1
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 512;
    .loc 1 21 9
    mov.b32 %r2, 0;
    .loc 1 7 5, function_name $own, inlined_at 1 21 9
    add.s64 %rd4, %rd1, %rd3;
    .loc 2 112 3, function_name $deep, inlined_at 1 7 5
    ld.global.f32 %f1, [%rd4];
    .loc 1 22 1
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f1;
    ret;
}
.section .debug_str
{
$own:
.b8 111
.b8 0
$deep:
.b8 100
.b8 0
}
PTX
    "$dump" explain inlined.ptx --cuda-path=/nowhere >out
    grep -q 'kernel.cu:7: uncoalesced' out
    ! grep -q helpers.hpp out
    "$CUTE_BIN/cute-link" -lineinfo --strip inlined.ptx -o inlined.cubin
    "$dump" explain inlined.cubin >out
    grep -qE 'kernel.cu:7 .*uncoalesced' out
    ! grep -q helpers.hpp out
}

@test "arguments of calls are no arrays of a thread" {
    cat >call.ptx <<'PTX'
.version 8.3
.target sm_90
.address_size 64
.func (.param .b32 r) twice(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret; }
.func (.reg .u32 r) thrice(.reg .u32 x) { mul.lo.u32 r, x, 3; ret; }
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 %r2, [b]; }
  call (%r3), thrice, (%r2);
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd4, %rd1, %rd2;
  st.global.u32 [%rd4], %r3;
  ret;
}
PTX
    "$dump" explain call.ptx --all-findings >out
    grep -q '^k, blocks of 256 x 1 x 1 (assumed): no significant findings' out || { cat out; false; }
}

@test "the header has the block and its origin; evidence that rests on an argument says what is assumed of it" {
    "$dump" explain "$kernels/uncoalesced.ptx" --kernel=slow >out
    grep -q '^slow, blocks of 256 x 1 x 1 (.maxntid): ' out && grep -q '      assumed: arguments are multiples of 1024$' out
    "$dump" explain "$kernels/uncoalesced.ptx" --kernel=slow --json |
        jq -e '.kernels[0] | .block == [256, 1, 1] and .block_from == ".maxntid" and .findings[0].assumed == "arguments are multiples of 1024"'
    # the distance of the lanes is in the code
    "$dump" explain "$kernels/structures.ptx" --kernel=slow --json |
        jq -e '.kernels[0].findings[] | select(.id == "uncoalesced") | has("assumed") | not'
}

@test "of a cubin without PTX the block and the grid of a launch are taken" {
    cat >copy.ptx <<'PTX'
.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 a, .param .u64 out)
{
.reg .b64 %d<6>; .reg .b32 %r<6>; .reg .f32 %f;
ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %d3, %r1, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
ld.global.f32 %f, [%d1]; st.global.f32 [%d2], %f; ret;
}
PTX
    "$CUTE_BIN/cute-link" --strip copy.ptx -o copy.cubin
    for threads in 32 256; do
        echo '{"kernel": "copy", "grid": ['$((131072 / threads))'], "block": ['$threads'], "args": [{"buffer": "a"}, {"buffer": "out"}],
               "buffers": {"a": {"dtype": "f32", "shape": [131072], "init": "ones"}, "out": {"dtype": "f32", "shape": [131072], "init": "zeros"}}}' >launch.json
        "$dump" explain copy.cubin --config=launch.json >$threads.out
        grep -q "^copy, blocks of $threads x 1 x 1 (launch.json): " $threads.out
    done
    grep -q small-block 32.out && grep -q 'the emulator needs PTX' 32.out
    ! grep -q small-block 256.out
}
