/* Note [Planes]
 *
 * A convolution is a product of matrices: weights, a row for each channel of the output, times windows of the image, a
 * column for each position.  The columns need not be written out.  Where an image is copied into a plane that has its
 * padding around it, the element that tap k of a window wants lies, for all positions in a row, at one and the same
 * distance from the position:
 *
 *     position   q = (row * plane width + column)         tap   offset = (k0 * plane width + k1)
 *     sums[m][q] = sum over channels and taps of weight[m][channel, tap] * plane[channel][q + offset of the tap]
 *
 * So the inner loop reads whole vectors, and needs a table of offsets alone.  At the end of each row it computes a few
 * positions that do not exist, which are not stored.  With a stride s a plane has every s-th element: there are s * s
 * planes, its phases, and a tap knows in which one it finds its elements.
 *
 * The gradient of the image is a convolution of the gradient of the output with the same weights; with a stride it
 * falls into one for each phase of the image, with the taps that reach it.
 *
 * The gradient of the weight sums over positions; see Note [Gradients of weights] in correlation.c.
 *
 * Sums have one order, whatever the number of threads.
 */
#include "columns.h"
#include "planes.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TERMS 256           /* of a panel that are multiplied with a tile while both are in L1 */
#define TILES 12            /* of positions in a block */
#define MOST_ROWS 48        /* of panels in a block */
#define WIDEST 128          /* bytes of a tile */
#define PHASES 256          /* of an image that are prepared at once */

/* Some panels times the positions of a block. */
typedef struct {
    const char *panels, *base;
    const npy_intp *offsets;
    npy_intp height, n_panels, n_terms, n_tiles;
    char *sums; /* [n_panels * height][n_tiles tiles] */
} product;

/* Where the sums of a block go to. */
typedef struct {
    npy_intp image, group, first_row, n_rows, first, last, sums_row;
} stored;

typedef struct kernels kernels;

/* The positions of one phase of a result. */
typedef struct {
    const gs_convolution *c;
    const kernels *kernels;
    gs_layout layout;
    npy_intp item_size, channels, rows; /* channels of the source and of the result, in a group */
    npy_intp group_step, channel_step, row_step; /* of the weight, in elements */
    npy_intp n_taps, n_terms;
    npy_intp *offsets, *places; /* of each term in planes; of each tap in the window */
    npy_intp height, n_panels;
    char *panels;
    npy_intp grid[GS_CONVOLVED], start[GS_CONVOLVED], step[GS_CONVOLVED], result[GS_CONVOLVED];
    npy_intp n_positions, n_blocks;
    const char *bias, *planes;
    char *to;
    npy_intp first_image;
} run;

typedef struct {
    const run *run;
    const char *weight;
} packing;

struct kernels {
    int width, lanes, most_rows;
    void (*multiply_block)(const product *);
    void (*store)(const run *, const stored *, const char *sums);
};

#define KERNELS "windows/convolution_kernels.h"
#include "instruction_sets/each_kernel.h"
#include "support/with_float32.h"
#include "convolution_panels.h"
#include "support/with_float64.h"
#include "convolution_panels.h"

/* ---- products */

static void
run_block(const run *r, npy_intp image, npy_intp group, npy_intp block)
{
    _Alignas(64) char sums[MOST_ROWS * TILES * WIDEST];
    npy_intp width = r->kernels->width, first = block * TILES * width;
    npy_intp last = smaller(first + TILES * width, r->n_positions);
    npy_intp panels_at_once = larger(1, MOST_ROWS / r->height);
    npy_intp of_image = r->c->groups * r->channels * r->layout.n_phases * r->layout.plane_size;
    npy_intp of_group = r->channels * r->layout.n_phases * r->layout.plane_size;
    product p = {
        .base = r->planes + (image * of_image + group * of_group + first) * r->item_size,
        .offsets = r->offsets,
        .height = r->height,
        .n_terms = r->n_terms,
        .n_tiles = (last - first + width - 1) / width,
        .sums = sums,
    };
    for (npy_intp panel = 0; panel < r->n_panels; panel += panels_at_once) {
        npy_intp row = panel * r->height;
        p.n_panels = smaller(panels_at_once, r->n_panels - panel);
        p.panels = r->panels + (group * r->n_panels + panel) * r->n_terms * r->height * r->item_size;
        if (r->n_terms == 0) {
            memset(sums, 0, sizeof(sums));
        }
        r->kernels->multiply_block(&p);
        stored to = {r->first_image + image, group, row, smaller(p.n_panels * r->height, r->rows - row), first, last,
                     p.n_tiles * width};
        r->kernels->store(r, &to, sums);
    }
}

