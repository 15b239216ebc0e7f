/* The text of normalization.c for one type: REAL is the type, NAME(x) adds its suffix. */

/* ---- pieces: some elements in a row that have one factor for all, or one for each */

#if defined(__GNUC__) || defined(__clang__)
#define LANES_TYPE(count) __attribute__((vector_size(count * sizeof(REAL))))
typedef REAL NAME(lanes_32) LANES_TYPE(32);
typedef REAL NAME(lanes_16) LANES_TYPE(16);
typedef REAL NAME(lanes_8) LANES_TYPE(8);
typedef REAL NAME(lanes_4) LANES_TYPE(4);
#undef LANES_TYPE

/* Adds the halves of a vector; written as a loop over lanes they would go through memory. */
#define ADD_HALVES(whole, half)                                                \
    do {                                                                       \
        memcpy(&half, &whole, sizeof(half));                                   \
        memcpy(&half##_above, (const char *)&whole + sizeof(half), sizeof(half)); \
        half += half##_above;                                                  \
    } while (0)

GS_INLINE double
NAME(sum_of_lanes)(const REAL *lanes)
{
    NAME(lanes_32) all;
    NAME(lanes_16) of_16, of_16_above;
    NAME(lanes_8) of_8, of_8_above;
    NAME(lanes_4) of_4, of_4_above;
    memcpy(&all, lanes, sizeof(all));
    ADD_HALVES(all, of_16);
    ADD_HALVES(of_16, of_8);
    ADD_HALVES(of_8, of_4);
    return (double)((of_4[0] + of_4[2]) + (of_4[1] + of_4[3]));
}
#undef ADD_HALVES
#else
GS_INLINE double
NAME(sum_of_lanes)(const REAL *lanes)
{
    double sum = 0;
    for (int k = 0; k < 32; k++) {
        sum += (double)lanes[k];
    }
    return sum;
}
#endif

GS_INLINE double
NAME(sum)(const REAL *x, npy_intp n)
{
    REAL lanes[64] = {0};
    double sum = 0;
    npy_intp i = 0;
    if (n >= 64) {
        for (; i + 64 <= n; i += 64) {
            for (int k = 0; k < 64; k++) {
                lanes[k] += x[i + k];
            }
        }
        for (int k = 0; k < 32; k++) {
            lanes[k] += lanes[k + 32];
        }
        sum = NAME(sum_of_lanes)(lanes);
    }
    for (; i < n; i++) {
        sum += (double)x[i];
    }
    return sum;
}

/* The sums of the differences from a number, and of their squares. */
GS_INLINE void
NAME(deviations)(const REAL *x, npy_intp n, REAL from, double *sum, double *squares)
{
    REAL lanes[32] = {0}, square_lanes[32] = {0};
    npy_intp i = 0;
    *sum = *squares = 0;
    if (n >= 32) {
        for (; i + 32 <= n; i += 32) {
            for (int k = 0; k < 32; k++) {
                REAL difference = x[i + k] - from;
                lanes[k] += difference;
                square_lanes[k] += difference * difference;
            }
        }
        *sum = NAME(sum_of_lanes)(lanes);
        *squares = NAME(sum_of_lanes)(square_lanes);
    }
    for (; i < n; i++) {
        double difference = (double)x[i] - (double)from;
        *sum += difference;
        *squares += difference * difference;
    }
}

GS_INLINE moments
NAME(moments_about)(const REAL *x, npy_intp n, REAL mean, int is_centered)
{
    double sum, squares;
    NAME(deviations)(x, n, mean, &sum, &squares);
    if (!is_centered) {
        return (moments){(double)n, 0, squares};
    }
    return (moments){(double)n, (double)mean + sum / (double)n, squares - sum * sum / (double)n};
}

GS_INLINE REAL
NAME(rough_mean)(const REAL *x, npy_intp n, int is_centered)
{
    return is_centered ? (REAL)(NAME(sum)(x, n) / (double)n) : 0;
}

/* ---- a group by rows */

GS_INLINE moments
NAME(moments_of_group)(const gs_normalization *n, const REAL *x, npy_intp group)
{
    moments all = {0, 0, 0};
    for (npy_intp o = 0; o < n->outer; o++) {
        const REAL *row = x + (o * n->groups + group) * n->inner;
        for (npy_intp i = 0; i < n->inner; i += CHUNK) {
            npy_intp here = smaller(n->inner - i, CHUNK);
            REAL mean = NAME(rough_mean)(row + i, here, n->is_centered);
            all = merged(all, NAME(moments_about)(row + i, here, mean, n->is_centered));
        }
    }
    return all;
}

/* Of some short rows: all steps of one wait for the step before, those of several rows do not wait for each other. */
GS_INLINE void
NAME(moments_of_rows)(const gs_normalization *n, const REAL *x, npy_intp rows, moments *found)
{
    REAL means[ROWS_AT_ONCE];
    for (npy_intp row = 0; row < rows; row++) {
        means[row] = NAME(rough_mean)(x + row * n->inner, n->inner, n->is_centered);
    }
    for (npy_intp row = 0; row < rows; row++) {
        found[row] = NAME(moments_about)(x + row * n->inner, n->inner, means[row], n->is_centered);
    }
}

GS_INLINE void
NAME(write_piece)(const REAL *x, REAL mean, REAL scale, REAL shift, REAL *out, npy_intp n)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = (x[i] - mean) * scale + shift;
    }
}

