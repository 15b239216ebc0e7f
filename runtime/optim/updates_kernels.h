/* Rules of optimizers as loops: each goes once over a parameter, its gradient and its states, and overwrites all but
 * the gradient.
 *
 * Note [Updates as formulas]
 * A loop computes what the method `_formula` of the optimizer's class writes with ops, in that order and with every
 * result rounded to the dtype: the same bits.  So nothing here is contracted to a fused multiply-add, and numbers that
 * go with a whole parameter, such as a bias correction, are computed in double as Python does.
 */
#ifndef GRADSMITH_UPDATES_KERNELS_H
#define GRADSMITH_UPDATES_KERNELS_H

#include <stddef.h>

#define GS_MOST_ARRAYS 5    /* the parameter, its gradient, states */
#define GS_MOST_SETTINGS 12 /* of a parameter group */
#define GS_MOST_COUNTERS 3  /* states that are one number */
#define GS_MOST_NUMBERS 12  /* what a loop reads */

typedef struct {
    const char *name;
    int n_settings;
    int n_counters;
    int n_states; /* that all variants have */
    int cost; /* of an element, in additions */
    /* Advances the counters by a step and gives the numbers of the loop.  `is_single` says which counters are stored
     * in float32; `is_new` whether the states have just been made. */
    void (*prepare)(const double *settings, double *counters, const int *is_single, int is_new, double *numbers);
    void (*loops[2])(char *const *arrays, ptrdiff_t n, const double *numbers); /* float32, float64 */
} gs_update_rule;

/* One parameter.  States that a variant of the rule does not have are NULL. */
typedef struct {
    char *arrays[GS_MOST_ARRAYS];
    int is_double;
    int rank;              /* of `geometry`; 0 when the elements of all arrays lie side by side in the same order */
    ptrdiff_t *geometry;   /* sizes, then the strides of each array, in bytes */
    ptrdiff_t size;
    ptrdiff_t begin;       /* among the elements of all parameters */
    double numbers[GS_MOST_NUMBERS];
} gs_update;

/* gs_parallel of the thread pool, which belongs to another module. */
typedef void (*gs_parallel_function)(
    void (*task)(void *context, ptrdiff_t first, ptrdiff_t last), void *context, ptrdiff_t n, ptrdiff_t cost,
    ptrdiff_t step);

const gs_update_rule *gs_find_update_rule(const char *name);

/* Do two arrays of the update share memory in another way than element by element, and is one of them written? */
int gs_overlaps_itself(const gs_update *update);

/* Called with the GIL, which large jobs release.  0 when there is no memory, and then nothing has been written. */
int gs_run_updates(const gs_update_rule *rule, gs_update *updates, ptrdiff_t count, gs_parallel_function parallel);

#endif
