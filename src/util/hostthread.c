/*
 * Threads are told apart by the names that Linux keeps of them (proc(5), task/TID/comm). One that
 * has just been made, and has not said yet that it is Sonde's, counts as the program's.
 */
#define _GNU_SOURCE /* gettid() */
#include "util/hostthread.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAME "sonde-helper" /* at most 15 characters */

void hostthread_is_ours(void)
{
    prctl(PR_SET_NAME, NAME);
}

static bool is_ours(const char *tid)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", tid);
    FILE *file = fopen(path, "re");
    bool read = file && fgets(name, sizeof name, file);
    if (file) {
        fclose(file);
    }
    return read && strcmp(name, NAME "\n") == 0;
}

bool hostthread_is_alone(void)
{
    DIR *tasks = opendir("/proc/self/task");
    bool sees_itself = false, others = false;
    const struct dirent *task;
    while (tasks && !others && (task = readdir(tasks))) {
        if (task->d_name[0] == '.') {
            continue;
        }
        bool self = strtol(task->d_name, NULL, 10) == (long)gettid();
        sees_itself |= self;
        others = !self && !is_ours(task->d_name);
    }
    if (tasks) {
        closedir(tasks);
    }
    return sees_itself && !others;
}