GS_INLINE void
NAME(write_with_factors)(const REAL *x, REAL mean, REAL scale, const REAL *weight, const REAL *bias, REAL *out, npy_intp n)
{
    if (weight != NULL && bias != NULL) {
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = (x[i] - mean) * scale * weight[i] + bias[i];
        }
    } else if (weight != NULL) {
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = (x[i] - mean) * scale * weight[i];
        }
    } else {
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            out[i] = (x[i] - mean) * scale + bias[i];
        }
    }
}

GS_INLINE void
NAME(write_row)(const job *j, const REAL *x, REAL *out, npy_intp group, REAL mean, REAL scale)
{
    const gs_normalization *n = j->n;
    npy_intp runs = n->inner / n->run, first = group % n->period * runs;
    const REAL *weight = j->weight == NULL ? NULL : (const REAL *)j->weight + first;
    const REAL *bias = j->bias == NULL ? NULL : (const REAL *)j->bias + first;
    if (weight == NULL && bias == NULL) {
        NAME(write_piece)(x, mean, scale, 0, out, n->inner);
    } else if (n->run == 1) {
        NAME(write_with_factors)(x, mean, scale, weight, bias, out, n->inner);
    } else {
        for (npy_intp k = 0; k < runs; k++) {
            REAL factor = weight == NULL ? scale : scale * weight[k];
            NAME(write_piece)(x + k * n->run, mean, factor, bias == NULL ? 0 : bias[k], out + k * n->run, n->run);
        }
    }
}

GS_CLONES static void
NAME(standardize_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    npy_intp step = rows_at_once(n);
    moments found[ROWS_AT_ONCE];
    REAL scales[ROWS_AT_ONCE];
    for (npy_intp start = first; start < last; start += step) {
        npy_intp groups = smaller(step, last - start);
        if (step == 1) {
            found[0] = NAME(moments_of_group)(n, j->x, start);
        } else {
            NAME(moments_of_rows)(n, (const REAL *)j->x + start * n->inner, groups, found);
        }
        for (npy_intp g = 0; g < groups; g++) {
            double var = found[g].squares / found[g].count;
            ((REAL *)j->mean)[start + g] = (REAL)found[g].mean;
            ((REAL *)j->var)[start + g] = (REAL)var;
            scales[g] = (REAL)(1 / sqrt(var + n->eps));
        }
        for (npy_intp o = 0; o < n->outer; o++) {
            for (npy_intp g = 0; g < groups; g++) {
                npy_intp at = (o * n->groups + start + g) * n->inner;
                NAME(write_row)(j, (const REAL *)j->x + at, (REAL *)j->out + at, start + g, (REAL)found[g].mean, scales[g]);
            }
        }
    }
}

/* ---- backward by rows
 *
 * With g = grad * weight, h = (x - mean) * scale:   scale * (g - mean(g) - h * mean(g * h)) */

