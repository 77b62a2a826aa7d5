#!/usr/bin/env bats
# cute-run --gemm --ranks: products of several processes with emulated devices, started by cute-run and by the variables of launchers; ranks
# that die, stop or differ; estimates; wrong command lines.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    export XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache"
    unset CUTE_CACHE RANK WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID MASTER_ADDR MASTER_PORT CUTE_RANKS_ADDRESS
    TILE=--configuration=sm80:64x64:128:3
}

ranks() { timeout 100 cute-run --device emulator --gemm "$@"; }
says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }
# No process and no shared memory remains.
nothing_remains() { [ -z "$(ls /dev/shm | grep cute-ranks)" ] && ! pgrep -f "cute-run.*$1" >/dev/null; }

@test "random products on 2 to 8 ranks have the sums, and the bits of one rank" {
    python3 "$BATS_TEST_DIRNAME/../ranks/random" "$CUTE_BIN" 8 --few --seeds=5
}

@test "each split and collective is right on any number of ranks, also where ranks have nothing to do" {
    for size in 1 2 5; do
        for way in m n "k --collective all-reduce" "k --collective=reduce-scatter"; do
            ranks 40x48x64 $TILE --ranks=$size --split=$way
        done
    done
    ranks 3x5x7 $TILE:narrow --ranks=4 --split=k
    ranks 1x1x1 $TILE:narrow --ranks=3 --split=n
}

@test "the report has the shards, the schedule, and each rank's check" {
    ranks 64x64x64 $TILE --ranks=2 --split=k --overlap=parts --groups=4 --json >report
    jq -e '.ranks | .ranks == 2 and .split == "k" and .collective == "all_reduce" and .overlap == "parts" and .groups == 4
        and .provider == "shared memory (stand-in)" and .launcher == "cute-run" and (.times | not)' report
    jq -e '.ranks.results | length == 2 and all(.compared == 4096 and .bad == 0 and .device == "PTX emulator")' report
    jq -e '[.ranks.steps[].step] | index("product of rows 0 to 15") and index("all_reduce of P")' report
    run ranks 64x64x64 $TILE --ranks=2 --split=n
    says "rank 0: product 64x32x64 of 64x64x64"
    says "rank 1: PTX emulator; 2048 elements compared"
}

@test "one product counts groups of tiles, which are sent while it computes others" {
    for way in m k "k --collective=reduce-scatter"; do
        ranks 256x96x64 $TILE --ranks=2 --split=$way --overlap=signal --groups=4 --check=all --bias --json >report
        jq -e '.ranks | .overlap == "signal" and ([.steps[].step] | index("reset of the counters") == 0 and
            ([.[] | select(startswith("product"))] | length) == 1 and ([.[] | select(startswith("wait for 2 tiles of rows"))] | length) > 1)' report
    done
    # by TMA, in turns of two warpgroups, with the last wave divided along k
    ranks 512x384x128 --configuration=sm90:128x192:4:2x1:1 --sms=4 --ranks=2 --split=m --overlap=signal --groups=4 --check=race,barrier
    ranks 768x512x256 --configuration=sm90:128x256:4:2x1:0:tail --sms=8 --ranks=2 --split=k --overlap=signal --groups=3
    # more groups than a rank's part has rows of tiles
    ranks 256x96x64 $TILE --ranks=2 --split=k --collective=reduce-scatter --overlap=signal --groups=64
    # groups that do not fit the tiles of a rank's part; an expression in the kernel
    run ranks 256x96x64 $TILE --ranks=3 --split=k --collective=reduce-scatter --overlap=signal
    says "remark: parts"
    run ranks 256x96x64 $TILE --ranks=2 --split=m --overlap=signal --epilogue='relu(acc)'
    says "remark: parts"
}

