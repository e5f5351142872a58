/* What is reported of kernels on a simulated GPU: the memory checker's part, and the profile's. */
#ifndef SONDE_API_EXEC_REPORT_H
#define SONDE_API_EXEC_REPORT_H

#include "rt/rt.h"
#include "sonde/sonde.h"

/* From now on launches are checked. SONDE_EUSAGE: there is no such format or kind of report. */
int exec_check_begin(struct rt *rt, const struct sonde_exec_options *options);
/* A buffer of the command line; `spec` names it. */
int exec_check_alloc(struct rt *rt, uint64_t *address, uint64_t bytes, const char *spec);
/* Hands the report out. Buffers of the command line are no leaks. */
int exec_check_end(struct rt *rt, const struct sonde_exec_options *options);

/* From now on launches are profiled. SONDE_EUSAGE: there is no such format. */
struct profile;
int exec_profile_begin(struct profile **out, struct rt *rt,
                       const struct sonde_exec_options *options);
int exec_profile_end(const struct profile *profile, const struct sonde_exec_options *options);

#endif
