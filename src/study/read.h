/* What read.c reads of a study's file with the help of program/read.c. */
#ifndef SONDE_STUDY_READ_H
#define SONDE_STUDY_READ_H

#include "study/study.h"

/* A text that must be there. */
int study_need_text(const char **text, const struct yaml_node *node, const char *key);

/*
 * A role: a device's name, or a model that the study describes, a mapping as a model's file would
 * have it: {inherits: bakhoda2009, noc: {flit: 8 B}}.
 */
int study_read_role(struct study *study, struct study_role *role, const struct yaml_node *node);
/* NULL nodes: there are none. */
int study_read_programs(struct study *study, const struct yaml_node *node);
int study_read_untested(struct study *study, const struct yaml_node *node);

#endif
