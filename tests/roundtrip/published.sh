#!/bin/sh
# What Mei et al. print (NPC 2014, Tables 1, 3 and 4) is what comes out.
dissect sim:gtx560ti fermi.json
expect fermi.json l1_data.size 16384
expect fermi.json l1_data.line 128
expect fermi.json l1_data.sets 32
expect fermi.json l1_data.ways 4
expect fermi.json l1_data.hit_latency 116 3
expect fermi.json l2.size 524288
expect fermi.json l2.hit_latency 371 3
expect fermi.json memory.latency 639 5

# The same GPU with the other division of its array.
dissect sim:gtx560ti-48k fermi48.json
expect fermi48.json l1_data.size 49152
expect fermi48.json l1_data.line 128
expect fermi48.json l1_data.ways 6
expect fermi48.json l1_data.hit_latency 116 3

# Kepler's L1 does not serve global loads.
dissect sim:gtx780 kepler.json
[ "$("$GET" kepler.json l1_data.present)" = false ] || fail "Kepler's L1 shows"
expect kepler.json l1_data.size "not measured"
expect kepler.json l2.size 1572864
expect kepler.json l2.hit_latency 230 3
expect kepler.json memory.latency 371 5
