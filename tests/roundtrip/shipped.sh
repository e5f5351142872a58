#!/bin/sh
# What is told of the shipped models, to the value: shipped/MODEL.txt. A change of these is told in its commit, with
# the reason. UPDATE=1 rewrites them.
# whole: all
values=$SOURCE/tests/roundtrip/values.py
for file in "$SOURCE"/models/*.yaml; do
    model=$(basename "$file" .yaml)
    case "$model" in h200 | gh100 | a100 | v100) continue ;; esac # recorded.sh, microbenchmarks.sh
    expected=$SOURCE/tests/roundtrip/shipped/$model.txt
    whole "$model" "$model.json"
    python3 "$values" "$model.json" >"$model.txt" || fail "reading $model.json"
    if [ "${UPDATE:-}" ]; then
        cp "$model.txt" "$expected"
    fi
    diff -u "$expected" "$model.txt" || fail "$model differs from $expected"
done
