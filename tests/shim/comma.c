/* comma.so: its program writes numbers with a comma, as one in Germany does after setlocale(). */
#include <locale.h>
#include <stdlib.h>

__attribute__((constructor)) static void choose(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        abort();
    }
}
