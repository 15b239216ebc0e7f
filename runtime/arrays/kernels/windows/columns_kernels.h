/* The loops of columns.c for one type: REAL, and NAME(x), which adds its suffix. */

/* ---- columns added to planes */

GS_INLINE void
NAME(add_row)(const REAL *from, npy_intp step, REAL *to, npy_intp n)
{
    if (step == 1) {
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            to[i] += from[i];
        }
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        to[i] += from[i * step];
    }
}

/* Items are the channels of one image after the other; each begins with zeros. */
GS_CLONES static void
NAME(add_columns)(void *context, npy_intp first, npy_intp last)
{
    const columns *c = context;
    const windows *w = c->windows;
    npy_intp of_image = w->n_rows * w->length * c->position_step;
    for (npy_intp item = first; item < last; item++) {
        npy_intp image = item / c->n_channels, channel = item % c->n_channels;
        REAL *plane = (REAL *)c->planes + item * w->channel_step;
        memset(plane, 0, sizeof(REAL) * (size_t)w->channel_step);
        for (npy_intp tap = 0; tap < w->n_taps; tap++) {
            const REAL *from = (const REAL *)c->numbers + (channel * w->n_taps + tap) * c->term_step + image * of_image;
            for (npy_intp row = 0; row < w->n_rows; row++, from += w->length * c->position_step) {
                NAME(add_row)(from, c->position_step, plane + w->offsets[tap] + row_start(w, row), w->length);
            }
        }
    }
}

/* ---- sums to a result */

GS_INLINE void
NAME(store_row)(const REAL *from, npy_intp step, REAL bias, REAL *to, npy_intp n)
{
    if (step == 1) {
        GS_IVDEP
        for (npy_intp i = 0; i < n; i++) {
            to[i] = from[i] + bias;
        }
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        to[i] = from[i * step] + bias;
    }
}

/* Items are the channels of one image after the other. */
GS_CLONES static void
NAME(store_sums)(void *context, npy_intp first, npy_intp last)
{
    const storing *s = context;
    for (npy_intp item = first; item < last; item++) {
        npy_intp image = item / s->channels, channel = item % s->channels;
        REAL bias = s->bias == NULL ? 0 : ((const REAL *)s->bias)[channel];
        const REAL *from = (const REAL *)s->sums + channel * s->channel_step + image * s->n * s->position_step;
        REAL *to = (REAL *)s->to + image * s->to_image + channel * s->to_channel;
        NAME(store_row)(from, s->position_step, bias, to, s->n);
    }
}

/* Rows of a matrix added to those of another. */
GS_CLONES static void
NAME(add_sums)(void *context, npy_intp first, npy_intp last)
{
    const storing *s = context;
    for (npy_intp i = first; i < last; i++) {
        NAME(add_row)((const REAL *)s->sums + i * s->channel_step, 1, (REAL *)s->to + i * s->to_channel, s->n);
    }
}
