#!/bin/sh
# A recording gives the dissection that was made live: through replay: and through `sonde infer`.
# whole: gtx560ti gtx780 liar
for device in gtx560ti gtx780 liar; do
    whole "$device" live.json
    cp "$WHOLE/$device.sonde" rec.sonde
    dissect replay:rec.sonde replayed.json --record again.sonde
    "$SONDE" infer rec.sonde --json inferred.json -q || fail "inferring from $device"
    valid inferred.json || fail "the JSON of infer is not valid"
    for file in live replayed inferred; do
        # Where it came from is what differs.
        bare $file.json | sed '/^    "spec": /d; /^    "kind": /d' >$file
    done
    cmp live replayed || fail "$device: replayed it differs: $(diff live replayed | head -5)"
    cmp live inferred || fail "$device: inferred it differs: $(diff live inferred | head -5)"
    cmp rec.sonde again.sonde || fail "$device: a recording of a replay is another recording"
done