@test "epilogues store into the windows of other ranks, which wait for their tiles" {
    for size in 2 3 4; do
        ranks 256x96x64 $TILE --ranks=$size --split=m --overlap=peer --check=all --bias --gelu --beta=0.5 --seeds=3 --json >report
        jq -e '.ranks | .overlap == "peer" and ([.steps[].step] | index("signal to rank 1") < index("wait for rank 1") and (.[-1] | test("^wait for [24] tiles of rank")))' report
        ranks 250x96x72 $TILE --ranks=$size --split=k --collective=reduce-scatter --overlap=peer --check=all --seeds=3 --json >report
        jq -e '.ranks | .overlap == "peer" and ([.steps[].step] | .[-1] | startswith("sum of all ranks")) and all(.results[]; .bad == 0 and .compared > 0)' report
    done
    # by TMA; the last wave divided along k; sums of f32, and an epilogue behind them
    ranks 512x384x128 --configuration=sm90:128x192:4:2x1:1 --sms=4 --ranks=2 --split=m --overlap=peer --check=race,barrier
    ranks 768x512x256 --configuration=sm90:128x256:4:2x1:0:tail --sms=8 --ranks=2 --split=k --collective=reduce-scatter --overlap=peer --bias --relu
    # tiles beyond D that a cluster has are not counted: 3 rows of tiles for clusters of 2
    for try in 1 2 3; do
        ranks 768x512x256 --configuration=sm90:128x256:4:2x1:0:tail --sms=8 --ranks=2 --split=k --collective=reduce-scatter --overlap=peer --seeds=2
    done
    ranks 256x96x64 $TILE --ranks=2 --split=k --collective=reduce-scatter --overlap=peer --dtype-d=f32 --epilogue='silu(acc) + C[i,j]'
    # the sums are those of one device, and all ranks have the same
    [ "$(ranks 256x96x64 $TILE --ranks=3 --split=m --overlap=peer --json | jq -r .ranks.digest)" = "$(ranks 256x96x64 $TILE --ranks=1 --split=m --json | jq -r .ranks.digest)" ]
    # with all-reduce finished sums are put into the others' memory; each product of a batch has a part in the window
    for way in "m --gelu --bias" "k --dtype-d=f32" "k --collective=reduce-scatter --bias" "k --epilogue=silu(acc)+C[l,i,j]"; do
        ranks 250x96x72 $TILE --ranks=3 --split=$way --overlap=peer --check=all --seeds=2 --batch=2 --json >report
        jq -e '.ranks | .overlap == "peer" and all(.results[]; .bad == 0 and .compared > 0)' report
    done
    # where a rank has no rows, the expression is in the kernel or sums are integers, another schedule, and the reason
    refrains() { # reason, options
        run ranks "${@:2}" $TILE --overlap=peer
        [ $status -eq 0 ]
        says "remark: not peer: $1"
        says "remark: parts"
    }
    refrains "a rank has no part of the product" 8x96x64 --split=m --ranks=3
    refrains "the kernel has an expression" 256x96x64 --split=m --ranks=2 --epilogue="relu(acc)"
    refrains "the sums are integers" 256x96x64 --split=k --ranks=2 --dtype=i8
    refrains "the epilogue is a step on gathered rows" 256x96x64 --split=m --ranks=2 --layout=tnn
    refrains "more than 8 ranks" 1024x96x256 --split=k --ranks=9 --node=16 --dry-run
    refrains "the ranks do not map each other's memory" 256x96x64 --split=m --ranks=2 --comm=nccl-send --dry-run
    ranks 4096x8192x28672 --ranks=4 --split=k --collective=reduce-scatter --overlap=peer --dry-run | grep -q "estimated: product .* peer .* efficiency 0.8"
}

@test "each schedule of a split is run in turn, on data of several seeds" {
    for way in m n k "k --collective=reduce-scatter"; do
        ranks 256x96x64 $TILE --ranks=2 --split=$way --overlap=each --seeds=2 --json >report
        jq -e '.ranks | (.schedules | length) >= 2 and all(.schedules[]; .bad == 0 and .compared >= 2 * 256 * 96 and .estimated_s > 0 and (.all_s | not))
            and ([.schedules[].overlap] | index("sequence")) and .overlap == .schedules[0].overlap' report
    done
    jq -e '.ranks.schedules | map([.overlap, .groups]) | contains([["signal", 2], ["parts", 2], ["signal", 4], ["parts", 16]])' report
    # a product that is right with one seed is run again with the next
    [ "$(ranks 64x64x64 $TILE --ranks=2 --split=m --seeds=3 --overlap=each --groups=2 | grep -cE '^(sequence|signal|parts) .* 24576 +0 ')" = 3 ]
    # without puts on some ranks' parts, results of the schedule before are not taken for those of the next
    ranks 130x48x64 $TILE --ranks=3 --split=n --overlap=each --batch=2 --layout=nt
}

