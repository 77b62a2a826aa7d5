#!/usr/bin/env bats
# Code that others compiled: bounds of all kinds, architectures of all kinds, damaged files.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    PATH="$CUTE_BIN:$PATH"
    data=$BATS_TEST_DIRNAME/../data
}

bounded() {
    cat >bounds.ptx <<'END'
.version 9.0
.target sm_100a
.address_size 64
.visible .entry a(.param .u64 p) .maxntid 128, 2, 1 .minnctapersm 3 .maxclusterrank 4 { ret; }
.visible .entry b(.param .u64 p) .reqntid 128, 2, 1 .maxnreg 64 .explicitcluster { ret; }
.visible .entry c(.param .u64 p) .reqntid 64 .reqnctapercluster 2, 2, 1 .blocksareclusters { ret; }
END
}

@test "what kernels were compiled for: sizes of blocks and clusters, registers, blocks on a multiprocessor" {
    bounded
    run -0 cute-dump bounds.ptx
    [[ "$output" == *"launch: at most 128 x 2 x 1, at most 4 blocks per cluster, at least 3 blocks per multiprocessor"* ]]
    [[ "$output" == *"launch: block 128 x 2 x 1, cluster size required"*"compiled for at most 64 registers"* ]]
    [[ "$output" == *"launch: block 64 x 1 x 1, cluster 2 x 2 x 1, grid in units of clusters"* ]]
    cute-dump --json bounds.ptx | jq -e '[.kernels[] | {kernel, maxntid, reqntid, cluster, max_cluster, explicit_cluster,
        blocks_are_clusters, min_blocks, max_registers}] == [
        {kernel: "a", maxntid: [128, 2, 1], reqntid: null, cluster: null, max_cluster: 4, explicit_cluster: null,
         blocks_are_clusters: null, min_blocks: 3, max_registers: null},
        {kernel: "b", maxntid: null, reqntid: [128, 2, 1], cluster: null, max_cluster: null, explicit_cluster: true,
         blocks_are_clusters: null, min_blocks: null, max_registers: 64},
        {kernel: "c", maxntid: null, reqntid: [64, 1, 1], cluster: [2, 2, 1], max_cluster: null, explicit_cluster: null,
         blocks_are_clusters: true, min_blocks: null, max_registers: null}]'
    # The attributes of a cubin say the same; what .minnctapersm asks for, ptxas has made a number of registers.
    cute-link --strip -o bounds.cubin bounds.ptx
    run -0 cute-dump resources bounds.cubin
    [[ "$output" == *"launch: at most 128 x 2 x 1, at most 4 blocks per cluster"*"compiled for at most 80 registers"* ]]
    cute-dump resources --json bounds.cubin | jq -e '[.kernels[] | {kernel, maxntid, reqntid, cluster, max_cluster,
        explicit_cluster, blocks_are_clusters, max_registers}] | sort_by(.kernel) == [
        {kernel: "a", maxntid: [128, 2, 1], reqntid: null, cluster: null, max_cluster: 4, explicit_cluster: null,
         blocks_are_clusters: null, max_registers: 80},
        {kernel: "b", maxntid: null, reqntid: [128, 2, 1], cluster: null, max_cluster: null, explicit_cluster: true,
         blocks_are_clusters: null, max_registers: 64},
        {kernel: "c", maxntid: null, reqntid: [64, 1, 1], cluster: [2, 2, 1], max_cluster: null, explicit_cluster: null,
         blocks_are_clusters: true, max_registers: null}]'
}

@test "views of machine code take every architecture that ptxas and nvdisasm have" {
    sed 's/\.version.*/.version 9.0/' "$data/link_ok.ptx" >k.ptx
    for arch in sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103a sm_110 sm_110f sm_120 \
        sm_120f sm_121 sm_121a; do
        sed "s/^\.target.*/.target $arch/" k.ptx >$arch.ptx
        cute-link -arch $arch -o $arch.cubin $arch.ptx
        for view in show elf images resources histogram cfg sass accesses explain; do
            run -0 cute-dump $view $arch.cubin
            [ -n "$output" ]
        done
        cute-dump histogram --json $arch.cubin |
            jq -e '.functions[0] | .instructions > 5 and ([.classes[] | select(.class == "other")] | length) == 0'
    done
}

