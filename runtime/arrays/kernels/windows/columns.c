/* Note [Columns]
 *
 * Planes (see Note [Planes] in convolution.c) compute positions that do not exist, and read all weights again for each
 * image.  Where an image has few positions, most of the time goes there.  Then the windows are written out after all, as
 * columns of a matrix, and the positions of several images lie side by side in one product of matrices:
 *
 *     columns[channel, tap][image, position] = plane[image][channel][offset of the tap + position]
 *
 *     output of a group = weight @ columns           weight = output @ columns^T           columns = weight^T @ output
 *
 * The last gives the image, as columns are added to the places that they were copied from.  Each number in a column is
 * multiplied with as many weights as there are channels on the other side: with many of them, copying costs little.
 *
 * Never are there all columns at once: some images, and some rows or terms of these, take their turn, as many as stay in
 * the cache.  Windows of one element that do not move by more need no columns at all: the image of a group is that matrix.
 *
 * A product of few positions is turned around, with channels along vectors.
 */
#include "columns.h"
#include "planes.h"
#include "products/matmul.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SUM_BYTES (512 << 10) 

/* Where windows find their elements in planes: each term of a group and each image has as many rows as an output has.
 * Steps are in elements. */
typedef struct {
    npy_intp size, channel_step, image_step, n_taps;
    npy_intp *offsets; /* of taps */
    npy_intp length, rows, row_step, plane_step; /* of a row; rows of a plane */
    npy_intp n_rows;                             /* of all planes */
} windows;

/* A matrix of columns, and the planes of the channels and images that they belong to. */
typedef struct {
    const windows *windows;
    char *planes, *numbers;
    npy_intp term_step, position_step;
    npy_intp first_term, n_channels, n_images, first_row, n_rows;
} columns;

/* Sums of the channels of some images, on their way to a result with other steps; n numbers each. */
typedef struct {
    const char *sums, *bias;
    char *to;
    npy_intp channels, n;
    npy_intp channel_step, position_step, to_image, to_channel;
} storing;

static inline npy_intp
row_start(const windows *w, npy_intp row)
{
    return row / w->rows * w->plane_step + row % w->rows * w->row_step;
}

#include "support/with_float32.h"
#include "columns_kernels.h"
#include "support/with_float64.h"
#include "columns_kernels.h"

static gs_task
of_type(int type, gs_task float32, gs_task float64)
{
    return type == NPY_FLOAT32 ? float32 : float64;
}

/* ---- columns */

/* Items are terms. */
GS_CLONES static void
copy_columns(void *context, npy_intp first, npy_intp last)
{
    const columns *c = context;
    const windows *w = c->windows;
    npy_intp bytes = w->length * w->size;
    for (npy_intp item = first; item < last; item++) {
        npy_intp term = c->first_term + item, start = term / w->n_taps * w->channel_step + w->offsets[term % w->n_taps];
        char *to = c->numbers + item * c->term_step * w->size;
        for (npy_intp image = 0; image < c->n_images; image++) {
            const char *plane = c->planes + (image * w->image_step + start) * w->size;
            for (npy_intp row = c->first_row; row < c->first_row + c->n_rows; row++, to += bytes) {
                copy_bytes(to, plane + row_start(w, row) * w->size, bytes);
            }
        }
    }
}

/* The columns of n terms. */
static void
gather(const columns *c, npy_intp n)
{
    gs_parallel(copy_columns, (void *)c, n, c->n_images * c->n_rows * (c->windows->length / 4 + 4), 1);
}

/* ---- one convolution */

typedef struct {
    const gs_convolution *c;
    gs_layout layout;
    windows windows, outputs; /* of the image, and of an output, whose windows are its elements */
    npy_intp size, n_terms, n_positions;
    int is_plain; /* an image is the matrix of its columns */
    char *planes, *columns, *lines, *sums; /* lines: outputs of several images side by side */
    npy_intp no_offset;
} work;

/* Elements of sources that have no gaps. */
static windows
of_matrix(npy_intp size, npy_intp n_positions, npy_intp channels, npy_intp *offsets)
{
    return (windows){.size = size, .channel_step = n_positions, .image_step = channels * n_positions, .n_taps = 1,
                     .offsets = offsets, .length = n_positions, .rows = 1, .n_rows = 1};
}

