#!/usr/bin/env bats
# The schedules of tile programs (cute-dump schedule), and the timeline of their warps on the emulator (cute-run --timeline).
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
    [ -x "$CUTE_BIN/cute-ptx" ] || skip "no cute-ptx"
    cat >gemm.mlir <<'MLIR'
!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @kernels {
  gpu.func @gemm(%a: !A, %b: !A, %c: !A) kernel {
    %i, %j = cute.tile.program<[128, 256]> %c
    %n = cute.tile.count<1, 64> %a
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<128x256xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<128x256xf32>) : i32 {
      %x = cute.tile.load<[128, 64]> %a[%i, %k]
      %y = cute.tile.load<[256, 64]> %b[%j, %k]
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<128x256xf32>
    }
    %h = cute.tile.cast<f16> %sum
    cute.tile.store %h, %c[%i, %j]
    gpu.return
  }
}
MLIR
    cat >launch.json <<'JSON'
{ "plan": "gemm", "buffers": { "a": { "shape": [256, 640], "init": "normal" }, "b": { "shape": [512, 640], "init": "normal" },
  "c": { "shape": [256, 512] } } }
JSON
}

says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }

# check FILE CODE: CODE has k, the first kernel.
check() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
k = json.load(open(sys.argv[1]))["kernels"][0]
exec(sys.argv[2])
PYTHON
}

@test "roles, rings, mbarriers and products of a kernel with warpgroups as consumers are listed" {
    cute-ptx -arch sm_90a gemm.mlir --schedule="stages=3 consumers=2 cluster=2x1" -o gemm.ptx
    run -0 cute-dump schedule gemm.ptx
    says "gemm: stages=3 consumers=2 cluster=2x1 persistent=1 order=8"
    says "grid: resident blocks take tiles of 128x256 in turn, clusters of 2x1 blocks, 8 tiles along the rows"
    says "producer   0             32         24"
    says "consumers  4 to 11      256        240"
    says "ring of a      128x64       f16        3"
    says "TMA of producer, 1/2 of the tile multicast to 2 blocks"
    says "49152 bytes, 1 arrival"
    says "6 arrivals, of 2 warpgroups in each of 2 blocks"
    says "wgmma 64x256x16"
    says "1 later product"
    says "gemm.mlir:12"
}

@test "clusters that divide the last tiles along k are told of, in the text and as JSON" {
    cute-ptx -arch sm_90a gemm.mlir --schedule="stages=3 consumers=2 cluster=2x1 tail=split" -o gemm.ptx
    run -0 cute-dump schedule gemm.ptx
    says "threads=0 tail=split"
    says "the k of each tile of the last wave is split among clusters"
    cute-dump schedule gemm.ptx --json >s.json
    check s.json 'assert k["grid"]["tail"] == "split"'
    cute-ptx -arch sm_90a gemm.mlir --schedule="stages=3 consumers=2 cluster=2x1 tail=whole" | cute-dump schedule --json >s.json
    check s.json 'assert "tail" not in k["grid"]'
    # A stated tail is kept where the model would choose alternate tiles, which are not split.
    sed 's/256/128/g' gemm.mlir >narrow.mlir
    cute-ptx -arch sm_90a narrow.mlir --schedule="consumers=2 cluster=2x1 persistent=1 tail=split" | cute-dump schedule --json >s.json
    check s.json 'assert k["grid"]["tail"] == "split"; assert "turns=1" not in k["schedule"]'
    run -1 cute-ptx -arch sm_90a gemm.mlir --schedule="tail=half"
    [[ "$output" == *"tail=whole|split|stream"* ]]
}

@test "warpgroups that take turns are listed, with the barrier between them" {
    sed 's/256/192/g' gemm.mlir >turns.mlir
    cute-ptx -arch sm_90a turns.mlir --schedule="stages=4 consumers=2 cluster=2x1 turns=1" -o turns.ptx
    run -0 cute-dump schedule turns.ptx
    says "gemm: stages=4 consumers=2 cluster=2x1 persistent=1 order=8 threads=0 turns=1"
    says "turns: 2 groups of 4 warps of consumers compute alternate tiles"
    says "consumers  4 to 11      256        240"
    says "3 arrivals, of 1 warpgroup in each of 2 blocks"
    says "end_turn by the group before: its products are issued  256 threads at a named barrier"
    cute-dump schedule turns.ptx --json >s.json
    check s.json 'assert [r["turns"] for r in k["roles"]] == [1, 2]'
    # Refused choices are listed with the reason.
    cute-ptx -arch sm_90a gemm.mlir --schedule="consumers=2 turns=1" -o gemm.ptx
    run -0 cute-dump schedule gemm.ptx
    says "warpgroups share each tile, without turns: it needs 256 registers of a thread for sums"
}

