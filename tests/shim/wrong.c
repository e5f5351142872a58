/* Doubles 32 words, or, with a second argument, 64 words of an allocation of 32: check.sh. */
#include "hosts/host.h"

int main(int argc, char **argv)
{
    handle kernel = function(begin(argv, "double.ptx"), "double_words");
    unsigned count = argc > 2 ? 64 : 32;
    address words = take(32);
    void *args[] = {&words, &count};
    OK(launch(kernel, 1, 64, NULL, args));
    OK(cuCtxSynchronize());
    EXPECT(word(words, 31) == 2);
    OK(cuMemFree_v2(words));
    return 0;
}
