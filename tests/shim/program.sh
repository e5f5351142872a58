#!/bin/sh
# program.sh NVCC SONDE PROGRAM.cu FOLDER [BINARY]: runs the program without and with timing: as one of those in
# BINARY (together.sh), or compiled by itself, if it is younger than its binary in FOLDER. A program whose kernel
# faults, as it is meant to, has exit status 1 by what `sonde run` says of it.
set -eu
nvcc=$1 sonde=$2 source=$3 folder=$4 binary=${5:-}
name=$(basename "$source" .cu)
arch=compute_75 more='' device=sim:gtx780
case $name in
clusters*) arch=compute_90 device=sim:$(dirname "$source")/sm90.yaml ;;
children*) arch=compute_90 device=sim:$(dirname "$source")/sm90.yaml more='-rdc=true -lcudadevrt -DDEVICE_MEMSET' ;;
esac
if [ -n "$binary" ]; then
    set -- "$binary" "$name"
else
    binary=$folder/$name
    if [ -z "$(find "$binary" -newer "$source" -newer "$(dirname "$source")/check.h" 2>/dev/null)" ]; then
        # shellcheck disable=SC2086 # several words, or none
        NVCC=$nvcc "$(dirname "$0")/compile.sh" "$source" "$binary" -arch=$arch $more
    fi
    set -- "$binary"
fi
wanted=0
case $name in
fault | asserts | error_codes | clusters_tensor_fault) wanted=1 ;;
esac
for mode in --functional --threads=1; do
    status=0
    "$sonde" run -q -d "$device" "$mode" -- "$@" || status=$?
    if [ "$status" != "$wanted" ]; then
        echo "$name $mode: exit status $status, not $wanted"
        exit 1
    fi
done