/* The sums of g and of g times the difference from the mean; `weight` may be NULL. */
GS_INLINE void
NAME(add_products)(const REAL *grad, const REAL *x, const REAL *weight, REAL mean, npy_intp n, double *sum, double *dot)
{
    REAL lanes[32] = {0}, dot_lanes[32] = {0};
    npy_intp i = 0;
    if (n >= 32) {
        if (weight == NULL) {
            for (; i + 32 <= n; i += 32) {
                for (int k = 0; k < 32; k++) {
                    REAL g = grad[i + k];
                    lanes[k] += g;
                    dot_lanes[k] += g * (x[i + k] - mean);
                }
            }
        } else {
            for (; i + 32 <= n; i += 32) {
                for (int k = 0; k < 32; k++) {
                    REAL g = grad[i + k] * weight[i + k];
                    lanes[k] += g;
                    dot_lanes[k] += g * (x[i + k] - mean);
                }
            }
        }
        *sum += NAME(sum_of_lanes)(lanes);
        *dot += NAME(sum_of_lanes)(dot_lanes);
    }
    for (; i < n; i++) {
        double g = (double)grad[i] * (weight == NULL ? 1 : (double)weight[i]);
        *sum += g;
        *dot += g * ((double)x[i] - (double)mean);
    }
}

GS_INLINE void
NAME(add_products_of_row)(const job *j, const REAL *grad, const REAL *x, npy_intp group, REAL mean, double *sum,
                          double *dot)
{
    const gs_normalization *n = j->n;
    npy_intp runs = n->inner / n->run, first = group % n->period * runs;
    const REAL *weight = j->weight == NULL ? NULL : (const REAL *)j->weight + first;
    npy_intp run = weight == NULL || n->run == 1 ? n->inner : n->run;
    for (npy_intp start = 0; start < n->inner; start += run) {
        double run_sum = 0, run_dot = 0;
        for (npy_intp i = start; i < start + run; i += CHUNK) {
            npy_intp left = start + run - i;
            NAME(add_products)(grad + i, x + i, weight == NULL || n->run > 1 ? NULL : weight + i, mean,
                               left < CHUNK ? left : CHUNK, &run_sum, &run_dot);
        }
        double factor = weight == NULL || n->run == 1 ? 1 : (double)weight[start / run];
        *sum += factor * run_sum;
        *dot += factor * run_dot;
    }
}

/* grad * weight * scale + x' * slope + shift, where x' is the difference from the mean */
GS_INLINE void
NAME(backward_row)(const job *j, const REAL *grad, const REAL *x, REAL *out, npy_intp group, REAL mean, REAL scale,
                   REAL slope, REAL shift)
{
    const gs_normalization *n = j->n;
    npy_intp runs = n->inner / n->run, first = group % n->period * runs;
    const REAL *weight = j->weight == NULL ? NULL : (const REAL *)j->weight + first;
    if (weight != NULL && n->run == 1) {
        GS_IVDEP
        for (npy_intp i = 0; i < n->inner; i++) {
            out[i] = grad[i] * weight[i] * scale + (x[i] - mean) * slope + shift;
        }
        return;
    }
    npy_intp run = weight == NULL ? n->inner : n->run;
    for (npy_intp start = 0; start < n->inner; start += run) {
        REAL factor = weight == NULL ? scale : scale * weight[start / run];
        GS_IVDEP
        for (npy_intp i = start; i < start + run; i++) {
            out[i] = grad[i] * factor + (x[i] - mean) * slope + shift;
        }
    }
}

/* Of a group: its mean, the factor of the gradient, and those of the differences from the mean and of 1. */
typedef struct {
    REAL mean, scale, slope, shift;
} NAME(pullback);

GS_INLINE NAME(pullback)
NAME(pullback_of_group)(const job *j, npy_intp group)
{
    const gs_normalization *n = j->n;
    double count = (double)n->outer * (double)n->inner, sum = 0, dot = 0;
    double scale = 1 / sqrt((double)((const REAL *)j->known_var)[group] + n->eps);
    REAL mean = ((const REAL *)j->known_mean)[group];
    for (npy_intp o = 0; o < n->outer; o++) {
        npy_intp at = (o * n->groups + group) * n->inner;
        NAME(add_products_of_row)(j, (const REAL *)j->grad + at, (const REAL *)j->x + at, group, mean, &sum, &dot);
    }
    return (NAME(pullback)){mean, (REAL)scale, (REAL)(-scale * scale * scale * dot / count),
                            n->is_centered ? (REAL)(-scale * sum / count) : 0};
}

