/* Which paths go through the same cache. */
#ifndef SONDE_INFER_SHARING_H
#define SONDE_INFER_SHARING_H

#include "infer/lab.h"

int sharing_dissect(struct lab *lab);
void sharing_refuse(struct dissection *out, const char *reason);

#endif
