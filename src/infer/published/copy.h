/* The size of L2 as Lashgar et al. find it, from the probe `copy`. */
#ifndef SONDE_INFER_COPY_H
#define SONDE_INFER_COPY_H

#include "infer/ask/lab.h"

int copy_dissect(struct lab *lab);
void copy_refuse(struct dissection *out, const char *reason);

#endif
