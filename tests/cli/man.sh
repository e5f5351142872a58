#!/bin/sh
# A page for each command, with every option that its help names.
for command in $(sonde --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    page=$SOURCE/docs/man/sonde-$command.1
    [ -e "$page" ] || { echo "$command: no page"; continue; }
    grep -q "^\.BR sonde-$command (1)$" "$SOURCE/docs/man/sonde.1" || echo "$command: not in sonde.1"
    sed 's/\\f[A-Z]//g; s/\\//g' "$page" >text
    sonde "$command" --help | grep -o '\(^\|[ [|]\)--\?[a-z][a-z-]*' | sed 's/^[ [|]*//' | sort -u >options
    while read -r option; do
        grep -q -e "$option\([^a-z-]\|\$\)" text || echo "$command: $option is not in its page"
    done <options
    if command -v man >/dev/null; then
        man --warnings -l "$page" 2>&1 >/dev/null | sed "s/^/$command: /"
    fi
done
echo "pages are read"
