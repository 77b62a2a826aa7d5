#!/bin/sh
# Random programs on the emulator: run.sh BIN FOLDER SEED COUNT [COMPILER]... generates COUNT programs from SEED in FOLDER,
# compiles them and compares the results of BIN/cute-run with those of the host compiler. COMPILERs: nvcc, nvcc-O1,
# nvcc-O0, nvcc-G, clang-O0 to clang-O3 (CLANG, or clang-19, with NVPTX). CHECK=1 also runs --check with another
# schedule. Prints the differences.
bin=$(cd "$1" && pwd) folder=$2 seed=$3 count=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder" && cd "$folder" || exit 3
python3 "$here/generate.py" . "$seed" "$count" || exit 3
g++ -x c++ -O1 -w -DHOST -fwrapv -fno-strict-aliasing -ffp-contract=off -frounding-math -I"$here" programs.cu -o host || exit 3
./host || exit 3
failed=0
for compiler in "${@:-nvcc}"; do
    nv="nvcc -arch=sm_90a -ptx -w -fmad=false -I$here"
    cl="${CLANG:-clang-19} -x cuda --cuda-gpu-arch=sm_90 --cuda-device-only -nocudainc -nocudalib -ffp-contract=off -w -S
        -Xclang -target-feature -Xclang +ptx80 -I$here"
    case $compiler in
    nvcc) command=$nv ;;
    nvcc-G) command="$nv -G" ;;
    nvcc-O*) command="$nv -Xcicc -${compiler#nvcc-}" ;;
    clang-O*) command="$cl -${compiler#clang-}" ;;
    *) echo "run.sh: compiler $compiler?" >&2 && exit 2 ;;
    esac
    $command programs.cu -o "$compiler.ptx" >"$compiler.log" 2>&1 || { head -5 "$compiler.log"; exit 3; }
    for options in "" ${CHECK:+"--check=race,uninit,barrier --seed=$seed"}; do
        # shellcheck disable=SC2086
        "$bin/cute-run" "$compiler.ptx" --config launch.json --device emulator --no-bench --timeout=60 $options >log 2>&1 && continue
        failed=1
        echo "seed $seed, $compiler $options:"
        grep -E "error|FAILED|failed|fault" log | head -4
        cp log "$compiler.failed"
    done
done
exit $failed
