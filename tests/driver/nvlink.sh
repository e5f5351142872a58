#!/bin/sh
# nvlink.sh: the verdicts of link/cases.txt held against the vendor's assembler and linker, where both
# are installed; skipped (77) elsewhere.
set -u
cd "$(dirname "$0")/link" || exit 1
ptxas=${PTXAS:-ptxas}
nvlink=${NVLINK:-nvlink}
if ! command -v "$ptxas" >/dev/null || ! command -v "$nvlink" >/dev/null; then
    echo "no $ptxas or no $nvlink: skipped"
    exit 77
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/sonde-nvlink.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
count=0
for file in *.ptx; do
    "$ptxas" -arch=sm_75 -c -o "$scratch/${file%.ptx}.o" "$file" >"$scratch/log" 2>&1 || {
        echo "$ptxas refuses $file:"
        cat "$scratch/log"
        failed=1
    }
done
while read -r verdict rest; do
    case $verdict in ok | refused) ;; *) continue ;; esac
    objects=
    for name in ${rest%%:*}; do objects="$objects $scratch/$name.o"; done
    # shellcheck disable=SC2086
    if "$nvlink" -arch=sm_75 -o "$scratch/out" $objects >"$scratch/log" 2>&1; then got=ok; else got=refused; fi
    count=$((count + 1))
    if [ $got != "$verdict" ]; then
        echo "${rest%%:*}: $nvlink says $got, cases.txt $verdict"
        cat "$scratch/log"
        failed=1
    fi
done <cases.txt
echo "$count cases"
[ $count -gt 40 ] || failed=1
exit $failed
