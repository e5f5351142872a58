/* What a program's file says of whether it can run on simulated devices. */
#ifndef SONDE_CLI_RUN_PROGRAM_H
#define SONDE_CLI_RUN_PROGRAM_H

#include <limits.h>

/*
 * EXIT_DONE, or EXIT_INPUT after saying why it cannot. `runtime`: the file's name of the runtime's
 * library if the program would look for it elsewhere than where LD_LIBRARY_PATH says; "": none.
 */
int run_program_check(const char *program, char runtime[NAME_MAX + 1]);

#endif
