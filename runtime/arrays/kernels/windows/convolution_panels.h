/* How convolution.c packs weights of one type: REAL, and NAME(x), which adds its suffix. */

/* Weights as panels: [group][panel][term][row of the panel], zeros where there is no row.  Panels are numbered through
 * all groups. */
static void
NAME(pack_panels)(void *context, npy_intp first, npy_intp last)
{
    const packing *p = context;
    const run *r = p->run;
    REAL *to = (REAL *)r->panels + first * r->n_terms * r->height;
    for (npy_intp panel = first; panel < last; panel++) {
        npy_intp row = panel % r->n_panels * r->height, n = smaller(r->height, r->rows - row);
        const REAL *rows = (const REAL *)p->weight + panel / r->n_panels * r->group_step + row * r->row_step;
        for (npy_intp channel = 0; channel < r->channels; channel++) {
            for (npy_intp tap = 0; tap < r->n_taps; tap++, to += r->height) {
                const REAL *from = rows + channel * r->channel_step + r->places[tap];
                for (npy_intp i = 0; i < n; i++) {
                    to[i] = from[i * r->row_step];
                }
                for (npy_intp i = n; i < r->height; i++) {
                    to[i] = 0;
                }
            }
        }
    }
}