@test "products of several ranks have C, a bias, activations, batches and D by columns, in each way" {
    for way in m "m --overlap=signal" n "n --overlap=rotate" k "k --overlap=signal --groups=3" "k --collective=reduce-scatter --overlap=signal"; do
        ranks 72x96x64 $TILE --ranks=3 --split=$way --beta=0.5 --alpha=2 --bias --gelu --batch=2
        ranks 72x96x64 $TILE --ranks=2 --split=$way --layout=nnn --relu
        ranks 72x96x64 --ranks=2 --split=$way --dtype=i8 --beta=3 --relu
    done
    run ranks 72x96x64 $TILE --ranks=2 --split=k --bias
    says "the epilogue is a step on sums of bf16 behind the all_reduce: a rank's product has a part of each sum"
    run ranks 72x96x64 --dtype=e4m3 --dtype-d=e4m3 --gelu --ranks=2 --split=k
    says "the epilogue is a step on sums of bf16"
    run ranks 72x96x64 --dtype=i8 --dtype-d=f16 --alpha=0.01 --bias --ranks=2 --split=k
    says "the epilogue is a step on sums of f32"
    run ranks 72x96x64 $TILE --ranks=2 --split=m --layout=tnn
    says "rows are gathered, and D is by columns"
    ranks 72x96x64 $TILE --ranks=2 --split=k --bias --json | jq -e '[.ranks.steps[].step] | index("all_reduce of P") < index("epilogue of 72 rows")'
}

@test "an epilogue expression has its operands and results divided, or is a step on finished sums" {
    for way in m n k "k --collective=reduce-scatter"; do
        ranks 72x96x64 $TILE --ranks=3 --split=$way --epilogue 'D = gelu(acc) * s[i] + bias[j] + X[j,i]:f32; aux W[j,i] = acc; g = amax(acc, 1, 16)'
        ranks 72x96x64 $TILE --ranks=2 --split=$way -D scale=0.5 --epilogue 'D:e4m3 = silu(acc[:, 0::2]) * acc[:, 1::2] * scale + allreduce(C[i,j], warp)[:, 0::2]'
    done
    ranks 72x96x64 $TILE --ranks=3 --split=k --epilogue 'acc * rsqrt(mean(acc * acc, 1) + 1e-5)'
    ranks 72x96x64 $TILE --ranks=3 --split=n --epilogue 'D = acc; c[j] = sum(acc, 0)'
    run ranks 72x96x64 $TILE --ranks=3 --split=m --epilogue 'z = acc; D = relu(z); c[j] = sum(z, 0); t = max(z)'
    [ $status -eq 0 ]
    says "behind the all_gather: it reads or writes rows of other ranks"
    # the operands of a large product are sampled
    ranks 8x70000x128 --ranks=2 --split=k --epilogue 'relu(acc) + bias[j]'
}

@test "collectives between devices in an expression are steps of the launch plan" {
    ranks 72x96x64 $TILE --ranks=3 --split=k --epilogue 'gelu(allreduce(acc, devices)) + bias[j]' --json >report
    jq -e '.ranks | .collective == "all_reduce" and ([.steps[].step] | index("all_reduce of P") < index("epilogue of 72 rows"))' report
    ranks 72x96x64 $TILE --ranks=3 --split=k --epilogue 'gelu(reduce_scatter(acc, devices)) + broadcast(bias[j], devices)' --json >report
    jq -e '.ranks | .collective == "reduce_scatter" and (.steps[0].step | startswith("broadcast of"))' report
    ranks 72x96x64 $TILE --ranks=3 --split=m --json \
        --epilogue 'z = acc + broadcast(bias[j], devices); D = all_gather(relu(z), devices); c[j] = allreduce(sum(z, 0), devices); t = allreduce(sum(z), devices)' >report
    jq -e '.ranks | all(.results[]; .compared == 72 * 96 + 96 + 1) and ([.steps[].step] | map(select(startswith("all_reduce"))) | length == 2)' report
    # a rank without rows adds zeros; one device has the values themselves
    ranks 8x96x64 $TILE --ranks=3 --split=m --epilogue 'D = relu(acc); c[j] = allreduce(sum(acc, 0), devices)'
    ranks 72x96x64 $TILE --epilogue 'D = all_gather(relu(allreduce(acc, devices)), devices)'
    run cute-dump evt 'D = gelu(allreduce(acc, devices)) + broadcast(bias[j], devices)'
    says "step of the launch plan: AllReduce of acc at the level devices: behind the product's kernel, with --split=k"
    says "step of the launch plan: Broadcast of bias at the level devices: from rank 0, in front of the product's kernel"
    cute-dump evt --json 'D = all_gather(relu(acc), devices)' | jq -e '.steps == [{"collective": "AllGather", "level": "devices", "name": "D",
        "lowering": "behind all kernels, with --split=m"}]'
}

