#!/usr/bin/env bats
# Codes of errors and findings: unique, stable, documented, and given by the programs.
bats_require_minimum_version 1.5.0

@test "codes are unique and stable, and errors of each class have theirs" {
    run "$BATS_TEST_DIRNAME/../codes/run" "$CUTE_BIN"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -ge 55 ]
}
