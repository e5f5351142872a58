#!/bin/sh
# folders.sh [ROOT]: no folder of src/ holds more than 24 files; one that would wants sub-folders, named by
# what is asked there. Prints each violation; status 1 when there is one.
set -eu
root=${1:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$root"
find src -type f | LC_ALL=C sort | awk -v most=24 '
{ sub(/\/[^\/]*$/, ""); count[$0]++ }
END {
    for (folder in count)
        if (count[folder] > most) {
            print folder ": " count[folder] " files in one folder, " most " at most"
            bad = 1
        }
    exit bad
}'
