#!/usr/bin/env bats
# The wheel: installed by pip into a bare environment, used from Python.
bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    export ROOT=$PWD WORK=$BATS_FILE_TMPDIR
    export CUTE_CUDA_PATH=${CUTE_CUDA_PATH:-$(realpath "$CUTE_BIN/../cuda" 2>/dev/null)}
    case ${MAKEFLAGS:-} in *SANITIZE*) return 0 ;; esac
    python3 -c 'import venv, ensurepip' 2>/dev/null || return 0
    # Fast rather than small.
    scripts/wheel "$(dirname "$CUTE_BIN")" "$WORK/dist" 1 >"$WORK/name" || return 1
    python3 -m venv "$WORK/venv" && "$WORK/venv/bin/pip" install -q --no-index --no-deps "$WORK"/dist/*.whl
}

setup() {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the libraries want the sanitizer's run-time" ;; esac
    [ -d "$WORK/venv" ] || skip "no venv"
    cd "$BATS_TEST_TMPDIR"
}

@test "a bare environment compiles kernels, runs them on the emulator and checks the results" {
    run "$WORK/venv/bin/python" "$ROOT/tests/api/wheel.py" "$ROOT/kernels"
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; false; }
}

@test "products on arrays of NumPy, where it is installed" {
    /usr/bin/python3 -c 'import numpy, venv, ensurepip' 2>/dev/null || skip "no NumPy"
    /usr/bin/python3 -m venv --system-site-packages "$WORK/numpy" && "$WORK/numpy/bin/pip" install -q --no-index --no-deps "$WORK"/dist/*.whl
    run "$WORK/numpy/bin/python" "$ROOT/tests/api/wheel.py" "$ROOT/kernels"
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; false; }
}

@test "without ptxas a module is PTX, which the emulator runs" {
    run env -u CUTE_CUDA_PATH CUDA_HOME="$BATS_TEST_TMPDIR" PATH="$BATS_TEST_TMPDIR" "$WORK/venv/bin/python" -c '
import sys, cute_tools
module = cute_tools.compile(open(sys.argv[1]).read(), cubin=False)
print(module.ptx.count(".entry"), sorted(module.kernels))' "$ROOT/kernels/vector_add/vector_add.mlir"
    [ "$output" = "1 ['vector_add']" ] || { echo "$output"; false; }
}

@test "the programs run" {
    "$WORK/venv/bin/cute-ptx" -arch sm_90a "$ROOT/kernels/vector_add/vector_add.mlir" | grep -q '^.target sm_90a'
    [ "$("$WORK/venv/bin/cute-run" --version | cut -d' ' -f2)" = "$(cat "$ROOT/VERSION")" ]
}

@test "the tag's glibc has all versions of symbols that the files need" {
    minor=$(sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/' "$WORK/name")
    for file in "$WORK"/venv/lib/python*/site-packages/cute_tools/{bin,lib}/*; do
        newest=$(readelf -VW "$file" | grep -o 'GLIBC_2\.[0-9]*' | sort -t. -k2 -n | tail -1)
        [ "${newest#GLIBC_2.}" -le "$minor" ] || { echo "$file: $newest"; false; }
    done
}

@test "all files are in RECORD with their digests" {
    run "$WORK/venv/bin/python" - "$WORK"/dist/*.whl <<'PY'
import base64, hashlib, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
record = next(name for name in archive.namelist() if name.endswith("/RECORD"))
rows = dict(line.split(",", 1) for line in archive.read(record).decode().splitlines())
assert sorted(rows) == sorted(archive.namelist())
for name, row in rows.items():
    data = archive.read(name)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert name == record or row == f"sha256={digest},{len(data)}", name
PY
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}
