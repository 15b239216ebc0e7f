/* How planes.c fills planes of one type: REAL, and NAME(x), which adds its suffix. */

/* One channel of an image as planes, one for each phase; see Note [Planes]. */
GS_INLINE void
NAME(fill_row)(const gs_layout *l, const REAL *row, npy_intp phase, REAL *to)
{
    npy_intp step = l->step[2], begin = phase + l->first[2], extent = l->extent[2];
    npy_intp before = begin < 0 ? smaller((step - 1 - begin) / step, extent) : 0;
    npy_intp there = l->source[2] <= begin ? 0 : (l->source[2] - begin + step - 1) / step;
    there = larger(smaller(there, extent), before);
    clear_bytes((char *)to, before * (npy_intp)sizeof(REAL));
    if (step == 1) {
        npy_intp bytes = (there - before) * (npy_intp)sizeof(REAL);
        copy_bytes((char *)(to + before), (const char *)(row + before + begin), bytes);
    } else {
        for (npy_intp i = before; i < there; i++) {
            to[i] = row[i * step + begin];
        }
    }
    clear_bytes((char *)(to + there), (extent - there) * (npy_intp)sizeof(REAL));
}

GS_INLINE void
NAME(fill_plane)(const gs_layout *l, const REAL *channel, const npy_intp *phase, REAL *to)
{
    npy_intp first = phase[0] + l->first[0];
    for (npy_intp i = 0; i < l->extent[0]; i++, first += l->step[0]) {
        npy_intp second = phase[1] + l->first[1];
        for (npy_intp j = 0; j < l->extent[1]; j++, second += l->step[1]) {
            if (first < 0 || first >= l->source[0] || second < 0 || second >= l->source[1]) {
                memset(to, 0, sizeof(REAL) * (size_t)l->extent[2]);
            } else {
                NAME(fill_row)(l, channel + (first * l->source[1] + second) * l->source[2], phase[2], to);
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
                    NAME(fill_plane)(l, (const REAL *)f->source + i * size, phase, to);
                    to += l->plane_size;
                }
            }
        }
    }
}

/* ---- back to images */

/* The places of a plane that lie in a row of the source. */
GS_INLINE void
NAME(empty_row)(const gs_layout *l, const REAL *plane, npy_intp phase, REAL *row)
{
    npy_intp step = l->step[2], begin = phase + l->first[2];
    npy_intp first = begin < 0 ? (step - 1 - begin) / step : 0;
    npy_intp last = l->source[2] <= begin ? 0 : smaller((l->source[2] - begin + step - 1) / step, l->extent[2]);
    if (step == 1 && first < last) {
        copy_bytes((char *)(row + begin + first), (const char *)(plane + first), (last - first) * (npy_intp)sizeof(REAL));
        return;
    }
    for (npy_intp i = first; i < last; i++) {
        row[i * step + begin] = plane[i];
    }
}

GS_INLINE void
NAME(empty_plane)(const gs_layout *l, const REAL *plane, const npy_intp *phase, REAL *channel)
{
    npy_intp first = phase[0] + l->first[0];
    for (npy_intp i = 0; i < l->extent[0]; i++, first += l->step[0]) {
        npy_intp second = phase[1] + l->first[1];
        for (npy_intp j = 0; j < l->extent[1]; j++, second += l->step[1], plane += l->extent[2]) {
            if (first >= 0 && first < l->source[0] && second >= 0 && second < l->source[1]) {
                NAME(empty_row)(l, plane, phase[2], channel + (first * l->source[1] + second) * l->source[2]);
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
