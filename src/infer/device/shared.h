/* Shared memory's banks, from the probe `shared`. */
#ifndef SONDE_INFER_SHARED_H
#define SONDE_INFER_SHARED_H

#include "infer/ask/lab.h"

int shared_dissect(struct lab *lab);
void shared_refuse(struct dissection *out, const char *reason);

#endif
