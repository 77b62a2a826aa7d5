# The build itself: what make does again, and what it does not.

setup() { cd "$BATS_TEST_DIRNAME/../.."; }

# The sources that would be compiled if the file $1 were newer.
recompiled() {
    make --no-print-directory -n V=1 -W "$1" all 2>/dev/null | grep -oE -- '-c [A-Za-z0-9_/.-]+\.(c|cpp)' | sed 's/^-c //' | sort -u
}

# The sources of the programs and libraries that include the header $1, directly or not, by their own words.
users() {
    local new=$1 all=$1 header
    while [ -n "$new" ]; do
        header=$(for h in $new; do grep -lF "\"${h#include/}\"" $(git ls-files '*.h'); done | sort -u)
        new=$(comm -13 <(printf '%s\n' $all | sort -u) <(printf '%s\n' $header | sort -u))
        all=$(printf '%s\n' $all $new | sort -u)
    done
    for h in $all; do grep -lF "\"${h#include/}\"" $(git ls-files 'lib/*.c' 'tools/*.c' 'lib/*.cpp'); done | sort -u
}

@test "a second make has nothing to do" {
    make --no-print-directory -q all
    [ -z "$(make --no-print-directory -n all | grep -v 'Nothing to be done')" ]
}

@test "a header that changed recompiles the files that include it and no others" {
    command -v git >/dev/null && git rev-parse --git-dir >/dev/null 2>&1 || skip "no git"
    for header in lib/launch/data/npy.h lib/toolkit/scratch.h lib/ir/mlir/kernel.h include/cute/device.h; do
        diff <(users "$header") <(recompiled "$header") || { echo "$header: < its users, > what make would compile"; false; }
    done
    [ "$(recompiled lib/launch/data/npy.h | wc -l)" -lt 10 ]
}

@test "a source that changed recompiles itself alone" {
    [ "$(recompiled lib/base/text/text.c)" = lib/base/text/text.c ]
}

@test "the tree is formatted as .clang-format says" {
    format=${LLVM:-/usr/lib/llvm-19}/bin/clang-format
    [ -x "$format" ] || skip "no clang-format-19"
    git rev-parse --git-dir >/dev/null 2>&1 || skip "no git"
    git ls-files '*.c' '*.h' '*.cpp' | xargs "$format" --dry-run --Werror || { echo "make format does it"; false; }
}

# The settings of the make that runs the tests would be those of these builds, too.
# What this make was given is in its environment, too.
plain_make() { env -u MAKEFLAGS -u SANITIZE make --no-print-directory "$@"; }

@test "flags of a distribution come after the project's own, of which none goes" {
    own=$BATS_TEST_TMPDIR/own
    plain_make BUILD="$own" WERROR=1 CFLAGS='-O1 -g1' CPPFLAGS=-DTHEIRS "$own/obj/lib/base/system/file.o"
    for name in CFLAGS CPPFLAGS CXXFLAGS LDFLAGS; do
        plain_make -n V=1 BUILD="$own" $name=-DOF_THEIRS all >"$BATS_TEST_TMPDIR/commands" 2>&1
        grep -E -- ' -c lib/base/system/file.c' "$BATS_TEST_TMPDIR/commands" | grep -q -- '-std=c17 -D_GNU_SOURCE.*-fPIC -fvisibility=hidden'
        grep -E -- ' -c lib/ir/mlir/shim.cpp' "$BATS_TEST_TMPDIR/commands" | grep -q -- '-std=c++17.*-fPIC -fvisibility=hidden'
        grep -q -- '--gc-sections.*-DOF_THEIRS.* -o .*/bin/cute-link' "$BATS_TEST_TMPDIR/commands" || [ $name != LDFLAGS ]
        grep -q -- '--gc-sections.*-DOF_THEIRS.* -o .*/bin/cute-ptx' "$BATS_TEST_TMPDIR/commands" || [ $name != LDFLAGS ]
        grep -q -- '-std=c17.* -DOF_THEIRS.* -c lib/base/system/file.c' "$BATS_TEST_TMPDIR/commands" || [[ $name != C*FLAGS || $name = CXXFLAGS ]]
        grep -q -- '-std=c++17.* -DOF_THEIRS.* -c lib/ir/mlir/shim.cpp' "$BATS_TEST_TMPDIR/commands" || [[ $name != C[XP]*FLAGS ]]
    done
    # a distribution that fortifies does so in its own way
    ! plain_make -n V=1 BUILD="$own" CPPFLAGS=-D_FORTIFY_SOURCE=2 all 2>/dev/null | grep -q -- '-D_FORTIFY_SOURCE=3' || false
    plain_make BUILD="$own" WERROR=1 CPPFLAGS=-D_FORTIFY_SOURCE=2 "$own/obj/lib/base/system/file.o"
    plain_make BUILD="$own" WERROR=1 OPT=-O0 "$own/obj/lib/base/system/file.o"
}

