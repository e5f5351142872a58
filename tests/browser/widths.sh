#!/bin/sh
# widths.sh BROWSER SONDE DATA: pages in a browser without a screen, at the widths of a telephone, a window and a wide
# screen: nothing is wider than the window, no text leaves its drawing, nothing is fetched from elsewhere. One browser
# shows all pages, one after the other: its start costs more than they do. Some are then used by a keyboard (keyboard.py).
set -eu
browser=$1
sonde=$2
data=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/sonde-browser.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$data"/double.ptx "$data"/hot.ptx "$work"
cd "$work"
"$sonde" report "$data/dissection.json" -o dissection.html
"$sonde" exec double.ptx --grid 20 --block 128 --arg zero:10240 --arg u32:2560 --stats stats.json >log
"$sonde" report stats.json -o statistics.html
"$sonde" exec double.ptx --grid 20 --block 128 --arg zero:10240 --arg u32:2560 --profile=html:profile.html >log
"$sonde" exec hot.ptx --grid 16 --block 256 --arg iota:u32:16384 --arg u32:20 --profile=html:hot.html -q
"$sonde" dissect -d sim:gtx780 --effort quick -q --json gtx780.json
"$sonde" report gtx780.json -o gtx780.html
cat >sweep.yaml <<'YAML'
sweep: widths
run: {workload: vectoradd, size: 64}
models: [gtx780]
parameters: {l2.hit_latency: [100 cycles, 200 cycles]}
columns: [cycles, caches.l2.hit_rate]
YAML
"$sonde" sweep sweep.yaml -o swept -q
"$sonde" report swept/table.json -o sweep.html
cat >study.json <<'JSON'
[{"id": "t1.row", "what": "a row with a text that is long enough to be broken over several lines of a narrow window",
  "published": 128, "measured": 128, "unit": "B", "tolerance": 0, "ok": true, "verdict": "ok", "basis": "input"},
 {"id": "t1.other", "what": "one that does not hold", "published": 1.5e6, "measured": null, "unit": "B/s", "tolerance": 0.1,
  "ok": false, "verdict": "FAIL", "basis": "prediction"}]
JSON
"$sonde" report study.json -o study.html
expected() { # PAGE TEXT
    grep -qF "$2" "$1" || { echo "$1 has no $2"; exit 1; }
}
expected study.html '<p>1 ok, 1 FAIL</p>'
expected study.html '<td class="number">128 B</td>'
expected study.html '<td class="bad">FAIL</td>'
expected sweep.html '<th scope="col" class="number">caches.<wbr>l2.<wbr>hit_rate</th>'
expected sweep.html '<p>2 ok</p>'
cat >frame.html <<'HTML'
<!doctype html><title>waiting</title><body><iframe id="page" style="border:0;height:900px"></iframe><pre id="told"></pre>
<script>
const frame = document.getElementById('page');
function leaves(svg) { // does a text leave the drawing that it is in?
    const box = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].some(text => {
        const at = text.getBoundingClientRect();
        return at.left < box.left - 1 || at.right > box.right + 1;
    });
}
function on_paper(page) { // A4 without its margins: nobody can scroll there
    frame.style.width = '718px';
    const cut = [...page.querySelectorAll('.scroll')].filter(box => !box.closest('details:not([open])') && box.scrollWidth > 719).length;
    return [page.documentElement.scrollWidth > 719 ? 'PAPER IS TOO NARROW' : 'fits on paper',
        cut ? `${cut} TABLES ARE CUT OFF` : 'tables are whole'];
}
function on_screen(page) {
    const told = [];
    for (const width of [360, 800, 1400]) {
        frame.style.width = width + 'px';
        const wide = page.documentElement.scrollWidth > width;
        const lost = [...page.querySelectorAll('svg')].filter(leaves).length;
        // A figure is drawn 430 wide: much larger, and its letters are larger than the page's.
        const blown = [...page.querySelectorAll('.charts svg')].filter(svg => svg.getBoundingClientRect().width > 540).length;
        told.push(`width ${width}: ${wide ? 'TOO WIDE' : 'fits'}, ${lost ? lost + ' DRAWINGS LOSE TEXT' : 'texts inside'}` +
            (blown ? `, ${blown} FIGURES ARE BLOWN UP` : ''));
    }
    frame.style.width = '700px';
    const broken = [...page.querySelectorAll('td.number')].filter(cell => {
        const range = page.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(at => Math.round(at.top))).size > 1;
    }).length;
    told.push(broken ? `${broken} NUMBERS ARE BROKEN` : 'numbers are whole');
    const named = [...page.querySelectorAll('svg')].every(svg => svg.querySelector('title') || svg.getAttribute('aria-label'));
    told.push(named ? 'drawings are named' : 'A DRAWING HAS NO NAME');
    told.push(page.querySelectorAll('script, link[href], img[src^=http]').length ? 'FETCHES SOMETHING' : 'alone');
    return told;
}
const pages = location.hash.slice(1).split(',');
frame.onload = () => {
    const name = pages.shift(), page = frame.contentDocument;
    const told = name.endsWith('-paper.html') ? on_paper(page) : on_screen(page);
    document.getElementById('told').textContent += [name, ...told].join('\n') + '\n';
    if (pages.length) frame.src = pages[0];
};
frame.src = pages[0];
</script>
HTML
pages=
for page in dissection statistics profile sweep study gtx780 hot; do
    grep -q 'prefers-color-scheme: *dark' "$page.html" || { echo "$page.html: no colours for dark screens"; exit 1; }
    grep -q '@media print' "$page.html" || { echo "$page.html: nothing said of paper"; exit 1; }
    sed 's/@media print/@media all/' "$page.html" >"$page-paper.html"
    pages=${pages:+$pages,}$page.html,$page-paper.html
    cat <<END
$page.html
width 360: fits, texts inside
width 800: fits, texts inside
width 1400: fits, texts inside
numbers are whole
drawings are named
alone
$page-paper.html
fits on paper
tables are whole
END
done >wanted
"$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=100000 \
    --user-data-dir="$work/profile" --dump-dom "file://$work/frame.html#$pages" 2>errors |
    sed -n '/id="told">/,/<\/pre>/p' | sed 's/.*id="told">//; s/<\/pre>.*//' | sed '/^$/d' >told
diff wanted told || { tail -3 errors; exit 1; }
python3 "$here/keyboard.py" "$browser" dissection.html,360,dark gtx780.html,1200,light statistics.html,1200,dark hot.html,360,light