@test "JSON has names in place of indices, and the bytes of shared memory that are left" {
    cute-ptx -arch sm_90a gemm.mlir --schedule="stages=3 consumers=2 cluster=2x1" -o gemm.ptx
    cute-dump schedule gemm.ptx --json >s.json
    check s.json '
assert [r["name"] for r in k["roles"]] == ["producer", "consumers"]
a, b = k["rings"]
assert (a["tensor"], a["tile"], a["stages"], a["bytes"], a["multicast_blocks"]) == ("a", [128, 64], 3, 3 * 128 * 64 * 2, 1)
assert (b["tensor"], b["tile"], b["swizzle"], b["multicast_blocks"], b["offset"]) == ("b", [256, 64], "S<3,4,3>", 2, a["bytes"])
full, empty = k["pipes"][0]["full"], k["pipes"][0]["empty"]
assert full == {"arrivals": 1, "expected_bytes": (128 + 256) * 64 * 2, "signalled_by": "producer", "awaited_by": "consumers"}
assert (empty["arrivals"], empty["readers"], empty["reader"], empty["awaited_by"]) == (6, 2, "warpgroup", "producer")
assert k["products"][0]["tile"] == [128, 256, 64] and k["products"][0]["pending"] == 1
m = k["shared_memory"]
assert m["limit"] == 227 * 1024 and m["left"] == m["limit"] - m["bytes"] >= 0
for s in m["staging"]:
    assert s["offset"] + s["bytes"] <= m["bytes"]
assert k["grid"] == {"resident": True, "tile": [128, 256], "cluster": [2, 1], "order": 8}
'
}

@test "the picture has a lane for each role and stage" {
    cute-ptx -arch sm_90a gemm.mlir --schedule="stages=3" -o gemm.ptx
    cute-dump schedule gemm.ptx --svg -o s.svg
    python3 - <<'PYTHON'
import xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
t = [x.text for x in tree.parse("s.svg").iter(svg + "text")]
for lane in ["producer", "stage 0", "stage 1", "stage 2", "consumers"]:
    assert t.count(lane) == 1, (lane, t)
assert t.count("stage 3") == 0 and t.count("product 0") == 1 and t.count("fetch 6") == 1
assert len(list(tree.parse("s.svg").iter(svg + "line"))) == 2 * 7 + 4
PYTHON
}

@test "MLIR for sm_80 has cp.async in groups, without roles" {
    run -0 cute-dump schedule -arch sm_80 gemm.mlir
    says "gemm: stages=3 consumers=0"
    says "grid: a block for each tile of 128x256"
    says "all warps  0 to 15"
    says "cp.async of all warps"
    says "wait_group  all warps"
    says "mma 16x8x16"
    cute-dump schedule -arch sm_80 gemm.mlir --svg -o s.svg
    grep -q "3 stages, cp.async groups" s.svg
}

@test "a cubin has the schedule of its PTX" {
    cute-ptx -arch sm_90a gemm.mlir -o gemm.ptx
    cute-link gemm.ptx -o gemm.cubin || skip "no ptxas"
    diff <(cute-dump schedule gemm.ptx) <(cute-dump schedule gemm.cubin)
}

