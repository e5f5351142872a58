#!/bin/sh
# Dissections that somebody wrote or changed: whatever they say, what comes out is a model or an
# error, and XML that can be read.
change() { # FILE PYTHON
    /usr/bin/python3 -c "import json, sys
d = json.load(open('$DATA/dissection.json'))
caches, tlbs = d['caches'], d['tlbs']
$2
json.dump(d, open('$1', 'w'))"
}
echo "# no size at all"
change zero_line.json "for c in caches: c['line'] = {'value': 0}"
run sonde export zero_line.json --format sonde
change zero_fetch.json "for c in caches: c['fetch_granularity'] = {'value': 0}"
sonde export zero_fetch.json --format sonde | grep -A 6 '^l2:' | grep 'sector:'
change zero_page.json "for t in tlbs: t['page'] = {'value': 0}"
run sonde export zero_page.json --format sonde
change flat.json "d['shared_memory']['conflict_latency'] = {k: d['shared_memory']['latency']['value'] for k in ('2', '32')}"
sonde export flat.json --format sonde | grep -c 'conflict_latency:'
echo "# texts"
change texts.json "d['date'] = 'today\n-gpgpu_n_mem 77\x1b[31m'
d['device']['name'] = 'a<\ufffe>'
for c in caches: c['size']['unit'] = 'é' * 100; c['size']['evidence'] = 'e\nsms: 1'"
sonde export texts.json --format gpgpusim | head -n 1
sonde export texts.json --format sonde | grep -c '^sms:'
sonde export texts.json --format hwloc -o out.xml
/usr/bin/python3 -c "import xml.dom.minidom as m; print(m.parse('out.xml').getElementsByTagName('object')[1].getAttribute('subtype'))"
change name.json "caches[0]['x\"y\n'] = {'value': 1}"
run sonde export name.json --format hwloc
echo "# too many"
change twice.json "d['tlbs'] = tlbs * 2"
run sonde compare twice.json twice.json
run sonde export twice.json --format sonde
run sonde topology twice.json
change many.json "d['tlbs'] = [dict(t, id='%s-%d' % (t['id'], i)) for i in range(1000) for t in tlbs]"
run sonde compare many.json many.json
run sonde export many.json --format hwloc
change members.json "caches[0].update({'k%d' % i: {'value': i} for i in range(20000)})"
run sonde compare members.json members.json
