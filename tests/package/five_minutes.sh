#!/bin/sh
# five_minutes.sh BUILD SOURCE: the newcomer's path of the README, line by line, from what is built.
set -eu
build=$1
source=$2
HOME=$(mktemp -d "${TMPDIR:-/tmp}/sonde-newcomer.XXXXXX")
export HOME
trap 'rm -rf "$HOME"' EXIT
awk '/^## /{ here = $0 == "## Five minutes" } /^```/ { inside = !inside; next } here && inside' "$source/README.md" >"$HOME/lines"
# shellcheck disable=SC2016  # as it stands there
grep -q '^make install PREFIX=$HOME/.local$' "$HOME/lines"
# In a fresh clone `make install` and `make package` build what they install.
for goal in install package; do
    make -n -C "$source" "$goal" | grep -q 'build.sh release sonde_installed$' || { echo "make $goal builds something else"; exit 1; }
done
ninja -C "$build" -t commands sonde_installed >"$HOME/commands"
find "$build" -name cmake_install.cmake -exec grep -ho "\"$build/[^\"$]*\"" {} + | tr -d '"' | sed "s|^$build/||" |
    grep -v '\.cmake$\|^sonde.pc$' | sort -u >"$HOME/installed" # sonde.pc comes with the configuration
[ "$(wc -l <"$HOME/installed")" -ge 5 ]
while read -r file; do
    grep -qF -e "$file" "$HOME/commands" || { echo "$file is installed, but not built by sonde_installed"; exit 1; }
done <"$HOME/installed"
sed -i "s|^make install PREFIX=.*|cmake --install '$build' --prefix \$HOME/.local >installed|" "$HOME/lines"
cd "$HOME"
sh -eux lines >out 2>err || { cat out err; exit 1; }
# shown WHAT FILE
shown() {
    grep -q -e "$1" "$2" || { echo "no '$1' in $2"; cat out err; exit 1; }
}
shown '^  l2 ' out
shown 'l1_data' out
shown '0: 1 3 5 7 9 11 13 15' out
shown '^time  *[0-9.]* us' out
shown '^saxpy: 1 launch' err
shown 'fma.rn.f32' err
shown '<h2>Memory hierarchy</h2>' mine/report.html
shown '<h3>Roofline</h3>' saxpy.html
shown '"ph":"X","name":"saxpy"' saxpy.json