GS_CLONES static void
NAME(backward_rows)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    npy_intp step = rows_at_once(n);
    NAME(pullback) found[ROWS_AT_ONCE];
    for (npy_intp start = first; start < last; start += step) {
        npy_intp groups = smaller(step, last - start);
        for (npy_intp g = 0; g < groups; g++) {
            found[g] = NAME(pullback_of_group)(j, start + g);
        }
        for (npy_intp o = 0; o < n->outer; o++) {
            for (npy_intp g = 0; g < groups; g++) {
                npy_intp at = (o * n->groups + start + g) * n->inner;
                NAME(backward_row)(j, (const REAL *)j->grad + at, (const REAL *)j->x + at, (REAL *)j->out + at, start + g,
                                   found[g].mean, found[g].scale, found[g].slope, found[g].shift);
            }
        }
    }
}

/* ---- blocks of columns: what belongs to a group is written out for each of its columns */

typedef struct {
    npy_intp first, n_groups, width; /* the block: its first group, groups and columns */
    npy_intp row;                    /* from one row to the next */
} NAME(block);

static NAME(block)
NAME(block_at)(const gs_normalization *n, npy_intp index)
{
    npy_intp step = groups_in_block(n), left = n->groups - index * step;
    NAME(block) block = {.first = index * step, .n_groups = left < step ? left : step, .row = n->groups * n->inner};
    block.width = block.n_groups * n->inner;
    return block;
}

/* The sums over the columns of each group. */
static void
NAME(sums_of_groups)(const gs_normalization *n, const NAME(block) *block, const double *columns, double *groups)
{
    for (npy_intp g = 0; g < block->n_groups; g++) {
        groups[g] = 0;
        for (npy_intp i = 0; i < n->inner; i++) {
            groups[g] += columns[g * n->inner + i];
        }
    }
}

static void
NAME(over_columns)(const gs_normalization *n, const NAME(block) *block, const double *groups, REAL *columns)
{
    for (npy_intp g = 0; g < block->n_groups; g++) {
        for (npy_intp i = 0; i < n->inner; i++) {
            columns[g * n->inner + i] = (REAL)groups[g];
        }
    }
}

/* The factor (or term) of each column of a block. */
static void
NAME(factors_of_columns)(const gs_normalization *n, const NAME(block) *block, const REAL *factors, REAL neutral,
                         REAL *columns)
{
    npy_intp runs = n->inner / n->run;
    for (npy_intp g = 0; g < block->n_groups; g++) {
        const REAL *own = factors == NULL ? NULL : factors + (block->first + g) % n->period * runs;
        for (npy_intp i = 0; i < n->inner; i++) {
            columns[g * n->inner + i] = own == NULL ? neutral : own[i / n->run];
        }
    }
}

GS_CLONES static void
NAME(column_sums)(const REAL *x, npy_intp rows, npy_intp step, npy_intp width, double *sums)
{
    memset(sums, 0, sizeof(double) * COLUMNS);
    for (npy_intp row = 0; row < rows; row++) {
        for (npy_intp k = 0; k < width; k++) {
            sums[k] += (double)x[row * step + k];
        }
    }
}

GS_CLONES static void
NAME(column_squares)(const REAL *x, npy_intp rows, npy_intp step, npy_intp width, const REAL *means, double *squares)
{
    memset(squares, 0, sizeof(double) * COLUMNS);
    for (npy_intp row = 0; row < rows; row++) {
        for (npy_intp k = 0; k < width; k++) {
            double difference = (double)x[row * step + k] - (double)means[k];
            squares[k] += difference * difference;
        }
    }
}

GS_CLONES static void
NAME(write_columns)(const REAL *x, npy_intp rows, npy_intp step, npy_intp width, const REAL *means, const REAL *scales,
                    const REAL *shifts, REAL *out)
{
    for (npy_intp row = 0; row < rows; row++) {
        GS_IVDEP
        for (npy_intp k = 0; k < width; k++) {
            out[row * step + k] = (x[row * step + k] - means[k]) * scales[k] + shifts[k];
        }
    }
}

