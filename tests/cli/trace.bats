# cute-run --trace: the timeline of a launch, on the emulator and on the stand-in for the driver (tests/data/fakecuda.c).

setup() {
    run="$CUTE_BIN/cute-run"
    cd "$BATS_TEST_TMPDIR"
    cp "$BATS_TEST_DIRNAME"/../data/run/* .
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so"
    unset FAKECUDA
}

says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }

# check CODE: the file is what viewers read; events of a row are apart or one within the other. CODE has x (complete events), row
# (by name), meta.
check() {
    python3 - "$1" <<'END'
import json, sys
t = json.load(open("trace.json"))
assert set(t) == {"traceEvents", "displayTimeUnit"}
meta = [e for e in t["traceEvents"] if e["ph"] == "M"]
x = [e for e in t["traceEvents"] if e["ph"] == "X"]
assert len(meta) + len(x) == len(t["traceEvents"])
threads = {e["tid"]: e["args"]["name"] for e in meta if e["name"] == "thread_name"}
assert threads == {0: "host", 1: "copies", 2: "kernels"}
processes = [e["args"]["name"] for e in meta if e["name"] == "process_name"]
assert len(processes) == 1
row = {name: [e for e in x if threads[e["tid"]] == name] for name in threads.values()}
for e in x:
    assert isinstance(e["name"], str) and e["pid"] == 1 and e["ts"] >= 0 and e["dur"] >= 0, e
SLACK = 0.01  # microseconds: times are rounded to nanoseconds
for name, events in row.items():
    stack = []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        end = e["ts"] + e["dur"]
        while stack and stack[-1] <= e["ts"] + SLACK:
            stack.pop()
        assert not stack or end <= stack[-1] + SLACK, (name, e)
        assert name == "host" or not stack, (name, e)
        stack.append(end)
exec(sys.argv[1])
END
}

@test "a launch on the GPU has its copies and kernels by the device's clock" {
    "$run" kernels.ptx --config add.json --trace trace.json >out.txt
    check '
kernels = row["kernels"]
assert [e["name"] for e in kernels] == ["vector_add"], kernels
a = kernels[0]["args"]
assert a["kernel"] == "vector_add" and a["grid"] == "4x1x1" and a["block"] == "256x1x1" and a["clock"] == "device" and a["registers"] > 0, a
assert processes[0].endswith("(cuda:0)"), processes
up = [e for e in row["copies"] if "to the device" in e["name"]]
down = [e for e in row["copies"] if "from the device" in e["name"]]
assert {e["name"] for e in up} == {"copy %s to the device" % b for b in "ABC"} and down
assert all(e["args"]["bytes"] > 0 and e["args"]["clock"] == "device" for e in up + down)
assert max(e["ts"] for e in up) <= kernels[0]["ts"] <= min(e["ts"] for e in down)
stages = [e["name"] for e in row["host"] if e["cat"] == "stage"]
assert stages == ["plan", "make data", "run", "check", "write outputs"], stages
phases = [e["name"] for e in row["host"] if e["cat"] == "phase"]
assert phases[:5] == ["open device", "load module", "upload", "launch", "download"], phases
assert len([e for e in row["host"] if e["name"].startswith("allocate ")]) == 3
'
}

@test "the emulator gives the host's clock, and every launch of a plan has its event" {
    cat >k.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry first(.param .u64 out)
{ .reg .b64 %d<2>; ld.param.u64 %d0, [out]; st.global.u32 [%d0], 7; ret; }
.visible .entry second(.param .u64 out)
{ .reg .b64 %d<2>; .reg .b32 %r<2>; griddepcontrol.wait; ld.param.u64 %d0, [out]; ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1;
  st.global.u32 [%d0], %r0; ret; }
END
    cat >k.json <<'END'
{"buffers": {"out": {"dtype": "i32", "shape": [1]}}, "check": {"out": {"expr": "8"}},
 "launches": [{"kernel": "first", "grid": 1, "block": 1, "args": ["out"]},
              {"kernel": "second", "grid": [1, 1, 1], "block": [1, 1, 1], "args": ["out"] MORE}]}
END
    sed 's/MORE//' k.json >apart.json
    "$run" k.ptx --config apart.json --device emulator --trace trace.json >out.txt
    check '
assert processes == ["PTX emulator"]
assert [e["name"] for e in row["kernels"]] == ["first", "second"]
assert all(e["args"]["clock"] == "host" and e["dur"] > 0 for e in row["kernels"])
assert [e["name"] for e in row["host"] if e["cat"] == "call" and e["name"] in ("first", "second")] == ["first", "second"]'
    # launches that may overlap have one span of the device: an event between them would keep them apart
    sed 's/MORE/, "programmatic": true/' k.json >overlap.json
    "$run" k.ptx --config overlap.json --device emulator --trace trace.json >out.txt
    check '
assert [e["name"] for e in row["kernels"]] == ["first + second"], row["kernels"]
assert [e["name"] for e in row["host"] if e["cat"] == "call" and e["name"] in ("first", "second")] == ["first", "second"]'
}

@test "a launch that fails leaves its timeline" {
    FAKECUDA=fault run "$run" kernels.ptx --config add.json --trace trace.json
    [ "$status" -eq 1 ]
    check 'assert [e["name"] for e in row["kernels"]] == ["vector_add"] and row["kernels"][0]["args"]["clock"] == "host"'
    FAKECUDA=hang run "$run" kernels.ptx --config add.json --timeout 0.5 --trace trace.json
    [ "$status" -eq 1 ]
    check 'assert row["kernels"][0]["dur"] > 4e5'
}

@test "a bench is in the timeline, and a product has one" {
    "$run" kernels.ptx --config add.json --bench --trace trace.json >out.txt
    check 'assert "bench" in [e["name"] for e in row["host"]]'
    CUTE_CACHE=$PWD "$run" --gemm 32x32x32 --dtype f16 --device emulator --trace trace.json >out.txt
    check 'assert row["kernels"] and row["copies"]'
}

@test "a trace without a launch is refused" {
    run "$run" kernels.ptx --trace trace.json
    [ "$status" -eq 2 ]
    says "--trace requires --config"
    run "$run" kernels.ptx --config add.json --dry-run --trace trace.json
    [ "$status" -eq 2 ]
    run "$run" kernels.ptx --config add.json --trace /nowhere/trace.json
    [ "$status" -eq 3 ] || [ "$status" -eq 1 ]
    says "/nowhere"
}

@test "several launches and their copies stand in order, each with its own time by the device's clock" {
    cat >three.json <<'END'
{"params": {"n": 1000},
 "buffers": {"A": {"dtype": "f32", "shape": ["n"], "init": "iota"}, "B": {"dtype": "f32", "shape": ["n"], "init": "ones"},
             "C": {"dtype": "f32", "shape": ["n"]}, "D": {"dtype": "f32", "shape": ["n"]}},
 "launches": [{"kernel": "vector_add", "grid": 4, "block": 256, "args": ["A", "B", "C", {"value": "n"}]},
              {"kernel": "vector_add", "grid": 2, "block": 512, "args": ["C", "B", "D", {"value": "n"}]},
              {"kernel": "vector_add", "grid": 4, "block": 256, "args": ["D", "B", "C", {"value": "n"}]}]}
END
    for device in 0 emulator; do
        run "$run" kernels.ptx --config three.json --device $device --no-check --trace trace.json
        [ "$status" -eq 0 ] || [[ "$output" == *"never written"* ]] || { echo "$output"; false; }
        clock=$([ $device = 0 ] && echo device || echo host)
        check "
kernels = sorted(row['kernels'], key=lambda e: e['ts'])
assert [(e['args']['grid'], e['args']['block']) for e in kernels] == [('4x1x1', '256x1x1'), ('2x1x1', '512x1x1'), ('4x1x1', '256x1x1')], kernels
assert kernels == row['kernels'] and all(e['dur'] > 0 and e['args']['clock'] == '$clock' for e in kernels)
assert all(a['ts'] + a['dur'] <= b['ts'] + SLACK for a, b in zip(kernels, kernels[1:]))
calls = [e for e in row['host'] if e['cat'] == 'call' and e['name'] == 'vector_add']
assert len(calls) == 3 and [e['ts'] for e in calls] == sorted(e['ts'] for e in calls)
copies = row['copies']
assert [e['ts'] for e in copies] == sorted(e['ts'] for e in copies)
up = [e for e in copies if 'to the device' in e['name']]
assert max(e['ts'] + e['dur'] for e in up) <= kernels[0]['ts'] + SLACK
assert min(e['ts'] for e in copies if 'from the device' in e['name']) + SLACK >= kernels[-1]['ts'] + kernels[-1]['dur']
"
    done
}
