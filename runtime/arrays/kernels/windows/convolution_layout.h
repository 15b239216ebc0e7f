/* How convolution.c arranges elements of one type: REAL, and NAME(x), which adds its suffix. */

/* One channel of an image as planes, one for each phase; see Note [Planes]. */
static void
NAME(fill_row)(const layout *l, const REAL *row, npy_intp phase, REAL *to)
{
    npy_intp step = l->step[2], begin = phase + l->first[2], extent = l->extent[2];
    npy_intp before = begin < 0 ? smaller((step - 1 - begin) / step, extent) : 0;
    npy_intp there = l->source[2] <= begin ? 0 : (l->source[2] - begin + step - 1) / step;
    there = larger(smaller(there, extent), before);
    for (npy_intp i = 0; i < before; i++) {
        to[i] = 0;
    }
    if (step == 1) {
        memcpy(to + before, row + before + begin, sizeof(REAL) * (size_t)(there - before));
    } else {
        for (npy_intp i = before; i < there; i++) {
            to[i] = row[i * step + begin];
        }
    }
    for (npy_intp i = there; i < extent; i++) {
        to[i] = 0;
    }
}

static void
NAME(fill_plane)(const layout *l, const REAL *channel, const npy_intp *phase, REAL *to)
{
    for (npy_intp i = 0; i < l->extent[0] * l->extent[1]; i++) {
        npy_intp first = i / l->extent[1] * l->step[0] + phase[0] + l->first[0];
        npy_intp second = i % l->extent[1] * l->step[1] + phase[1] + l->first[1];
        if (first < 0 || first >= l->source[0] || second < 0 || second >= l->source[1]) {
            memset(to, 0, sizeof(REAL) * (size_t)l->extent[2]);
        } else {
            NAME(fill_row)(l, channel + (first * l->source[1] + second) * l->source[2], phase[2], to);
        }
        to += l->extent[2];
    }
    memset(to, 0, sizeof(REAL) * SLACK);
}

static void
NAME(fill_channels)(void *context, npy_intp first, npy_intp last)
{
    const filling *f = context;
    const layout *l = f->layout;
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

/* Weights as panels: [group][panel][term][row of the panel], zeros where there is no row. */
static void
NAME(pack_weights)(const run *r, const REAL *weight, REAL *to)
{
    for (npy_intp group = 0; group < r->c->groups; group++) {
        for (npy_intp first = 0; first < r->n_panels * r->height; first += r->height) {
            for (npy_intp channel = 0; channel < r->channels; channel++) {
                for (npy_intp tap = 0; tap < r->n_taps; tap++) {
                    const REAL *from = weight + group * r->group_step + channel * r->channel_step + r->places[tap];
                    for (npy_intp row = first; row < first + r->height; row++) {
                        *to++ = row < r->rows ? from[row * r->row_step] : 0;
                    }
                }
            }
        }
    }
}

/* Sums of positions `first` to `last` in the order of planes, to one channel of the result: what lies between rows of
 * the result is left out. */
static void
NAME(store_row)(const run *r, const REAL *sums, npy_intp first, npy_intp last, REAL bias, REAL *result)
{
    npy_intp row_length = r->layout.extent[2], rows = r->layout.extent[1];
    npy_intp position = first;
    while (position < last) {
        npy_intp row = position / row_length, begin = position % row_length;
        npy_intp end = smaller(row_length, begin + last - position);
        npy_intp second = row % rows, third = smaller(end, r->grid[2]);
        if (second < r->grid[1]) {
            npy_intp plane = r->start[0] + row / rows * r->step[0];
            npy_intp result_row = plane * r->result[1] + r->start[1] + second * r->step[1];
            REAL *to = result + result_row * r->result[2] + r->start[2];
            const REAL *from = sums + (position - first) - begin;
            if (r->step[2] == 1) {
                for (npy_intp i = begin; i < third; i++) {
                    to[i] = from[i] + bias;
                }
            } else {
                for (npy_intp i = begin; i < third; i++) {
                    to[i * r->step[2]] = from[i] + bias;
                }
            }
        }
        position += end - begin;
    }
}

static void
NAME(store)(const run *r, npy_intp image, npy_intp group, npy_intp first_row, npy_intp n_rows, npy_intp first,
            npy_intp last, const REAL *sums, npy_intp sums_row)
{
    npy_intp size = r->result[0] * r->result[1] * r->result[2];
    for (npy_intp i = 0; i < n_rows; i++) {
        npy_intp channel = group * r->rows + first_row + i;
        REAL bias = r->bias == NULL ? 0 : ((const REAL *)r->bias)[channel];
        REAL *to = (REAL *)r->to + (image * r->c->groups * r->rows + channel) * size;
        NAME(store_row)(r, sums + i * sums_row, first, last, bias, to);
    }
}

/* Rows of the output, padded with zeros to whole vectors. */
static void
NAME(pad_rows)(void *context, npy_intp first, npy_intp last)
{
    const padding *p = context;
    const REAL *from = (const REAL *)p->source + first * p->length;
    REAL *to = (REAL *)p->padded + first * p->padded_length;
    for (npy_intp i = first; i < last; i++) {
        memcpy(to, from, sizeof(REAL) * (size_t)p->length);
        for (npy_intp j = p->length; j < p->padded_length; j++) {
            to[j] = 0;
        }
        from += p->length;
        to += p->padded_length;
    }
}
