#!/usr/bin/env bats
# Kernels on tensors as a person writes them, in tests/tensors: what they compute, on the emulator with all checks.
bats_require_minimum_version 1.5.0

@test "kernels on tensors compute what they say, and compile for every architecture" {
    PYTHONDONTWRITEBYTECODE=1 run -0 python3 "$BATS_TEST_DIRNAME/../tensors/run" "$CUTE_BIN" "$BATS_TEST_TMPDIR" sm_80,sm_86,sm_89,sm_90a
    echo "$output"
    [[ "$output" == *" passed, 0 failed"* ]]
}

@test "attention keeps its tensors in registers and its shared memory without conflicts, and follows maxima that rise" {
    kernel="$BATS_TEST_DIRNAME/../../bench/schedules/hand/attention_sm80"
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
    # Keys come from the last to the first: these grow on the way. Heads lie before positions.
    python3 - "$kernel/launch.json" > launch.json <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[1]))
config["buffers"]["K"]["init"] = {"expr": "(sk - k) / 16.0 * sin(3 * k + 7 * e + g)", "index": ["n", "k", "g", "e"]}
for name, rows, heads in ("Q", "sq", "h"), ("K", "sk", "hk"), ("V", "sk", "hk"), ("O", "sq", "h"):
    config["buffers"][name]["strides"] = [f"{heads} * {rows} * d", "d", f"{rows} * d", 1]
json.dump(config, sys.stdout)
PYTHON
    for causal in 0 1; do
        cute-ptx -arch sm_80 -D T=f16 -D D=64 -D CAUSAL=$causal -D BM=128 -D BN=64 -D W=4 "$kernel/attention_sm80.mlir" -o k.ptx
        # In each of two loops 4 x 8 x 4 products of S and as many of O; 4 x (2 + 4) and 4 x 4 reads; 4 copies of K and of V.
        run ! grep -E '(ld|st)\.local|\.local \.' k.ptx
        [ "$(grep -c 'mma.sync' k.ptx)" = 256 ]
        [ "$(grep -c 'ldmatrix.*x4' k.ptx)" = 80 ]
        [ "$(grep -c 'cp.async.cg' k.ptx)" = $((8 + 4 + 2 * 8)) ]
        sizes="-D d=64 -D causal=$causal -D sq=70 -D sk=150 -D h=4 -D hk=2"
        cute-run k.ptx --config launch.json $sizes --device emulator --check=all --strict --no-bench
        # Rows of 144 bytes: no two rows that are read meet in a bank. (Sectors of 32 bytes that cp.async brings lie across those of
        # every other row, which costs wavefronts of its own.)
        cute-dump accesses k.ptx --config launch.json $sizes --json > report
        python3 -c '
import json
accesses = json.load(open("report"))["kernels"][0]["accesses"]
counted = [a["counted"] for a in accesses if "counted" in a and a["space"] == "shared" and "cp.async" not in a["operation"]]
assert len(counted) >= 64 and all(c["wavefronts"] == c["ideal"] > 0 for c in counted), counted'
    done
}
