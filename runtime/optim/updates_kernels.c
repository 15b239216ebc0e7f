/* See the header, and Note [Updates as formulas] there. */
#include "updates_kernels.h"

#if defined(_MSC_VER)
#pragma fp_contract(off)
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/arrays/kernels/support/simd.h"

/* ---- what the numbers of a loop mean */

enum { SIGN, DECAY, SHRINK, BETA1, REST1, BETA2, REST2, EPS, ROOT, RATE, LAST };
enum { SGD_MOMENTUM = BETA1, SGD_UNDAMPED, SGD_RATE, SGD_KIND };
enum { SGD_PLAIN, SGD_BUFFERED, SGD_FIRST, SGD_NESTEROV = 4 };
enum { NADAM_GRADIENT_RATE = LAST, RMSPROP_MOMENTUM = LAST, ASGD_WEIGHT = LAST };
enum { RPROP_SHRINK = BETA1, RPROP_GROW, RPROP_LEAST, RPROP_MOST };

#define REAL float
#define NAME(x) x##_float32
#define SQRT sqrtf
#define ABS fabsf
#include "update_loops.h"
#undef REAL
#undef NAME
#undef SQRT
#undef ABS

#define REAL double
#define NAME(x) x##_float64
#define SQRT sqrt
#define ABS fabs
#include "update_loops.h"
#undef REAL
#undef NAME
#undef SQRT
#undef ABS

/* ---- the numbers of a step, from the settings of the group in the order in which the optimizer names them */

static void
put_decay(double *numbers, double maximizes, double decay, double rate, double is_decoupled)
{
    numbers[SIGN] = maximizes != 0 ? -1 : 1;
    numbers[DECAY] = is_decoupled != 0 ? 0 : decay;
    numbers[SHRINK] = is_decoupled != 0 && decay != 0 ? 1 - rate * decay : 1;
}

static void
put_betas(double *numbers, double beta1, double beta2)
{
    numbers[BETA1] = beta1;
    numbers[REST1] = 1 - beta1;
    numbers[BETA2] = beta2;
    numbers[REST2] = 1 - beta2;
}

/* A counter as its tensor can hold it. */
static double
stored(double value, int is_single)
{
    return is_single ? (double)(float)value : value;
}

static double
advance(double *counters, const int *is_single)
{
    counters[0] = stored(counters[0] + 1, is_single[0]);
    return counters[0];
}

/* lr, momentum, dampening, weight_decay, nesterov, maximize */
static void
prepare_sgd(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)counters, (void)is_single;
    put_decay(numbers, s[5], s[3], s[0], 0);
    numbers[SGD_MOMENTUM] = s[1];
    numbers[SGD_UNDAMPED] = 1 - s[2];
    numbers[SGD_RATE] = s[0];
    int kind = SGD_BUFFERED | (is_new ? SGD_FIRST : 0) | (s[4] != 0 ? SGD_NESTEROV : 0);
    numbers[SGD_KIND] = s[1] == 0 ? SGD_PLAIN : kind;
}

/* lr, betas, eps, weight_decay, decoupled_weight_decay, maximize */
static void
prepare_adam(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    double step = advance(counters, is_single);
    put_decay(numbers, s[6], s[4], s[0], s[5]);
    put_betas(numbers, s[1], s[2]);
    numbers[EPS] = s[3];
    numbers[ROOT] = 1 / sqrt(1 - pow(s[2], step));
    numbers[RATE] = s[0] / (1 - pow(s[1], step));
}

/* lr, betas, eps, weight_decay, maximize */
static void
prepare_adamax(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    double step = advance(counters, is_single);
    put_decay(numbers, s[5], s[4], s[0], 0);
    put_betas(numbers, s[1], s[2]);
    numbers[EPS] = s[3];
    numbers[RATE] = s[0] / (1 - pow(s[1], step));
}

/* lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, maximize; counters step, mu_product */
static void
prepare_nadam(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    double step = advance(counters, is_single);
    double mu = s[1] * (1.0 - 0.5 * pow(0.96, step * s[5])), next = s[1] * (1.0 - 0.5 * pow(0.96, (step + 1) * s[5]));
    double product = is_single[1] ? (double)((float)counters[1] * (float)mu) : counters[1] * mu;
    counters[1] = product;
    put_decay(numbers, s[7], s[4], s[0], s[6]);
    put_betas(numbers, s[1], s[2]);
    numbers[EPS] = s[3];
    numbers[ROOT] = 1 / (1 - pow(s[2], step));
    numbers[RATE] = s[0] * next / (1.0 - product * next);
    numbers[NADAM_GRADIENT_RATE] = s[0] * (1.0 - mu) / (1.0 - product);
}

/* lr, betas, eps, weight_decay, decoupled_weight_decay, maximize */
static void
prepare_radam(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    double step = advance(counters, is_single), power = pow(s[2], step), rest = 1 - power;
    double limit = 2 / (1 - s[2]) - 1, length = limit - 2 * step * power / rest;
    put_decay(numbers, s[6], s[4], s[0], s[5]);
    put_betas(numbers, s[1], s[2]);
    numbers[EPS] = s[3];
    numbers[RATE] = s[0] / (1 - pow(s[1], step));
    numbers[ROOT] = length > 5;
    if (length > 5) {
        double rectified = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length);
        numbers[RATE] *= sqrt(rest * rectified);
    }
}

/* lr, lr_decay, eps, weight_decay, maximize */
static void
prepare_adagrad(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    double step = advance(counters, is_single);
    put_decay(numbers, s[4], s[3], s[0], 0);
    numbers[EPS] = s[2];
    numbers[RATE] = s[0] / (1 + (step - 1) * s[1]);
}

/* lr, rho, eps, weight_decay, maximize */
static void
prepare_adadelta(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    advance(counters, is_single);
    put_decay(numbers, s[4], s[3], s[0], 0);
    put_betas(numbers, 0, s[1]);
    numbers[EPS] = s[2];
    numbers[RATE] = s[0];
}

/* lr, alpha, eps, weight_decay, momentum, maximize */
static void
prepare_rmsprop(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    advance(counters, is_single);
    put_decay(numbers, s[5], s[3], s[0], 0);
    put_betas(numbers, 0, s[1]);
    numbers[EPS] = s[2];
    numbers[RATE] = s[0];
    numbers[RMSPROP_MOMENTUM] = s[4];
}

/* lr, lambd, alpha, t0, weight_decay, maximize; counters step, eta, mu, of which the last two are for the next step */
static void
prepare_asgd(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    double step = advance(counters, is_single), eta = counters[1], passed = step - s[3];
    put_decay(numbers, s[5], s[4], s[0], 0);
    numbers[SHRINK] = 1 - s[1] * eta;
    numbers[RATE] = eta;
    numbers[ASGD_WEIGHT] = counters[2];
    counters[1] = s[0] / pow(1 + s[1] * s[0] * step, s[2]);
    counters[2] = 1 / (passed > 1 ? passed : 1);
}

/* etas, step_sizes, maximize */
static void
prepare_rprop(const double *s, double *counters, const int *is_single, int is_new, double *numbers)
{
    (void)is_new;
    advance(counters, is_single);
    put_decay(numbers, s[4], 0, 0, 0);
    numbers[RPROP_SHRINK] = s[0];
    numbers[RPROP_GROW] = s[1];
    numbers[RPROP_LEAST] = s[2];
    numbers[RPROP_MOST] = s[3];
}

#define LOOPS(name) prepare_##name, {name##_float32, name##_float64}

static const gs_update_rule rules[] = {
    {"sgd", 6, 0, 0, 3, LOOPS(sgd)},
    {"adam", 7, 1, 2, 16, LOOPS(adam)},
    {"adamax", 6, 1, 2, 10, LOOPS(adamax)},
    {"nadam", 8, 2, 2, 16, LOOPS(nadam)},
    {"radam", 7, 1, 2, 16, LOOPS(radam)},
    {"adagrad", 5, 1, 1, 12, LOOPS(adagrad)},
    {"adadelta", 5, 1, 2, 20, LOOPS(adadelta)},
    {"rmsprop", 6, 1, 1, 12, LOOPS(rmsprop)},
    {"asgd", 6, 3, 1, 4, LOOPS(asgd)},
    {"rprop", 5, 1, 2, 6, LOOPS(rprop)},
};