/* Rows of planes that follow each other without a gap are one, if it is not too long to be there at once. */
static windows
of_planes(const gs_convolution *c, const gs_layout *l, npy_intp size, npy_intp *offsets)
{
    int joins = l->extent[2] == c->output[2] && c->output[1] * c->output[2] <= GS_LARGEST_IMAGE;
    windows w = {
        .size = size,
        .channel_step = l->n_phases * l->plane_size,
        .image_step = c->groups * c->inner * l->n_phases * l->plane_size,
        .n_taps = volume(c->window),
        .offsets = offsets,
        .length = joins ? c->output[1] * c->output[2] : c->output[2],
        .rows = joins ? 1 : c->output[1],
        .row_step = l->extent[2],
        .plane_step = l->extent[1] * l->extent[2],
    };
    w.n_rows = c->output[0] * w.rows;
    for (npy_intp tap = 0; tap < w.n_taps; tap++) {
        offsets[tap] = gs_offset_in_image(c, l, tap);
    }
    return w;
}

/* 0 without memory. */
static int
begin(work *w, const gs_convolution *c)
{
    npy_intp *offsets = malloc(sizeof(npy_intp) * (size_t)(volume(c->window) + 1));
    *w = (work){.c = c, .size = size_of_type(c->type), .n_terms = c->inner * volume(c->window),
                .n_positions = volume(c->output), .is_plain = gs_is_its_columns(c)};
    if (offsets == NULL) {
        return 0;
    }
    gs_lay_out_image(c, &w->layout);
    w->windows = of_planes(c, &w->layout, w->size, offsets);
    if (w->is_plain) {
        w->windows = of_matrix(w->size, w->n_positions, c->groups * c->inner, offsets);
    }
    w->outputs = of_matrix(w->size, w->n_positions, c->groups * c->outer, &w->no_offset);
    return 1;
}

/* Buffers of so many elements; 0 without memory. */
static int
allocate(work *w, npy_intp planes, npy_intp n_columns, npy_intp lines, npy_intp sums)
{
    w->planes = malloc((size_t)(planes * w->size + 1));
    w->columns = malloc((size_t)(n_columns * w->size + 1));
    w->lines = malloc((size_t)(lines * w->size + 1));
    w->sums = malloc((size_t)(sums * w->size + 1));
    return w->planes != NULL && w->columns != NULL && w->lines != NULL && w->sums != NULL;
}

