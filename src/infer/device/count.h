/* How many of each cache there are (count.c). */
#ifndef SONDE_INFER_COUNT_H
#define SONDE_INFER_COUNT_H

#include "infer/ask/lab.h"

int count_dissect(struct lab *lab);
void count_refuse(struct dissection *out, const char *reason);

#endif
