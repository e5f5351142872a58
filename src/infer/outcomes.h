/* Confidence from outcomes: how often values told so were right. */
#ifndef SONDE_INFER_OUTCOMES_H
#define SONDE_INFER_OUTCOMES_H

struct dissection;

/* Replaces the confidence of each value that blind trials score by what outcomes.def says of it. */
void outcomes_apply(struct dissection *out);

#endif
