#!/usr/bin/env bats
# CUDA C kernels of tests/emulator/cuda, compiled by nvcc: on the emulator they give what they gave on an H200.
# h200.txt holds the hash of each output there; `approximate` where functions such as sin.approx decide its last bits.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    here="$BATS_TEST_DIRNAME/../emulator/cuda"
    cd "$BATS_TEST_TMPDIR"
    command -v nvcc >/dev/null || skip "no nvcc"
}

# NAME: passes its own checks with three seeds (random inputs and schedules), gives the recorded bytes with the
# seed that was recorded, and the checks find no fault.
same() {
    nvcc -std=c++17 -arch=sm_90a -lineinfo -ptx "$here/$1.cu" -o "$1.ptx" 2>nvcc.log || { cat nvcc.log; return 1; }
    for seed in 0 1 2; do
        rm -rf out
        check=
        [ $seed -ne 2 ] || check="--check=all --strict"
        cute-run "$1.ptx" --config "$here/$1.json" --device emulator --no-bench --seed $seed $check -o out >log 2>&1 ||
            { cat log; return 1; }
        [ $seed -eq 0 ] || continue
        while read -r path hash; do
            [ "${path%/*}" = "$1" ] && [ "$hash" != approximate ] || continue
            [ "$(sha256sum <"out/${path#*/}" | cut -c1-16)" = "$hash" ] ||
                { echo "$path is not what the H200 gave"; return 1; }
        done <"$here/h200.txt"
    done
}

@test "clusters share memory and meet at their barrier" { same cluster; }
@test "pipelines of cp.async" { same cp_async; }
@test "CUB sorts, scans and reduces" { same cub; }
@test "cooperative groups, of tiles up to the grid" { same groups; }
@test "a histogram by atomics" { same histogram; }
@test "virtual functions, recursion, function pointers, printf, malloc" { same language; }
@test "functions of libdevice" { same math; }
@test "producers and consumers over mbarriers" { same mbarrier; }
@test "f16, bf16 and 8-bit floats" { same narrow; }
@test "threads that wait for others of their warp" { same progress; }
@test "orders of memory without barriers" { same order; }
@test "reductions by shuffles" { same reduce; }
@test "a scan of many blocks" { same scan; }
@test "groups of several warps, with and without memory of their own" { same tiles; }
@test "tensor maps that the kernel makes" { same tensormap; }
@test "a GEMM of TMA and wgmma" { same tma_wgmma; }
@test "a GEMM of wmma in five types" { same wmma_gemm; }

@test "every kernel here has its test" {
    for path in "$here"/*.cu; do
        name=$(basename "$path" .cu)
        grep -q "{ same $name; }" "$BATS_TEST_FILENAME" || { echo "$name has none"; false; }
        grep -q "^$name/" "$here/h200.txt" || { echo "$name has no results of an H200"; false; }
    done
}
