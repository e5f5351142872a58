#!/bin/sh
# run.sh: measures speed. Ends with one line a figure, NAME<TAB>VALUE<TAB>UNIT; ONLY=PREFIX runs the
# figures whose names begin so. Compare figures of one machine only, and of one run where it is shared.
#   KEEP=VERSION    also writes them to bench/results/VERSION.tsv, with the machine and the commit: a release's
#   COMPARE=FILE    prints their ratios to those of a file that was kept (compare.sh); COMPARE=last: of the last version
set -eu
cd "$(dirname "$0")/.."
only=${ONLY:-}
keep=${KEEP:-}
compare=${COMPARE:-}
if [ -n "$keep" ] && [ -n "$only" ]; then
    echo "run.sh: KEEP is of a whole run, not of ONLY=$only" >&2
    exit 2
fi
case $keep in
*[!0-9A-Za-z.-]* | .* | -*)
    echo "run.sh: KEEP=$keep is no version" >&2
    exit 2
    ;;
esac
if [ "$compare" = last ]; then
    compare=$(find bench/results -name '*.tsv' 2>/dev/null | sort -V | tail -n 1)
    [ -n "$compare" ] || { echo "run.sh: bench/results has nothing to compare with" >&2; exit 2; }
fi
if [ -n "$compare" ] && [ ! -r "$compare" ]; then
    echo "run.sh: cannot read $compare" >&2
    exit 2
fi
sonde=build/release/sonde
programs=build/release/bench
# Workloads and sizes beside those of timing.def.
others="laplace3d=40 raytrace=128 frontier=30000 aes=131072 coulomb=128 nqueens=9 storegpu=98304 scan=262144 transpose=512
    scalarproduct=128 histogram=1000000 convolution=256 binomial=8 libor=256 mummer=2500 neural=1 weather=32 maxwell=8
    layer_norm=4096 softmax=4096 dyadic=15"
# Those that need instructions of sm_80 and later, on sim:h200.
todays="matmul_copy=512 matmul_wgmma=512 stencil_box=1024 histogram_cluster=4000000 split_k=256 attention=1024 attention_wgmma=1536"
figures=$(mktemp)
trap 'rm -f "$figures" "$figures.kept"' EXIT INT TERM

wanted() {
    case "$1" in "$only"*) return 0 ;; *) return 1 ;; esac
}

figure() {
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$figures"
}

scripts/build.sh release sonde benchmarks

# Recorded loads a second of a chase that hits L2 (the default model has no L1 for global loads), and one
# that hits L1.
if wanted sim.chase.loads_per_s; then
    echo "chase, L2 hits on sim:gtx780, 5 x 262144 records"
    figure sim.chase.loads_per_s "$("$programs/bench_chase" sim:gtx780 ca 65536)" loads/s
fi
if wanted sim.chase.l1.loads_per_s; then
    echo "chase, L1 hits on sim:gtx560ti, 5 x 262144 records"
    figure sim.chase.l1.loads_per_s "$("$programs/bench_chase" sim:gtx560ti ca 8192)" loads/s
fi

# Functional mode: thread instructions a second of one host thread, a line a workload and their
# geometric mean. A wrong result ends the run.
if wanted sim.functional.tinsn_per_s; then
    echo "functional mode, each workload at its full size, best of 5"
    rates=$("$programs/bench_functional")
    printf '%s\n' "$rates" | while read -r name rate; do
        case $name in
            mean) figure sim.functional.tinsn_per_s "$rate" tinsn/s ;;
            *) figure "sim.functional.tinsn_per_s.$name" "$rate" tinsn/s ;;
        esac
    done
fi

# The same on two threads.
if wanted sim.functional.threads2.tinsn_per_s; then
    echo "functional mode on two host threads, best of 5"
    rates=$("$programs/bench_functional" -t 2)
    printf '%s\n' "$rates" | while read -r name rate; do
        case $name in
            mean) figure sim.functional.threads2.tinsn_per_s "$rate" tinsn/s ;;
            *) figure "sim.functional.threads2.tinsn_per_s.$name" "$rate" tinsn/s ;;
        esac
    done
fi

# The timed simulator: warp instructions a second of one host thread, with links and with a mesh of routers.
if wanted sim.timing.winsn_per_s; then
    echo "timed, each workload at its size of timing.def on sim:gtx780, best of 3"
    rates=$("$programs/bench_timing")
    printf '%s\n' "$rates" | while read -r name rate; do
        case $name in
            mean) figure sim.timing.winsn_per_s "$rate" winsn/s ;;
            weighted) ;;
            *) figure "sim.timing.winsn_per_s.$name" "$rate" winsn/s ;;
        esac
    done
fi
# The other workloads, which the mean leaves out so that it stays comparable.
if wanted sim.timing.winsn_per_s; then
    echo "the other workloads, at about a second each"
    # shellcheck disable=SC2086 # several words
    { "$programs/bench_timing" $others && "$programs/bench_timing" -m h200 $todays; } | while read -r name rate; do
        case $name in
            mean | weighted) ;;
            *) figure "sim.timing.winsn_per_s.$name" "$rate" winsn/s ;;
        esac
    done
