#!/bin/sh
# widths.sh BROWSER SONDE DATA: pages in a browser without a screen, at the widths of a telephone, a window and a wide
# screen: nothing is wider than the window, no text leaves its drawing, nothing is fetched from elsewhere.
set -eu
browser=$1
sonde=$2
data=$3
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
frame.onload = () => {
    const page = frame.contentDocument, told = [];
    if (location.hash.endsWith('-paper.html')) { // A4 without its margins: nobody can scroll there
        frame.style.width = '718px';
        const cut = [...page.querySelectorAll('.scroll')].filter(box => !box.closest('details:not([open])') && box.scrollWidth > 719).length;
        told.push(page.documentElement.scrollWidth > 719 ? 'PAPER IS TOO NARROW' : 'fits on paper');
        told.push(cut ? `${cut} TABLES ARE CUT OFF` : 'tables are whole');
        document.getElementById('told').textContent = told.join('\n');
        return;
    }
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
    document.getElementById('told').textContent = told.join('\n');
};
frame.src = location.hash.slice(1);
</script>
HTML
cat >wanted <<'END'
width 360: fits, texts inside
width 800: fits, texts inside
width 1400: fits, texts inside
numbers are whole
drawings are named
alone
END
shown() { # PAGE: what is told of it
    "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --virtual-time-budget=10000 \
        --user-data-dir="$work/profile" --dump-dom "file://$work/frame.html#$1.html" 2>errors |
        sed -n '/id="told">/,/<\/pre>/p' | sed 's/.*id="told">//; s/<\/pre>.*//'
}
printf 'fits on paper\ntables are whole\n' >wanted-paper
for page in dissection statistics profile sweep study gtx780 hot; do
    shown "$page" >told
    diff wanted told || { echo "$page.html"; tail -3 errors; exit 1; }
    grep -q 'prefers-color-scheme: *dark' "$page.html" || { echo "$page.html: no colours for dark screens"; exit 1; }
    grep -q '@media print' "$page.html" || { echo "$page.html: nothing said of paper"; exit 1; }
    sed 's/@media print/@media all/' "$page.html" >"$page-paper.html"
    shown "$page-paper" >told
    diff wanted-paper told || { echo "$page.html on paper"; exit 1; }
done
