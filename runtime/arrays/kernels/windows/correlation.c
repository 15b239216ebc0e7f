/* Note [Gradients of weights]
 *
 * The gradient of a weight is a sum over positions of the output, each with the element that a tap finds there in the
 * planes of the image (see Note [Planes] in convolution.c):
 *
 *     weight[channel][term] = sum over images, positions of output[channel][position] * plane[term's offset + position]
 *
 * Where there are channels enough to fill vectors, outputs are turned to [position][channel]: vectors of channels are
 * multiplied with single elements of planes, so nothing has to be summed across a vector, and no vector lies between
 * two lines of the cache.  Otherwise vectors go along positions.  Positions are taken in blocks that stay in L1.
 */
#include "columns.h"
#include "planes.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TILE_ROWS 4          /* channels of the output that are correlated at once, where vectors go along positions */
#define NEAR (256 << 10)     /* bytes of planes that stay near while all terms go over them */
#define BLOCK (16 << 10)     /* bytes of turned outputs in a block */
#define TERMS_TO_TURN 24     /* below, turning costs more than it saves */

/* A tile of sums: some terms, and one or two vectors of channels.  Steps are in elements. */
typedef struct {
    const char *outputs, *plane;
    char *sums; /* [terms][2 vectors] */
    const npy_intp *offsets;
    npy_intp terms, vectors, channels; /* channels of a position, with those that fill up vectors */
    npy_intp first_row, last_row, rows, row_step, plane_step, length, begin, end;
} turned;

/* Some rows of an output, of a few channels, with all terms. */
typedef struct {
    const char *output, *plane;
    char *weight;
    const npy_intp *offsets;
    npy_intp height, n_terms, weight_step, output_step;
    npy_intp first_row, last_row, rows, row_step, plane_step, length, padded_length;
} correlation;

/* Where a row of the output begins in a plane, which has rows of its own length. */
typedef struct {
    npy_intp start, row, rows, row_step, plane_step;
} place;

static inline place
first_place(npy_intp row, npy_intp rows, npy_intp row_step, npy_intp plane_step)
{
    return (place){row / rows * plane_step + row % rows * row_step, row % rows, rows, row_step, plane_step};
}

static inline void
next_place(place *p)
{
    p->start += p->row_step;
    p->row++;
    if (p->row == p->rows) {
        p->row = 0;
        p->start += p->plane_step - p->rows * p->row_step;
    }
}

typedef struct {
    int lanes, most_terms;
    void (*turn_row)(const void *output, npy_intp length, npy_intp channels, npy_intp channel_step, npy_intp width,
                     void *to);
    void (*add_turned)(const turned *);
    void (*store_tile)(const void *sums, npy_intp terms, npy_intp channels, npy_intp channel_step, void *weight);
    void (*correlate_rows)(const correlation *);
} kernels;

/* All ones for the lanes before the middle, zeros behind it. */
#define FOUR(value) value, value, value, value
static const int32_t masks_of_floats[32] = {FOUR(-1), FOUR(-1), FOUR(-1), FOUR(-1)};
static const int64_t masks_of_doubles[16] = {FOUR(-1), FOUR(-1)};
#undef FOUR

#define KERNELS "windows/correlation_kernels.h"
#include "instruction_sets/each_kernel.h"

typedef struct {
    const gs_convolution *c;
    const kernels *kernels;
    gs_layout layout;
    npy_intp item_size, n_terms, n_rows, n_images; /* rows of an output, of all planes; images at once */
    npy_intp *offsets;
    char *planes, *outputs, *weight; /* outputs: turned, or padded to whole vectors */
    const char *source;
    npy_intp padded_length;                /* of a row, where vectors go along positions */
    npy_intp width, n_vectors;             /* channels of a turned position, in elements and in vectors */
    npy_intp terms, n_term_tiles, n_tiles; /* terms of a tile; tiles of terms, and of channels */
    char *sums;
} weighing;

/* ---- vectors of channels */

