/* Steps on one element each, which are most of what programs of numbers do.
 *
 * Note [Steps on single elements]
 * A step often reads what the step before it has made.  Its kind says which of its operands that is: the result stays in a
 * register as well, so that the next step need neither look for it nor wait until it is written.  Where the compiler can,
 * each kind jumps to the next one by itself, so that the processor learns which kind follows which.
 */
#ifndef GRADSMITH_SINGLES_H
#define GRADSMITH_SINGLES_H

#include "block_kernels.h"

#define FIRST(real) (*(const real *)addresses[step->in[0]])
#define SECOND(real) (*(const real *)addresses[step->in[1]])

/* In the order of the kinds; FORM(name, type, result of the step before, value of this one). */
#define FORMS_OF(FORM, real, last)                                  \
    FORM(real##_add, real, last, FIRST(real) + SECOND(real))        \
    FORM(real##_add_first, real, last, last + SECOND(real))         \
    FORM(real##_add_second, real, last, FIRST(real) + last)         \
    FORM(real##_subtract, real, last, FIRST(real) - SECOND(real))   \
    FORM(real##_subtract_first, real, last, last - SECOND(real))    \
    FORM(real##_subtract_second, real, last, FIRST(real) - last)    \
    FORM(real##_multiply, real, last, FIRST(real) * SECOND(real))   \
    FORM(real##_multiply_first, real, last, last * SECOND(real))    \
    FORM(real##_multiply_second, real, last, FIRST(real) * last)    \
    FORM(real##_divide, real, last, FIRST(real) / SECOND(real))     \
    FORM(real##_divide_first, real, last, last / SECOND(real))      \
    FORM(real##_divide_second, real, last, FIRST(real) / last)      \
    FORM(real##_negate, real, last, -FIRST(real))                   \
    FORM(real##_negate_first, real, last, -last)                    \
    FORM(real##_negate_second, real, last, -last)

#define FORMS(FORM) FORMS_OF(FORM, double, last_double) FORMS_OF(FORM, float, last_float)

#if defined(__GNUC__) && !defined(__clang__)
#define EACH_JUMPS __attribute__((optimize("no-crossjumping", "no-gcse")))
#else
#define EACH_JUMPS
#endif

/* Runs steps up to the first one of another kind, which is the last one of a block if no other is; that one. */
EACH_JUMPS static const gs_block_step *
run_singles(const gs_block_step *step, char *const *addresses)
{
    double last_double = 0;
    float last_float = 0;
#if defined(__GNUC__)
#define LABEL(name, real, last, value) &&kind_##name,
#define RUN(name, real, last, value)      \
    kind_##name:                          \
    last = value;                         \
    *(real *)addresses[step->out] = last; \
    step++;                               \
    goto *kinds[step->kind];
    static const void *const kinds[] = {[0 ... GS_BLOCK_SINGLE - 1] = &&other, FORMS(LABEL)};
    goto *kinds[step->kind];
    FORMS(RUN)
other:
    return step;
#else
#define NUMBER(name, real, last, value) KIND_##name,
#define RUN(name, real, last, value)          \
    case KIND_##name:                         \
        last = value;                         \
        *(real *)addresses[step->out] = last; \
        break;
    enum { FORMS(NUMBER) };
    for (; step->kind >= GS_BLOCK_SINGLE; step++) {
        switch (step->kind - GS_BLOCK_SINGLE) {
            FORMS(RUN)
        }
    }
    return step;
#endif
}

#endif
