/* The loops of sampling.c for one type: REAL, and NAME(x), which adds its suffix. */

/* ---- turning: [channel][element] to [element][channel], and back */

/* What is `to`, unless there is one channel: that is turned already. */
static const REAL *
NAME(turn)(const REAL *from, npy_intp step, npy_intp channels, npy_intp n, npy_intp width, REAL *to)
{
    npy_intp size = (npy_intp)sizeof(REAL);
    if (width == 1) {
        return from;
    }
    if (channels < width) {
        memset(to, 0, (size_t)(n * width * size));
    }
    gs_lay_across(size, from, step * size, to, width * size, channels, n);
    return to;
}

static void
NAME(turn_back)(const REAL *from, npy_intp step, npy_intp channels, npy_intp n, npy_intp width, REAL *to)
{
    npy_intp size = (npy_intp)sizeof(REAL);
    gs_lay_across(size, from, width * size, to, step * size, n, channels);
}

/* ---- a block of points, with some channels in turned images and values */

GS_INLINE void
NAME(sample_points)(const int width, const block *b, const REAL *image, REAL *values)
{
    for (npy_intp p = 0; p < b->n; p++) {
        REAL sums[WIDEST] = {0};
        for (npy_intp k = 0; k < b->taps; k++) {
            npy_int64 at = b->places[k * b->step + p];
            if (at >= 0) {
                REAL weight = ((const REAL *)b->weights)[k * b->step + p];
                const REAL *element = image + at * width;
                for (int j = 0; j < width; j++) {
                    sums[j] += weight * element[j];
                }
            }
        }
        for (int j = 0; j < width; j++) {
            values[p * width + j] = sums[j];
        }
    }
}

GS_INLINE void
NAME(spread_points)(const int width, const block *b, const REAL *restrict values, REAL *restrict image)
{
    for (npy_intp p = 0; p < b->n; p++) {
        const REAL *value = values + p * width;
        for (npy_intp k = 0; k < b->taps; k++) {
            npy_int64 at = b->places[k * b->step + p];
            if (at >= 0) {
                REAL weight = ((const REAL *)b->weights)[k * b->step + p];
                REAL *element = image + at * width;
                for (int j = 0; j < width; j++) {
                    element[j] += weight * value[j];
                }
            }
        }
    }
}

/* The sum of products, as a tree whatever the instruction set. */
GS_INLINE REAL
NAME(dot)(const int width, const REAL *one, const REAL *other)
{
    REAL sums[WIDEST];
    for (int j = 0; j < width; j++) {
        sums[j] = one[j] * other[j];
    }
    for (int half = width / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) {
            sums[j] += sums[j + half];
        }
    }
    return sums[0];
}

GS_INLINE void
NAME(weigh_one)(const REAL *values, const REAL *image, const npy_int64 *places, npy_intp n, REAL *restrict weights)
{
    GS_IVDEP
    for (npy_intp p = 0; p < n; p++) {
        weights[p] = places[p] >= 0 ? weights[p] + values[p] * image[places[p]] : weights[p];
    }
}

GS_INLINE void
NAME(weigh_points)(const int width, const block *b, const REAL *values, const REAL *image, REAL *weights)
{
    for (npy_intp k = 0; k < b->taps; k++) {
        if (width == 1) {
            NAME(weigh_one)(values, image, b->places + k * b->step, b->n, weights + k * b->step);
            continue;
        }
        for (npy_intp p = 0; p < b->n; p++) {
            npy_int64 at = b->places[k * b->step + p];
            if (at >= 0) {
                weights[k * b->step + p] += NAME(dot)(width, values + p * width, image + at * width);
            }
        }
    }
}

#define FOR_WIDTH(call, ...)         \
    switch (width) {                 \
    case 1:                          \
        NAME(call)(1, __VA_ARGS__);  \
        break;                       \
    case 4:                          \
        NAME(call)(4, __VA_ARGS__);  \
        break;                       \
    case 8:                          \
        NAME(call)(8, __VA_ARGS__);  \
        break;                       \
    default:                         \
        NAME(call)(16, __VA_ARGS__); \
        break;                       \
    }

GS_CLONES static void
NAME(sample_block)(npy_intp width, const block *b, const void *image, void *values)
{
    FOR_WIDTH(sample_points, b, image, values)
}

GS_CLONES static void
NAME(spread_block)(npy_intp width, const block *b, const void *values, void *image)
{
    FOR_WIDTH(spread_points, b, values, image)
}

GS_CLONES static void
NAME(weigh_block)(npy_intp width, const block *b, const void *values, const void *image, void *weights)
{
    FOR_WIDTH(weigh_points, b, values, image, weights)
}

#undef FOR_WIDTH

/* ---- one channel as it is */

GS_CLONES static void
NAME(take_points)(const block *b, const REAL *image, REAL *values)
{
    for (npy_intp p = 0; p < b->n; p++) {
        values[p] = 0;
    }
    for (npy_intp k = 0; k < b->taps; k++) {
        const npy_int64 *places = b->places + k * b->step;
        const REAL *weights = (const REAL *)b->weights + k * b->step;
        GS_IVDEP
        for (npy_intp p = 0; p < b->n; p++) {
            values[p] = places[p] >= 0 ? values[p] + weights[p] * image[places[p]] : values[p];
        }
    }
}