fi
if wanted sim.timing.mesh.winsn_per_s; then
    echo "the same with a flit-level mesh, on sim:bakhoda2009"
    rates=$("$programs/bench_timing" -m bakhoda2009)
    figure sim.timing.mesh.winsn_per_s "$(printf '%s\n' "$rates" | sed -n 's/^weighted //p')" winsn/s
fi

# The largest model: the same programs, and what comes on top of any, as seconds and memory of a launch of one warp.
if wanted sim.h200.winsn_per_s; then
    echo "timed, each workload at its size of timing.def on sim:h200, best of 3"
    rates=$("$programs/bench_timing" -m h200)
    figure sim.h200.winsn_per_s "$(printf '%s\n' "$rates" | sed -n 's/^mean //p')" winsn/s
    figure sim.h200.weighted.winsn_per_s "$(printf '%s\n' "$rates" | sed -n 's/^weighted //p')" winsn/s
fi
if wanted sim.h200.start_s || wanted sim.h200.start_mb; then
    echo "one warp on sim:h200, median of 9"
    result=$("$programs/bench_measure" 9 "$sonde" exec -d sim:h200 bench/start.ptx)
    figure sim.h200.start_s "${result% *}" s
    figure sim.h200.start_mb "${result#* }" MiB
fi

# What host threads' hand-overs depend on.
if wanted host.core_round_trip_ns; then
    echo "a word from one of two of the host's cores to the other and back, best of 2000"
    if [ "$(nproc)" -ge 2 ]; then
        figure host.core_round_trip_ns "$("$programs/bench_round_trip")" ns
    else
        echo "host.core_round_trip_ns is not measured: there is one processor only"
    fi
fi

# How much faster two host threads are than one, run in turns; the statistics of all runs are equal, or it ends.
if wanted sim.threads2.speedup; then
    echo "one and two host threads in turns on sim:gtx780, best of 5"
    ratios=$("$programs/bench_threads" 2)
    printf '%s\n' "$ratios" | while read -r name ratio work; do
        case $name in
            mean)
                figure sim.threads2.speedup "$ratio" 1
                figure sim.threads2.work "$work" 1
                ;;
            cpu) figure sim.threads2.cpu_share "$ratio" 1 ;;
            *)
                figure "sim.threads2.speedup.$name" "$ratio" 1
                figure "sim.threads2.work.$name" "$work" 1
                ;;
        esac
    done
fi

peak=0
for model in gtx560ti gtx780; do
    if wanted "dissect.sim.$model.seconds" || wanted peak_rss_mb; then
        echo "dissecting sim:$model, median of 3"
        result=$("$programs/bench_measure" 3 "$sonde" dissect -q -d "sim:$model" --json -)
        peak=$(printf '%s\n%s\n' "$peak" "${result#* }" | sort -g | tail -n 1)
        if wanted "dissect.sim.$model.seconds"; then
            figure "dissect.sim.$model.seconds" "${result% *}" s
        fi
    fi
done
if wanted peak_rss_mb; then
    figure peak_rss_mb "$peak" MiB
fi

# The same of random SMs' outstanding loads.
if wanted blind.outstanding.exact_share; then
    seed=${BLIND_SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1)}
    echo "blind trials: 200 SMs' outstanding loads drawn from $seed, every other one with noise"
    SONDE_TESTS=ON scripts/build.sh release blind_outstanding
    build/release/tests/blind/blind_outstanding --seed "$seed" --count 200 --mix --jobs "$(nproc)" --figures |
        tee "$figures.outstanding" | grep -v "^blind\."
    grep "^blind\." "$figures.outstanding" | while IFS="$(printf '\t')" read -r name value unit; do
        figure "$name" "$value" "$unit"
    done
    rm -f "$figures.outstanding"
fi

# Shares of blind trials: random hierarchies, dissected without and with noise (tests/blind).
if wanted blind.noise_free.exact_share || wanted blind.noisy.exact_share || wanted blind.confidently_wrong; then
    seed=${BLIND_SEED:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1)}
    echo "blind trials: ${BLIND_COUNT:-500} hierarchies drawn from $seed, each without and with noise"
    SONDE_TESTS=ON scripts/build.sh release blind
    blind_status=0
    build/release/tests/blind/blind --seed "$seed" --count "${BLIND_COUNT:-500}" --jobs "$(nproc)" --figures \
        --curve build/release/blind-reliability.svg --gate 10 >"$figures.blind" || blind_status=$?
    grep -v "^blind\." "$figures.blind"
    grep "^blind\." "$figures.blind" | while IFS="$(printf '\t')" read -r name value unit; do
        if wanted "$name"; then figure "$name" "$value" "$unit"; fi
    done
    rm -f "$figures.blind"
    if [ "$blind_status" -ne 0 ]; then exit "$blind_status"; fi
fi

machine="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
{
    echo "# machine: $machine"
    echo "# commit: $(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)"
    cat "$figures"
} >"$figures.kept"
if [ -n "$compare" ]; then
    echo
    echo "new by kept, $compare:"
    bench/compare.sh "$compare" "$figures.kept"
fi
if [ -n "$keep" ]; then
    mkdir -p bench/results
    cp "$figures.kept" "bench/results/$keep.tsv"
    echo "kept as bench/results/$keep.tsv"
fi

echo
echo "machine: $machine"
cat "$figures"