@test "an expression of a batch has the operands of each product, and those that all share" {
    expression='D = relu(acc + bias[l,j] + C[i,j] * s[l,i]); aux Z:f32 = acc'
    for ways in "--ranks=3 --overlap=each" "--devices=3 --overlap=sequence --seed=5"; do
        for way in m n k "k --collective=reduce-scatter"; do
            ranks 64x96x72 $TILE --batch=3 --split=$way $ways --check=all --epilogue="$expression"
        done
    done
    ranks 64x96x72 $TILE --batch=2 --ranks=2 --split=m --epilogue='c[j] = allreduce(sum(acc, 0), devices); r[i] = sum(acc, 1); D = acc * broadcast(s[l,j], devices)'
    ranks 64x96x72 $TILE --batch=2 --ranks=2 --split=n --epilogue='D = gelu(acc); c[j] = amax(acc, 0)'
    # a wrong item of a shared operand would be another value
    [ "$(ranks 64x96x72 $TILE --batch=2 --ranks=2 --split=m --epilogue='acc + C[i,j]' --json | jq '.ranks.results[0].compared')" = 12288 ]
    # products that begin at odd addresses
    ranks 78x8x1 --dtype=f16 --layout=nt $TILE --batch=3 --ranks=4 --split=m --overlap=sequence --epilogue='D = acc + C[i,j]; r[i] = sum(acc, 1)'
    ranks 1x80x55 --dtype=tf32 --layout=nt $TILE --batch=3 --ranks=2 --split=n --epilogue='D = acc * q[i]:i8; g = amax(acc, 1, 8)'
}

@test "rows that are gathered are put by copies where ranks reach each other" {
    for overlap in parts signal; do
        ranks 250x96x72 $TILE --ranks=3 --split=m --overlap=$overlap --groups=3 --seeds=2 --batch=2 --json >report
        jq -e '.ranks | .overlap == "'$overlap'" and .puts and ([.steps[].step] | index("put of D, rank 1") and (.[-1] | startswith("wait for rank")))' report
        timeout 60 cute-run --gemm 250x96x72 $TILE --devices=3 --split=m --overlap=$overlap --groups=3 --seed=3 --check=all --json | jq -e .ranks.puts
    done
    ranks 96x96x72 $TILE --ranks=2 --split=m --overlap=parts --seeds=2 --epilogue='D = gelu(acc); r[i] = sum(acc, 1); aux Z = acc' --json >report
    jq -e '[.ranks.steps[].step] | index("put of D, rank 1") and index("put of a result, rank 1")' report
}

@test "an epilogue that needs elements of other ranks is refused where it is written" {
    refused() { # message, options
        run --separate-stderr ranks 72x96x64 "${@:2}" --ranks=2
        [ $status -eq 1 ] && [[ "$stderr" == *"$1"* && "$stderr" == *"<epilogue>:1:"* ]] || { echo "$1: $stderr"; return 1; }
    }
    refused "with --split=n a rank has some columns of each row: expected no reduction along rows, or --split=m or k" --split=n --epilogue='D = acc; r[i] = sum(acc, 1)'
    refused "with reduce-scatter a rank has some rows of each column: expected no reduction over rows, or --collective=all-reduce" \
        --split=k --collective=reduce-scatter --epilogue='D = acc; c[j] = sum(acc, 0)'
    refused "AllReduce of the sums requires --split=k and --collective=all-reduce" --split=m --epilogue='relu(allreduce(acc, devices))'
    refused "ReduceScatter of the sums requires --split=k and --collective=reduce-scatter" --split=k --collective=all-reduce --epilogue='reduce_scatter(acc, devices)'
    refused "AllGather of a result requires --split=m" --split=k --epilogue='all_gather(relu(acc), devices)'
    refused "'s' is divided among the ranks: expected an operand that all have, to broadcast" --split=m --epilogue='acc * broadcast(s[i], devices)'
    refused "a collective of a tile or cluster depends on each rank's tile: expected the level warp or device" --split=m --epilogue='allreduce(acc, block)'
    run --separate-stderr ranks 72x96x64 --split=m --ranks=2 --epilogue="D = acc; $(for i in $(seq 48); do echo "t$i[i] = s$i[i] * acc[i,j];"; done)"
    echo "$stderr"
    [ $status -eq 1 ]
}

