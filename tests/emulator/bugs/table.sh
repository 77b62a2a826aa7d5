#!/bin/sh
# Runs every planted bug and its clean version under all checks: tests/emulator/bugs/table.sh BIN
# A bug is found when an error names its line and its check; a clean version has to pass. Exit code 1 otherwise.
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 failed=0 count=0
printf '%-30s %-8s %5s  %-10s %s\n' bug check line found clean
while read -r name check line config; do
    case $name in '#'*) continue ;; esac
    count=$((count + 1))
    text=$("$bin/cute-run" "$here/$name.ptx" --config "$here/$config" --device emulator --check=all --timeout 20 2>&1)
    code=$?
    found=missed
    case $check in memory) word= ;; uninit) word=uninitialised ;; *) word=$check ;; esac
    echo "$text" | grep -q ":$line:[0-9]*: error: $word" && [ $code -ne 0 ] && found=yes
    # A wait that never ends is explained by the deadlock's notes.
    [ $found = missed ] && [ "$check" = barrier ] && echo "$text" | grep -q 'error: deadlock' &&
        echo "$text" | grep -q ":$line:[0-9]*: note: .*waits" && found=deadlock
    clean=clean
    more=$("$bin/cute-run" "$here/$name.clean.ptx" --config "$here/$config" --device emulator --check=all --timeout 20 2>&1) || clean=REPORTED
    printf '%-30s %-8s %5s  %-10s %s\n' "$name" "$check" "$line" "$found" "$clean"
    [ $found = missed ] && failed=1 && [ -n "${VERBOSE-}" ] && echo "$text" | sed 's/^/    /'
    [ $clean = REPORTED ] && failed=1 && [ -n "${VERBOSE-}" ] && echo "$more" | sed 's/^/    /'
done <"$here/bugs.txt"
echo "$count planted bugs"
exit $failed
