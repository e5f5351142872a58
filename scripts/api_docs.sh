#!/bin/sh
# api_docs.sh FOLDER: the reference of libsonde, made of the comments in include/sonde/sonde.h, as HTML.
set -eu
cd "$(dirname "$0")/.."
folder=$1
command -v doxygen >/dev/null || {
    echo "api_docs.sh: doxygen is not here; install the package doxygen" >&2
    exit 1
}
mkdir -p "$folder"
version=$(sed -n 's/^project(sonde VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# Plain comments in front of a declaration describe it; doxygen wants a second star. What begins a part of the
# header ("---- devices ----") becomes a group.
doxygen - <<DOXYGEN
PROJECT_NAME = libsonde
PROJECT_NUMBER = $version
PROJECT_BRIEF = "Dissects GPU memory hierarchies by measurement, and simulates them"
INPUT = include/sonde/sonde.h examples
FILE_PATTERNS = *.h
EXAMPLE_PATH = examples
OUTPUT_DIRECTORY = $folder
INPUT_FILTER = "sed -e '1,3s|^/\\*\$|/** \\\\file sonde.h|' -e 's|^/\\* ---- \\(.*\\) ---- \\*/|/** \\\\name \\1 */|' -e 's|^/\\* |/** |' -e 's|^/\\*\$|/**|' -e 's|; */\\* |; /**< |'"
JAVADOC_AUTOBRIEF = YES
OPTIMIZE_OUTPUT_FOR_C = YES
EXTRACT_ALL = YES
GENERATE_LATEX = NO
QUIET = YES
HAVE_DOT = NO
MACRO_EXPANSION = YES
WARN_IF_UNDOCUMENTED = NO
HTML_OUTPUT = .
DOXYGEN
echo "$folder/index.html"
