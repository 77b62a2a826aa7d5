# cute-run --roofline: what kernels did against what a device can do. Expected numbers are counted by hand and by Python.

setup() {
    run="$CUTE_BIN/cute-run"
    cd "$BATS_TEST_TMPDIR"
}

says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }

# kernel BODY [BLOCKS]: k.ptx with a kernel over 4096 i32 `out` and `in`; %r0 is the thread, %r1 the block, %d0 out, %d1 in, %d2
# and %d3 the thread's element of the block's 64 in each.
kernel() {
    cat >k.ptx <<END
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .b64 %d<8>; .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .pred %p<4>; .shared .align 8 .b8 s[8192];
ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
mad.lo.u32 %r2, %r1, 64, %r0; mul.wide.u32 %d4, %r2, 4; add.s64 %d2, %d0, %d4; add.s64 %d3, %d1, %d4;
$1
ret;
}
END
    echo '{"grid": ['"${2:-4}"'], "block": [64], "args": ["out", "in"], "buffers": {"out": {"dtype": "i32", "shape": [4096],
           "unwritten": "allow"}, "in": {"dtype": "i32", "shape": [4096], "init": "iota"}}}' >k.json
}

roofline() { run "$run" k.ptx --config k.json --device emulator --roofline "$@"; [ "$status" -eq 0 ] || { echo "$output"; false; }; }

# value EXPRESSION: of the first kernel's roofline k, the roofline r, a ceiling c("dram").
value() {
    python3 - "$1" <<'END'
import json, sys
r = json.load(open("report.json"))["roofline"]
k = r["kernels"][0]
def c(name, key="amount"):
    found = [x for x in k["ceilings"] if x["ceiling"] == name]
    return found[0].get(key) if found else None
sys.exit(0 if eval(sys.argv[1]) else print(sys.argv[1], json.dumps(k)) or 1)
END
}

report() { roofline --json "$@"; echo "$output" >report.json; }

@test "the footprint is sectors, each once; L2 gives each block its own" {
    kernel 'ld.global.u32 %r3, [%d1]; ld.global.u32 %r4, [%d3]; add.u32 %r3, %r3, %r4; st.global.u32 [%d2], %r3;'
    report
    # 4 blocks of 64 elements; the first sector of `in` is the first block's, too
    value 'k["dram"] == {"read": 4 * 256, "written": 4 * 256}'
    value 'k["l2"] == {"read": 4 * 256 + 3 * 32, "written": 4 * 256}'
    value 'c("dram") == 2048 and c("memory") == 4 * 2 * 32 * 3'
    # L1: a sector for all lanes, 4 of their own, 4 stored, for each of 8 warps
    value 'c("l1") == 8 * 32 * (1 + 4 + 4)'
    value 'r["device"]["name"] == "H100" and k["bound"] == "launch"'
}

@test "what the kernel wrote before it reads it does not come from memory" {
    kernel 'st.global.u32 [%d2], %r0; ld.global.u32 %r3, [%d2]; st.global.u32 [%d2], %r3;'
    report
    value 'k["dram"] == {"read": 0, "written": 1024}'
    kernel 'ld.global.u32 %r3, [%d2]; st.global.u32 [%d2], %r3;'
    report
    value 'k["dram"] == {"read": 1024, "written": 1024}'
    kernel 'atom.global.add.u32 %r3, [%d0], 1;'
    report
    value 'k["dram"] == {"read": 32, "written": 32} and k["global_atomics"] == 256'
}

@test "strided accesses take whole sectors" {
    kernel 'shl.b64 %d4, %d4, 3; add.s64 %d3, %d1, %d4; ld.global.u32 %r3, [%d3]; st.global.u32 [%d2], %r3;' 4
    report
    value 'k["dram"]["read"] == 256 * 32 and k["l2"]["read"] == 256 * 32'
}

