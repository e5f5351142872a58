#!/bin/sh
# can_fail.sh SONDE FOLDER: the study mei2014 on models that are each changed in a few structures or latencies. A file
# says in its head which role it plays and which rows that must make fail:
#   # role: kepler
#   # fails: t3.kepler.p6
# These rows fail and no other: on the unchanged models all hold (study.holds).
# shellcheck disable=SC2154  # common.sh sets scratch and status
. "$(dirname "$0")/common.sh"
sonde=$1
folder=$2

# All rows that are measured on a role's device.
rows_of() {
    case "$1" in
    fermi) echo t1.fermi,t3.fermi,t3.fermi_l1,s42,t4.fermi,t4.fermi_l1,t5.fermi,f5,f9,f11.fermi,s32 ;;
    fermi48) echo t4.fermi_l1_48k ;;
    kepler) echo t1.kepler,t3.kepler,t4.kepler,t5.kepler,f7,f11.kepler ;;
    esac
}

# failed ROLE [OPTION]...: the ids of the rows that fail, sorted.
failed() {
    role=$1
    shift
    "$sonde" study mei2014 --only "$(rows_of "$role")" "$@" >"$scratch/table"
    rc=$?
    [ "$rc" -le 1 ] || echo "exit-status-$rc"
    failed_rows "$scratch/table"
}

for path in "$folder"/*.yaml; do
    role=$(head_line role "$path")
    head_line fails "$path" | tr ' ' '\n' | sort -u >"$scratch/expected"
    failed "$role" -d "$role=sim:$path" >"$scratch/actual"
    compare "$path"
done
exit "$status"
