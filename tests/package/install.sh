#!/bin/sh
# install.sh BUILD SOURCE: installs into an empty folder, then uses what is there as somebody does who has nothing
# else: both libraries through pkg-config, the command with its simulated driver, man pages, completions.
set -eu
build=$1
source=$2
root=$(mktemp -d "${TMPDIR:-/tmp}/sonde-install.XXXXXX")
trap 'rm -rf "$root"' EXIT
cmake --install "$build" --prefix "$root" >"$root/log" || { cat "$root/log"; exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name sonde.pc)")
export PKG_CONFIG_PATH
lib=$(dirname "$PKG_CONFIG_PATH")
examples=$(find "$root" -type d -name examples)

echo "# a program on the shared library"
# shellcheck disable=SC2046  # options, word by word
cc -Wall -Werror "$examples/saxpy.c" $(PKG_CONFIG_LIBDIR=$PKG_CONFIG_PATH pkg-config --cflags --libs sonde) -o "$root/shared"
(cd "$examples" && LD_LIBRARY_PATH=$lib "$root/shared") >"$root/shared.out"
grep -q '0: 1 3 5 7 9 11 13 15' "$root/shared.out"
grep -q '^cycles  *[1-9]' "$root/shared.out"
readelf -d "$root/shared" | grep -q 'NEEDED.*libsonde\.so\.0'

echo "# and on the static one"
# shellcheck disable=SC2046
cc -Wall -Werror "$examples/dissect.c" $(pkg-config --cflags sonde) "$lib/libsonde.a" \
    $(pkg-config --static --libs yaml-0.1 jansson libzstd) -lm -ldl -pthread -o "$root/static"
# shellcheck disable=SC2046
cc -Wall -Werror "$examples/dissect.c" $(pkg-config --cflags --libs sonde) -o "$root/shared_dissect"
# shellcheck disable=SC2046
cc -Wall -Werror "$examples/saxpy.c" $(pkg-config --cflags sonde) -Wl,-Bstatic $(pkg-config --libs sonde) -Wl,-Bdynamic \
    $(pkg-config --static --libs sonde | sed 's/-lsonde//') -o "$root/static_saxpy"
(cd "$examples" && "$root/static_saxpy") | cmp - "$root/shared.out"
"$root/static" sim:gtx560ti l1_data,reference 2>/dev/null | grep -q '^  l1_data'

echo "# nothing is visible but the header's functions"
nm -D --defined-only "$lib/libsonde.so" | awk '$2 ~ /[TDBR]/ { print $3 }' | grep -v '^sonde_\|^SONDE_0' && exit 1
nm -g --defined-only "$lib/libsonde.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -v '^sonde_' && exit 1
grep -o '[ *]sonde_[a-z0-9_]*(' "$source/include/sonde/sonde.h" | tr -d ' *(' | sort -u >"$root/wanted"
nm -D --defined-only "$lib/libsonde.so" | awk '{ print $3 }' | sed 's/@.*//' | sort -u >"$root/there"
if comm -23 "$root/wanted" "$root/there" | grep .; then echo "not exported"; exit 1; fi

echo "# what the README names is there"
grep -o '](\(docs/\)\?[a-z0-9A-Z-]*\.md)' "$source/README.md" | sort -u | tr -d ']()' | while read -r page; do
    test -s "$(dirname "$examples")/$page" || { echo "$page is not installed"; exit 1; }
done

echo "# the command beside its libraries"
"$root/bin/sonde" exec "$examples/saxpy.ptx" -q --arg y=fill:f32:1:1 --arg same:y --arg f32:2 --arg u32:1 --print y |
    grep -q '0: 3'
"$root/bin/sonde" run -q -- true
bash -n "$root/share/bash-completion/completions/sonde"
test -s "$root/share/zsh/site-functions/_sonde"
test -e "$root/share/man/man1/sonde.1"
if command -v mandoc >/dev/null && mandoc -T lint -W warning "$root"/share/man/man1/*.1 | grep .; then exit 1; fi
command -v man >/dev/null || exit 0
for page in "$root"/share/man/man1/*.1; do
    if man --warnings -l "$page" 2>&1 >/dev/null | grep .; then exit 1; fi
done

