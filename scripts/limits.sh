#!/bin/sh
# limits.sh FILE...: what the formatter does not see of the house style: a file opens with a comment,
# has at most 800 lines, none longer than 100 columns. (Function length is clang-tidy's.)
exec awk '
FNR == 1 && $0 !~ /^(\/\*|\/\/)/ { print FILENAME ":1: the file does not open with a comment"; bad = 1 }
length($0) > 100 && $0 !~ /https?:/ { print FILENAME ":" FNR ": longer than 100 columns"; bad = 1 }
FNR == 801 { print FILENAME ": longer than 800 lines"; bad = 1 }
END { exit bad }
' "$@"