static void
turn_rows(void *context, npy_intp first, npy_intp last)
{
    const weighing *w = context;
    const gs_convolution *c = w->c;
    npy_intp length = c->output[2], plane = w->n_rows * length;
    for (npy_intp i = first; i < last; i++) {
        npy_intp group = i / w->n_rows, row = i % w->n_rows;
        const char *output = w->source + (group * c->outer * plane + row * length) * w->item_size;
        char *to = w->outputs + i * length * w->width * w->item_size;
        w->kernels->turn_row(output, length, c->outer, plane, w->width, to);
    }
}

static char *
sums_of(const weighing *w, npy_intp item)
{
    return w->sums + item * w->kernels->most_terms * 2 * w->kernels->lanes * w->item_size;
}

/* What is multiplied at once: some images, or a block of positions of one, with tiles of terms and one of channels. */
typedef struct {
    npy_intp first_image, last_image, first_tile, last_tile;
} part;

/* Sums of a tile stay in L1 for all images, and positions for all tiles. */
static void
add_tiles(const weighing *w, turned *t, const part *p)
{
    const gs_convolution *c = w->c;
    npy_intp tiles = p->first_tile / w->n_term_tiles, channel = tiles % w->n_tiles * 2 * w->kernels->lanes;
    npy_intp of_group = c->inner * w->layout.n_phases * w->layout.plane_size;
    for (npy_intp tile = p->first_tile; tile < p->last_tile; tile++) {
        t->offsets = w->offsets + tile % w->n_term_tiles * w->terms;
        t->sums = sums_of(w, tile);
        for (npy_intp image = p->first_image; image < p->last_image; image++) {
            npy_intp group = image * c->groups + tiles / w->n_tiles;
            t->outputs = w->outputs + (group * w->n_rows * c->output[2] * w->width + channel) * w->item_size;
            t->plane = w->planes + group * of_group * w->item_size;
            w->kernels->add_turned(t);
        }
    }
}

static void
add_blocks(const weighing *w, turned *t, const part *p)
{
    npy_intp near = larger(8, BLOCK / (t->vectors * w->kernels->lanes * w->item_size));
    npy_intp rows = larger(1, near / t->length), columns = smaller(near, t->length);
    for (t->first_row = 0; t->first_row < w->n_rows; t->first_row = t->last_row) {
        t->last_row = smaller(w->n_rows, t->first_row + rows);
        for (t->begin = 0; t->begin < t->length; t->begin = t->end) {
            t->end = smaller(t->length, t->begin + columns);
            add_tiles(w, t, p);
        }
    }
}

/* Tiles are numbered by terms, for each tile of channels, group by group. */
static void
weigh_turned(void *context, npy_intp first, npy_intp last)
{
    const weighing *w = context;
    const gs_convolution *c = w->c;
    npy_intp in_tile = 2 * w->kernels->lanes * w->item_size;
    npy_intp at_once = larger(1, BLOCK / (in_tile * w->n_rows * c->output[2]));
    for (npy_intp i = 0; i < w->n_images; i += at_once) {
        part p = {i, smaller(w->n_images, i + at_once), first, last};
        for (; p.first_tile < last; p.first_tile = p.last_tile) {
            npy_intp tiles = p.first_tile / w->n_term_tiles;
            p.last_tile = smaller(last, (tiles + 1) * w->n_term_tiles);
            turned t = {
                .terms = w->terms,
                .vectors = smaller(2, w->n_vectors - tiles % w->n_tiles * 2),
                .channels = w->width,
                .rows = c->output[1],
                .row_step = w->layout.extent[2],
                .plane_step = w->layout.extent[1] * w->layout.extent[2],
                .length = c->output[2],
            };
            add_blocks(w, &t, &p);
        }
    }
}

static void
weigh_images_turned(weighing *w)
{
    const gs_convolution *c = w->c;
    npy_intp rows = w->n_images * c->groups * w->n_rows, n = c->groups * w->n_tiles * w->n_term_tiles;
    npy_intp cost = w->n_images * w->n_rows * c->output[2] * w->terms * 2;
    gs_parallel_run(turn_rows, w, rows, gs_piece(rows, c->output[2] * w->width + 1, 1));
    gs_parallel_run(weigh_turned, w, n, gs_piece(n, cost, 1));
}

