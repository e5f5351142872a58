#!/bin/sh
# outstanding.sh SONDE SOURCE WHOLE: all rows of lashgar2015 hold. What a blind dissection says is read from those that the round
# trips have recorded (WHOLE/MODEL.sonde); all else is measured here.
set -u
sonde=$1 whole=$3
rows=$(awk '/^  - id: / { id = $3 } /^ *measure: / && id { kind[id] = /attribute/ ? "told" : "measured" } END { for (i in kind) print kind[i], i }' \
    "$2/studies/lashgar2015/study.yaml")
of() { echo "$rows" | sed -n "s/^$1 //p" | paste -s -d , -; }
set --
for model in m2070 k20 k20-prt44 k20-prt45; do
    set -- "$@" -d "$(echo $model | tr - _)=replay:$whole/$model.sonde"
done
"$sonde" study lashgar2015 --only "$(of told)" "$@" && "$sonde" study lashgar2015 --only "$(of measured)"
