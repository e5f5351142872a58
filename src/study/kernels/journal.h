/*
 * What was simulated, kept in a folder, so that a study that was ended goes on where it was.
 */
#ifndef SONDE_STUDY_KERNELS_JOURNAL_H
#define SONDE_STUDY_KERNELS_JOURNAL_H

#include <jansson.h>
#include <stdio.h>

#include "study/kernels/compare.h"

struct kernel_journal {
    FILE *stream;  /* NULL: nothing is kept */
    json_t *lines; /* of an earlier run with the same key */
    uint64_t key;  /* of the model and this version */
};

/*
 * FOLDER/kernels.jsonl; `folder` NULL: nothing is kept. `resume`: what is there is taken over; else
 * it is begun anew. `model`: its text. To be closed after a failure, too.
 */
int kernel_journal_open(struct kernel_journal *out, const char *folder, bool resume,
                        const char *model);
/* Fills in what was predicted of the pair's kernel and size, without what launching takes. */
bool kernel_journal_find(const struct kernel_journal *journal, struct kernel_pair *pair);
int kernel_journal_add(struct kernel_journal *journal, const struct kernel_pair *pair);
void kernel_journal_close(struct kernel_journal *journal);

#endif
