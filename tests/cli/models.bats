#!/usr/bin/env bats
# Checkers that judge the same kernels: where they differ there is a reason.
bats_require_minimum_version 1.5.0

@test "static checks and the emulator agree on planted bugs of asynchronous kernels, but where the table gives a reason" {
    run "$BATS_TEST_DIRNAME/../models/asynchronous" "$CUTE_BIN"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -ge 107 ]
}

@test "accesses and explain tell the same of each access of the planted kernels, but where the table gives a reason" {
    run "$BATS_TEST_DIRNAME/../models/accesses" "$CUTE_BIN"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -ge 50 ]
}