@test "emulated devices of one process compute a product with the checks between ranks" {
    devices() { timeout 100 cute-run $TILE --check=all --gemm "$@"; }
    for size in 1 2 3 8; do
        for way in m n "k --collective=all-reduce" "k --collective=reduce-scatter"; do
            devices 128x96x72 --devices=$size --split=$way --overlap=each --seed=$size --seeds=2 --json >report
            jq -e '.ranks | all(.results[]; .bad == 0) and all(.schedules[]; .bad == 0 and .compared > 0)' report
        done
    done
    jq -e '.ranks | .launcher == "cute-run in one process" and .provider == "kernels of kernels/ranks" and .ranks == 8 and
        ([.schedules[].overlap] | index("peer") and index("sequence")) and (.times | not)' report
    # other kernels on the last rank, whose part is smaller; sums of integers and collectives of an expression are added on the host
    devices 70x104x40 --devices=3 --split=k --collective=reduce-scatter --overlap=peer --seed=1
    devices 70x104x72 --devices=3 --split=n --overlap=rotate --seed=2 --bias --gelu --batch=2
    devices 64x64x64 --devices=2 --split=k --dtype=i8
    devices 64x64x64 --devices=2 --split=k --collective=reduce-scatter --dtype=i8
    devices 72x96x64 --devices=2 --split=m --epilogue='acc * broadcast(bias[j], devices)'
    devices 72x96x64 --devices=3 --split=k --collective=reduce-scatter --epilogue='gelu(acc) + C[i,j]' --seed=4
    # the result is that of processes, and of one device
    for overlap in sequence peer; do
        [ "$(devices 128x96x64 --devices=3 --split=m --overlap=$overlap --json | jq -r .ranks.digest)" = "$(ranks 128x96x64 $TILE --ranks=1 --split=m --json | jq -r .ranks.digest)" ]
    done
    # without the counters of tiles there is no peer
    run devices 64x96x64 --devices=3 --split=k --dtype=i8 --overlap=peer
    [ $status -eq 0 ]
    says "remark: not peer: the sums are integers"
    says "remark: sequence"
    run devices 128x96x64 --devices=4 --split=k --collective=reduce-scatter --overlap=peer --dry-run
    says "sum of all ranks' parts"
}

@test "options that emulated devices of one process do not have are refused" {
    refused() { # message, options
        run --separate-stderr cute-run --gemm 64x64x64 --devices=2 "${@:2}"
        [ $status -eq 2 ] && [[ "$stderr" == *"$1"* ]] || { echo "$1: $stderr"; return 1; }
    }
    refused "--ranks and --devices are mutually exclusive" --ranks=2 --split=m
    refused "--comm and --devices are mutually exclusive" --comm=shared --split=m
    refused "--vs and --devices are mutually exclusive" --vs=cublas --split=m
    refused "--overlap=signal with --split=k requires collectives beside products: expected --ranks instead of --devices, or sequence or peer" --split=k --overlap=signal
    refused "--overlap=parts with --split=k requires collectives beside products" --split=k --overlap=parts
    refused "--devices requires the emulator, got device 0" --split=m --device=0
}

@test "all checks of the emulator are available on each rank" {
    ranks 72x64x64 $TILE --ranks=2 --split=n --overlap=rotate --check=all
}

@test "the variables of torchrun, mpirun, mpiexec and srun make a process a rank" {
    start() { # variables of rank and size, others
        for r in 0 1 2; do
            env "$1=$r" "$2=3" "${@:3}" cute-run --timeout=20 --device emulator --gemm 40x48x64 $TILE --split=k >out.$r 2>err.$r &
        done
        wait
        cat err.*
        grep -q "ranks: 3, started by $name" out.0
        [ ! -s out.1 ] && [ ! -s out.2 ]
    }
    name=torchrun start RANK WORLD_SIZE LOCAL_WORLD_SIZE=3 MASTER_ADDR=localhost MASTER_PORT=29500
    name=mpirun start OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE=$$
    name=mpiexec start PMI_RANK PMI_SIZE
    name=srun start SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_STEP_TASKS_PER_NODE=3 SLURM_JOB_ID=$$
}

@test "mpirun starts the ranks" {
    command -v mpirun >/dev/null || skip "no mpirun"
    run mpirun --allow-run-as-root --oversubscribe -n 3 cute-run --device emulator --gemm 40x48x64 $TILE --split=k
    [ $status -eq 0 ]
    says "ranks: 3, started by mpirun"
}

@test "torchrun starts the ranks" {
    command -v torchrun >/dev/null || skip "no torchrun"
    run torchrun --no-python --nproc-per-node 3 cute-run --device emulator --gemm 40x48x64 $TILE --split=k
    [ $status -eq 0 ]
    says "ranks: 3, started by torchrun"
}

@test "srun starts the ranks" {
    command -v srun >/dev/null || skip "no srun"
    timeout 10 srun -n 3 --overcommit true || skip "srun finds no node: it needs slurmctld and slurmd"
    run srun -n 3 --overcommit cute-run --device emulator --gemm 40x48x64 $TILE --split=k
    [ $status -eq 0 ]
    says "ranks: 3, started by srun"
}

@test "a rank that is killed is named, and no process or file remains" {
    cute-run --device emulator --gemm 2048x2048x512 --no-check --ranks=4 --split=m --timeout=5 >out 2>err &
    parent=$!
    for _ in $(seq 100); do
        victim=$(pgrep -P $parent | sed -n 3p)
        [ -z "$victim" ] || break
        sleep 0.05
    done
    sleep 0.5
    kill -9 $victim
    code=0
    wait $parent || code=$?
    cat err
    [ $code -eq 1 ]
    grep -q "rank 2 ended" err
    grep -q "rank 2 was ended by signal 9" err
    nothing_remains 2048x2048x512
}

