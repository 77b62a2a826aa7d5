# make install: what a packager and a program that links libcute rely on.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    export DEST=$BATS_FILE_TMPDIR/dest
    make --no-print-directory install DESTDIR="$DEST" PREFIX=/opt/cute >"$BATS_FILE_TMPDIR/log" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/log"; return 1; }
}

@test "everything is installed under DESTDIR and PREFIX" {
    for tool in "$CUTE_BIN"/cute-*; do
        [ -x "$DEST/opt/cute/bin/$(basename "$tool")" ]
    done
    [ -e "$DEST/opt/cute/lib/libcute.a" ]
    [ -e "$DEST/opt/cute/include/cute/base.h" ]
    [ "$(ls "$DEST")" = opt ]
}

@test "every program has a man page and completion" {
    for tool in "$CUTE_BIN"/cute-*; do
        name=$(basename "$tool")
        [ -e "$DEST/opt/cute/share/man/man1/$name.1" ]
        [ -e "$DEST/opt/cute/share/bash-completion/completions/$name" ]
        head -n 1 "$DEST/opt/cute/share/zsh/site-functions/_cute" | grep -q "^#compdef .*\<$name\>"
    done
}

@test "the shared library has a soname and exports our names only" {
    lib=$DEST/opt/cute/lib/libcute.so
    [ "$(readlink "$lib")" = libcute.so.0 ]
    readelf -d "$lib" | grep -q 'SONAME.*\[libcute.so.0\]'
    run sh -c "nm -D --defined-only '$lib' | awk '{print \$3}' | grep -vE '^(cute_|LIBCUTE_)'"
    [ -z "$output" ]
    nm -D --defined-only "$lib" | grep -q ' cute_version'
}

@test "a program compiles against the installed headers and runs on either library" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the library wants the sanitizer's run-time" ;; esac
    cat >"$BATS_TEST_TMPDIR/v.c" <<'EOF'
#include <cute/base.h>
#include <stdio.h>
int main(void) { return puts(cute_version()) < 0; }
EOF
    pc=$DEST/opt/cute/lib/pkgconfig/cute.pc
    # What pkg-config would say, without needing it.
    value() { sed -n "s/^$1: //p" "$pc" | sed "s|\${libdir}|$DEST/opt/cute/lib|;s|\${includedir}|$DEST/opt/cute/include|"; }
    cd "$BATS_TEST_TMPDIR"
    cc v.c $(value Cflags) $(value Libs) -o shared
    run env LD_LIBRARY_PATH="$DEST/opt/cute/lib" ./shared
    [ "$output" = "$(cat "$BATS_TEST_DIRNAME/../../VERSION")" ]
    cc v.c $(value Cflags) "$DEST/opt/cute/lib/libcute.a" $(value Libs.private) -o static
    run ./static
    [ "$output" = "$(cat "$BATS_TEST_DIRNAME/../../VERSION")" ]
}

@test "every public header compiles alone, as C and as C++" {
    for header in "$DEST"/opt/cute/include/cute/*.h; do
        name=cute/$(basename "$header")
        echo "#include <$name>" | cc -std=c17 -Wall -Wextra -Werror -I"$DEST/opt/cute/include" -fsyntax-only -xc -
        echo "#include <$name>" | c++ -std=c++17 -Wall -Wextra -Werror -I"$DEST/opt/cute/include" -fsyntax-only -xc++ -
    done
}

@test "uninstall takes everything away again" {
    cd "$BATS_TEST_DIRNAME/../.."
    make --no-print-directory install DESTDIR="$BATS_TEST_TMPDIR/d" PREFIX=/usr >/dev/null
    make --no-print-directory uninstall DESTDIR="$BATS_TEST_TMPDIR/d" PREFIX=/usr >/dev/null
    [ -z "$(find "$BATS_TEST_TMPDIR/d" -not -type d)" ]
}