/* Items are numbered block by block within a group, and group by group within an image. */
static void
run_blocks(void *context, npy_intp first, npy_intp last)
{
    const run *r = context;
    for (npy_intp i = first; i < last; i++) {
        npy_intp item = i / r->n_blocks;
        run_block(r, item / r->c->groups, item % r->c->groups, i % r->n_blocks);
    }
}

static void
run_images(run *r, npy_intp n_images)
{
    npy_intp n = n_images * r->c->groups * r->n_blocks;
    npy_intp cost = smaller(r->n_positions, TILES * r->kernels->width) * r->rows * (r->n_terms + 4) / 8 + 1;
    gs_parallel_run(run_blocks, r, n, gs_piece(n, cost, 1));
}

static void
pack_weights(run *r, const char *weight)
{
    packing p = {r, weight};
    gs_task task = r->c->type == NPY_FLOAT32 ? pack_panels_float32 : pack_panels_float64;
    npy_intp n = r->c->groups * r->n_panels;
    gs_parallel_run(task, &p, n, gs_piece(n, r->n_terms * r->height * 2 + 1, 1));
}

/* Offsets of all terms, once those of the taps in the first channel are there; and the weights.  0 without memory. */
static int
prepare_run(run *r, const npy_intp *tap_offsets, const char *weight)
{
    npy_intp most = r->kernels->most_rows;
    r->n_terms = r->channels * r->n_taps;
    r->height = (r->rows + (r->rows + most - 1) / most - 1) / ((r->rows + most - 1) / most);
    r->n_panels = (r->rows + r->height - 1) / r->height;
    r->n_positions = ((r->grid[0] - 1) * r->layout.extent[1] + r->grid[1] - 1) * r->layout.extent[2] + r->grid[2];
    r->n_blocks = (r->n_positions + TILES * r->kernels->width - 1) / (TILES * r->kernels->width);
    r->offsets = malloc(sizeof(npy_intp) * (size_t)(r->n_terms + 1));
    r->panels = malloc((size_t)(r->c->groups * r->n_panels * r->height * r->n_terms * r->item_size + 1));
    if (r->offsets == NULL || r->panels == NULL) {
        return 0;
    }
    for (npy_intp channel = 0; channel < r->channels; channel++) {
        for (npy_intp tap = 0; tap < r->n_taps; tap++) {
            npy_intp start = channel * r->layout.n_phases * r->layout.plane_size;
            r->offsets[channel * r->n_taps + tap] = start + tap_offsets[tap];
        }
    }
    pack_weights(r, weight);
    return 1;
}

static void
free_run(run *r)
{
    free(r->offsets);
    free(r->panels);
}

/* ---- the output */

static int
output_without_gil(const gs_convolution *c, const char *image, run *r, const char *weight)
{
    npy_intp n_taps = volume(c->window), per_image = c->groups * c->inner;
    npy_intp bytes = per_image * r->layout.n_phases * r->layout.plane_size * r->item_size;
    npy_intp at_once = gs_images_at_once(c, bytes);
    npy_intp *taps = malloc(sizeof(npy_intp) * 2 * (size_t)(n_taps + 1));
    char *planes = malloc((size_t)(at_once * bytes + 1));
    int is_ready = taps != NULL && planes != NULL;
    if (is_ready) {
        r->places = taps + n_taps;
        for (npy_intp tap = 0; tap < n_taps; tap++) {
            taps[tap] = gs_offset_in_image(c, &r->layout, tap);
            r->places[tap] = tap;
        }
        is_ready = prepare_run(r, taps, weight);
    }
    for (npy_intp i = 0; is_ready && i < c->images; i += at_once) {
        npy_intp n = smaller(at_once, c->images - i);
        const char *images = image + i * per_image * volume(c->image) * r->item_size;
        gs_fill_planes(&r->layout, c->type, images, n * per_image, planes);
        r->planes = planes;
        r->first_image = i;
        run_images(r, n);
    }
    free_run(r);
    free(planes);
    free(taps);
    return is_ready;
}