@test "a kernel without a schedule says so in one line" {
    cat >k.mlir <<'MLIR'
!X = !cute.memref<f32, gmem, "?:1">
gpu.module @m {
  gpu.func @plain() kernel { gpu.return }
  gpu.func @copy(%x: !X, %y: !X) kernel {
    %i = cute.tile.program<[256]> %y
    %a = cute.tile.load<[256]> %x[%i]
    cute.tile.store %a, %y[%i]
    gpu.return
  }
  gpu.func @slow(%x: !X, %y: !X) kernel attributes {cute.schedule = "naive"} {
    %i = cute.tile.program<[256]> %y
    %a = cute.tile.load<[256]> %x[%i]
    cute.tile.store %a, %y[%i]
    gpu.return
  }
}
MLIR
    cute-ptx -arch sm_90a k.mlir -o k.ptx
    run -0 cute-dump schedule k.ptx
    [ "$output" = "plain: no schedule: it is not a tile program
copy: no schedule: no loop has a product whose loads could run ahead
slow: no schedule: naive: one element at a time, a barrier before each operation" ]
    run -1 --separate-stderr cute-dump schedule k.ptx --svg
    [[ "$stderr" == *"k.ptx: error: --svg draws a kernel with stages, got none"* ]]
    run -0 cute-dump schedule k.ptx --kernel=copy --json
    [[ "$output" == *'"why_none": "no loop has a product whose loads could run ahead"'* ]]
}

latent() {
    cute-ptx -arch sm_90a "$BATS_TEST_DIRNAME/../../kernels/attention/mla_decode.mlir" -D T=bf16 -D D=512 -D R=64 -D SHARE=128 -D BT=1 -D HT=64 -D PAGE=64 -D BN=64 -D LSE=0 -D LIMIT=16384.0 "$@" -o latent.ptx
    run -0 cute-dump schedule latent.ptx
}

@test "a factor that warpgroups exchange is a ring that threads write" {
    latent --schedule=factors=0
    [[ "$output" =~ "ring of a factor"\ +64x64\ +bf16\ +1\ +0\ +8192\ +"S<3,4,3>"\ +consumers ]]
    says "wgmma 64x32x16     64x64x512     consumers  until a later product waits  mla_decode.mlir"
}

@test "a warpgroup of a factor is a role whose stores the consumers wait for; both read and release the fetched tiles" {
    latent
    says "factor     4 to 7       128        144  -"
    [[ "$output" =~ "ring of a factor"\ +64x64\ +bf16\ +1\ +0\ +8192\ +"S<3,4,3>"\ +factor ]]
    says "wgmma 64x64x16     64x64x128     factor"
    says "wgmma 64x128x16    64x512x64     consumers"
    [[ "$output" =~ await\ +consumers\ +"stores of factor: the stage is full"\ +"4 arrivals, of 4 warps" ]]
    [[ "$output" =~ await\ +"factor, consumers"\ +"TMA of producer: the stage is full"\ +"16384 bytes, 1 arrival" ]]
    [[ "$output" =~ acquire\ +producer\ +"release by factor, consumers: the stage is empty"\ +"3 arrivals, of 3 warpgroups" ]]
    cute-dump schedule latent.ptx --json >s.json
    check s.json 'p = [p for p in k["pipes"] if p["full"]["expected_bytes"] == 16384]; assert len(p) == 4 and p[0]["also_read_by"] == "factor" and p[0]["full"]["arrivals"] == 1
assert [p["full"]["arrivals"] for p in k["pipes"] if not p["full"]["expected_bytes"]] == [4, 4]'
}

@test "a load that does not run ahead is listed with the reason" {
    sed 's/cute.tile.load<\[128, 64\]>/cute.tile.load<[128, 64], inf>/' gemm.mlir >k.mlir
    run -0 cute-dump schedule -arch sm_80 k.mlir
    says "left as it was:"
    says "k.mlir:10: this load does not run ahead: its fill is not zero"
    cute-dump schedule -arch sm_80 k.mlir --json >s.json
    check s.json 'assert (10, "this load does not run ahead: its fill is not zero") in [(r["line"], r["text"]) for r in k["refused"]]'
}

@test "options and files that do not fit are errors" {
    cute-ptx -arch sm_90a gemm.mlir -o gemm.ptx
    run -2 cute-dump schedule gemm.ptx --json --svg
    says "--json and --svg are mutually exclusive"
    run -2 cute-dump schedule gemm.ptx --html
    says "has no effect on 'schedule'"
    echo "not a module" >bad.txt
    run -1 cute-dump schedule bad.txt
    says "bad.txt: error:"
    sed 's/"producer": 0/"producer": 7/' gemm.ptx >k.ptx
    run -1 cute-dump schedule k.ptx
    says "k.ptx: error: the schedule in the metadata of kernel 'gemm' refers to a role, pipe or dimension that it does not have"
    sed 's/"stages": 4/"stages": "x"/' gemm.ptx >k.ptx
    run -1 cute-dump schedule k.ptx
    says "stages in the metadata: expected a number"
}

# timeline FILE CODE: the file is what viewers read, spans of a row are apart or one within the other. CODE has row, a list of complete events by the name of the row.
timeline() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
t = json.load(open(sys.argv[1]))
assert "cycles" in t["otherData"]["time"] and t["otherData"]["dropped_spans"] == 0
name = {(e["pid"], e["tid"]): e["args"]["name"] for e in t["traceEvents"] if e["name"] == "thread_name"}
row = {n: [] for n in name.values()}
for e in t["traceEvents"]:
    if e["ph"] == "X":
        assert e["ts"] >= 0 and e["dur"] > 0
        row[name[e["pid"], e["tid"]]].append(e)
for n, events in row.items():
    stack = []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        end = e["ts"] + e["dur"]
        while stack and stack[-1] <= e["ts"]:
            stack.pop()
        assert not stack or end <= stack[-1], (n, e)
        stack.append(end)
begins = [e["id"] for e in t["traceEvents"] if e["ph"] == "b"]
assert sorted(begins) == sorted(e["id"] for e in t["traceEvents"] if e["ph"] == "e")
exec(sys.argv[2])
PYTHON
}

