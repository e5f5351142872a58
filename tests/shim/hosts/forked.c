/* A program that forks: a signal ends the process that it was sent to, and no other. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"

int main(int argc, char **argv)
{
    handle module = argc == 2 ? begin(argv, "kernels.ptx") : NULL;
    handle count = function(module, "count");
    address p = take(1);
    void *args[] = {&p};
    OK(launch(count, 1, 32, NULL, args));
    OK(cuCtxSynchronize());
    int status = 0;
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
        raise(SIGTERM);
        _exit(9);
    }
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    OK(launch(count, 1, 32, NULL, args));
    EXPECT(word(p, 0) == 65);
    return 0;
}
