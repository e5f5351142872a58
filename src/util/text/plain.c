/* One locale for the process, made at its first use; without memory for it the program's own stays.
 */
#include "util/text/plain.h"

#include <pthread.h>

static locale_t plain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_plain(void)
{
    plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

locale_t plain_begin(void)
{
    pthread_once(&once, make_plain);
    return plain ? uselocale(plain) : (locale_t)0;
}

void plain_end(locale_t before)
{
    if (before) {
        uselocale(before);
    }
}