@test "a rank that stops is named within the timeout, and is killed" {
    cute-run --device emulator --gemm 2048x2048x513 --no-check --ranks=3 --split=m --overlap=sequence --timeout=1 >out 2>err &
    parent=$!
    until victim=$(pgrep -P $parent | sed -n 2p) && [ -n "$victim" ]; do sleep 0.05; done
    sleep 0.5
    kill -STOP $victim
    code=0
    wait $parent || code=$?
    cat err
    [ $code -eq 1 ]
    grep -q "rank 1 made no progress for 1 s: it is in its step" err
    grep -q "1 rank did not end within 3 s after rank . failed, and was killed" err
    nothing_remains 2048x2048x513
}

@test "a rank with another shape is refused by all" {
    for r in 0 1; do
        RANK=$r WORLD_SIZE=2 MASTER_PORT=$$ timeout 60 cute-run --device emulator --gemm 4${r}x48x64 $TILE --split=k >out.$r 2>err.$r &
    done
    wait
    cat err.0 err.1
    for r in 0 1; do grep -q "rank $r: rank 1 has another problem: expected 'gemm 40x48x64" err.$r; done
}

@test "a rank that does not arrive is named" {
    RANK=0 WORLD_SIZE=2 run --separate-stderr timeout 60 cute-run --device emulator --gemm 40x48x64 --split=k --timeout=0.3
    [ $status -eq 1 ]
    [[ "$stderr" == *"rank 1 did not arrive within 0.3 s: expected 2 ranks"* ]]
    RANK=1 WORLD_SIZE=2 run --separate-stderr timeout 60 cute-run --device emulator --gemm 40x48x64 --split=k --timeout=0.3
    [ $status -eq 1 ]
    [[ "$stderr" == *"rank 0 did not arrive at unix:cute-ranks-"*" within 0.3 s"* ]]
}

@test "a dry run estimates the steps for any number of ranks" {
    ranks 4096x49152x12288 --ranks=64 --split=n -n --json >report
    jq -e '.ranks | .ranks == 64 and .estimate.product_s > 0 and .estimate.collective_s > .estimate.product_s and .estimate.between == "ib400"' report
    # twice the bandwidth, about half of the time
    slow=$(ranks 4096x4096x8192 --ranks=4 --split=k -n --link=100 --json | jq .ranks.estimate.collective_s)
    fast=$(ranks 4096x4096x8192 --ranks=4 --split=k -n --link=200,50 --json | jq .ranks.estimate.collective_s)
    jq -en "$slow / $fast > 1.9 and $slow / $fast < 2"
    run ranks 4096x4096x8192 --ranks=4 --split=k -n -arch sm_80 --node=2
    says "links: 201 GB/s (nvlink3) within a node of 2, 42 GB/s (ib400) between nodes; sm_80, 108 multiprocessors"
    run ranks 128x128x128 --ranks=4 --split=k -n
    says "no overlap is estimated to be faster"
    run ranks 8192x49152x12288 --ranks=8 --split=n -n --comm=nccl-send --overlap=rotate
    says "shards arrive by send and recv, as there are no puts"
}

