#!/usr/bin/env bats
# The Debian package of `make deb`.
bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    export ROOT=$PWD WORK=$BATS_FILE_TMPDIR
    case ${MAKEFLAGS:-} in *SANITIZE*) return 0 ;; esac
    command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || return 0
    # As make names the folder: another name is another set of compile commands.
    DEB_COMPRESSION=none scripts/deb "$(realpath --relative-to=. "$CUTE_BIN/..")" "$WORK" >"$WORK/name" 2>"$WORK/log" || { cat "$WORK/log"; return 1; }
    dpkg-deb -x "$(cat "$WORK/name")" "$WORK/tree"
    export TRIPLET=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
}

setup() {
    [ -s "$WORK/name" ] || skip "no dpkg-deb and dpkg-shlibdeps"
}

@test "the control file has the version and the packages of all libraries" {
    deb=$(cat "$WORK/name")
    [ "$(dpkg-deb -f "$deb" Version)" = "$(cat "$ROOT/VERSION")" ]
    [ "$(dpkg-deb -f "$deb" Architecture)" = "$(dpkg --print-architecture)" ]
    for package in libc6 libstdc++6 libjansson4 libzstd1 zlib1g python3:any; do
        dpkg-deb -f "$deb" Depends | grep -q "\b$package\b" || { dpkg-deb -f "$deb" Depends; false; }
    done
}

@test "programs, libraries, headers and manual pages are where Debian has them" {
    cd "$WORK/tree/usr"
    for file in bin/cute-opt lib/$TRIPLET/libcute.so.0 lib/$TRIPLET/libcute-compiler.so include/cute/cute.hpp \
        lib/$TRIPLET/pkgconfig/cute.pc lib/$TRIPLET/cmake/cute/cute-config.cmake share/man/man1/cute-link.1.gz \
        share/doc/cute-tools/copyright; do
        [ -e "$file" ] || { echo "$file"; false; }
    done
    grep -q "^libdir=/usr/lib/$TRIPLET$" lib/$TRIPLET/pkgconfig/cute.pc
}

@test "the programs of the package compile and run a kernel" {
    export LD_LIBRARY_PATH=$WORK/tree/usr/lib/$TRIPLET PATH=$WORK/tree/usr/bin:$PATH
    cute-ptx -arch sm_90a "$ROOT/kernels/vector_add/vector_add.mlir" -o "$BATS_TEST_TMPDIR/v.ptx"
    run cute-run "$BATS_TEST_TMPDIR/v.ptx" --config "$ROOT/kernels/vector_add/launch.json" --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "lintian finds no errors" {
    command -v lintian >/dev/null || skip "no lintian"
    # The package of the test is not compressed, to save time.
    run lintian --allow-root --fail-on error \
        --suppress-tags uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball "$(cat "$WORK/name")"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}
