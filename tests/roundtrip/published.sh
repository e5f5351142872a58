#!/bin/sh
# What Mei et al. print (NPC 2014, Tables 1, 3 and 4) is what comes out.
# whole: gtx560ti gtx560ti-48k gtx780 gtx280
whole gtx560ti fermi.json
expect fermi.json l1_data.size 16384
expect fermi.json l1_data.line 128
expect fermi.json l1_data.sets 32
expect fermi.json l1_data.ways 4
expect fermi.json l1_data.hit_latency 116 3
expect fermi.json l2.size 524288
expect fermi.json l2.hit_latency 371 3
expect fermi.json memory.latency 639 5
shares() { # FILE CACHE "OTHERS"
    got=$("$GET" "$1" "$2.shared_with")
    [ "$got" = "$3" ] || fail "$1: $2 is shared with '$got', not '$3'"
}
shares fermi.json l1_data local_l1
expect fermi.json local_l1.sets 32
shares fermi.json texture_l1 ""
shares fermi.json constant_l1 ""
# Table 3 with L1 disabled and enabled, within 3 % (what the model does to P3 and P5: ADR 0006; that P2 with
# L1 enabled is an L1 miss: ADR 0003).
expect fermi.json patterns.cg.P1 371 11
expect fermi.json patterns.cg.P2 398 12
expect fermi.json patterns.cg.P3 482 14
expect fermi.json patterns.cg.P4 639 19
expect fermi.json patterns.cg.P5 1245 37
expect fermi.json patterns.ca.P1 116 3
expect fermi.json patterns.ca.P2 404 12
expect fermi.json patterns.ca.P3 488 15
expect fermi.json patterns.ca.P4 655 20
expect fermi.json patterns.ca.P5 1259 38
"$GET" fermi.json patterns.cg.P6 && fail "Fermi has no page-table window"
# Tables 4 and 5, section 4.3: the texture L1.
texture() {
    expect "$1" texture_l1.size 12288
    expect "$1" texture_l1.line 32
    expect "$1" texture_l1.sets 4
    expect "$1" texture_l1.ways 96
    expect "$1" texture_l1.hit_latency "$2" "$3"
    /usr/bin/python3 -c "import json; t, = [c for c in json.load(open('$1'))['caches'] if c['id'] == 'texture_l1']
assert (t['set_index']['kind'], sorted(t['set_index']['masks'])) == ('bits', ['0x100', '0x80']), t['set_index']
assert t['policy']['name'] == 'lru', t['policy']" || fail "$1: set bits or policy of the texture L1"
}
texture fermi.json 240 4

# The same GPU with the other division of its array.
whole gtx560ti-48k fermi48.json
expect fermi48.json l1_data.size 49152
expect fermi48.json l1_data.line 128
expect fermi48.json l1_data.ways 6
expect fermi48.json l1_data.hit_latency 116 3

# Kepler's L1 does not serve global loads.
whole gtx780 kepler.json
[ "$("$GET" kepler.json l1_data.present)" = false ] || fail "Kepler's L1 shows"
expect kepler.json l1_data.size absent
expect kepler.json l2.size 1572864
expect kepler.json l2.hit_latency 230 3
expect kepler.json memory.latency 371 5
expect kepler.json patterns.cg.P1 230 7
expect kepler.json patterns.cg.P2 236 7
expect kepler.json patterns.cg.P3 289 8
expect kepler.json patterns.cg.P4 371 11
expect kepler.json patterns.cg.P5 734 22
expect kepler.json patterns.cg.P6 1000 30
texture kepler.json 110 2
expect kepler.json local_l1.size 16384
expect kepler.json local_l1.ways 4
expect kepler.json local_l1.line "not measured"
expect kepler.json readonly_l1.size 12288
shares kepler.json readonly_l1 texture_l1
shares kepler.json texture_l1 readonly_l1
shares kepler.json local_l1 ""
shares kepler.json l1_data "not measured"

# A GPU that caches nothing of global memory: Wong et al., ISPASS 2010, on a GTX 280. A record adds 8 to 9 cycles,
# where an instruction issues every 4.
whole gtx280 tesla.json
for cache in l1_data l2; do
    [ "$("$GET" tesla.json $cache.present)" = false ] || fail "a GTX 280 shows an $cache"
done
expect tesla.json texture_l1.size 5120
expect tesla.json texture_l1.line 32
expect tesla.json texture_l1.ways 20
expect tesla.json texture_l1.hit_latency 270 1
expect tesla.json constant_l1.size 2048
expect tesla.json constant_l1.ways 4
expect tesla.json constant_l15.size 8192
expect tesla.json constant_l15.ways 4
expect tesla.json constant_l15.hit_latency 90 1
expect tesla.json memory.latency 450 1