@test "wrong command lines are refused" {
    refused() { # message, options
        run --separate-stderr ranks 64x64x64 "${@:2}"
        [ $status -eq 2 ] && [[ "$stderr" == *"$1"* ]] || { echo "$1: $stderr"; return 1; }
    }
    refused "--split requires --ranks=N, or processes of mpirun, torchrun or srun" --split=m
    refused "--ranks with --gemm requires --split=m, n or k" --ranks=2
    refused "--ranks expects a number from 1 to 4096, got 5000" --ranks=5000 --split=m
    refused "--split expects m, n or k, got 'q'" --ranks=2 --split=q
    refused "--split=m expects --collective=all-gather, got 'all-reduce'" --ranks=2 --split=m --collective=all-reduce
    refused "--split=k expects --collective=all-reduce or reduce-scatter, got 'send'" --ranks=2 --split=k --collective=send
    refused "--overlap expects auto, each, sequence, signal, parts or peer with --split=m, got 'rotate'" --ranks=2 --split=m --overlap=rotate
    refused "--overlap expects auto, each, sequence or rotate with --split=n, got 'peer'" --ranks=2 --split=n --overlap=peer
    refused "--overlap expects auto, each, sequence, signal, parts or peer with --split=k, got 'x'" --ranks=2 --split=k --collective=reduce-scatter --overlap=x
    refused "--groups expects a positive number, got -1" --ranks=2 --split=m --groups=-1
    refused "--seeds expects a positive number, got -1" --ranks=2 --split=m --seeds=-1
    refused "--seeds requires --split=m, n or k" --seeds=2
    refused "--comm expects nccl, nccl-send or shared, got 'mpi'" --ranks=2 --split=m --comm=mpi
    refused "--vs expects cublas, got 'x'" --ranks=2 --split=m --vs=x
    refused "--tune and --ranks are mutually exclusive" --ranks=2 --split=m --tune
    refused "--trace and --ranks are mutually exclusive" --ranks=2 --split=m --trace=x
    refused "--overlap requires --split=m, n or k" --overlap=auto
    refused "--vs=cublas and --epilogue are mutually exclusive with --ranks" --ranks=2 --split=m --epilogue=acc --vs=cublas
    refused "--overlap=rotate computes rows in parts: expected auto or sequence" --ranks=2 --split=n --overlap=rotate --epilogue="D = acc; c[j] = sum(acc, 0)"
    refused "--link expects a link or GB/s within a node" --ranks=2 --split=m -n --link=x
    refused "--node expects a number of ranks from 1 to 4096, got -1" --ranks=2 --split=m -n --node=-1
    run --separate-stderr cute-run --gemm 8x8x8,8x8x8 --ranks=2 --split=m
    [ $status -eq 2 ] && [[ "$stderr" == *"--ranks expects one product, got a group of 2"* ]]
    run --separate-stderr cute-run --gemm 8x8x8 --ranks=2 --split=m --device=0
    [ $status -eq 2 ] && [[ "$stderr" == *"--ranks expects --device=emulator, or --device=cuda for the GPU of each rank's number, got '0'"* ]]
    run --separate-stderr cute-run --ranks=2
    [ $status -eq 2 ] && [[ "$stderr" == *"--ranks requires --gemm=MxNxK or --config=launch.json"* ]]
    RANK=0 WORLD_SIZE=3 run --separate-stderr ranks 64x64x64 --ranks=2 --split=m
    [ $status -eq 2 ] && [[ "$stderr" == *"--ranks=2: expected 3, the processes of torchrun"* ]]
    run --separate-stderr ranks 64x64x64 --ranks=2 --split=m --comm=nccl
    [ $status -eq 2 ] && [[ "$stderr" == *"NCCL requires GPUs, got the emulator"* ]]
}

# Stand-ins for the driver, cuBLASLt and NCCL (tests/data), with two GPUs.
fake() {
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" CUTE_LIBCUBLASLT="$CUTE_BIN/../tests/libfakecublas.so"
    export CUTE_LIBNCCL=${CUTE_LIBNCCL:-$CUTE_BIN/../tests/libfakenccl.so} FAKECUDA_DEVICES=${FAKECUDA_DEVICES:-2}
    timeout 60 cute-run --gemm 64x48x40 --dtype f32 --ranks=2 "$@"
}

@test "on GPUs NCCL is used, each schedule is right, and times have an efficiency" {
    for way in "m --overlap=sequence" "m --overlap=signal" "m --overlap=parts" "n --overlap=sequence" "n --overlap=rotate" "n --overlap=rotate --comm=nccl-send" \
        "k --overlap=sequence" "k --overlap=signal --groups=3" "k --collective=reduce-scatter --overlap=sequence" \
        "k --collective=reduce-scatter --overlap=signal --groups=4" "m --overlap=peer" "k --collective=reduce-scatter --overlap=peer"; do
        fake --split=$way --json >report || { cat report; echo "$way"; false; }
        jq -e '.ranks | .provider == "NCCL 2.29.1" and all(.results[]; .bad == 0 and .compared > 0) and .times.all_s > 0 and .times.product_s > 0
            and .times.collective_s > 0 and .times.efficiency > 0' report
    done
    fake --split=n --overlap=rotate --json | jq -e .ranks.puts
    fake --split=n --overlap=rotate --comm=nccl-send --json | jq -e '.ranks.puts | not'
    fake --split=m --overlap=peer --json | jq -e '.ranks.overlap == "peer"'
    fake --split=m --overlap=peer --comm=nccl-send --json | jq -e '.ranks.overlap == "parts"'
    fake --split=k --overlap=each --seeds=2 --vs=cublas --json | jq -e '.ranks.schedules | length > 2 and all(.[]; .all_s > 0 and .efficiency > 0 and .bad == 0)'
    run fake --split=k --overlap=each
    says "measured us efficiency"
    run fake --split=k --vs=cublas
    [ $status -eq 0 ]
    says "cuBLASLt "
    says " times ours"
}

