/* Student's t distribution: the quantile that 95 % of its absolute values stay below. */
#ifndef SONDE_SAMPLE_STUDENT_H
#define SONDE_SAMPLE_STUDENT_H

double student_95(double degrees); /* of freedom, at least 1 */

#endif
