#!/bin/sh
# refused.sh SONDE HOST PTX: a launch without code that can be run shows in the exit status, also where the program
# does not look at its error; what is only registered does not.
set -eu
sonde=$1 host=$2 ptx=$3
ends() { # STATUS KERNEL PTX: what is printed must hold the fourth argument
    status=0
    said=$("$sonde" run -q --functional -- "$host" "$3" "$2" 2>&1) || status=$?
    case $said in *"$4"*) ;; *) status="$status, without '$4': $said" ;; esac
    [ "$status" = "$1" ] || { echo "$2: exit status $status, not $1"; exit 1; }
}
ends 0 right "$ptx" "launched: 0"
ends 1 wrong "$ptx" "is not implemented"
ends 1 absent "$ptx" "launched: 98"
# What the program itself says of its failure stays.
status=0
"$sonde" run -q --functional -- sh -c '"$@"; exit 3' sh "$host" "$ptx" wrong >/dev/null 2>&1 || status=$?
[ "$status" = 3 ] || { echo "a program that ends with 3: exit status $status"; exit 1; }
