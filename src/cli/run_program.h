/* What a program's file says of whether it can run on simulated devices. */
#ifndef SONDE_CLI_RUN_PROGRAM_H
#define SONDE_CLI_RUN_PROGRAM_H

/*
 * EXIT_DONE, or EXIT_INPUT after saying why it cannot. `*preload`: libraries of `folder` that the
 * program would look for elsewhere (free() it); NULL: none.
 */
int run_program_check(const char *program, const char *folder, char **preload);

#endif
