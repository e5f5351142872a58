#!/bin/sh
# tests/cli/run.sh passes a script that prints what is expected, and fails on other output, another
# exit status or a missing expectation.
set -u
root=$1
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
printf '#!/bin/sh\necho "sonde $*"\nexit 3\n' >fake
chmod +x fake
echo 'run sonde a b' >case.sh
expect() {
    "$root/tests/cli/run.sh" ./fake "$scratch/case.sh" >out 2>&1
    if [ $? -ne "$1" ]; then
        echo "expected status $1: $2"
        cat out
        exit 1
    fi
}
expect 1 'there is no expectation'
printf 'sonde a b\nstatus 3\n' >case.expected
expect 0 'all is as expected'
printf 'sonde a b\nstatus 0\n' >case.expected
expect 1 'the status differs'
printf 'sonde a c\nstatus 3\n' >case.expected
expect 1 'the output differs'
UPDATE=1 "$root/tests/cli/run.sh" ./fake "$scratch/case.sh" && expect 0 'it was updated'
