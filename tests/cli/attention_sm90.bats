#!/usr/bin/env bats
# bench/schedules/hand/attention_sm90: its instructions, and results for sizes that kernels/runs.txt leaves out.
bats_require_minimum_version 1.5.0

setup() {
    kernel="$BATS_TEST_DIRNAME/../../bench/schedules/hand/attention_sm90"
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
}

build() { # OUT D W BN T CAUSAL BUFFERS
    case $3 in 3) registers="-D MANY=160 -D FEW=32" ;; *) registers="-D MANY=240 -D FEW=24" ;; esac
    # shellcheck disable=SC2086
    cute-ptx -arch sm_90a -D D="$2" -D W="$3" -D BN="$4" -D T="$5" -D CAUSAL="$6" -D BUFFERS="$7" -D STAGES=2 $registers "$kernel/attention_sm90.mlir" -o "$1"
}

@test "attention on Hopper is TMA and wgmma of registers that stay where they are" {
    for buffers in 1 2; do
        build k.ptx 128 2 128 bf16 0 $buffers
        run ! grep -E '(ld|st)\.local|\.local \.' k.ptx
        # For each buffer of P 8 products of S, 8 of O in the loop and 8 behind it; two boxes of 64 columns for Q, K and V.
        [ "$(grep -o 'wgmma.mma_async' k.ptx | wc -l)" = $((24 * buffers)) ]
        [ "$(grep -c 'cp.async.bulk.tensor.4d' k.ptx)" = 6 ]
        # Nothing spills, no wgmma is serialised.
        cute-link k.ptx -o k.cubin 2> messages
        [ ! -s messages ]
    done
}

@test "attention on Hopper follows maxima that rise, and takes heads that lie before positions" {
    # Keys come from the last to the first: these grow on the way.
    python3 - "$kernel/launch.json" > launch.json <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[1]))
config["buffers"]["K"]["init"] = {"expr": "(sk - k) / 16.0 * sin(3 * k + 7 * e + g)", "index": ["n", "k", "g", "e"]}
for name, rows, heads in ("Q", "sq", "h"), ("K", "sk", "hk"), ("V", "sk", "hk"), ("O", "sq", "h"):
    config["buffers"][name]["strides"] = [f"{heads} * {rows} * d", "d", f"{rows} * d", 1]
json.dump(config, sys.stdout)
PYTHON
    for causal in 0 1; do
        for type in f16 bf16; do
            build k.ptx 64 2 64 $type $causal $((causal + 1))
            cute-run k.ptx --config launch.json -D d=64 -D causal=$causal -D sq=140 -D sk=250 -D h=4 -D hk=2 -D samples=4000 \
                --device emulator --check=all --strict --seed=$causal --no-bench
        done
    done
}

@test "attention on Hopper is right with other tiles, types and numbers of warpgroups" {
    while read -r d w bn type causal buffers sq sk; do
        build k.ptx "$d" "$w" "$bn" "$type" "$causal" "$buffers"
        cute-run k.ptx --config "$kernel/launch.json" -D d="$d" -D causal="$causal" -D sq="$sq" -D sk="$sk" -D samples=2000 \
            --device emulator --check=all --strict --seed=5 --no-bench
    done <<'ROWS'
128 2 176 f16 0 1 129 353
128 3 80 bf16 1 1 193 200
128 2 64 f16 1 2 64 300
64 3 128 bf16 0 1 1 129
64 3 96 bf16 0 2 65 385
256 2 64 f16 1 1 100 63
ROWS
}

@test "attention on Hopper takes sequences one behind the other, without rows and without keys" {
    build k.ptx 64 3 128 f16 1 1
    for seed in 1 2; do
        cute-run k.ptx --config "$kernel/launch_packed.json" -D d=64 -D causal=1 -D q0=0 -D k0=3 -D q1=200 -D k1=140 -D q2=5 -D k2=0 -D q3=65 -D k3=257 \
            -D samples=4000 --device emulator --check=all --strict --seed=$seed --no-bench
    done
}
