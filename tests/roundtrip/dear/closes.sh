#!/bin/sh
# closes.sh SONDE OUT JOBS MODEL...: does the loop close? Each model (a shipped one's name, or a .yaml file) is dissected, the dissection
# exported as a model, that one dissected, and the two compared: latencies within a cycle, bandwidths within five percent, all else exactly.
# What the first one did not tell is the base model's in the second, and no difference. Kinds of access and conflicts of banks, sums of several
# parameters that were rounded, may differ by four cycles, as in exported.sh. OUT/table.tsv has a line a model: model,
# closes|differs|failed, attributes that are the same, that differ, that the first alone told, seconds of processor of the first
# dissection, what the exported model's loader refused, so that the base's stands there; OUT/MODEL.differs what did not come back;
# attributes.py counts attributes. JOBS at a time. `make check` runs three models (exported.sh); this is for all, and for drawn
# machines: blind --write. Exit 1 where one does not close. LIMIT: seconds of processor a dissection may take (default 300). WALL: seconds for all, after which what is not done is "stopped". OPTIONS: of `sonde dissect`, for both.
set -u
if [ "${1:-}" = --one ]; then
    shift
    sonde=$1 out=$2 model=$3
    name=$(basename "$model" .yaml)
    # shellcheck disable=SC3045  # dash, bash and busybox have it
    ulimit -t "${LIMIT:-300}"
    one=$out/$name.1.json two=$out/$name.2.json line=$out/$name.line
    row() {
        printf '%s\t%s\t%s\t%s\n' "$name" "$1" "$2" "$3" >"$line"
    }
    row failed '-	-	-' 'stopped'
    dissect() { # shellcheck disable=SC2086  # words
        "$sonde" dissect -q -d "sim:$1" --json "$2" ${OPTIONS:-} 2>"$out/$name.error"
    }
    begin=$(awk '{ print $14 + $15 + $16 + $17 }' /proc/$$/stat)
    dissect "$model" "$one" || { row failed '-	-	-' "dissection: $(tail -n 1 "$out/$name.error")"; exit 1; }
    end=$(awk '{ print $14 + $15 + $16 + $17 }' /proc/$$/stat)
    seconds=$(echo "$begin $end $(getconf CLK_TCK)" | awk '{ printf "%.1f", ($2 - $1) / $3 }')
    "$sonde" export "$one" --format sonde -o "$out/$name.again.yaml" 2>"$out/$name.error" ||
        { row failed '-	-	-' "export: $(tail -n 1 "$out/$name.error")"; exit 1; }
    refused=$(grep -c 'not taken over' "$out/$name.error")
    dissect "$out/$name.again.yaml" "$two" || { row failed '-	-	-' "again: $(tail -n 1 "$out/$name.error")"; exit 1; }
    "$sonde" compare "$one" "$two" --cycles 1 --percent 5 >"$out/$name.fine" || [ $? -eq 1 ] ||
        { row failed '-	-	-' 'compare'; exit 1; }
    "$sonde" compare "$one" "$two" --cycles 4 --percent 5 >"$out/$name.coarse"
    "$sonde" compare "$one" "$two" --cycles 1 --percent 5 -v --json "$out/$name.rows.json"
    sums='latency_patterns|conflict_latency'
    {
        grep '^differs' "$out/$name.coarse"
        grep '^differs' "$out/$name.fine" | grep -Ev "$sums"
        grep '^only in A' "$out/$name.fine" | grep -v latency_patterns
    } | sort -u >"$out/$name.differs"
    same=$(awk '/ the same/ { print $1 }' "$out/$name.fine")
    differs=$(grep -c '^differs' "$out/$name.differs")
    alone=$(grep -c '^only' "$out/$name.differs")
    word=closes
    [ ! -s "$out/$name.differs" ] || word=differs
    row "$word" "$same	$differs	$alone" "$seconds	$refused"
    [ "$word" = closes ]
    status=$?
    exit "$status"
fi
sonde=$1 out=$2 jobs=$3
shift 3
mkdir -p "$out" && rm -f "$out"/*.line || exit 2
printf '%s\n' "$@" | timeout "${WALL:-86400}" xargs -P "$jobs" -n 1 "$0" --one "$sonde" "$out" || true
{
    printf 'model\tloop\tsame\tdiffer\talone\tseconds\trefused\n'
    sort "$out"/*.line
} >"$out/table.tsv"
awk -F '\t' 'NR > 1 { of[$2]++ } END { printf "%d close, %d differ, %d failed\n", of["closes"], of["differs"], of["failed"] }' "$out/table.tsv"
! awk -F '\t' 'NR > 1 && $2 != "closes"' "$out/table.tsv" | grep -q .
