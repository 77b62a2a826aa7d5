#!/usr/bin/env bats
# bench/schedules/hand/gemm_split_sm90: its instructions, and results for sizes that kernels/runs.txt leaves out.
bats_require_minimum_version 1.5.0

setup() {
    kernel="$BATS_TEST_DIRNAME/../../bench/schedules/hand/gemm_split_sm90"
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
}

# build OUT NAME=VALUE...: bf16 of 64x16 tiles, divided among 4 blocks, unless told otherwise. CMS: blocks, in the
# order of launches; 1: alone.
build() {
    local out=$1 T=bf16 TC=bf16 ACC=f32 BITS=16 ES=f32 EFROM=bitcast EEXT=extf ETO=truncf ADD=addf A=0 B=0 BM=64 BN=16 BK= PB= S=4 CM=1 STAGES=4
    local PER=1 BETA=0 BIAS=0 ACT=none HINTA=0x12F0000000000000 HINTB=0x14F0000000000000 OWN V MA=k MB=k name defines=()
    shift
    local "$@"
    [ $A = 0 ] || MA=mn
    [ $B = 0 ] || MB=mn
    BK=${BK:-$((1024 / BITS))} PB=${PB:-$((1024 / BITS))} OWN=$(((BN / 2 + S - 1) / S)) V=1
    [ $((OWN % 2)) != 0 ] || V=2
    [ $((OWN % 4)) != 0 ] || V=4
    for name in T TC ACC BITS ES EFROM EEXT ETO ADD A MA B MB BM BN BK PB OWN V STAGES S CM PER BETA BIAS ACT HINTA HINTB; do
        defines+=(-D "$name=${!name}")
    done
    cute-ptx -arch sm_90a "${defines[@]}" "$kernel/gemm_split_sm90.mlir" -o "$out"
}

right() { # launch.json SEED NAME=VALUE...
    local config=$1 seed=$2 x defines=()
    shift 2
    for x in "$@"; do defines+=(-D "$x"); done
    cute-run k.ptx --config "$kernel/$config" "${defines[@]}" --device emulator --check=all --strict --seed="$seed" --no-bench
}

@test "a product divided among blocks is TMA, wgmma and stores to other blocks, and keeps sums in registers" {
    build k.ptx BN=64 STAGES=8
    run ! grep -E '(ld|st)\.local|\.local \.' k.ptx
    [ "$(grep -o 'wgmma.mma_async' k.ptx | wc -l)" = 4 ]
    # Of A and of B before the loop and in it.
    [ "$(grep -c 'cp.async.bulk.tensor.2d' k.ptx)" = 4 ]
    [ "$(grep -c 'multicast' k.ptx)" = 0 ]
    # 32 sums of a thread are 8 vectors, and nobody waits for the cluster at the end.
    [ "$(grep -o 'st.async[a-z.:_]*v4.f32' k.ptx | wc -l)" = 8 ]
    [ "$(grep -c 'barrier.cluster.arrive' k.ptx)" = 1 ]
    cute-link k.ptx -o k.cubin 2> messages
    [ ! -s messages ]
    # Alone, a block sends nothing; two that share B fetch it together.
    build k.ptx S=1 CM=2
    [ "$(grep -c 'st.async' k.ptx)" = 0 ]
    [ "$(grep -c 'multicast' k.ptx)" = 2 ]
    cute-link k.ptx -o k.cubin 2> messages
    [ ! -s messages ]
}