const gs_update_rule *
gs_find_update_rule(const char *name)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* ---- elements that do not lie side by side are copied to where they do, some at a time */

#define BLOCK 256

static void
copy_elements(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n, int is_double)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        memcpy(to + i * to_step, from + i * from_step, is_double ? sizeof(double) : sizeof(float));
    }
}

/* The sizes of all but the last dimension, as digits of the number of a row. */
static ptrdiff_t
row_offset(const gs_update *u, int array, ptrdiff_t row)
{
    const ptrdiff_t *strides = u->geometry + (ptrdiff_t)u->rank * (1 + array);
    ptrdiff_t offset = 0;
    for (int d = u->rank - 2; d >= 0; d--) {
        offset += row % u->geometry[d] * strides[d];
        row /= u->geometry[d];
    }
    return offset;
}

static void
move_block(const gs_update *u, char blocks[][BLOCK * sizeof(double)], ptrdiff_t row, ptrdiff_t column, ptrdiff_t n, int back)
{
    const ptrdiff_t itemsize = u->is_double ? sizeof(double) : sizeof(float);
    for (int a = 0; a < GS_MOST_ARRAYS; a++) {
        if (u->arrays[a] == NULL || (back && a == 1)) {
            continue;
        }
        const ptrdiff_t step = u->geometry[(ptrdiff_t)u->rank * (1 + a) + u->rank - 1];
        char *place = u->arrays[a] + row_offset(u, a, row) + column * step;
        if (back) {
            copy_elements(place, step, blocks[a], itemsize, n, u->is_double);
        } else {
            copy_elements(blocks[a], itemsize, place, step, n, u->is_double);
        }
    }
}

static void
update_rows(const gs_update_rule *rule, const gs_update *u, ptrdiff_t first, ptrdiff_t last)
{
    char blocks[GS_MOST_ARRAYS][BLOCK * sizeof(double)];
    char *arrays[GS_MOST_ARRAYS];
    const ptrdiff_t length = u->geometry[u->rank - 1];
    for (int a = 0; a < GS_MOST_ARRAYS; a++) {
        arrays[a] = u->arrays[a] == NULL ? NULL : blocks[a];
    }
    while (first < last) {
        const ptrdiff_t row = first / length, column = first % length;
        ptrdiff_t n = length - column < BLOCK ? length - column : BLOCK;
        n = n < last - first ? n : last - first;
        move_block(u, blocks, row, column, n, 0);
        rule->loops[u->is_double](arrays, n, u->numbers);
        move_block(u, blocks, row, column, n, 1);
        first += n;
    }
}

static void
update_elements(const gs_update_rule *rule, const gs_update *u, ptrdiff_t first, ptrdiff_t last)
{
    if (u->rank) {
        update_rows(rule, u, first, last);
        return;
    }
    char *arrays[GS_MOST_ARRAYS];
    const ptrdiff_t offset = first * (ptrdiff_t)(u->is_double ? sizeof(double) : sizeof(float));
    for (int a = 0; a < GS_MOST_ARRAYS; a++) {
        arrays[a] = u->arrays[a] == NULL ? NULL : u->arrays[a] + offset;
    }
    rule->loops[u->is_double](arrays, last - first, u->numbers);
}

/* ---- memory that is shared */

typedef struct {
    uintptr_t first, last; /* one byte further */
    const gs_update *update;
} extent;

static extent
extent_of(const gs_update *u, int array)
{
    const uintptr_t itemsize = u->is_double ? sizeof(double) : sizeof(float);
    extent e = {(uintptr_t)u->arrays[array], (uintptr_t)u->arrays[array], u};
    if (u->rank == 0) {
        e.last += (uintptr_t)u->size * itemsize;
        return e;
    }
    for (int d = 0; d < u->rank; d++) {
        const ptrdiff_t span = (u->geometry[d] - 1) * u->geometry[(ptrdiff_t)u->rank * (1 + array) + d];
        if (span < 0) {
            e.first += (uintptr_t)span;
        } else {
            e.last += (uintptr_t)span;
        }
    }
    e.last += itemsize;
    return e;
}

