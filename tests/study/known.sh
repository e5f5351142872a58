#!/bin/sh
# known.sh SONDE STUDY ID...: a study whole; exactly these rows, which are known not to be reproduced, fail.
# shellcheck disable=SC2154  # common.sh sets scratch and status
. "$(dirname "$0")/common.sh"
sonde=$1
study=$2
shift 2
printf '%s\n' "$@" | sort >"$scratch/expected"
"$sonde" study "$study" >"$scratch/table"
rc=$?
{
    [ "$rc" -eq 1 ] || echo "exit-status-$rc"
    failed_rows "$scratch/table"
} | sort >"$scratch/actual"
compare "$study"
exit "$status"
