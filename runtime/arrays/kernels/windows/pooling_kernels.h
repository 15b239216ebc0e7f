/* The loops of pooling.c for one floating type: REAL, and NAME(x). */

/* ---- means: sums along columns, and of these; float64, so that large windows lose nothing */

GS_CLONES static void
NAME(sum_rows)(const REAL *restrict row, double *restrict sums, int is_first, npy_intp n)
{
    if (is_first) {
        for (npy_intp x = 0; x < n; x++) {
            sums[x] = (double)row[x];
        }
        return;
    }
    for (npy_intp x = 0; x < n; x++) {
        sums[x] += (double)row[x];
    }
}

GS_CLONES static void
NAME(add_row)(const REAL *restrict line, REAL *restrict row, npy_intp n)
{
    for (npy_intp x = 0; x < n; x++) {
        row[x] += line[x];
    }
}

static void
NAME(divide)(const gs_windows *w, const double *sums, npy_intp divisor, REAL *means)
{
    const npy_intp *span = w->spans[2], *divisors = w->divisors[2];
    for (npy_intp r = 0; r < w->output[2]; r++, span += 2) {
        double sum = sums[span[0]];
        for (npy_intp x = span[0] + 1; x < span[1]; x++) {
            sum += sums[x];
        }
        means[r] = (REAL)(sum / (double)(divisor * divisors[r]));
    }
}

/* A row of an output, spread over the columns of its windows. */
static void
NAME(spread_row)(const gs_windows *w, const REAL *means, npy_intp divisor, REAL *line)
{
    const npy_intp *span = w->spans[2], *divisors = w->divisors[2];
    memset(line, 0, sizeof(REAL) * (size_t)w->image[2]);
    for (npy_intp r = 0; r < w->output[2]; r++, span += 2) {
        REAL share = (REAL)((double)means[r] / (double)(divisor * divisors[r]));
        for (npy_intp x = span[0]; x < span[1]; x++) {
            line[x] += share;
        }
    }
}

static void
NAME(means_of_image)(const gs_windows *w, const REAL *image, REAL *means, double *sums)
{
    for (npy_intp p = 0; p < w->output[0]; p++) {
        const npy_intp *outer = w->spans[0] + 2 * p;
        for (npy_intp q = 0; q < w->output[1]; q++, means += w->output[2]) {
            const npy_intp *inner = w->spans[1] + 2 * q;
            int is_first = 1;
            for (npy_intp a = outer[0]; a < outer[1]; a++) {
                for (npy_intp b = inner[0]; b < inner[1]; b++, is_first = 0) {
                    NAME(sum_rows)(image + (a * w->image[1] + b) * w->image[2], sums, is_first, w->image[2]);
                }
            }
            NAME(divide)(w, sums, w->divisors[0][p] * w->divisors[1][q], means);
        }
    }
}

static void
NAME(spread_over_image)(const gs_windows *w, const REAL *means, REAL *image, REAL *line)
{
    memset(image, 0, sizeof(REAL) * (size_t)gs_volume(w->image));
    for (npy_intp p = 0; p < w->output[0]; p++) {
        const npy_intp *outer = w->spans[0] + 2 * p;
        for (npy_intp q = 0; q < w->output[1]; q++, means += w->output[2]) {
            const npy_intp *inner = w->spans[1] + 2 * q;
            NAME(spread_row)(w, means, w->divisors[0][p] * w->divisors[1][q], line);
            for (npy_intp a = outer[0]; a < outer[1]; a++) {
                for (npy_intp b = inner[0]; b < inner[1]; b++) {
                    NAME(add_row)(line, image + (a * w->image[1] + b) * w->image[2], w->image[2]);
                }
            }
        }
    }
}

/* ---- one window that is the whole image */

static int
NAME(means_of_whole_images)(const gs_windows *w, const REAL *images, REAL *means)
{
    if (NAME(gs_sum)(images, means, w->images, gs_volume(w->image), 1) < 0) {
        return -1;
    }
    for (npy_intp i = 0; i < w->images; i++) {
        means[i] /= (REAL)divisor_of_whole(w);
    }
    return 0;
}

static void
NAME(spread_over_whole_images)(void *context, npy_intp first, npy_intp last)
{
    const pooling *job = context;
    npy_intp n = gs_volume(job->windows->image);
    double divisor = (double)divisor_of_whole(job->windows);
    for (npy_intp i = first; i < last; i++) {
        REAL share = (REAL)((double)((const REAL *)job->from)[i] / divisor), *image = (REAL *)job->to + i * n;
        for (npy_intp x = 0; x < n; x++) {
            image[x] = share;
        }
    }
}

static void
NAME(means_of_images)(void *context, npy_intp first, npy_intp last)
{
    pooling *job = context;
    const gs_windows *w = job->windows;
    double *sums = malloc(sizeof(double) * (size_t)(w->image[2] + 1));
    if (sums == NULL) {
        job->is_out_of_memory = 1;
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        NAME(means_of_image)(w, (const REAL *)job->from + i * gs_volume(w->image),
                             (REAL *)job->to + i * gs_volume(w->output), sums);
    }
    free(sums);
}

static void
NAME(spread_over_images)(void *context, npy_intp first, npy_intp last)
{
    pooling *job = context;
    const gs_windows *w = job->windows;
    REAL *line = malloc(sizeof(REAL) * (size_t)(w->image[2] + 1));
    if (line == NULL) {
        job->is_out_of_memory = 1;
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        NAME(spread_over_image)(w, (const REAL *)job->from + i * gs_volume(w->output),
                                (REAL *)job->to + i * gs_volume(w->image), line);
    }
    free(line);
}

/* ---- places */

static void
NAME(take_places)(void *context, npy_intp first, npy_intp last)
{
    placing *job = context;
    const gs_places *p = job->geometry;
    for (npy_intp i = first; i < last; i++) {
        const REAL *image = (const REAL *)job->from + i * p->size;
        const npy_int64 *places = job->places + i * p->n_places;
        REAL *found = (REAL *)job->to + i * p->n_places;
        for (npy_intp k = 0; k < p->n_places; k++) {
            if ((npy_uint64)places[k] >= (npy_uint64)p->size) {
                job->is_outside = 1;
                return;
            }
            found[k] = image[places[k]];
        }
    }
}

static void
NAME(add_to_places)(void *context, npy_intp first, npy_intp last)
{
    placing *job = context;
    const gs_places *p = job->geometry;
    for (npy_intp i = first; i < last; i++) {
        const REAL *values = (const REAL *)job->from + i * p->n_places;
        const npy_int64 *places = job->places + i * p->n_places;
        REAL *image = (REAL *)job->to + i * p->size;
        memset(image, 0, sizeof(REAL) * (size_t)p->size);
        for (npy_intp k = 0; k < p->n_places; k++) {
            if ((npy_uint64)places[k] >= (npy_uint64)p->size) {
                job->is_outside = 1;
                return;
            }
            image[places[k]] += values[k];
        }
    }
}
