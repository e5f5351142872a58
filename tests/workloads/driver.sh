#!/bin/sh
# driver.sh SONDE: every workload's host gives the right result on the drop-in libcuda of `sonde run`, which it takes for a
# GPU's driver, of the device that the list names last. Without `sonde run` no driver is the simulator's.
set -u
sonde=$1
status=0
"$sonde" workload --list | while read -r name rest; do
    told=$("$sonde" run -q --functional -d "${rest##* }" -- "$sonde" workload "$name" -d cuda:0 2>&1) || echo "$name: $told"
    case $told in
    launches*microseconds*) ;;
    *) echo "$name: $told" ;;
    esac
done >"${TMPDIR:-/tmp}/sonde-driver.$$"
[ ! -s "${TMPDIR:-/tmp}/sonde-driver.$$" ] || status=1
cat "${TMPDIR:-/tmp}/sonde-driver.$$"
rm -f "${TMPDIR:-/tmp}/sonde-driver.$$"
"$sonde" run -q --functional -d sim:gtx780 -- "$sonde" dissect -q -d cuda:0 >/dev/null 2>&1 && {
    echo "the simulator was dissected as a GPU"
    status=1
}
exit "$status"