@test "without puts shards arrive by send and recv; the stand-in needs no NCCL" {
    # ranks reach each other's memory: no NCCL 2.29 is needed
    for size in 2 3 4; do
        FAKECUDA_DEVICES=4 FAKENCCL=noputs fake --ranks=$size --split=n --overlap=rotate --seeds=3 --json >report
        jq -e '.ranks | .puts and ([.steps[].step] | index("signal to rank 1") and (index("all_reduce of one element, as a barrier") | not))' report
    done
    # they do not: puts of NCCL, with a barrier
    FAKECUDA=noshare fake --split=n --overlap=rotate --json >report
    jq -e '.ranks | .puts and ([.steps[].step] | index("all_reduce of one element, as a barrier"))' report
    FAKECUDA=noshare FAKENCCL=noputs fake --split=n --overlap=rotate >out 2>err
    grep -q "shards arrive by send and recv, as there are no puts" err
    grep -q "NCCL 2.28.0" out
    CUTE_LIBNCCL=/nowhere fake --split=k --comm=shared >out
    grep -q "collectives by shared memory (stand-in)" out
    ! grep -q efficiency out
}

@test "NCCL that is missing, too old or fails is an error of each rank" {
    CUTE_LIBNCCL=/nowhere/libnccl.so run fake --split=k
    [ $status -eq 3 ]
    says "no NCCL: cannot open /nowhere/libnccl.so"
    says "fix: scripts/nccl DIR fetches it, and CUTE_LIBNCCL names the library; --comm=shared copies through the host instead"
    CUTE_LIBNCCL=$CUTE_BIN/../tests/libfakecuda.so run fake --split=k
    [ $status -eq 3 ]
    says "lacks ncclGetVersion: expected NCCL 2.17 or later"
    FAKENCCL=old run fake --split=k
    [ $status -eq 3 ]
    says "is too old: expected NCCL 2.17 or later, got 2.14"
    FAKENCCL=duplicate run fake --split=k
    [ $status -eq 1 ]
    says "NCCL: ncclCommInitRankConfig: an error of NCCL (5)"
    FAKENCCL=error run fake --split=k --overlap=sequence
    [ $status -eq 1 ]
    says "NCCL: all_reduce: an error of NCCL (4): the details of it"
    FAKENCCL=async run fake --split=k --overlap=sequence
    [ $status -eq 1 ]
    says "NCCL: all_reduce: remote process exited or there was a network error (6)"
}

@test "a collective that never ends is given up after the timeout" {
    FAKENCCL=hang run fake --split=k --overlap=sequence --timeout=0.5
    [ $status -eq 1 ]
    says "made no progress for 0.5 s: it is in its step"
    says "(all_reduce of P)"
}

@test "there has to be a GPU for each rank" {
    FAKECUDA_DEVICES=1 run fake --split=k
    [ $status -eq 3 ]
    says "rank 1: expected a GPU for each rank, got 1: --device=emulator needs none"
    export CUTE_RANKS_ADDRESS=unix:cute-gpus-$$
    for r in 0 1; do RANK=$r LOCAL_RANK=0 WORLD_SIZE=2 fake --split=k >out.$r 2>err.$r & done
    wait
    cat err.0 err.1
    grep -q "ranks 0 and 1 have the same GPU: expected a GPU for each of 2 ranks" err.0
}

@test "the package of bench/ranks checks, times and kills ranks, on the emulator and on stand-ins" {
    "$BATS_TEST_DIRNAME/../../bench/ranks/build" "$CUTE_BIN" package >/dev/null
    run timeout 100 package/run --device=emulator --seconds=60 --workers=2
    [ $status -eq 0 ]
    says "checks: 8 of 8 right"
    says "rank 1 was killed: the others ended after"
    fake --split=m >/dev/null
    run timeout 100 package/run --trial --seconds=60 --parts=check,times --csv=times.csv
    [ $status -eq 0 ]
    says "checks: 10 of 10 right"
    says "0 failed"
    python3 - <<'END'
import csv
rows = list(csv.DictReader(open("times.csv")))
assert {(r["operation"], r["rows"]) for r in rows} == {(o, r) for o in ("gather+up", "down+scatter") for r in ("64", "33")}
assert {r["overlap"] for r in rows} >= {"sequence", "parts", "rotate"}
assert all(float(r["t_fused"]) > 0 and float(r["t_gemm"]) > 0 and float(r["estimated_fused"]) > 0 and float(r["t_cublas_nccl"]) > 0 and r["wrong"] == "0" for r in rows)
END
    # a machine without enough GPUs
    run package/run --trial --ranks=3
    [ $status -eq 3 ]
    says "expected 3 GPUs, got 2"
}