@test "a dry run writes nothing" {
    for target in all install check demo fuzz-now; do
        plain_make -n BUILD="$BATS_TEST_TMPDIR/none" DESTDIR="$BATS_TEST_TMPDIR/dest" $target >/dev/null 2>&1
        [ -z "$(ls "$BATS_TEST_TMPDIR" | grep -E 'none|dest')" ] || { echo "$target wrote"; false; }
    done
}

@test "objects of fuzz targets that have generated files in them build in a folder where nothing is" {
    own=$BATS_TEST_TMPDIR/own
    plain_make -k SANITIZE=address,undefined BUILD="$own" "$own/obj/lib/gemm/table.o" "$own/obj/lib/report/folder/schema.o" "$own/obj/lib/launch/config/schema.o"
}

@test "objects and archives do not say in which folder they were made" {
    objects='obj/lib/base/system/file.o obj/lib/launch/config/schema.o obj/lib/ir/diagnostics/gaveup.o obj/lib/ir/text/placeholders.o'
    for name in one another/longer; do
        mkdir -p "$BATS_TEST_TMPDIR/$name"
        cp -r Makefile VERSION mk lib include tools kernels tests "$BATS_TEST_TMPDIR/$name/" 2>/dev/null ||
            cp -r Makefile VERSION mk lib include tools kernels "$BATS_TEST_TMPDIR/$name/"
    done
    (cd "$BATS_TEST_TMPDIR/one" && plain_make -s $(printf 'build/%s ' $objects))
    (cd "$BATS_TEST_TMPDIR/another/longer" && plain_make -s BUILD="$BATS_TEST_TMPDIR/elsewhere" $(printf "$BATS_TEST_TMPDIR/elsewhere/%s " $objects))
    for object in $objects; do cmp "$BATS_TEST_TMPDIR/one/build/$object" "$BATS_TEST_TMPDIR/elsewhere/$object"; done
    ! grep -rlF "$PWD" "$CUTE_BIN" "$CUTE_BIN/../libcute.a" || false
}

@test "libcute.a has the names of cute_* for others to link, and no more" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "a sanitizer adds names" ;; esac
    run sh -c "nm -g --defined-only '$CUTE_BIN/../libcute.a' | awk 'NF == 3 { print \$3 }' | grep -v '^cute_'"
    [ -z "$output" ]
    diff <(nm -g --defined-only "$CUTE_BIN/../libcute.a" | awk 'NF == 3 { print $3 }' | sort) \
        <(nm -D --defined-only "$CUTE_BIN/../libcute.so" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort)
}

@test "programs are position independent, read-only once they are linked, and check their stacks and buffers" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "a sanitizer checks more" ;; esac
    for program in "$CUTE_BIN"/cute-*; do
        readelf -h "$program" | grep -q 'Type: *DYN'
        readelf -d "$program" | grep -q 'FLAGS_1.*NOW.*PIE'
        readelf -lW "$program" | grep -q GNU_RELRO
        readelf -lW "$program" | grep 'GNU_STACK' | grep -qv 'RWE'
        nm -D "$program" | grep -q __stack_chk_fail
        nm -D "$program" | grep -q '__.*_chk@'
    done
    for library in "$CUTE_BIN"/../libcute.so "$CUTE_BIN"/../libcute-compiler.so; do nm -D "$library" | grep -q __stack_chk_fail; done
}

@test "clang warns of nothing where gcc does not" {
    own=$BATS_TEST_TMPDIR/own
    plain_make BUILD="$own" CC="${LLVM:-/usr/lib/llvm-19}/bin/clang" WERROR=1 "$own"/obj/lib/{base/system/ending,base/system/file,emulator/instructions/memory,ir/diagnostics/gaveup}.o "$own/obj/tests/unit/test_base_cache.o"
}
