#!/bin/sh
# A copy of a model under another's name, whose driver lies in every number, is dissected as before, to
# the byte. The device's description is what the driver says, so that part differs and is left out. (The
# generation stays Fermi: it decides which instructions the probes may use. How many constants there are
# decides how far they reach, and stays too.)
# whole: gtx560ti
cat >lies.yaml <<'YAML'
inherits: gtx560ti
name: gtx780
doc: a GTX 560 Ti whose driver takes it for something else
driver:
  device_name: GeForce GTX 780
  compute_major: 2
  compute_minor: 0
  clock: 863 MHz
  l2_size: 1536 KiB
  memory_bus: 384
  memory_clock: 3004 MHz
YAML
without_device() {
    bare "$1" | sed '/^  "device": {/,/^  }/d; /op=nc needs/d'
}
whole gtx560ti honest.json
dissect sim:lies.yaml lies.json
grep -q '"name": "GeForce GTX 780"' lies.json || fail "the driver does not lie"
without_device honest.json >honest
without_device lies.json >lies
cmp honest lies || fail "the driver's word changed the dissection: $(diff honest lies | head -5)"
