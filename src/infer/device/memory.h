/* Memory under load, from the probe `flight`. */
#ifndef SONDE_INFER_MEMORY_H
#define SONDE_INFER_MEMORY_H

#include "infer/ask/lab.h"

int memory_dissect(struct lab *lab);
void memory_refuse(struct dissection *out, const char *reason);

#endif