static void
NAME(standardize_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    double columns[COLUMNS], groups[COLUMNS], count = (double)n->outer * (double)n->inner;
    REAL means[COLUMNS], scales[COLUMNS], factors[COLUMNS], shifts[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(block) block = NAME(block_at)(n, index);
        const REAL *x = (const REAL *)j->x + block.first * n->inner;
        NAME(column_sums)(x, n->outer, block.row, block.width, columns);
        NAME(sums_of_groups)(n, &block, columns, groups);
        for (npy_intp g = 0; g < block.n_groups; g++) {
            groups[g] = n->is_centered ? groups[g] / count : 0;
            ((REAL *)j->mean)[block.first + g] = (REAL)groups[g];
        }
        NAME(over_columns)(n, &block, groups, means);
        NAME(column_squares)(x, n->outer, block.row, block.width, means, columns);
        NAME(sums_of_groups)(n, &block, columns, groups);
        for (npy_intp g = 0; g < block.n_groups; g++) {
            ((REAL *)j->var)[block.first + g] = (REAL)(groups[g] / count);
            groups[g] = 1 / sqrt(groups[g] / count + n->eps);
        }
        NAME(over_columns)(n, &block, groups, scales);
        NAME(factors_of_columns)(n, &block, j->weight, 1, factors);
        NAME(factors_of_columns)(n, &block, j->bias, 0, shifts);
        for (npy_intp k = 0; k < block.width; k++) {
            scales[k] *= factors[k];
        }
        NAME(write_columns)(x, n->outer, block.row, block.width, means, scales, shifts,
                            (REAL *)j->out + block.first * n->inner);
    }
}

GS_CLONES static void
NAME(column_products)(const REAL *grad, const REAL *x, npy_intp rows, npy_intp step, npy_intp width, const REAL *means,
                      double *sums, double *dots)
{
    memset(sums, 0, sizeof(double) * COLUMNS);
    memset(dots, 0, sizeof(double) * COLUMNS);
    for (npy_intp row = 0; row < rows; row++) {
        for (npy_intp k = 0; k < width; k++) {
            double g = (double)grad[row * step + k];
            sums[k] += g;
            dots[k] += g * ((double)x[row * step + k] - (double)means[k]);
        }
    }
}

GS_CLONES static void
NAME(write_backward_columns)(const REAL *grad, const REAL *x, npy_intp rows, npy_intp step, npy_intp width,
                             const REAL *means, const REAL *factors, const REAL *slopes, const REAL *shifts, REAL *out)
{
    for (npy_intp row = 0; row < rows; row++) {
        GS_IVDEP
        for (npy_intp k = 0; k < width; k++) {
            npy_intp at = row * step + k;
            out[at] = grad[at] * factors[k] + (x[at] - means[k]) * slopes[k] + shifts[k];
        }
    }
}

static void
NAME(backward_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    double sums[COLUMNS], dots[COLUMNS], groups[COLUMNS], count = (double)n->outer * (double)n->inner;
    REAL means[COLUMNS], scales[COLUMNS], factors[COLUMNS], slopes[COLUMNS], shifts[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(block) block = NAME(block_at)(n, index);
        npy_intp at = block.first * n->inner;
        const REAL *grad = (const REAL *)j->grad + at, *x = (const REAL *)j->x + at;
        const REAL *var = (const REAL *)j->known_var + block.first;
        for (npy_intp g = 0; g < block.n_groups; g++) {
            groups[g] = (double)((const REAL *)j->known_mean)[block.first + g];
        }
        NAME(over_columns)(n, &block, groups, means);
        NAME(column_products)(grad, x, n->outer, block.row, block.width, means, sums, dots);
        NAME(factors_of_columns)(n, &block, j->weight, 1, factors);
        for (npy_intp k = 0; k < block.width; k++) {
            sums[k] *= (double)factors[k];
            dots[k] *= (double)factors[k];
        }
        NAME(sums_of_groups)(n, &block, sums, groups);
        for (npy_intp g = 0; g < block.n_groups; g++) {
            groups[g] = n->is_centered ? -groups[g] / count / sqrt((double)var[g] + n->eps) : 0;
        }
        NAME(over_columns)(n, &block, groups, shifts);
        NAME(sums_of_groups)(n, &block, dots, groups);
        for (npy_intp g = 0; g < block.n_groups; g++) {
            double scale = 1 / sqrt((double)var[g] + n->eps);
            groups[g] *= -scale * scale * scale / count;
            sums[g] = scale;
        }
        NAME(over_columns)(n, &block, groups, slopes);
        NAME(over_columns)(n, &block, sums, scales);
        for (npy_intp k = 0; k < block.width; k++) {
            factors[k] *= scales[k];
        }
        NAME(write_backward_columns)(grad, x, n->outer, block.row, block.width, means, factors, slopes, shifts,
                                     (REAL *)j->out + at);
    }
}