int
gs_convolve_output(const gs_convolution *c, const void *image, const void *weight, const void *bias, void *output)
{
    int is_done;
    run r = {
        .c = c,
        .kernels = BEST_KERNELS(kernels, c->type),
        .item_size = size_of_type(c->type),
        .channels = c->inner,
        .rows = c->outer,
        .group_step = c->outer * c->inner * volume(c->window),
        .channel_step = volume(c->window),
        .row_step = c->inner * volume(c->window),
        .n_taps = volume(c->window),
        .step = {1, 1, 1},
        .bias = bias,
        .to = output,
    };
    memcpy(r.grid, c->output, sizeof(r.grid));
    memcpy(r.result, c->output, sizeof(r.result));
    gs_lay_out_image(c, &r.layout);
    if (gs_output_suits_columns(c, &r.layout)) {
        return gs_output_by_columns(c, image, weight, bias, output);
    }
    Py_BEGIN_ALLOW_THREADS
    is_done = output_without_gil(c, image, &r, weight);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        PyErr_NoMemory();
    }
    return is_done - 1;
}

/* ---- the image */

/* The place of the output that tap k sends to place `at` of the image, in one dimension; 0: to none. */
static int
reaches(const gs_convolution *c, int dim, npy_intp at, npy_intp k, npy_intp *place)
{
    npy_intp distance = at + c->padding[dim] - k * c->dilation[dim], stride = c->stride[dim];
    if ((distance % stride + stride) % stride != 0) {
        return 0;
    }
    *place = distance < 0 ? -(-distance / stride) : distance / stride;
    return 1;
}

/* Of an output, so wide that no tap of any phase of the image leaves it. */
static void
lay_out_output(const gs_convolution *c, gs_layout *l)
{
    for (int i = 0; i < GS_CONVOLVED; i++) {
        npy_intp low = 0, high = 0, place;
        int is_first = 1;
        for (npy_intp phase = 0; phase < smaller(c->stride[i], c->image[i]); phase++) {
            for (npy_intp k = 0; k < c->window[i]; k++) {
                if (reaches(c, i, phase, k, &place)) {
                    low = is_first ? place : smaller(low, place);
                    high = is_first ? place : larger(high, place);
                    is_first = 0;
                }
            }
        }
        l->source[i] = c->output[i];
        l->step[i] = 1;
        l->first[i] = low;
        l->extent[i] = (c->image[i] + c->stride[i] - 1) / c->stride[i] + high - low;
    }
    gs_finish_layout(l);
}

/* The taps that reach a phase of the image. */
static void
list_taps(run *r, npy_intp *tap_offsets)
{
    const gs_convolution *c = r->c;
    r->n_taps = 0;
    for (npy_intp tap = 0; tap < volume(c->window); tap++) {
        npy_intp k[GS_CONVOLVED] = {tap / c->window[2] / c->window[1], tap / c->window[2] % c->window[1],
                                    tap % c->window[2]};
        npy_intp offset = 0, place;
        int is_there = 1;
        for (int i = 0; i < GS_CONVOLVED && is_there; i++) {
            is_there = reaches(c, i, r->start[i], k[i], &place);
            offset = offset * r->layout.extent[i] + place - r->layout.first[i];
        }
        if (is_there) {
            tap_offsets[r->n_taps] = offset;
            r->places[r->n_taps++] = tap;
        }
    }
}

/* The runs of some phases of the image, one for each.  Long strides have many phases, which take turns. */
typedef struct {
    run *runs;
    npy_intp first, n, sizes[GS_CONVOLVED];
} phases;

static int
prepare_phase(run *r, const npy_intp *phase, npy_intp *taps, const char *weight)
{
    for (int i = 0; i < GS_CONVOLVED; i++) {
        r->start[i] = phase[i];
        r->step[i] = r->c->stride[i];
        r->grid[i] = ceil_div(r->c->image[i] - phase[i], r->c->stride[i]);
    }
    r->places = taps + volume(r->c->window);
    list_taps(r, taps);
    return prepare_run(r, taps, weight);
}

/* From one that has what all have in common.  0 without memory. */
static int
prepare_phases(phases *p, const run *model, npy_intp *taps, const char *weight)
{
    int is_ready = 1;
    for (npy_intp i = 0; i < p->n; i++) {
        npy_intp number = p->first + i, third = number % p->sizes[2], rest = number / p->sizes[2];
        npy_intp phase[GS_CONVOLVED] = {rest / p->sizes[1], rest % p->sizes[1], third};
        p->runs[i] = *model;
        is_ready = is_ready && prepare_phase(&p->runs[i], phase, taps, weight);
    }
    return is_ready;
}