/* -1 with MemoryError where memory was missing. */
static int
end(work *w, int is_done)
{
    free(w->windows.offsets);
    free(w->planes);
    free(w->columns);
    free(w->lines);
    free(w->sums);
    if (!is_done && !PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    return is_done - 1;
}

/* The planes of some images: these themselves where they need none. */
static char *
planes_of(work *w, const char *image, npy_intp first, npy_intp n)
{
    const gs_convolution *c = w->c;
    npy_intp channels = c->groups * c->inner;
    const char *from = image + first * channels * volume(c->image) * w->size;
    if (w->is_plain) {
        return (char *)from;
    }
    Py_BEGIN_ALLOW_THREADS
    gs_fill_planes(&w->layout, c->type, from, n * channels, w->planes);
    Py_END_ALLOW_THREADS
    return w->planes;
}

/* The outputs of a group as a matrix with a column for each position of some images. */
static const char *
lines_of(work *w, const char *output, npy_intp first, npy_intp n, npy_intp group)
{
    const gs_convolution *c = w->c;
    const char *from = output + (first * c->groups + group) * c->outer * w->n_positions * w->size;
    if (n == 1) {
        return from;
    }
    columns lines = {.windows = &w->outputs, .planes = (char *)from, .numbers = w->lines,
                     .term_step = n * w->n_positions, .n_images = n, .n_rows = 1};
    gather(&lines, c->outer);
    return w->lines;
}

static void
store(const work *w, const storing *s, npy_intp images)
{
    gs_task task = of_type(w->c->type, store_sums_float32, store_sums_float64);
    gs_parallel(task, (void *)s, images * s->channels, s->n / (s->position_step == 1 ? 4 : 1) + 4, 1);
}

/* ---- the output */

/* Some images, or some rows of one; with the columns of a group. */
typedef struct {
    npy_intp image, n_images, first_row, n_rows, n, n_columns; /* n: positions of an image */
    char *planes;
} part;

/* As many as fit, or some fewer that fill vectors better. */
static npy_intp
rows_at_once(const work *w)
{
    npy_intp positions = larger(GS_FEWEST_POSITIONS, GS_COLUMN_BYTES / (w->n_terms * w->size));
    npy_intp length = w->windows.length;
    npy_intp most = larger(1, smaller(w->windows.n_rows, positions / length)), best = most;
    if (w->is_plain || most == w->windows.n_rows) {
        return w->windows.n_rows;
    }
    for (npy_intp rows = most; 2 * rows > most; rows--) {
        if (gs_whole_tiles(w->size, rows * length) * best < gs_whole_tiles(w->size, best * length) * rows) {
            best = rows;
        }
    }
    return best;
}

/* Turned around, all weights have to be copied and all sums to be turned. */
static int
turns_output(const work *w, npy_intp n_columns)
{
    return 1.2 * (double)n_columns * (double)gs_whole_tiles(w->size, w->c->outer) <
           (double)gs_whole_tiles(w->size, n_columns) * (double)w->c->outer;
}

static int
multiply_output(work *w, const part *p, npy_intp group, const char *weight, const char *bias, char *output)
{
    const gs_convolution *c = w->c;
    int turns = turns_output(w, p->n_columns), in_place = p->n_images == 1 && !turns;
    npy_intp first = p->first_row * w->windows.length;
    columns found = {.windows = &w->windows, .planes = p->planes + group * c->inner * w->windows.channel_step * w->size,
                     .numbers = w->columns, .term_step = p->n_columns, .n_images = p->n_images,
                     .first_row = p->first_row, .n_rows = p->n_rows};
    char *to = output + (((p->image * c->groups + group) * c->outer) * w->n_positions + first) * w->size;
    weight += group * c->outer * w->n_terms * w->size;
    if (w->is_plain && p->n_images == 1) {
        found.numbers = found.planes;
    } else {
        gather(&found, w->n_terms);
    }
    gs_gemm_job job = {.type = c->type, .a = weight, .b = found.numbers, .c = in_place ? to : w->sums,
                       .m = c->outer, .k = w->n_terms, .n = p->n_columns, .a_row = w->n_terms, .a_column = 1,
                       .b_row = found.term_step, .b_column = 1, .c_row = in_place ? w->n_positions : p->n_columns};
    if (turns) {
        job = (gs_gemm_job){.type = c->type, .a = found.numbers, .b = weight, .c = w->sums, .m = p->n_columns,
                            .k = w->n_terms, .n = c->outer, .a_row = 1, .a_column = found.term_step, .b_row = 1,
                            .b_column = w->n_terms, .c_row = c->outer};
    }
    if (gs_product_into(&job) < 0) {
        return -1;
    }
    if (in_place && bias == NULL) {
        return 0;
    }
    storing s = {.sums = job.c, .bias = bias == NULL ? NULL : bias + group * c->outer * w->size, .to = to,
                 .channels = c->outer, .n = p->n, .channel_step = turns ? 1 : job.c_row,
                 .position_step = turns ? c->outer : 1, .to_image = c->groups * c->outer * w->n_positions,
                 .to_channel = w->n_positions};
    store(w, &s, p->n_images);
    return 0;
}

static int
multiply_outputs(work *w, part *p, const char *weight, const char *bias, char *output)
{
    npy_intp at_once = p->n_images == 1 ? rows_at_once(w) : w->windows.n_rows;
    for (p->first_row = 0; p->first_row < w->windows.n_rows; p->first_row += at_once) {
        p->n_rows = smaller(at_once, w->windows.n_rows - p->first_row);
        p->n = p->n_rows * w->windows.length;
        p->n_columns = p->n_images * p->n;
        for (npy_intp group = 0; group < w->c->groups; group++) {
            if (multiply_output(w, p, group, weight, bias, output) < 0) {
                return 0;
            }
        }
    }
    return 1;
}

int
gs_output_by_columns(const gs_convolution *c, const void *image, const void *weight, const void *bias, void *output)
{
    work w;
    if (!begin(&w, c)) {
        return end(&w, 0);
    }
    npy_intp at_once = gs_images_together(c, w.n_terms);
    npy_intp most = at_once == 1 ? rows_at_once(&w) * w.windows.length : at_once * w.n_positions;
    int is_done = allocate(&w, w.is_plain ? 0 : at_once * w.windows.image_step,
                                  w.is_plain && at_once == 1 ? 0 : w.n_terms * most, 0, c->outer * most);
    for (npy_intp i = 0; is_done && i < c->images; i += at_once) {
        part p = {.image = i, .n_images = smaller(at_once, c->images - i)};
        p.planes = planes_of(&w, image, i, p.n_images);
        is_done = multiply_outputs(&w, &p, weight, bias, output);
    }
    return end(&w, is_done);
}

/* ---- the image */

/* Some channels of a group, of some images. */
typedef struct {
    npy_intp image, n_images, group, channel, n_channels;
    const char *lines;
} channels;

static int
turns_image(const work *w, npy_intp n_columns, npy_intp n_terms)
{
    return 1.1 * (double)n_columns * (double)gs_whole_tiles(w->size, n_terms) <
           (double)gs_whole_tiles(w->size, n_columns) * (double)n_terms;
}

/* Columns added to planes, and these to the image. */
static void
add_to_image(work *w, const columns *found, char *to)
{
    const gs_convolution *c = w->c;
    const windows *v = found->windows;
    gs_task task = of_type(c->type, add_columns_float32, add_columns_float64);
    npy_intp cost = v->channel_step / 4 + v->n_taps * v->n_rows * (v->length / (found->position_step == 1 ? 4 : 1) + 4);
    gs_parallel(task, (void *)found, found->n_images * found->n_channels, cost, 1);
    npy_intp of_image = volume(c->image);
    Py_BEGIN_ALLOW_THREADS
    for (npy_intp i = 0; i < found->n_images; i++) {
        const char *planes = found->planes + i * found->n_channels * v->channel_step * w->size;
        gs_empty_planes(&w->layout, c->type, planes, found->n_channels,
                        to + i * c->groups * c->inner * of_image * w->size);
    }
    Py_END_ALLOW_THREADS
}

static int
multiply_image(work *w, const channels *p, const char *weight, char *image)
{
    const gs_convolution *c = w->c;
    npy_intp n_taps = w->windows.n_taps, m = p->n_channels * n_taps, n = p->n_images * w->n_positions;
    int turns = turns_image(w, n, m), in_place = w->is_plain && p->n_images == 1 && !turns;
    char *to = image + ((p->image * c->groups + p->group) * c->inner + p->channel) * volume(c->image) * w->size;
    weight += (p->group * c->outer * w->n_terms + p->channel * n_taps) * w->size;
    gs_gemm_job job = {.type = c->type, .a = weight, .b = p->lines, .c = in_place ? to : w->sums, .m = m, .k = c->outer,
                       .n = n, .a_row = 1, .a_column = w->n_terms, .b_row = n, .b_column = 1, .c_row = n};
    if (turns) {
        job = (gs_gemm_job){.type = c->type, .a = p->lines, .b = weight, .c = w->sums, .m = n, .k = c->outer, .n = m,
                            .a_row = 1, .a_column = n, .b_row = w->n_terms, .b_column = 1, .c_row = m};
    }
    if (gs_product_into(&job) < 0) {
        return 0;
    }
    npy_intp term_step = turns ? 1 : n, position_step = turns ? m : 1;
    if (w->is_plain && !in_place) {
        storing s = {.sums = w->sums, .to = to, .channels = p->n_channels, .n = w->n_positions,
                     .channel_step = term_step, .position_step = position_step,
                     .to_image = c->groups * c->inner * w->n_positions, .to_channel = w->n_positions};
        store(w, &s, p->n_images);
    } else if (!in_place) {
        columns found = {.windows = &w->windows, .planes = w->planes, .numbers = w->sums, .term_step = term_step,
                         .position_step = position_step, .n_channels = p->n_channels, .n_images = p->n_images};
        add_to_image(w, &found, to);
    }
    return 1;
}

int
gs_image_by_columns(const gs_convolution *c, const void *output, const void *weight, void *image)
{
    work w;
    if (!begin(&w, c)) {
        return end(&w, 0);
    }
    npy_intp at_once = gs_images_together(c, c->outer), n = at_once * w.n_positions, n_taps = w.windows.n_taps;
    npy_intp together = smaller(c->inner, larger(1, SUM_BYTES / (n * n_taps * w.size)));
    together = w.is_plain ? c->inner : ceil_div(c->inner, ceil_div(c->inner, together));
    int is_done = allocate(&w, w.is_plain ? 0 : at_once * together * w.windows.channel_step, 0,
                                  at_once == 1 ? 0 : c->outer * n, together * n_taps * n);
    for (npy_intp i = 0; is_done && i < c->images; i += at_once) {
        channels p = {.image = i, .n_images = smaller(at_once, c->images - i)};
        for (p.group = 0; is_done && p.group < c->groups; p.group++) {
            p.lines = lines_of(&w, output, i, p.n_images, p.group);
            for (p.channel = 0; is_done && p.channel < c->inner; p.channel += together) {
                p.n_channels = smaller(together, c->inner - p.channel);
                is_done = multiply_image(&w, &p, weight, image);
            }
        }
    }
    return end(&w, is_done);
}

/* ---- the weight */

static int
multiply_weight(work *w, const channels *p, char *planes, char *weight)
{
    const gs_convolution *c = w->c;
    npy_intp n_taps = w->windows.n_taps, n_terms = p->n_channels * n_taps, k = p->n_images * w->n_positions;
    int adds = p->image > 0;
    char *to = weight + (p->group * c->outer * w->n_terms + p->channel * n_taps) * w->size;
    columns found = {.windows = &w->windows, .planes = planes, .numbers = w->columns, .term_step = k,
                     .n_images = p->n_images, .n_rows = w->windows.n_rows};
    found.planes += (p->group * c->inner + p->channel) * w->windows.channel_step * w->size;
    if (w->is_plain && p->n_images == 1) {
        found.numbers = found.planes;
    } else {
        gather(&found, n_terms);
    }
    gs_gemm_job job = {.type = c->type, .a = p->lines, .b = found.numbers, .c = adds ? w->sums : to, .m = c->outer,
                       .k = k, .n = n_terms, .a_row = k, .a_column = 1, .b_row = 1, .b_column = k,
                       .c_row = adds ? n_terms : w->n_terms};
    if (gs_product_into(&job) < 0) {
        return 0;
    }
    if (adds) {
        storing s = {.sums = w->sums, .to = to, .n = n_terms, .channel_step = n_terms, .to_channel = w->n_terms};
        gs_task task = of_type(c->type, add_sums_float32, add_sums_float64);
        gs_parallel(task, &s, c->outer, n_terms / 4 + 4, 1);
    }
    return 1;
}

int
gs_weight_by_columns(const gs_convolution *c, const void *output, const void *image, void *weight)
{
    work w;
    if (!begin(&w, c)) {
        return end(&w, 0);
    }
    npy_intp at_once = smaller(c->images, larger(1, GS_MOST_POSITIONS / w.n_positions)), n = at_once * w.n_positions;
    npy_intp n_taps = w.windows.n_taps, together = larger(1, GS_COLUMN_BYTES / (n * n_taps * w.size));
    together = w.is_plain && at_once == 1 ? c->inner : ceil_div(c->inner, ceil_div(c->inner, together));
    int is_done = allocate(&w, w.is_plain ? 0 : at_once * w.windows.image_step,
                                  w.is_plain && at_once == 1 ? 0 : together * n_taps * n, at_once == 1 ? 0 : c->outer * n,
                                  at_once < c->images ? c->outer * together * n_taps : 0);
    for (npy_intp i = 0; is_done && i < c->images; i += at_once) {
        channels p = {.image = i, .n_images = smaller(at_once, c->images - i)};
        char *planes = planes_of(&w, image, i, p.n_images);
        for (p.group = 0; is_done && p.group < c->groups; p.group++) {
            p.lines = lines_of(&w, output, i, p.n_images, p.group);
            for (p.channel = 0; is_done && p.channel < c->inner; p.channel += together) {
                p.n_channels = smaller(together, c->inner - p.channel);
                is_done = multiply_weight(&w, &p, planes, weight);
            }
        }
    }
    return end(&w, is_done);
}