@test "of PTX only the kernel that is asked for is compiled" {
    ptxas=$(find "$CUTE_BIN/../cuda/bin" "${CUTE_CUDA_PATH:-/nowhere}/bin" -name ptxas 2>/dev/null | head -1)
    [ -n "$ptxas" ] || ptxas=$(command -v ptxas) || skip "no ptxas"
    cat >two.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.func (.param .b32 o) f(.param .b32 i) { .reg .b32 %x; ld.param.u32 %x, [i]; add.u32 %x, %x, 77; st.param.b32 [o], %x; ret; }
.visible .entry a(.param .u64 p)
{
    .reg .b64 %d;
    .reg .b32 %r<3>;
    ld.param.u64 %d, [p];
    ld.global.u32 %r1, [%d];
    { .param .b32 i; st.param.b32 [i], %r1; .param .b32 o; call (o), f, (i); ld.param.b32 %r2, [o]; }
    st.global.u32 [%d], %r2;
    ret;
}
.visible .entry b(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.u32 [%d], 1; ret; }
END
    cute-link -o two.cubin two.ptx
    mkdir -p mine/bin
    nvdisasm=$(find "$CUTE_BIN/../cuda/bin" "${CUTE_CUDA_PATH:-/nowhere}/bin" -name nvdisasm 2>/dev/null | head -1)
    ln -s "${nvdisasm:-$(command -v nvdisasm)}" mine/bin/nvdisasm
    printf '#!/bin/sh\necho "$*" >>%s/said\nexec %s "$@"\n' "$PWD" "$ptxas" >mine/bin/ptxas
    chmod +x mine/bin/ptxas
    for kernel in a b; do
        cute-dump histogram -k $kernel two.ptx --cuda-path=mine >ours
        cute-dump histogram -k $kernel two.cubin | cmp - ours
        cute-dump resources -k $kernel --json two.ptx --cuda-path=mine |
            jq -e "[.kernels[].kernel] == [\"$kernel\"] and .kernels[0].resources.registers > 4"
        cute-dump explain -k $kernel two.ptx --cuda-path=mine | grep -q "^$kernel, blocks of .*SASS"
        [ "$(grep -c -e "--entry=$kernel" said)" -eq 3 ]
    done
}

@test "a fatbin without code says what it has" {
    cute-link -arch sm_90 --fatbin -o whole.fatbin "$data/link_ok.ptx"
    # The kind of the first entry stands at its begin, behind the header of 16 bytes.
    printf '\010' | dd of=whole.fatbin bs=1 seek=16 conv=notrunc 2>/dev/null
    run cute-dump images whole.fatbin
    [[ "$output" == *" lto "* ]]
    cute-dump images --json whole.fatbin | jq -e '.images[0].kind == "lto" and .images[0].kernels == null'
    if [ "$(cute-dump images --json whole.fatbin | jq '.images | length')" -eq 1 ]; then
        run -1 cute-dump whole.fatbin
        [[ "$output" == *"the fatbin has no image for any GPU"*"available: lto sm_90"*"nvcc -dlto"* ]]
    fi
}

@test "damaged cubins, archives and PTX crash nothing, and each refusal says why" {
    cute-link -arch sm_90 -o plain.cubin "$data/link_ok.ptx"
    cute-link -arch sm_90 --fatbin -o whole.fatbin "$data/link_ok.ptx"
    printf '!<arch>\n%-16s%-12s%-6s%-6s%-8s%-10s`\n' a.cubin/ 0 0 0 644 "$(stat -c %s plain.cubin)" >two.a
    cat plain.cubin >>two.a
    cp "$data/link_ok.ptx" k.ptx
    run -0 cute-dump images two.a
    PYTHONDONTWRITEBYTECODE=1 run -0 "$BATS_TEST_DIRNAME/../fuzz/mutate" "$CUTE_BIN/cute-dump" 120 \
        plain.cubin whole.fatbin two.a k.ptx
}

@test "damaged listings of nvdisasm crash nothing" {
    cute-link -arch sm_90 -o plain.cubin "$data/link_ok.ptx"
    nvdisasm=$(find "$CUTE_BIN/../cuda/bin" "${CUTE_CUDA_PATH:-/nowhere}/bin" -name nvdisasm 2>/dev/null | head -1)
    [ -n "$nvdisasm" ] || nvdisasm=$(command -v nvdisasm) || skip "no nvdisasm"
    "$nvdisasm" -gi -c -hex plain.cubin >listing.txt
    PYTHONDONTWRITEBYTECODE=1 run -0 "$BATS_TEST_DIRNAME/../fuzz/mutate" "$CUTE_BIN/cute-dump" 150 listing.txt \
        --cubin plain.cubin
}
