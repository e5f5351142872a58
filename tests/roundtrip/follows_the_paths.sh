#!/bin/sh
# Texture, read-only, local and constant caches follow the model: copies with another geometry, with other
# latencies, with other paths, and without the caches are dissected to what each says.
copy() { # NAME, the rest of the model on standard input
    { printf 'inherits: %s\nname: %s\ndoc: a copy of %s\n' "$2" "$1" "$2"; cat; } >"$1.yaml"
    "$SONDE" model check "$1.yaml" >check.txt 2>&1 || fail "$1: $(cat check.txt)"
    dissect "sim:$1.yaml" "$1.json" --skip outstanding,memory,copy,patterns,shared,mei,average,sweep,tlbs
    truth "$1.yaml" "$1.json"
}

# A sectored texture cache with a number of sets that is no power of two, FIFO; constants likewise.
copy odd gtx780 <<'YAML'
texture_l1:
  size: 20 KiB
  line: 128 B
  sector: 32 B
  sets: 10
  ways: 16
  index: {kind: modulo}
  replacement: {policy: fifo}
  hit_latency: 77 cycles
constant_l1: {size: 1536 B, line: 32 B, sector: 32 B, sets: 6, ways: 8, index: {kind: modulo}, hit_latency: 21 cycles}
constant_l15: {size: 24 KiB, line: 128 B, sector: 64 B, sets: 12, ways: 16, index: {kind: modulo}, hit_latency: 61 cycles}
YAML
expect odd.json texture_l1.size 20480
expect odd.json texture_l1.line 128
expect odd.json texture_l1.fetch_granularity 32
expect odd.json readonly_l1.size 20480
expect odd.json constant_l1.sets 6
expect odd.json constant_l15.line 128
expect odd.json constant_l15.ways 16

# Read-only loads through L1 and not the texture unit; a texture path that is slower than L2.
copy paths gtx780 <<'YAML'
sm:
  readonly: l1
  texture: {address_latency: 150 cycles}
YAML
expect paths.json readonly_l1.size 16384
expect paths.json readonly_l1.ways 4
expect paths.json texture_l1.size 12288
[ "$("$GET" paths.json l1_data.present)" = false ] || fail "L1 shows to plain loads"

# No second cache of constants: what misses the first goes to L2.
copy single gtx560ti <<'YAML'
constant_l15: {enabled: false}
YAML
expect single.json constant_l1.size 2048
expect single.json constant_l15.size absent

# None of them.
copy bare_gpu gtx780 <<'YAML'
sm: {readonly: none}
texture_l1: {enabled: false}
constant_l1: {enabled: false}
constant_l15: {enabled: false}
l1_data: {enabled: false}
YAML
for cache in l1_data texture_l1 readonly_l1 local_l1; do
    [ "$("$GET" bare_gpu.json $cache.present)" = false ] || fail "$cache shows, and is not there"
done
for cache in l1_data texture_l1 readonly_l1 local_l1; do
    expect bare_gpu.json $cache.size absent
done
for cache in constant_l1 constant_l15; do # no load passes them by
    expect bare_gpu.json $cache.size "not measured"
done
expect bare_gpu.json l2.size 1572864