static void
store_tiles(void *context, npy_intp first, npy_intp last)
{
    const weighing *w = context;
    npy_intp in_tile = 2 * w->kernels->lanes;
    for (npy_intp tile = first; tile < last; tile++) {
        npy_intp term = tile % w->n_term_tiles * w->terms, tiles = tile / w->n_term_tiles;
        npy_intp channel = tiles % w->n_tiles * in_tile, group = tiles / w->n_tiles;
        char *weight = w->weight + ((group * w->c->outer + channel) * w->n_terms + term) * w->item_size;
        w->kernels->store_tile(sums_of(w, tile), smaller(w->terms, w->n_terms - term),
                               smaller(in_tile, w->c->outer - channel), w->n_terms, weight);
    }
}

static void
store_sums(weighing *w)
{
    npy_intp n = w->c->groups * w->n_tiles * w->n_term_tiles;
    gs_parallel_run(store_tiles, w, n, gs_piece(n, w->terms * 2 * w->kernels->lanes, 1));
}

/* ---- vectors of positions */

/* Rows of the output, padded with zeros to whole vectors. */
GS_CLONES static void
pad_rows(void *context, npy_intp first, npy_intp last)
{
    const weighing *w = context;
    npy_intp bytes = w->c->output[2] * w->item_size, padded = w->padded_length * w->item_size;
    for (npy_intp i = first; i < last; i++) {
        copy_bytes(w->outputs + i * padded, w->source + i * bytes, bytes);
        clear_bytes(w->outputs + i * padded + bytes, padded - bytes);
    }
}

static void
weigh_tile(const weighing *w, npy_intp image, npy_intp group, npy_intp row)
{
    const gs_convolution *c = w->c;
    const gs_layout *l = &w->layout;
    npy_intp channel = group * c->outer + row, of_group = c->inner * l->n_phases * l->plane_size;
    npy_intp near = larger(8, NEAR / w->item_size / larger(1, c->inner * l->n_phases * l->extent[2]));
    correlation r = {
        .output = w->outputs + (image * c->groups * c->outer + channel) * w->n_rows * w->padded_length * w->item_size,
        .plane = w->planes + (image * c->groups + group) * of_group * w->item_size,
        .weight = w->weight + channel * w->n_terms * w->item_size,
        .offsets = w->offsets,
        .height = smaller(TILE_ROWS, c->outer - row),
        .n_terms = w->n_terms,
        .weight_step = w->n_terms,
        .output_step = w->n_rows * w->padded_length,
        .rows = c->output[1],
        .row_step = l->extent[2],
        .plane_step = l->extent[1] * l->extent[2],
        .length = c->output[2],
        .padded_length = w->padded_length,
    };
    for (; r.first_row < w->n_rows; r.first_row = r.last_row) {
        r.last_row = smaller(w->n_rows, r.first_row + near);
        w->kernels->correlate_rows(&r);
    }
}

static void
weigh_tiles(void *context, npy_intp first, npy_intp last)
{
    const weighing *w = context;
    for (npy_intp i = first; i < last; i++) {
        for (npy_intp image = 0; image < w->n_images; image++) {
            weigh_tile(w, image, i / w->n_tiles, i % w->n_tiles * TILE_ROWS);
        }
    }
}

static void
weigh_images_padded(weighing *w)
{
    const gs_convolution *c = w->c;
    npy_intp rows = w->n_images * c->groups * c->outer * w->n_rows, n = c->groups * w->n_tiles;
    npy_intp cost = w->n_images * TILE_ROWS * w->n_terms * w->n_rows * w->padded_length / 8;
    gs_parallel_run(pad_rows, w, rows, gs_piece(rows, w->padded_length / 4 + 1, 1));
    gs_parallel_run(weigh_tiles, w, n, gs_piece(n, cost, 1));
}

/* ---- both */

/* Tiles of terms of about the same size, which is one that there are kernels for. */
static void
choose_tiles(weighing *w)
{
    npy_intp most = w->kernels->most_terms, step = most == 4 ? 1 : most / (most == 12 ? 4 : 3);
    npy_intp about = ceil_div(w->n_terms, ceil_div(w->n_terms, most));
    w->terms = ceil_div(about, step) * step;
    w->n_term_tiles = ceil_div(w->n_terms, w->terms);
    w->n_vectors = ceil_div(w->c->outer, w->kernels->lanes);
    w->n_tiles = ceil_div(w->n_vectors, 2);
    w->width = w->n_vectors * w->kernels->lanes;
}

