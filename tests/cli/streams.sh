#!/bin/sh
# A reader that goes away ends the program as it ends any other (141: SIGPIPE; 1 where that signal is
# ignored); a closed standard output is an error, and nothing that is printed lands in a file that got
# its number.
cp "$SOURCE/tests/models/tiny.yaml" .
tiny="-d sim:tiny.yaml --only l1_data"
gone() {
    {
        sleep 0.2
        "$@" 2>stderr
        case $? in
        141 | 1) echo "ended" >&2 ;;
        *) echo "crashed" >&2 ;;
        esac
        grep -v 'Broken pipe' stderr >&2
    } | :
}
gone sonde model params
gone sonde dissect $tiny
gone sonde dissect $tiny --json - -o folder
ls folder
sonde model params | head -1
tell sonde model params >&-
tell sonde dissect $tiny >&-
tell sonde dissect $tiny --json - >&-
tell sonde dissect $tiny -q --record rec.sonde >&-
sonde infer rec.sonde | sed -n '1p'
sonde dissect $tiny -q --record rec.sonde 2>&- <&-
echo "status $?"
sonde infer rec.sonde | sed -n '1p'
sonde dissect -d sim:nothing 2>&-
echo "status $?"
