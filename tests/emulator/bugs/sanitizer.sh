#!/bin/bash
# Runs compute-sanitizer on the planted bugs on a GPU and prints a line per bug: its name and the tools that reported it.
#   sanitizer.sh --prepare BIN FOLDER       copy cubins, cute-run, the configs and this script for a GPU machine to FOLDER
#   sanitizer.sh [--dry-run] [FOLDER [BUG...]]   run the prepared kernels (default: this script's folder, all bugs);
#                                           requires a GPU
# After a tool's name, `:hang` means a timeout without a report, `:clean` that the clean version is reported too, so the report
# is meaningless. `alone` is the result of the kernel without a tool: passes, fails or hangs.
# Environment: SANITIZER (compute-sanitizer), JOBS (8), LIMIT (20 seconds), LOGS (a folder for the output of the tools).
set -u
tools="memcheck racecheck initcheck synccheck"
sanitizer=${SANITIZER-compute-sanitizer} jobs=${JOBS-8} limit=${LIMIT-20}

prepare() {
    local here bin=$1 bugs=$1/../bugs folder=$2
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    mkdir -p "$folder/bin" && cp "$bin/cute-run" "$folder/bin/" && cp "$bugs"/*.json "$bugs/bugs.txt" "$here/sanitizer.sh" "$folder/" || return
    while read -r name _; do
        case $name in '#'*) continue ;; esac
        for version in "$name" "$name.clean"; do
            "$bin/cute-link" -w --allow=wgmma-serialized,setmaxnreg-ignored --strip --arch=sm_90a -o "$folder/$version.cubin" "$bugs/$version.ptx" || return
        done
    done <"$bugs/bugs.txt"
}

# of VERSION TOOL CONFIG: the exit code of a run (TOOL `alone`: without one).
of() {
    local watched=()
    [ "$2" = alone ] || watched=("$sanitizer" --tool "$2" --error-exitcode 9)
    local line=(timeout -k 2 "$limit" "${watched[@]}" "$folder/bin/cute-run" "$folder/$1.cubin" --config "$folder/$3" --timeout $((limit + 10)) --no-bench)
    if [ -n "$dry" ]; then
        echo "${line[*]}" >&2
        return 0
    fi
    "${line[@]}" >"$logs/$1.$2.txt" 2>&1 </dev/null
}

bug() {
    local name=$1 config=$2 tool said="" code clean end
    of "$name" alone "$config"
    case $? in 0) end=passes ;; 124 | 137) end=hangs ;; *) end=fails ;; esac
    for tool in $tools; do
        of "$name" "$tool" "$config"
        code=$?
        clean=0
        if [ $code -eq 9 ] || [ -n "$dry" ]; then
            of "$name.clean" "$tool" "$config"
            clean=$?
        fi
        case $code in
        9) [ $clean -eq 9 ] && said="$said $tool:clean" || said="$said $tool" ;;
        124 | 137) said="$said $tool:hang" ;;
        esac
    done
    [ -n "$dry" ] || echo "$name alone:$end${said:- none}" >"$logs/$name.line"
}

if [ "${1-}" = --prepare ]; then
    [ $# -eq 3 ] || { echo "usage: sanitizer.sh --prepare BIN FOLDER" >&2; exit 2; }
    prepare "$2" "$3"
    exit
fi
dry=
[ "${1-}" = --dry-run ] && dry=1 && shift
folder=${1-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}
some=" ${*:2} " # names; blank: all
logs=${LOGS-$(mktemp -d)}
mkdir -p "$logs" || exit
[ -n "$dry" ] || command -v "$sanitizer" >/dev/null || { echo "sanitizer.sh: no $sanitizer here" >&2; exit 2; }
names=()
while read -r name check line config; do
    case $name in '#'*) continue ;; esac
    [ -z "${some// /}" ] || [[ "$some" == *" $name "* ]] || continue
    names+=("$name")
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    if [ -n "$dry" ]; then bug "$name" "$config"; else bug "$name" "$config" & fi
done <"$folder/bugs.txt"
wait
[ -n "$dry" ] && exit
echo "# Written by sanitizer.sh: bug, how the kernel ends without a tool, tools that reported it ($("$sanitizer" --version | grep -i version | head -1))."
for name in "${names[@]}"; do cat "$logs/$name.line"; done