/* Offsets in planes; those of the last tile of terms, as far as there are none, are of any place. */
static void
list_offsets(weighing *w, npy_intp n)
{
    npy_intp n_taps = volume(w->c->window);
    for (npy_intp term = 0; term < n; term++) {
        npy_intp start = term / n_taps * w->layout.n_phases * w->layout.plane_size;
        w->offsets[term] = term < w->n_terms ? start + gs_offset_in_image(w->c, &w->layout, term % n_taps) : 0;
    }
}

static void
weigh_chunks(weighing *w, const char *output, const char *image, npy_intp at_once, int is_turned)
{
    const gs_convolution *c = w->c;
    npy_intp in_image = c->groups * c->inner, in_output = c->groups * c->outer;
    for (npy_intp i = 0; i < c->images; i += at_once) {
        w->n_images = smaller(at_once, c->images - i);
        const char *images = image + i * in_image * volume(c->image) * w->item_size;
        gs_fill_planes(&w->layout, c->type, images, w->n_images * in_image, w->planes);
        w->source = output + i * in_output * volume(c->output) * w->item_size;
        (is_turned ? weigh_images_turned : weigh_images_padded)(w);
    }
}

static int
weight_without_gil(weighing *w, const char *output, const char *image)
{
    const gs_convolution *c = w->c;
    int is_turned = c->outer * 2 >= w->kernels->lanes && w->n_terms >= TERMS_TO_TURN;
    npy_intp in_output = c->groups * c->outer, n_sums = 0, n_offsets = w->n_terms;
    npy_intp of_output = in_output * w->padded_length;
    if (is_turned) {
        choose_tiles(w);
        n_offsets = w->n_term_tiles * w->terms;
        n_sums = c->groups * w->n_tiles * w->n_term_tiles * w->kernels->most_terms * 2 * w->kernels->lanes;
        of_output = c->groups * w->width * c->output[2];
    }
    npy_intp plane_bytes = c->groups * c->inner * w->layout.n_phases * w->layout.plane_size * w->item_size;
    npy_intp output_bytes = of_output * w->n_rows * w->item_size;
    npy_intp at_once = gs_images_at_once(c, plane_bytes + output_bytes);
    w->offsets = malloc(sizeof(npy_intp) * (size_t)(n_offsets + 1));
    w->planes = malloc((size_t)(at_once * plane_bytes + 1));
    w->outputs = malloc((size_t)(at_once * output_bytes + 1));
    w->sums = calloc((size_t)(n_sums + 1), (size_t)w->item_size);
    int is_ready = w->offsets != NULL && w->planes != NULL && w->outputs != NULL && w->sums != NULL;
    if (is_ready) {
        list_offsets(w, n_offsets);
        memset(w->weight, 0, (size_t)(in_output * w->n_terms * w->item_size));
        weigh_chunks(w, output, image, at_once, is_turned);
    }
    if (is_ready && is_turned) {
        store_sums(w);
    }
    free(w->sums);
    free(w->outputs);
    free(w->planes);
    free(w->offsets);
    return is_ready;
}

int
gs_convolve_weight(const gs_convolution *c, const void *output, const void *image, void *weight)
{
    int is_done;
    if (gs_weight_suits_columns(c)) {
        return gs_weight_by_columns(c, output, image, weight);
    }
    weighing w = {
        .c = c,
        .kernels = BEST_KERNELS(kernels, c->type),
        .item_size = size_of_type(c->type),
        .n_terms = c->inner * volume(c->window),
        .n_rows = c->output[0] * c->output[1],
        .n_tiles = ceil_div(c->outer, TILE_ROWS),
        .weight = weight,
    };
    gs_lay_out_image(c, &w.layout);
    w.padded_length = ceil_div(c->output[2], w.kernels->lanes) * w.kernels->lanes;
    Py_BEGIN_ALLOW_THREADS
    is_done = weight_without_gil(&w, output, image);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        PyErr_NoMemory();
    }
    return is_done - 1;
}
