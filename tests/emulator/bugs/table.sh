#!/bin/sh
# Runs every planted bug and its clean version under all checks, with --strict: tests/emulator/bugs/table.sh BIN
# `make bugs` writes them to BIN/../bugs.
# A bug is found if an error reports its line and its check; a clean version has to pass. Exit code 1 otherwise. The
# last column lists the compute-sanitizer tools that report the bug but not the clean version on an H200 (h200.txt, by
# sanitizer.sh).
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 bugs=$1/../bugs failed=0 count=0 there=0 others=0
recorded=$here/h200.txt
[ -e "$recorded" ] || recorded=/dev/null
printf '%-41s %-8s %5s  %-10s %-10s %s\n' bug check line found clean compute-sanitizer
while read -r name check line config; do
    case $name in '#'*) continue ;; esac
    count=$((count + 1))
    text=$("$bin/cute-run" "$bugs/$name.ptx" --config "$bugs/$config" --device emulator --check=all --strict --timeout 20 2>&1)
    code=$?
    found=missed
    case $check in memory) word= ;; uninit) word=uninitialised ;; *) word=$check ;; esac
    echo "$text" | grep -q ":$line:[0-9]*: error: $word" && [ $code -ne 0 ] && found=yes
    # A wait that never ends is explained by the deadlock's notes.
    [ $found = missed ] && [ "$check" = barrier ] && echo "$text" | grep -q 'error: deadlock' &&
        echo "$text" | grep -q ":$line:[0-9]*: note: .*waits" && found=deadlock
    clean=clean
    more=$("$bin/cute-run" "$bugs/$name.clean.ptx" --config "$bugs/$config" --device emulator --check=all --strict --timeout 20 2>&1) || clean=REPORTED
    other=$(sed -n "s/^$name alone:[a-z]* *//p" "$recorded") tools=
    for tool in $other; do
        case $tool in *:*) ;; none) tools=- ;; *) tools="${tools:+$tools }$tool" ;; esac
    done
    [ -n "$other" ] && there=$((there + 1)) && tools=${tools:--}
    case $tools in '' | -) ;; *) others=$((others + 1)) ;; esac
    printf '%-41s %-8s %5s  %-10s %-10s %s\n' "$name" "$check" "$line" "$found" "$clean" "$tools"
    [ $found = missed ] && failed=1 && [ -n "${VERBOSE-}" ] && echo "$text" | sed 's/^/    /'
    [ $clean = REPORTED ] && failed=1 && [ -n "${VERBOSE-}" ] && echo "$more" | sed 's/^/    /'
done <"$bugs/bugs.txt"
echo "$count planted bugs"
[ $there -gt 0 ] && echo "compute-sanitizer finds $others of the $there that it was run on"
exit $failed
