#!/bin/sh
# api_docs.sh FOLDER: the reference of libsonde, made of the comments in include/sonde/sonde.h, as HTML. What the
# header declares without saying what it is fails, as does every other warning of doxygen.
set -eu
cd "$(dirname "$0")/.."
folder=$1
command -v doxygen >/dev/null || {
    echo "api_docs.sh: doxygen is not here; scripts/bootstrap.sh docs installs it" >&2
    exit 1
}
mkdir -p "$folder"
version=$(sed -n 's/^project(sonde VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# What begins a part of the header ("---- devices: ... ----") becomes a page of its own, a row of SONDE_ERRORS a value of the enumeration.
cat >"$folder/filter.awk" <<'AWK'
/^\/\* ---- .* ---- \*\/$/ {
    title = $0
    gsub(/^\/\* ---- | ---- \*\/$/, "", title)
    title = toupper(substr(title, 1, 1)) substr(title, 2)
    printf "%s/** @defgroup part%d %s\n@{ */\n", parts++ ? "/** @} */ " : "", parts, title
    next
}
/^ *X\(SONDE_E/ {
    row = $0
    split(row, word, /[(,]/)
    text = row
    gsub(/^[^"]*"|"[^"]*$/, "", text)
    rows = rows word[2] " =" word[3] ", /**< " text " */ "
}
/SONDE_ERROR_VALUE/ { print /^ / ? rows : ""; next }
{ print }
END { print "/** @} */" }
AWK
for program in examples/*.c; do
    echo "/** @example ${program#examples/} */"
done >"$folder/examples.dox"
doxygen - <<DOXYGEN
PROJECT_NAME = libsonde
PROJECT_NUMBER = $version
PROJECT_BRIEF = "Dissects GPU memory hierarchies by measurement, and simulates them"
INPUT = include/sonde/sonde.h docs/libsonde.md $folder/examples.dox
EXAMPLE_PATH = examples
USE_MDFILE_AS_MAINPAGE = docs/libsonde.md
FULL_PATH_NAMES = NO
OUTPUT_DIRECTORY = $folder
FILTER_PATTERNS = "*.h=awk -f $folder/filter.awk"
JAVADOC_AUTOBRIEF = YES
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
SORT_MEMBER_DOCS = NO
GENERATE_LATEX = NO
QUIET = YES
HAVE_DOT = NO
WARN_NO_PARAMDOC = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
HTML_OUTPUT = .
DOXYGEN
rm -f "$folder/filter.awk" "$folder/examples.dox"
echo "$folder/index.html"
