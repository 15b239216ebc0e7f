/* Elements of an operand, wherever they lie, as one dense row in the order of the walk. */
#ifndef GRADSMITH_GATHERING_H
#define GRADSMITH_GATHERING_H

#include "iteration.h"

GS_HIDDEN_BEGIN

typedef enum {
    GS_FLAT,     /* without gaps, in the order of the walk */
    GS_CONSTANT, /* one element for the whole result */
    GS_OTHER
} gs_operand_kind;

gs_operand_kind gs_kind_of(const gs_iteration *it, int operand);

/* Where an element lies, counted in the order of the walk. */
char *gs_place_of(const gs_iteration *it, int operand, npy_intp element);

/* Copies elements first..first+n of an operand, whose elements have 1, 2, 4, 8 or 16 bytes. */
void gs_gather(const gs_iteration *it, int operand, npy_intp first, npy_intp n, char *to);

/* n times one element of 1, 2, 4, 8 or 16 bytes. */
void gs_repeat_element(char *to, const char *from, npy_intp n, npy_intp size);

GS_HIDDEN_END

#endif
