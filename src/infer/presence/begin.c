/*
 * How the examination of a cache begins, by the way its path leads to it: a cache behind another
 * that no load passes by (behind/behind.c), local memory (interleaved.c), any other (reference.c).
 */
#include "infer/behind/behind.h"
#include "infer/experiments.h"
#include "infer/presence/presence.h"

int level_begin(struct level *level)
{
    const struct path_info *path = path_find(level->info->op);
    if (level->info->behind[0]) {
        return behind_begin(level);
    }
    bool apart = path && path->interleave > 1;
    int rc = apart ? reference_interleaved(level) : reference_by_words(level);
    return rc == 0 && (apart || path_is_apart(level)) ? level_find_same(level) : rc;
}