/* ---- tasks; items are numbered chunk by chunk of the points, for each group of channels of each image */

static void
NAME(take_chunks)(void *context, npy_intp first, npy_intp last)
{
    sampling *job = context;
    const gs_samples *s = job->samples;
    for (npy_intp i = first; i < last; i++) {
        npy_intp group = i / job->n_chunks, n = group / job->n_groups, channel = group % job->n_groups * job->width;
        npy_intp first_row = n * s->channels + channel, rows = smaller(job->width, s->channels - channel);
        npy_intp end = smaller(s->points, (i % job->n_chunks + 1) * job->chunk);
        for (npy_intp point = i % job->n_chunks * job->chunk; point < end; point += BLOCK) {
            block b = block_of(job, n, point, smaller(BLOCK, end - point), sizeof(REAL));
            for (npy_intp row = first_row; row < first_row + rows; row++) {
                const REAL *image = (const REAL *)job->image + row * s->size;
                NAME(take_points)(&b, image, (REAL *)job->result + row * s->points + point);
            }
        }
    }
}

static void
NAME(sample_chunks)(void *context, npy_intp first, npy_intp last)
{
    sampling *job = context;
    const gs_samples *s = job->samples;
    REAL *image = malloc(sizeof(REAL) * (size_t)(s->size * job->width)), values[BLOCK * WIDEST];
    if (image == NULL) {
        job->is_out_of_memory = 1;
        return;
    }
    npy_intp turned = -1;
    for (npy_intp i = first; i < last; i++) {
        npy_intp group = i / job->n_chunks, n = group / job->n_groups, channel = group % job->n_groups * job->width;
        npy_intp channels = smaller(job->width, s->channels - channel), row = n * s->channels + channel;
        if (group != turned) {
            NAME(turn)((const REAL *)job->image + row * s->size, s->size, channels, s->size, job->width, image);
            turned = group;
        }
        npy_intp end = smaller(s->points, (i % job->n_chunks + 1) * job->chunk);
        for (npy_intp point = i % job->n_chunks * job->chunk; point < end; point += BLOCK) {
            block b = block_of(job, n, point, smaller(BLOCK, end - point), sizeof(REAL));
            NAME(sample_block)(job->width, &b, image, values);
            REAL *to = (REAL *)job->result + row * s->points + point;
            NAME(turn_back)(values, s->points, channels, b.n, job->width, to);
        }
    }
    free(image);
}

static void
NAME(spread_groups)(void *context, npy_intp first, npy_intp last)
{
    sampling *job = context;
    const gs_samples *s = job->samples;
    REAL *turned = malloc(sizeof(REAL) * (size_t)(s->size * job->width)), space[BLOCK * WIDEST];
    if (turned == NULL) {
        job->is_out_of_memory = 1;
        return;
    }
    for (npy_intp group = first; group < last; group++) {
        npy_intp n = group / job->n_groups, channel = group % job->n_groups * job->width;
        npy_intp channels = smaller(job->width, s->channels - channel), row = n * s->channels + channel;
        REAL *to = (REAL *)job->result + row * s->size, *image = job->width == 1 ? to : turned;
        memset(image, 0, sizeof(REAL) * (size_t)(s->size * job->width));
        for (npy_intp point = 0; point < s->points; point += BLOCK) {
            block b = block_of(job, n, point, smaller(BLOCK, s->points - point), sizeof(REAL));
            const REAL *from = (const REAL *)job->values + row * s->points + point;
            const REAL *values = NAME(turn)(from, s->points, channels, b.n, job->width, space);
            NAME(spread_block)(job->width, &b, values, image);
        }
        if (image != to) {
            NAME(turn_back)(image, s->size, channels, s->size, job->width, to);
        }
    }
    free(turned);
}

/* All channels of a chunk, of which there is one group: each weight is a sum over them. */
static void
NAME(weigh_chunk)(const sampling *job, npy_intp n, npy_intp first, npy_intp end, REAL *turned)
{
    const gs_samples *s = job->samples;
    REAL space[BLOCK * WIDEST];
    for (npy_intp channel = 0; channel < s->channels; channel += job->width) {
        npy_intp channels = smaller(job->width, s->channels - channel), row = n * s->channels + channel;
        const REAL *whole = (const REAL *)job->image + row * s->size;
        const REAL *image = NAME(turn)(whole, s->size, channels, s->size, job->width, turned);
        for (npy_intp point = first; point < end; point += BLOCK) {
            block b = block_of(job, n, point, smaller(BLOCK, end - point), sizeof(REAL));
            const REAL *from = (const REAL *)job->values + row * s->points + point;
            const REAL *values = NAME(turn)(from, s->points, channels, b.n, job->width, space);
            NAME(weigh_block)(job->width, &b, values, image, (REAL *)job->result + n * s->taps * s->points + point);
        }
    }
}

static void
NAME(weigh_chunks)(void *context, npy_intp first, npy_intp last)
{
    sampling *job = context;
    const gs_samples *s = job->samples;
    REAL *image = malloc(sizeof(REAL) * (size_t)(s->size * job->width));
    if (image == NULL) {
        job->is_out_of_memory = 1;
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        npy_intp start = i % job->n_chunks * job->chunk;
        NAME(weigh_chunk)(job, i / job->n_chunks, start, smaller(s->points, start + job->chunk), image);
    }
    free(image);
}
