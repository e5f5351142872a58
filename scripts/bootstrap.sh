#!/bin/sh
# bootstrap.sh SECTION...: installs what packages.txt lists in these sections and is missing. Does
# nothing, fast, when everything is there. SONDE_BOOTSTRAP=no skips it (the tools come from elsewhere).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
list=${SONDE_PACKAGES:-$root/packages.txt}

if [ "${SONDE_BOOTSTRAP:-yes}" = no ]; then
    exit 0
fi
[ $# -gt 0 ] || set -- build

# The package names of the sections, one alternative list a line.
wanted=$(for section in "$@"; do
    awk -v section="[$section]" '
        /^\[/ { inside = ($0 == section); found = found || inside; next }
        inside && NF && !/^#/ { print $1 }
        END { exit !found }' "$list" || { echo "bootstrap: no section $section" >&2; exit 1; }
done)

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    # Another system: look for the tools themselves, and say what is needed if they are not there.
    missing=
    for tool in cmake ninja cc pkg-config; do
        command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
    done
    for module in yaml-0.1 jansson libzstd; do
        pkg-config --exists "$module" 2>/dev/null || missing="$missing $module"
    done
    [ -z "$missing" ] && exit 0
    echo "bootstrap: this system has no apt-get. Please install:$missing" >&2
    echo "(packages.txt lists the Debian and Ubuntu packages; make SONDE_BOOTSTRAP=no skips this step)" >&2
    exit 1
fi

installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
    awk '$1 == "installed" { printf "%s ", $2 }')"

# The wanted lines none of whose alternatives is installed.
missing=$(for line in $wanted; do
    present=no
    for name in $(echo "$line" | tr '|' ' '); do
        case "$installed" in *" $name "*) present=yes ;; esac
    done
    [ "$present" = yes ] || echo "$line"
done)
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "bootstrap: these packages are missing, and without root or sudo they cannot be installed:" >&2
        echo "$missing" | tr '\n' ' ' >&2
        echo >&2
        exit 1
    fi
    as_root=sudo
fi

echo "bootstrap: installing $(echo "$missing" | tr '\n' ' ')" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "bootstrap: failed: $*" >&2
        exit 1
    fi
}
quietly $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq

# Of each line, the first alternative that can be installed here.
chosen=$(for line in $missing; do
    for name in $(echo "$line" | tr '|' ' '); do
        if apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [^(]'; then
            echo "$name"
            continue 2
        fi
    done
    echo "bootstrap: the system offers no package $line" >&2
    exit 1
done)
# shellcheck disable=SC2086  # a list of names
quietly $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $chosen
