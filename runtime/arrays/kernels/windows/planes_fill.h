/* How planes.c fills planes of one type: REAL, and NAME(x), which adds its suffix. */

/* One channel of an image as planes, one for each phase; see Note [Planes].  Steps of two have loops of their own, which
 * shuffle vectors. */
GS_INLINE void
NAME(fill_row)(const piece *p, npy_intp step, npy_intp extent, const REAL *restrict row, REAL *restrict to)
{
    npy_intp n = p->end - p->start;
    clear_bytes((char *)to, p->start * (npy_intp)sizeof(REAL));
    clear_bytes((char *)(to + p->end), (extent - p->end) * (npy_intp)sizeof(REAL));
    to += p->start;
    row += p->start * step + p->begin;
    if (step == 1) {
        copy_bytes((char *)to, (const char *)row, n * (npy_intp)sizeof(REAL));
    } else if (step == 2) {
        for (npy_intp i = 0; i < n; i++) {
            to[i] = row[2 * i];
        }
    } else {
        for (npy_intp i = 0; i < n; i++) {
            to[i] = row[i * step];
        }
    }
}

GS_INLINE void
NAME(fill_plane)(const gs_layout *l, const REAL *channel, const npy_intp *phase, REAL *to)
{
    npy_intp first = phase[0] + l->first[0];
    piece p = piece_of_row(l, phase[2]);
    for (npy_intp i = 0; i < l->extent[0]; i++, first += l->step[0]) {
        npy_intp second = phase[1] + l->first[1];
        for (npy_intp j = 0; j < l->extent[1]; j++, second += l->step[1]) {
            if (first < 0 || first >= l->source[0] || second < 0 || second >= l->source[1]) {
                memset(to, 0, sizeof(REAL) * (size_t)l->extent[2]);
            } else {
                const REAL *row = channel + (first * l->source[1] + second) * l->source[2];
                NAME(fill_row)(&p, l->step[2], l->extent[2], row, to);
            }
            to += l->extent[2];
        }
    }
    memset(to, 0, sizeof(REAL) * GS_SLACK);
}

GS_CLONES static void
NAME(fill_channels)(void *context, npy_intp first, npy_intp last)
{
    const filling *f = context;
    const gs_layout *l = f->layout;
    npy_intp size = l->source[0] * l->source[1] * l->source[2];
    for (npy_intp i = first; i < last; i++) {
        REAL *to = (REAL *)f->planes + i * l->n_phases * l->plane_size;
        npy_intp phase[GS_CONVOLVED];
        for (phase[0] = 0; phase[0] < l->step[0]; phase[0]++) {
            for (phase[1] = 0; phase[1] < l->step[1]; phase[1]++) {
                for (phase[2] = 0; phase[2] < l->step[2]; phase[2]++) {
                    if (is_read(l, phase)) {
                        NAME(fill_plane)(l, (const REAL *)f->source + i * size, phase, to);
                    }
                    to += l->plane_size;
                }
            }
        }
    }
}

/* ---- back to images */

/* The places of a plane that lie in a row of the source. */
GS_INLINE void
NAME(empty_row)(const piece *p, npy_intp step, const REAL *restrict plane, REAL *restrict row)
{
    npy_intp n = p->end - p->start;
    plane += p->start;
    row += p->start * step + p->begin;
    if (step == 1) {
        copy_bytes((char *)row, (const char *)plane, n * (npy_intp)sizeof(REAL));
        return;
    }
    for (npy_intp i = 0; i < n; i++) {
        row[i * step] = plane[i];
    }
}

GS_INLINE void
NAME(empty_plane)(const gs_layout *l, const REAL *plane, const npy_intp *phase, REAL *channel)
{
    npy_intp first = phase[0] + l->first[0];
    piece p = piece_of_row(l, phase[2]);
    for (npy_intp i = 0; i < l->extent[0]; i++, first += l->step[0]) {
        npy_intp second = phase[1] + l->first[1];
        for (npy_intp j = 0; j < l->extent[1]; j++, second += l->step[1], plane += l->extent[2]) {
            if (first >= 0 && first < l->source[0] && second >= 0 && second < l->source[1]) {
                NAME(empty_row)(&p, l->step[2], plane, channel + (first * l->source[1] + second) * l->source[2]);
            }
        }
    }
}

/* Zeros are where no window reaches. */
GS_CLONES static void
NAME(empty_channels)(void *context, npy_intp first, npy_intp last)
{
    const emptying *e = context;
    const gs_layout *l = e->layout;
    npy_intp size = volume(l->source);
    for (npy_intp i = first; i < last; i++) {
        REAL *to = (REAL *)e->image + i * size;
        const REAL *plane = (const REAL *)e->planes + i * l->n_phases * l->plane_size;
        npy_intp phase[GS_CONVOLVED];
        if (!e->covers) {
            memset(to, 0, sizeof(REAL) * (size_t)size);
        }
        for (phase[0] = 0; phase[0] < l->step[0]; phase[0]++) {
            for (phase[1] = 0; phase[1] < l->step[1]; phase[1]++) {
                for (phase[2] = 0; phase[2] < l->step[2]; phase[2]++) {
                    NAME(empty_plane)(l, plane, phase, to);
                    plane += l->plane_size;
                }
            }
        }
    }
}
