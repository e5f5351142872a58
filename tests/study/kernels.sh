#!/bin/sh
# kernels.sh SONDE FOLDER: the study h200 on two of its kernels, of the first size, where its rows hold on the model as it is; and
# on models that are each changed in one place. Of the rows asked for, exactly those fail that a file names in its head:
#   # fails: mape.memory mape.all
# shellcheck disable=SC2154  # common.sh sets scratch and status
. "$(dirname "$0")/common.sh"
sonde=$1
folder=$2

# fails NAME IDS OPTION...: exactly these rows fail.
fails() {
    name=$1
    echo "$2" | tr ' ' '\n' | sed '/^$/d' | sort >"$scratch/expected"
    shift 2
    "$sonde" study h200 --quick --without-set-aside --kernels chase_l1,gather_wide --only mape.memory,mape.all,results "$@" \
        >"$scratch/table"
    rc=$?
    {
        if [ -s "$scratch/expected" ]; then wanted=1; else wanted=0; fi
        [ "$rc" -eq "$wanted" ] || echo "exit-status-$rc"
        failed_rows "$scratch/table"
    } >"$scratch/actual"
    compare "$name"
}

fails "as it is" ""
for path in "$folder"/*.yaml; do
    fails "$path" "$(head_line fails "$path")" -d "h200=sim:$path"
done

# The workloads in today's style, at all sizes: their rows hold, and on another GPU's memory system some do not.
today=asynchronous.median,asynchronous.most,asynchronous.results
today() {
    "$sonde" study h200 --only "$today" "$@" >"$scratch/table" || [ "$?" -eq 1 ]
    failed_rows "$scratch/table" >"$scratch/actual"
}
: >"$scratch/expected"
today
compare "workloads as it is"
printf "asynchronous.median\nasynchronous.most\n" >"$scratch/expected"
today --quick -d "h200=sim:$folder/memory_slow.yaml"
compare "workloads, memory_slow.yaml"
exit "$status"