@test "asynchronous and bulk copies are counted" {
    kernel 'mov.u32 %r3, s; cp.async.bulk.commit_group; setp.ne.u32 %p1, %r0, 0; @%p1 bra X;
            st.shared.u32 [%r3], %r0; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r3], 256; cp.async.bulk.commit_group;
            cp.async.bulk.wait_group 0; X:'
    report
    value 'k["bulk"] == {"read": 0, "written": 1024} and k["dram"]["written"] == 1024 and k["l2"]["written"] == 1024'
    # 256 bytes for each block, twice; L2 is asked twice, too
    kernel 'mov.u32 %r3, s; setp.ne.u32 %p1, %r0, 0; @%p1 bra X; mbarrier.init.shared.b64 [%r3], 1;
            fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 %d5, [%r3], 512; add.u32 %r4, %r3, 128; add.u32 %r5, %r3, 512;
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%d3], 256, [%r3];
            cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d3], 256, [%r3];
W: mbarrier.test_wait.shared.b64 %p2, [%r3], %d5; @!%p2 bra W; X:'
    for seed in 0 1; do
        report --seed $seed
        value 'k["bulk"] == {"read": 2048, "written": 0} and k["dram"] == {"read": 1024, "written": 0}'
        value 'k["l2"] == {"read": 2048, "written": 0}'
    done
    kernel 'mov.u32 %r3, s; shl.b32 %r4, %r0, 2; add.u32 %r3, %r3, %r4; cp.async.ca.shared.global [%r3], [%d3], 4;
            cp.async.wait_all; ld.shared.u32 %r3, [%r3]; st.global.u32 [%d2], %r3;'
    report
    value '"bulk" not in k and k["dram"] == {"read": 1024, "written": 1024} and k["l2"]["read"] == 1024'
}

@test "the bound is the ceiling with the longest time" {
    kernel 'mov.f32 %f1, 0f3F800000; mov.u32 %r3, 0;
L: fma.rn.f32 %f2, %f1, %f1, %f1; fma.rn.f32 %f3, %f1, %f1, %f1; fma.rn.f32 %f4, %f1, %f1, %f1; fma.rn.f32 %f5, %f1, %f1, %f1;
   add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 2000; @%p1 bra L; st.global.f32 [%d2], %f2;' 1
    report --of a100
    # 2000 times 4 of two warps, on one multiprocessor of 64 lanes
    value 'k["operations"] == 2000 * 4 * 64 * 2 and c("fp32") == 2000 * 4 * 64'
    value 'k["bound"] == "fp32" and abs(k["expected_s"] - 2000 * 4 / 1.41e9) < 1e-9'
    value 'abs(c("fp32", "share") - 1) < 1e-9 and c("integer", "share") < 1 and r["device"]["name"] == "A100"'
    roofline --of sm_89
    says "roofline on L40S (sm_89): 142 multiprocessors at 2520 MHz"
    says "expected: "
    [[ "$output" != *"counters of k"* && "$output" != *"kernel checks"* ]]
}

@test "operations of tensor cores are those that the emulator counts" {
    kernel '.reg .b32 %h<5>; .reg .f32 %g<5>; mov.b32 %h0, 0; mov.f32 %g0, 0f00000000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%g1,%g2,%g3,%g4},{%h0,%h0,%h0,%h0},{%h0,%h0},{%g0,%g0,%g0,%g0};
st.global.f32 [%d2], %g1;'
    report
    python3 -c 'import json; d = json.load(open("report.json")); k = d["roofline"]["kernels"][0]
c = [x["amount"] for x in k["ceilings"] if x["ceiling"] == "tensor_f16"]
assert c == [d["counts"]["mma_flops"]] == [8 * 2 * 16 * 8 * 16], k'
}

@test "the counters of one run serve for other devices" {
    kernel 'ld.global.u32 %r3, [%d3]; st.global.u32 [%d2], %r3;'
    "$run" k.ptx --config k.json --device emulator --check=bank,coalescing --counters --json >work.json
    report
    cp report.json own.json
    report --work work.json
    python3 -c 'import json; a, b = (json.load(open(f))["roofline"] for f in ("own.json", "report.json")); assert a == b'
    run "$run" k.ptx --config k.json --device emulator --roofline --work k.json
    [ "$status" -eq 1 ]
    says 'this report has no "counters"'
}

@test "counters and checks that were asked for stay in the report" {
    kernel 'ld.global.u32 %r3, [%d3]; st.global.u32 [%d2], %r3;'
    report
    python3 -c 'import json; d = json.load(open("report.json")); assert "counters" not in d and "kernel_checks" not in d'
    report --counters --check=race
    python3 -c 'import json; d = json.load(open("report.json")); assert d["counters"] and "race" in d["kernel_checks"]["checks"]'
}

