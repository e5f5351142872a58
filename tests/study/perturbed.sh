#!/bin/sh
# perturbed.sh SONDE STUDY FOLDER WHOLE: a study on models that are each changed in one structure. A file says in its head
# which role it plays (or roles), which rows are measured on it, and which of these must fail; the others must hold, as they do
# on the unchanged model:
#   # role: k20
#   # rows: k20.f9,k20.s4
#   # fails: k20.f9.spike
# Of roles in a line `# told: ROLE...` the rows ask what a dissection of the unchanged model says: WHOLE/MODEL.sonde has it.
# shellcheck disable=SC2154  # common.sh sets scratch and status
. "$(dirname "$0")/common.sh"
sonde=$1
study=$2
folder=$3
whole=$4
count=0

for path in "$folder"/*.yaml; do
    set --
    for role in $(head_line role "$path"); do
        set -- "$@" -d "$role=sim:$path"
    done
    for role in $(head_line told "$path"); do
        set -- "$@" -d "$role=replay:$whole/$(echo "$role" | tr _ -).sonde"
    done
    head_line fails "$path" | tr ' ' '\n' | sort >"$scratch/expected"
    "$sonde" study "$study" --only "$(head_line rows "$path")" "$@" >"$scratch/table"
    rc=$?
    {
        [ "$rc" -eq 1 ] || echo "exit-status-$rc"
        failed_rows "$scratch/table"
    } | sort >"$scratch/actual"
    compare "$path"
    count=$((count + 1))
done
if [ "$count" -lt 2 ]; then
    echo "$folder: no models"
    status=1
fi
exit "$status"
