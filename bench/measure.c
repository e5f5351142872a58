/*
 * measure RUNS COMMAND [ARG...]: runs a command RUNS times and prints the median of its wall
 * seconds and its largest peak memory, "SECONDS MIB". What the command prints on standard output is
 * dropped; a command that fails makes this one fail.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RUNS 99

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one run, negative when it failed; *peak_kib grows to its peak memory. */
static double run_once(char **command, long *peak_kib)
{
    double start = now_seconds();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        return -1;
    }
    if (usage.ru_maxrss > *peak_kib) {
        *peak_kib = usage.ru_maxrss;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? now_seconds() - start : -1;
}

int main(int argc, char **argv)
{
    int runs = argc > 2 ? atoi(argv[1]) : 0;
    double seconds[MAX_RUNS];
    long peak_kib = 0;
    if (runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "usage: measure RUNS COMMAND [ARG...]\n");
        return 2;
    }
    for (int i = 0; i < runs; i++) {
        seconds[i] = run_once(argv + 2, &peak_kib);
        if (seconds[i] < 0) {
            fprintf(stderr, "measure: %s failed\n", argv[2]);
            return 1;
        }
    }
    qsort(seconds, (size_t)runs, sizeof(seconds[0]), ascending);
    printf("%.3f %.1f\n", seconds[runs / 2], (double)peak_kib / 1024);
    return 0;
}
