# Reads C sources and says which may be compiled as one: prints the number of a group for each source, 0 where it has to be
# compiled by itself. The sources of a group have no name at file scope in common; a source goes to the first
# group where it fits. Option: -v most=SOURCES of a group at most.
function take(name) { if (name !~ /^(|struct|union|enum)$/ && name != own) has[file, ++count[file]] = name }

FNR == 1 { file++; name_of[file] = FILENAME; in_enum = 0 }
/^#define _/ { alone[file] = 1 }                # asks a header for something
/^#include ".*api\.def"/ { alone[file] = 1 } # declares all functions of a library, as of one type
/^#include ".*\.inc"/ { alone[file] = 1 }     # is made of macros
/^#undef / { ended[file, $2] = 1 }
/^#define / { split($2, word, "("); take(word[1]) }
/^static |^typedef / {
    text = $0
    if (text ~ /\(\*[a-z_0-9]+\)\(/) { sub(/.*\(\*/, "", text); sub(/\).*/, "", text) }
    # Names behind commas, too: none of those in an initialiser or between parentheses.
    sub(/ *= *\{.*/, "", text)
    gsub(/ *=[^,;]*/, "", text)
    sub(/ *[({;].*/, "", text)
    gsub(/\[[^]]*\]/, "", text)
    names = split(text, part, ",")
    for (i = 1; i <= names; i++) { sub(/.*[ *]/, "", part[i]); take(part[i]) }
}
/^} [A-Za-z_]/ { text = $2; sub(/[[;=].*/, "", text); take(text) }
/^(static )?(const )?(struct|union|enum) [a-z_0-9]+ \{/ { text = $0; sub(/ \{.*/, "", text); sub(/.* /, "", text); take(text) }
/^(static |const )*[a-z_]+[a-z_0-9 *]*;$/ && !/^static |^typedef / { text = $NF; sub(/;/, "", text); take(text) }
/^enum/ { in_enum = 1 }
in_enum {
    text = $0
    sub(/^enum *[a-z_0-9]* *\{/, "", text)
    sub(/\/\*.*/, "", text)
    constants = split(text, part, ",")
    for (i = 1; i <= constants; i++)
        if (match(part[i], /[A-Z][A-Z_0-9]+/)) take(substr(part[i], RSTART, RLENGTH))
    if (/\}/) in_enum = 0
}

END {
    for (f = 1; f <= file; f++) {
        group = 0
        for (g = 1; !alone[f] && !group; g++) {
            group = size[g] < most ? g : 0
            for (i = 1; group && i <= count[f]; i++)
                if (!((f, has[f, i]) in ended) && (g, has[f, i]) in taken) group = 0
        }
        print group
        if (!group) continue
        size[group]++
        for (i = 1; i <= count[f]; i++) taken[group, has[f, i]] = 1
    }
}
