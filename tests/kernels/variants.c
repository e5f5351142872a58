/*
 * variants FOLDER: writes the probes' kernels into it, each in every variant that the probes load,
 * as <file>[.<variant>].ptx: what the vendor's assembler is given by check.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/instruction/instruction.h"
#include "probe/live.h"
#include "util/error.h"

static int write_text(const char *folder, const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s.ptx", folder, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        return -1;
    }
    int failed = fputs(text, file) < 0;
    return fclose(file) != 0 || failed ? -1 : 0;
}

/* Each kind of instruction, in one chain and in four. */
static int write_instructions(const char *folder)
{
    for (size_t i = 0; instruction_at(i); i++) {
        for (uint32_t chains = 1; chains <= 4; chains += 3) {
            char name[64];
            uint32_t lines = instruction_lines(instruction_at(i), chains, 0);
            snprintf(name, sizeof(name), "instruction.%s.%u.%u", instruction_at(i)->op, chains,
                     3 * lines);
            char *text = instruction_text(instruction_at(i), chains, lines);
            int failed = !text || write_text(folder, name, text) < 0;
            free(text);
            if (failed) {
                return -1;
            }
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    enum { KEPLER = 3, FERMI = 2 };
    static const struct {
        const char *name, *file, *variant;
        uint32_t compute_major;
    } texts[] = {
        {"chase.ca", "chase", "ca", KEPLER},
        {"chase.cg", "chase", "cg", KEPLER},
        {"chase.cv", "chase", "cv", KEPLER},
        {"chase.nc", "chase", "nc", KEPLER},
        {"chase.tex", "chase", "tex", KEPLER},
        {"chase.const", "chase", "const", KEPLER},
        {"chase.local", "chase", "local", KEPLER},
        {"chase.ca.tex", "chase", "ca.1.4.+tex", KEPLER},
        {"chase.nc.ca", "chase", "nc.1.4.+ca", KEPLER},
        {"chase.tex.nc", "chase", "tex.1.4.+nc", KEPLER},
        {"chase.tex.const", "chase", "tex.1.4.+const", KEPLER},
        {"chase.const.local", "chase", "const.1.4.+local", KEPLER},
        {"chase.local.const", "chase", "local.1.4.+const", KEPLER},
        {"chase.fermi", "chase", "ca", FERMI},
        {"average.ca", "average", "ca", KEPLER},
        {"average.cg", "average", "cg", KEPLER},
        {"average.cv", "average", "cv", KEPLER},
        {"constant", "constant", NULL, KEPLER},
        {"shared", "shared", NULL, KEPLER},
        {"shared.word8", "shared", "word8", KEPLER},
        {"threads.ca.1", "threads", "ca.1.128", KEPLER},
        {"threads.ca.4", "threads", "ca.4.128", KEPLER},
        {"threads.cg.8", "threads", "cg.8.128", KEPLER},
        {"threads.ca.16", "threads", "ca.16.4096", KEPLER},
        {"threads.hit.2", "threads", "hit.2.128.more", KEPLER},
        {"threads.more.4", "threads", "cg.3.128.more", KEPLER},
        {"flight.load", "flight", "cg.8.128.load", KEPLER},
        {"flight.store", "flight", "cg.1.128.store", KEPLER},
        {"copy", "copy", NULL, KEPLER},
        {"scope", "scope", NULL, KEPLER},
        {"overhead", "overhead", NULL, KEPLER},
        {"clock", "clock", NULL, KEPLER},
        {"layout", "layout", NULL, KEPLER},
    };
    for (size_t i = 0; argc == 2 && i < sizeof(texts) / sizeof(texts[0]); i++) {
        char *text;
        if (variant_text(&text, texts[i].file, texts[i].variant, texts[i].compute_major) < 0 ||
            write_text(argv[1], texts[i].name, text) < 0) {
            fprintf(stderr, "variants: %s failed\n", texts[i].name);
            return 1;
        }
        free(text);
    }
    return argc != 2 ? 2 : write_instructions(argv[1]) < 0;
}