/* ---- gradients of factors */

static inline REAL
NAME(scale_of)(const job *j, npy_intp group)
{
    return (REAL)(1 / sqrt((double)((const REAL *)j->known_var)[group] + j->n->eps));
}

/* Each element of a row has a factor: sums over rows, for a block of columns. */
GS_CLONES static void
NAME(sums_of_columns)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    npy_intp blocks = (n->inner + COLUMNS - 1) / COLUMNS;
    for (npy_intp index = first; index < last; index++) {
        npy_intp start = index % blocks * COLUMNS, width = n->inner - start;
        double sums[COLUMNS] = {0};
        REAL some[COLUMNS] = {0};
        npy_intp waiting = 0;
        width = width < COLUMNS ? width : COLUMNS;
        for (npy_intp row = index / blocks; row < n->outer * n->groups; row += n->period) {
            const REAL *grad = (const REAL *)j->grad + row * n->inner + start;
            const REAL *x = (const REAL *)j->x + row * n->inner + start;
            const REAL mean = ((const REAL *)j->known_mean)[row % n->groups], scale = NAME(scale_of)(j, row % n->groups);
            for (npy_intp k = 0; k < width; k++) {
                some[k] += grad[k] * ((x[k] - mean) * scale);
            }
            if (++waiting == ROWS_IN_REAL) {
                for (npy_intp k = 0; k < width; k++) {
                    sums[k] += (double)some[k];
                    some[k] = 0;
                }
                waiting = 0;
            }
        }
        for (npy_intp k = 0; k < width; k++) {
            ((REAL *)j->out)[index / blocks * n->inner + start + k] = (REAL)(sums[k] + (double)some[k]);
        }
    }
}

/* Each run has a factor. */
GS_CLONES static void
NAME(sums_of_runs)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    npy_intp runs = n->inner / n->run;
    for (npy_intp factor = first; factor < last; factor++) {
        double total = 0;
        for (npy_intp row = factor / runs; row < n->outer * n->groups; row += n->period) {
            npy_intp at = row * n->inner + factor % runs * n->run;
            REAL mean = ((const REAL *)j->known_mean)[row % n->groups];
            double sum = 0, dot = 0;
            for (npy_intp i = 0; i < n->run; i += CHUNK) {
                npy_intp left = n->run - i;
                NAME(add_products)((const REAL *)j->grad + at + i, (const REAL *)j->x + at + i, NULL, mean,
                                   left < CHUNK ? left : CHUNK, &sum, &dot);
            }
            total += dot * (double)NAME(scale_of)(j, row % n->groups);
        }
        ((REAL *)j->out)[factor] = (REAL)total;
    }
}

/* Groups are columns, with factors of their own. */
static void
NAME(sums_of_blocks)(void *context, npy_intp first, npy_intp last)
{
    const job *j = context;
    const gs_normalization *n = j->n;
    double sums[COLUMNS], dots[COLUMNS], groups[COLUMNS];
    REAL means[COLUMNS];
    for (npy_intp index = first; index < last; index++) {
        NAME(block) block = NAME(block_at)(n, index);
        npy_intp at = block.first * n->inner, runs = n->inner / n->run;
        for (npy_intp g = 0; g < block.n_groups; g++) {
            groups[g] = (double)((const REAL *)j->known_mean)[block.first + g];
        }
        NAME(over_columns)(n, &block, groups, means);
        NAME(column_products)((const REAL *)j->grad + at, (const REAL *)j->x + at, n->outer, block.row, block.width, means,
                              sums, dots);
        for (npy_intp run = 0; run < block.n_groups * runs; run++) {
            double dot = 0;
            for (npy_intp i = 0; i < n->run; i++) {
                dot += dots[run * n->run + i];
            }
            ((REAL *)j->out)[block.first * runs + run] = (REAL)(dot * (double)NAME(scale_of)(j, block.first + run / runs));
        }
    }
}