@test "a product divided among blocks is right with other tiles, clusters and types" {
    while read -r shape options; do
        # shellcheck disable=SC2086
        build k.ptx $options
        # shellcheck disable=SC2086
        right launch.json 3 $(echo "$shape" | sed 's/,/ /g')
    done <<'ROWS'
m=65,n=8,k=700 BN=8 S=8
m=65,n=40,k=700 BN=40 S=8 STAGES=2
m=200,n=9,k=1111 BN=16 S=2 CM=2
m=300,n=70,k=520 BN=64 S=2 CM=4 STAGES=3
m=300,n=33,k=136 BN=32 S=1 CM=8 STAGES=5
m=260,n=17,k=900 BM=128 BN=24 S=4 CM=2 STAGES=3
m=257,n=60,k=300 BM=256 BN=64 S=4 STAGES=2
m=70,n=250,k=400 BN=256 S=8 STAGES=2
m=90,n=20,k=500,am=1,ak=96,bn=1,bk=24 A=1 B=1 PB=16 CM=2 S=2 BN=32
m=90,n=65,k=500,bn=1,bk=72 B=1 PB=32 BN=96 BK=128 STAGES=2
m=90,n=65,k=500,am=1,ak=96 A=1 BM=128 BN=72 BK=128 STAGES=2 T=f16 TC=f16
m=1,n=1,k=8 S=8
ROWS
    build k.ptx T=tf32 TC=f32 BITS=32 EEXT=bitcast ETO=bitcast S=2 CM=2
    right launch_tf32.json 4 m=77 n=9 k=333
    build k.ptx T=f8E5M2 TC=f32 BITS=8 EEXT=bitcast ETO=bitcast S=8
    sed 's/"B": { "shape"/"B": { "dtype": "e5m2", "shape"/; s/"A": { "shape"/"A": { "dtype": "e5m2", "shape"/' "$kernel/launch_e4m3.json" > launch.json
    kernel=. right launch.json 5 m=77 n=9 k=1333
    build k.ptx T=i8 TC=i32 ACC=i32 BITS=8 ES=f64 EFROM=sitofp EEXT=sitofp ETO=fptosi ADD=addi S=4
    right launch_i8.json 6 m=77 n=9 k=3333
}

@test "a product divided among blocks adds C and a bias along either mode, whatever D's strides are" {
    for rows in "dm=1 dn=80" "dm=24 dn=1" "dm=3 dn=240"; do
        build k.ptx BETA=1 BIAS=1 ACT=gelu S=2
        # shellcheck disable=SC2086
        right launch_fused.json 1 m=77 n=18 k=200 along=18 act=2 $rows
        build k.ptx BETA=1 BIAS=2 ACT=relu S=8
        # shellcheck disable=SC2086
        right launch_fused.json 2 m=77 n=18 k=600 act=1 $rows
        build k.ptx BETA=1 BIAS=2 S=1 T=f16 TC=f16
        # shellcheck disable=SC2086
        right launch_fused.json 2 m=77 n=18 k=600 alpha=-2.5 beta=3 $rows
    done
}

@test "a product divided among blocks gives the same bits in any order of warps" {
    build k.ptx S=8 TC=f32 EEXT=bitcast ETO=bitcast
    python3 - "$kernel/launch.json" > launch.json <<'PYTHON'
import json, sys
config = json.load(open(sys.argv[1]))
config["buffers"]["A"]["init"] = {"expr": "sin(3 * i + 7 * j) * exp(2 * cos(j))"}
config["buffers"]["B"]["init"] = {"expr": "cos(5 * i + 11 * j)"}
config["outputs"] = {"D": "D.raw"}
json.dump(config, sys.stdout)
PYTHON
    for seed in 1 2 3 4; do
        kernel=. right launch.json $seed m=70 n=16 k=2000
        [ "$seed" = 1 ] || cmp D.raw first.raw
        mv D.raw first.raw
    done
}

@test "products divided among blocks follow each other without waiting for the launch before to end" {
    build k.ptx S=2
    cat > launch.json <<'JSON'
{
  "plan": [
    { "function": "gemm_split", "args": { "A": "A1", "B": "B", "D": "D1", "C": "D1", "bias": { "buffer": "D1", "shape": [1], "strides": [1] }, "alpha": 0.1, "beta": 0 } },
    { "function": "gemm_split", "args": { "A": "A2", "B": { "buffer": "D1", "shape": [9, 136], "strides": [136, 1] }, "D": "D2", "C": "D2", "bias": { "buffer": "D2", "shape": [1], "strides": [1] }, "alpha": 1, "beta": 0 } }
  ],
  "buffers": {
    "A1": { "dtype": "bf16", "shape": [136, 200], "init": "normal" },
    "B": { "dtype": "bf16", "shape": [9, 200], "init": "normal" },
    "D1": { "dtype": "bf16", "shape": [136, 9], "strides": [1, 136] },
    "A2": { "dtype": "bf16", "shape": [70, 136], "init": "normal" },
    "D2": { "dtype": "bf16", "shape": [70, 9], "strides": [1, 70] }
  },
  "check": {
    "D1": { "einsum": "mk,nk->mn", "operands": ["A1", "B"], "epilogue": "0.1 * x", "rtol": 2e-2, "atol": 1e-2 },
    "D2": { "einsum": "pm,mn->pn", "operands": ["A2", "D1"], "rtol": 2e-2, "atol": 5e-2 }
  }
}
JSON
    for seed in 1 2 3; do
        kernel=. right launch.json $seed
    done
}