static void
run_phases(const phases *p, const char *output, char *planes, npy_intp per_image, npy_intp at_once)
{
    const run *r = p->runs;
    const gs_convolution *c = r->c;
    for (npy_intp image = 0; image < c->images; image += at_once) {
        npy_intp n = smaller(at_once, c->images - image);
        const char *outputs = output + image * per_image * volume(c->output) * r->item_size;
        gs_fill_planes(&r->layout, c->type, outputs, n * per_image, planes);
        for (npy_intp i = 0; i < p->n; i++) {
            p->runs[i].planes = planes;
            p->runs[i].first_image = image;
            run_images(&p->runs[i], n);
        }
    }
}

static int
image_without_gil(const gs_convolution *c, const char *output, const run *model, const char *weight)
{
    const gs_layout *l = &model->layout;
    npy_intp per_image = c->groups * c->outer, bytes = per_image * l->n_phases * l->plane_size * model->item_size;
    npy_intp at_once = gs_images_at_once(c, bytes);
    phases p = {.sizes = {smaller(c->stride[0], c->image[0]), smaller(c->stride[1], c->image[1]),
                          smaller(c->stride[2], c->image[2])}};
    npy_intp n_phases = volume(p.sizes);
    p.runs = malloc(sizeof(run) * (size_t)smaller(n_phases, PHASES));
    npy_intp *taps = malloc(sizeof(npy_intp) * 2 * (size_t)(volume(c->window) + 1));
    char *planes = malloc((size_t)(at_once * bytes + 1));
    int is_ready = planes != NULL && taps != NULL && p.runs != NULL;
    for (; is_ready && p.first < n_phases; p.first += PHASES) {
        p.n = smaller(PHASES, n_phases - p.first);
        is_ready = prepare_phases(&p, model, taps, weight);
        if (is_ready) {
            run_phases(&p, output, planes, per_image, at_once);
        }
        for (npy_intp i = 0; i < p.n; i++) {
            free_run(&p.runs[i]);
        }
    }
    free(planes);
    free(taps);
    free(p.runs);
    return is_ready;
}

#define HAS_NON_FINITE(NAME, INTEGER, EXPONENT)                                                                            \
    static int NAME(const INTEGER *bits, npy_intp n)                                                                       \
    {                                                                                                                      \
        int is_there = 0;                                                                                                  \
        for (npy_intp i = 0; i < n; i++) {                                                                                 \
            is_there |= (bits[i] & EXPONENT) == EXPONENT;                                                                  \
        }                                                                                                                  \
        return is_there;                                                                                                   \
    }

HAS_NON_FINITE(has_non_finite_float, uint32_t, UINT32_C(0x7f800000))
HAS_NON_FINITE(has_non_finite_double, uint64_t, UINT64_C(0x7ff0000000000000))

/* Planes multiply weights by the zeros around an output, which makes no difference unless a weight is infinite or NaN. */
static int
suits_planes(const gs_convolution *c, const gs_layout *l, const void *weight)
{
    npy_intp n = c->groups * c->outer * c->inner * volume(c->window);
    if (gs_image_suits_columns(c, l)) {
        return 0;
    }
    return c->type == NPY_FLOAT32 ? !has_non_finite_float(weight, n) : !has_non_finite_double(weight, n);
}

int
gs_convolve_image(const gs_convolution *c, const void *output, const void *weight, void *image)
{
    int is_done;
    run r = {
        .c = c,
        .kernels = BEST_KERNELS(kernels, c->type),
        .item_size = size_of_type(c->type),
        .channels = c->outer,
        .rows = c->inner,
        .group_step = c->outer * c->inner * volume(c->window),
        .channel_step = c->inner * volume(c->window),
        .row_step = volume(c->window),
        .to = image,
    };
    memcpy(r.result, c->image, sizeof(r.result));
    lay_out_output(c, &r.layout);
    if (!suits_planes(c, &r.layout, weight)) {
        return gs_image_by_columns(c, output, weight, image);
    }
    Py_BEGIN_ALLOW_THREADS
    is_done = image_without_gil(c, output, &r, weight);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        PyErr_NoMemory();
    }
    return is_done - 1;
}
