/* Looking up a file that the build put into the binary. */
#include "util/glue/embed.h"

#include <string.h>

const struct embedded_file *embed_find(const struct embedded_file *table, const char *name)
{
    for (; table->name; table++) {
        if (strcmp(table->name, name) == 0) {
            return table;
        }
    }
    return NULL;
}
