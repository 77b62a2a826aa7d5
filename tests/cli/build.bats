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
    for header in lib/launch/npy.h lib/toolkit/scratch.h lib/ir/kernel.h include/cute/device.h; do
        diff <(users "$header") <(recompiled "$header") || { echo "$header: < its users, > what make would compile"; false; }
    done
    [ "$(recompiled lib/launch/npy.h | wc -l)" -lt 10 ]
}

@test "a source that changed recompiles itself alone" {
    [ "$(recompiled lib/base/text.c)" = lib/base/text.c ]
}

@test "the tree is formatted as .clang-format says" {
    format=${LLVM:-/usr/lib/llvm-19}/bin/clang-format
    [ -x "$format" ] || skip "no clang-format-19"
    git rev-parse --git-dir >/dev/null 2>&1 || skip "no git"
    git ls-files '*.c' '*.h' '*.cpp' | xargs "$format" --dry-run --Werror || { echo "make format does it"; false; }
}