@test "the picture is well-formed and has the kernel's point" {
    kernel 'mov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, %f1, %f1; st.global.f32 [%d2], %f2;'
    roofline --svg roof.svg
    python3 - <<'END'
import xml.etree.ElementTree as tree
root = tree.parse("roof.svg").getroot()
ns = "{http://www.w3.org/2000/svg}"
points = list(root.iter(ns + "circle"))
assert len(points) == 1 and points[0].find(ns + "title").text.startswith("k: "), points
texts = "".join(t.text or "" for t in root.iter(ns + "text"))
assert "DRAM 3352 GB/s" in texts and "single precision, 66.9 T" in texts and "href" not in open("roof.svg").read(), texts
END
}

@test "what makes no roofline is told" {
    kernel 'st.global.u32 [%d2], %r0;'
    run "$run" k.ptx --config k.json --of h100
    [ "$status" -eq 2 ]
    says "--of requires --roofline"
    run "$run" k.ptx --config k.json --roofline --device emulator --of h999
    [ "$status" -eq 2 ]
    says "--of expects a device or an architecture, got 'h999'"
    says "known devices: H100, H200"
    run "$run" k.ptx --roofline
    [ "$status" -eq 2 ]
    says "--roofline requires --config"
    run "$run" k.ptx --config k.json --roofline --dry-run
    [ "$status" -eq 2 ]
}

@test "a GPU is calibrated once, and rooflines on it have what it reaches beside what was measured" {
    cp "$BATS_TEST_DIRNAME"/../data/run/* .
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" CUTE_CACHE="$PWD/cache"
    sed -i '0,/    ret;/s//    .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .f32 %f<3>; .reg .pred %p<2>;\
    ld.param.u64 %d0, [vector_add_param_0]; ld.param.u64 %d1, [vector_add_param_1]; ld.param.u64 %d2, [vector_add_param_2];\
    ld.param.u32 %r3, [vector_add_param_3]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 256, %r0;\
    setp.ge.s32 %p1, %r2, %r3; @%p1 ret; mul.wide.u32 %d3, %r2, 4; add.s64 %d0, %d0, %d3; add.s64 %d1, %d1, %d3;\
    add.s64 %d2, %d2, %d3; ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d1]; add.f32 %f2, %f0, %f1;\
    st.global.f32 [%d2], %f2; ret;/' kernels.ptx
    "$run" kernels.ptx --config add.json --roofline --json >report.json
    value '"attainable_s" not in r and r["measured_s"] > 0 and abs(r["reached"] - r["expected_s"] / r["measured_s"]) < 1e-9'
    value 'k["kernel"] == "vector_add" and k["dram"]["read"] == 2 * 4000 and k["dram"]["written"] == 4000'
    "$run" --calibrate --json >calibrated.json
    "$run" --calibrate >text.txt
    grep -q "tensor cores, f16" text.txt
    "$run" kernels.ptx --config add.json --roofline --json >report.json
    value 'r["attainable_s"] > 0 and set(r["device"]["measured_rates"]) >= {"dram", "l2", "l1", "fp32"}'
    python3 -c 'import json; a, b = json.load(open("calibrated.json")), json.load(open("report.json"))["roofline"]["device"]
assert a["name"] == b["name"] and set(a["measured_rates"]) == set(b["measured_rates"]), (a, b)'
    "$run" kernels.ptx --config add.json --roofline >text.txt
    grep -q "with the measured rates" text.txt
    grep -q "% of the roofline" text.txt
    # what the emulator finds wrong with results is the GPU's to say
    cp "$BATS_TEST_DIRNAME/../data/run/kernels.ptx" .
    run "$run" kernels.ptx --config add.json --roofline
    [ "$status" -eq 0 ]
    [[ "$output" != *"never written"* ]]
}

@test "an emulator and a driver that takes nothing are not calibrated" {
    run "$run" --calibrate --device emulator
    [ "$status" -eq 1 ]
    says "expected a GPU to calibrate, got the emulator"
    CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" FAKECUDA=load run "$run" --calibrate
    [ "$status" -eq 3 ]
    says "nothing was measured"
    says "warning: "
}