static int
is_same_place(const gs_update *u, int a, int b)
{
    const size_t bytes = (size_t)u->rank * sizeof(ptrdiff_t);
    return u->arrays[a] == u->arrays[b] &&
           (u->rank == 0 ||
            memcmp(u->geometry + (ptrdiff_t)u->rank * (1 + a), u->geometry + (ptrdiff_t)u->rank * (1 + b), bytes) == 0);
}

int
gs_overlaps_itself(const gs_update *u)
{
    extent extents[GS_MOST_ARRAYS];
    for (int a = 0; a < GS_MOST_ARRAYS; a++) {
        if (u->arrays[a] == NULL) {
            continue;
        }
        extents[a] = extent_of(u, a);
        for (int b = 0; b < a; b++) {
            if (u->arrays[b] == NULL || extents[a].first >= extents[b].last || extents[b].first >= extents[a].last) {
                continue;
            }
            /* The gradient may be the parameter; of arrays that are both written, one write would be lost. */
            if (b != 0 || a != 1 || !is_same_place(u, a, b)) {
                return 1;
            }
        }
    }
    return 0;
}

static int
by_first(const void *a, const void *b)
{
    const uintptr_t left = ((const extent *)a)->first, right = ((const extent *)b)->first;
    return (left > right) - (left < right);
}

/* Does an update write to memory of another one?  -1 without memory to find out. */
static int
are_entangled(const gs_update *updates, ptrdiff_t count)
{
    extent *extents = malloc((size_t)count * GS_MOST_ARRAYS * sizeof(extent));
    size_t n = 0;
    if (extents == NULL) {
        return -1;
    }
    for (ptrdiff_t i = 0; i < count; i++) {
        for (int a = 0; a < GS_MOST_ARRAYS; a++) {
            if (updates[i].arrays[a] != NULL) {
                extents[n++] = extent_of(&updates[i], a);
            }
        }
    }
    qsort(extents, n, sizeof(extent), by_first);
    int found = 0;
    uintptr_t end = 0; /* of all extents so far, and the update and the kind of the one that reaches there */
    const gs_update *owner = NULL;
    for (size_t i = 0; i < n; i++) {
        found |= extents[i].first < end && extents[i].update != owner;
        if (extents[i].last > end) {
            end = extents[i].last;
            owner = extents[i].update;
        }
    }
    free(extents);
    return found;
}

/* ---- all parameters */

typedef struct {
    const gs_update_rule *rule;
    const gs_update *updates;
    ptrdiff_t count;
} job;

static ptrdiff_t
update_at(const job *j, ptrdiff_t element)
{
    ptrdiff_t low = 0, high = j->count;
    while (high - low > 1) {
        const ptrdiff_t middle = low + (high - low) / 2;
        if (j->updates[middle].begin <= element) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void
update_range(void *context, ptrdiff_t first, ptrdiff_t last)
{
    const job *j = context;
    for (ptrdiff_t i = update_at(j, first); i < j->count && j->updates[i].begin < last; i++) {
        const gs_update *u = &j->updates[i];
        const ptrdiff_t from = first > u->begin ? first - u->begin : 0;
        const ptrdiff_t to = last - u->begin < u->size ? last - u->begin : u->size;
        if (from < to) {
            update_elements(j->rule, u, from, to);
        }
    }
}

#define GRAIN 32768 /* below this cost the pool would use one thread */

int
gs_run_updates(const gs_update_rule *rule, gs_update *updates, ptrdiff_t count, gs_parallel_function parallel)
{
    ptrdiff_t total = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        updates[i].begin = total;
        total += updates[i].size;
    }
    job all = {rule, updates, count};
    if (total < GRAIN / rule->cost) {
        update_range(&all, 0, total);
        return 1;
    }
    const int entangled = are_entangled(updates, count);
    if (entangled < 0) {
        return 0;
    }
    if (!entangled) {
        parallel(update_range, &all, total, rule->cost, 64);
        return 1;
    }
    for (ptrdiff_t i = 0; i < count; i++) { /* one after the other, as ops would */
        job one = {rule, updates + i, 1};
        updates[i].begin = 0;
        parallel(update_range, &one, updates[i].size, rule->cost, 64);
    }
    return 1;
}
