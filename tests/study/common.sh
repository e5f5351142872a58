# What the tests of studies share, read by them (. common.sh): the arguments SONDE FOLDER, a scratch folder, and `compare`.
# Rows that fail are expected in $scratch/expected and found in $scratch/actual, one a line, sorted.
# shellcheck shell=sh
set -u
export LC_ALL=C
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-study.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
status=0

# head_line WORD FILE...: what models say of themselves in lines `# WORD: ...`.
head_line() {
    word=$1
    shift
    sed -n "s/^# $word: //p" "$@"
}

# failed_rows: of a study's table, the ids of the rows that fail, sorted.
failed_rows() {
    awk '$NF == "FAIL" { print $1 }' "$1" | sort
}

# compare NAME: do exactly the expected rows fail? If not, say which, show the table, and fail in the end.
compare() {
    if ! diff "$scratch/expected" "$scratch/actual" >"$scratch/difference"; then
        echo "$1: rows that should fail (<) and do not, or fail (>) and should not:"
        grep '^[<>]' "$scratch/difference"
        cat "$scratch/table"
        # shellcheck disable=SC2034  # theirs to exit with
        status=1
    fi
}
