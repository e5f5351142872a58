#!/bin/sh
# bare_root.sh BUILD: makes the Debian package, installs it with dpkg into a root that has what the package says that it
# depends on and what every root has for its scripts (sh, ldconfig), and uses it there. Skipped (77) without root, the tools or the archive.
set -eu
build=$1
skip() {
    echo "skipped: $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip "only root can change into another root"
for tool in dpkg dpkg-deb dpkg-shlibdeps apt-get cpack chroot; do
    command -v $tool >/dev/null || skip "there is no $tool"
done
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-root.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/apt/partial" "$work/root/var/lib/dpkg/info" "$work/root/var/lib/dpkg/updates" "$work/root/tmp"
: >"$work/status"

echo "# the package"
(cd "$build" && cpack -B "$work/cpack") >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
package=$(find "$work/cpack" -maxdepth 1 -name 'sonde_*.deb')
dpkg-deb -f "$package" Package Depends

echo "# what it depends on, as if nothing were installed"
download() {
    apt-get -o Dir::State::status="$work/status" -o Dir::Cache::archives="$work/apt" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User=root -qq -y --no-install-recommends --download-only install "$@" >"$work/log" 2>&1
}
download dash libc-bin || { tail -3 "$work/log"; skip "the archive cannot be reached"; }
download "$package" || { tail -3 "$work/log"; exit 1; } # it depends on what there is not
ls "$work/apt" | sed -n 's/_.*\.deb$//p' | tr '\n' ' '
echo
for one in "$work"/apt/*.deb; do dpkg-deb -x "$one" "$work/root"; done

echo "# installed"
: >"$work/root/var/lib/dpkg/status"
dpkg --root="$work/root" --force-depends --log="$work/dpkg.log" -i "$package" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
dpkg --root="$work/root" -s sonde | grep -q '^Status: install ok installed'
dpkg --root="$work/root" -V sonde
inside() {
    chroot "$work/root" /usr/bin/sonde "$@"
}
inside --version
inside devices | grep -q 'sim:h200'
examples=$(dpkg --root="$work/root" -L sonde | grep '/examples$')
inside exec "$examples/saxpy.ptx" -q --arg y=fill:f32:1:1 --arg same:y --arg f32:2 --arg u32:1 --print y | grep '0: 3'
inside dissect -d sim:gtx560ti --only l1_data,reference -q --json /tmp/d.json
inside topology /tmp/d.json >"$work/drawn"
grep -q L1 "$work/drawn"
inside report /tmp/d.json -o /tmp/d.html
inside sweep --help >"$work/help"
mkdir -p "$work/root/proc"
# shellcheck disable=SC2016 # the inner shell's
if unshare -m sh -c 'mount -t proc proc "$1/proc" && chroot "$1" /usr/bin/sonde run -q -- /usr/bin/sonde --version' sh \
    "$work/root" >"$work/log" 2>&1; then
    grep '^sonde [0-9]' "$work/log"
elif grep -q '^\(mount\|unshare\):' "$work/log"; then
    echo "run: untried, /proc cannot be mounted here"
else
    cat "$work/log"
    exit 1
fi
for file in share/man/man1/sonde-exec.1.gz share/man/man1/sonde-exec.1; do
    if [ -e "$work/root/usr/$file" ]; then page=$file; fi
done
echo "${page:?there is no man page}"

echo "# removed: nothing stays"
dpkg --root="$work/root" --log="$work/dpkg.log" -P sonde >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
find "$work/root/usr" "$work/root/lib" -name '*sonde*' | grep . && exit 1
echo passed