@test "the timeline of a block has rows for roles, stages and tensor cores" {
    cute-ptx -arch sm_90a gemm.mlir --schedule="stages=3 consumers=2 cluster=2x1" -o gemm.ptx
    for seed in 0 1 2; do
        cute-run gemm.ptx -c launch.json -d emulator --seed "$seed" --timeline=t.json >out.txt
        timeline t.json '
for n in ["producer, warp 0", "consumers 0, warp 4", "consumers 1, warp 8", "copies to stage 2", "tensor cores, consumers 1"]:
    assert row[n], n
full = [e for s in range(3) for e in row["copies to stage %d" % s]]
assert len(full) == 10 and all(e["args"]["bytes"] == 49152 for e in full)
# A product begins after the stage is full, and a stage is fetched again after its product.
full.sort(key=lambda e: e["ts"] + e["dur"])
products = sorted(row["tensor cores, consumers 0"], key=lambda e: e["ts"])
assert len(products) == 10
for f, p in zip(full, products):
    assert f["ts"] + f["dur"] <= p["ts"], (f, p)
for f, p in zip(sorted(full, key=lambda e: e["ts"])[3:], products):
    assert p["ts"] + p["dur"] <= f["ts"], (f, p)
assert {e["name"] for e in row["consumers 0, warp 4"]} >= {"consumers 0", "await stage 0"}
'
    done
    cute-run gemm.ptx -c launch.json -d emulator --check=all --timeline=t.json --timeline-block=3 >out.txt
    timeline t.json 'assert row["producer, warp 0"]'
}

@test "the timeline of a kernel without roles has numbered warps, groups of copies and products" {
    cute-ptx -arch sm_80 gemm.mlir -o gemm.ptx
    cute-run gemm.ptx -c launch.json --timeline=t.json >out.txt
    timeline t.json '
assert len(row) == 16 and len(begins) == 16 * 10
assert {"warp 3", "mma", "store", "wait for cp.async"} <= {e["name"] for e in row["warp 3"]}
'
}

@test "options of the timeline that do not fit are errors, a block that does not exist a warning" {
    cute-ptx -arch sm_80 gemm.mlir -o gemm.ptx
    run -0 cute-run gemm.ptx -c launch.json --timeline=t.json --timeline-block=9
    says "warning: the timeline of kernel 'gemm' is empty: expected a block below 4, got 9"
    timeline t.json 'assert not row'
    run -2 cute-run gemm.ptx -c launch.json --timeline-block=1
    says "--timeline-block requires --timeline=FILE"
    run -2 cute-run gemm.ptx -c launch.json --timeline=t.json --timeline-block=-1
    says "expected --timeline-block=N of 0 or more, got -1"
    run -2 cute-run gemm.ptx -c launch.json --timeline=t.json --dry-run
    says "--timeline and --dry-run are mutually exclusive"
    run -2 cute-run gemm.ptx -c launch.json --timeline=t.json -d cuda
    says "--timeline requires --device=emulator"
}
