#!/bin/sh
# build.sh [PROGRAM]: makes the program of these cases (suites, beside this file). Needs nvcc 13, which nothing else here does; NVCC names
# it. The options are those of the recording.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exec "${NVCC:-nvcc}" -arch=sm_90 -cudart static -O3 -o "${1:-$here/suites}" "$here/suites.cu"
