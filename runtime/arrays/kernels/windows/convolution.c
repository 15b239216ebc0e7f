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
 * The gradient of the weight sums over positions: products of rows of the output with the same rows of planes.
 *
 * Sums have one order, whatever the number of threads.
 */
#include "convolution.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TERMS 256           /* of a panel that are multiplied with a tile while both are in L1 */
#define TILES 12            /* of positions in a block */
#define MOST_ROWS 48        /* of panels in a block */
#define WIDEST 128          /* bytes of a tile */
#define SLACK 32            /* elements after a plane, which the last tile reads */
#define TILE_ROWS 4         /* of output times TILE_TERMS rows of planes are correlated at once */
#define TILE_TERMS 3
#define CHUNK (4 << 20)     /* bytes of planes, of as many images, that are filled before they are used */
#define NEAR (256 << 10)    /* bytes of planes that stay near while all channels of the output go over them */

typedef struct {
    npy_intp source[GS_CONVOLVED], step[GS_CONVOLVED], extent[GS_CONVOLVED];
    npy_intp first[GS_CONVOLVED]; /* the place in the source that comes first in a plane */
    npy_intp n_phases, plane_size; /* elements, with the slack */
} layout;

typedef struct {
    const layout *layout;
    const char *source;
    char *planes;
} filling;

typedef struct {
    const char *source;
    char *padded;
    npy_intp length, padded_length;
} padding;

/* Some panels times the positions of a block. */
typedef struct {
    const char *panels, *base;
    const npy_intp *offsets;
    npy_intp height, n_panels, n_terms, n_tiles;
    char *sums; /* [n_panels * height][n_tiles tiles] */
} product;

/* Some rows of an output, of a few channels, with all terms. */
typedef struct {
    const char *output, *plane;
    char *weight;
    const npy_intp *offsets;
    npy_intp height, n_terms, weight_step, output_step;
    npy_intp first_row, last_row, rows, row_step, plane_step, length, padded_length;
} correlation;

typedef struct {
    int width, lanes, most_rows;
    void (*multiply_block)(const product *);
    void (*correlate_rows)(const correlation *);
} kernels;

/* The positions of one phase of a result. */
typedef struct {
    const gs_convolution *c;
    const kernels *kernels;
    layout layout;
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

static npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static npy_intp
larger(npy_intp a, npy_intp b)
{
    return a > b ? a : b;
}

static npy_intp
volume(const npy_intp *sizes)
{
    return sizes[0] * sizes[1] * sizes[2];
}

/* The bits of the first lanes of a vector, from a place before the middle on. */
#define FOUR(value) value, value, value, value
static const int32_t masks_of_floats[32] = {FOUR(-1), FOUR(-1), FOUR(-1), FOUR(-1)};
static const int64_t masks_of_doubles[16] = {FOUR(-1), FOUR(-1)};
#undef FOUR

/* ---- inner loops for each type and instruction set */

#define SUFFIXED_(name, suffix, isa) name##_##suffix##_##isa
#define SUFFIXED(name, suffix, isa) SUFFIXED_(name, suffix, isa)
#define NAME(x) SUFFIXED(x, SUFFIX, ISA)

#define TARGET
#define BYTES 16
#define ROWS 4
#define ISA baseline
#include "convolution_types.h"
#undef TARGET
#undef BYTES
#undef ROWS
#undef ISA

#if !defined(GRADSMITH_NO_CLONES) && defined(__x86_64__) && defined(__GNUC__)
#define HAS_ISAS
#define TARGET __attribute__((target("avx2,fma")))
#define BYTES 32
#define ROWS 6
#define ISA avx2
#include "convolution_types.h"
#undef TARGET
#undef BYTES
#undef ROWS
#undef ISA

#if defined(__clang__)
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma"), min_vector_width(512)))
#else
#define TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma")))
#endif
#define BYTES 64
#define ROWS 12
#define ISA avx512
#include "convolution_types.h"
#undef TARGET
#undef BYTES
#undef ROWS
#undef ISA
#endif
#undef NAME

#include "support/with_float32.h"
#include "convolution_layout.h"
#include "support/with_float64.h"
#include "convolution_layout.h"

static const kernels *
kernels_for(int type)
{
#if defined(HAS_ISAS)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq")) {
        return type == NPY_FLOAT32 ? &kernels_float_avx512 : &kernels_double_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return type == NPY_FLOAT32 ? &kernels_float_avx2 : &kernels_double_avx2;
    }
#endif
    return type == NPY_FLOAT32 ? &kernels_float_baseline : &kernels_double_baseline;
}

/* ---- planes */

static void
finish_layout(layout *l)
{
    l->n_phases = volume(l->step);
    l->plane_size = volume(l->extent) + SLACK;
}

/* Of an image for its windows: a phase for each remainder of the stride. */
static void
lay_out_image(const gs_convolution *c, layout *l)
{
    for (int i = 0; i < GS_CONVOLVED; i++) {
        l->source[i] = c->image[i];
        l->step[i] = c->stride[i];
        l->first[i] = -c->padding[i];
        l->extent[i] = c->output[i] + (c->window[i] - 1) * c->dilation[i] / c->stride[i];
    }
    finish_layout(l);
}

/* Where a tap of the window, counted through, finds its elements in the planes of an image. */
static npy_intp
offset_in_image(const gs_convolution *c, const layout *l, npy_intp tap)
{
    npy_intp phase = 0, offset = 0, k[GS_CONVOLVED];
    k[2] = tap % c->window[2];
    k[1] = tap / c->window[2] % c->window[1];
    k[0] = tap / c->window[2] / c->window[1];
    for (int i = 0; i < GS_CONVOLVED; i++) {
        npy_intp place = k[i] * c->dilation[i];
        phase = phase * c->stride[i] + place % c->stride[i];
        offset = offset * l->extent[i] + place / c->stride[i];
    }
    return phase * l->plane_size + offset;
}

static void
fill_planes(const layout *l, int type, const char *source, npy_intp channels, char *planes)
{
    filling f = {l, source, planes};
    gs_task task = type == NPY_FLOAT32 ? fill_channels_float32 : fill_channels_float64;
    gs_parallel_run(task, &f, channels, gs_piece(channels, l->n_phases * l->plane_size, 1));
}

/* As many images as fit into a chunk. */
static npy_intp
images_at_once(const gs_convolution *c, npy_intp bytes_of_image)
{
    return smaller(c->images, larger(1, CHUNK / larger(1, bytes_of_image)));
}

/* ---- products */

static void
run_block(const run *r, npy_intp image, npy_intp group, npy_intp block)
{
    _Alignas(64) char sums[MOST_ROWS * TILES * WIDEST];
    npy_intp width = r->kernels->width, first = block * TILES * width;
    npy_intp last = smaller(first + TILES * width, r->n_positions), to = r->first_image + image;
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
        npy_intp n_rows = smaller(p.n_panels * r->height, r->rows - row);
        if (r->c->type == NPY_FLOAT32) {
            store_float32(r, to, group, row, n_rows, first, last, (float *)sums, p.n_tiles * width);
        } else {
            store_float64(r, to, group, row, n_rows, first, last, (double *)sums, p.n_tiles * width);
        }
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
    if (r->c->type == NPY_FLOAT32) {
        pack_weights_float32(r, (const float *)weight, (float *)r->panels);
    } else {
        pack_weights_float64(r, (const double *)weight, (double *)r->panels);
    }
    return 1;
}

static void
free_run(run *r)
{
    free(r->offsets);
    free(r->panels);
}

static npy_intp
size_of_type(int type)
{
    return type == NPY_FLOAT32 ? 4 : 8;
}

/* ---- the output */

static int
output_without_gil(const gs_convolution *c, const char *image, run *r, const char *weight)
{
    npy_intp n_taps = volume(c->window), per_image = c->groups * c->inner;
    npy_intp bytes = per_image * r->layout.n_phases * r->layout.plane_size * r->item_size;
    npy_intp at_once = images_at_once(c, bytes);
    npy_intp *taps = malloc(sizeof(npy_intp) * 2 * (size_t)(n_taps + 1));
    char *planes = malloc((size_t)(at_once * bytes + 1));
    int is_ready = taps != NULL && planes != NULL;
    if (is_ready) {
        r->places = taps + n_taps;
        for (npy_intp tap = 0; tap < n_taps; tap++) {
            taps[tap] = offset_in_image(c, &r->layout, tap);
            r->places[tap] = tap;
        }
        is_ready = prepare_run(r, taps, weight);
    }
    for (npy_intp i = 0; is_ready && i < c->images; i += at_once) {
        npy_intp n = smaller(at_once, c->images - i);
        const char *images = image + i * per_image * volume(c->image) * r->item_size;
        fill_planes(&r->layout, c->type, images, n * per_image, planes);
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
        .kernels = kernels_for(c->type),
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
    lay_out_image(c, &r.layout);
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
lay_out_output(const gs_convolution *c, layout *l)
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
    finish_layout(l);
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

static int
run_phase(run *r, const npy_intp *phase, npy_intp *tap_offsets, const char *weight, npy_intp n_images)
{
    for (int i = 0; i < GS_CONVOLVED; i++) {
        r->start[i] = phase[i];
        r->step[i] = r->c->stride[i];
        r->grid[i] = (r->c->image[i] - phase[i] + r->c->stride[i] - 1) / r->c->stride[i];
    }
    list_taps(r, tap_offsets);
    int is_ready = prepare_run(r, tap_offsets, weight);
    if (is_ready) {
        run_images(r, n_images);
    }
    free_run(r);
    return is_ready;
}

static int
run_phases(run *r, npy_intp *taps, const char *weight, npy_intp n_images)
{
    const gs_convolution *c = r->c;
    npy_intp phase[GS_CONVOLVED];
    for (phase[0] = 0; phase[0] < smaller(c->stride[0], c->image[0]); phase[0]++) {
        for (phase[1] = 0; phase[1] < smaller(c->stride[1], c->image[1]); phase[1]++) {
            for (phase[2] = 0; phase[2] < smaller(c->stride[2], c->image[2]); phase[2]++) {
                if (!run_phase(r, phase, taps, weight, n_images)) {
                    return 0;
                }
            }
        }
    }
    return 1;
}

static int
image_without_gil(const gs_convolution *c, const char *output, run *r, const char *weight)
{
    npy_intp n_taps = volume(c->window), per_image = c->groups * c->outer;
    npy_intp bytes = per_image * r->layout.n_phases * r->layout.plane_size * r->item_size;
    npy_intp at_once = images_at_once(c, bytes);
    npy_intp *taps = malloc(sizeof(npy_intp) * 2 * (size_t)(n_taps + 1));
    char *planes = malloc((size_t)(at_once * bytes + 1));
    int is_ready = taps != NULL && planes != NULL;
    for (npy_intp i = 0; is_ready && i < c->images; i += at_once) {
        npy_intp n = smaller(at_once, c->images - i);
        const char *outputs = output + i * per_image * volume(c->output) * r->item_size;
        fill_planes(&r->layout, c->type, outputs, n * per_image, planes);
        r->planes = planes;
        r->places = taps + n_taps;
        r->first_image = i;
        is_ready = run_phases(r, taps, weight, n);
    }
    free(planes);
    free(taps);
    return is_ready;
}

int
gs_convolve_image(const gs_convolution *c, const void *output, const void *weight, void *image)
{
    int is_done;
    run r = {
        .c = c,
        .kernels = kernels_for(c->type),
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
    Py_BEGIN_ALLOW_THREADS
    is_done = image_without_gil(c, output, &r, weight);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        PyErr_NoMemory();
    }
    return is_done - 1;
}

/* ---- the weight */

typedef struct {
    const gs_convolution *c;
    const kernels *kernels;
    const layout *layout;
    npy_intp item_size, n_terms, n_tiles; /* tiles of channels of the output, in a group */
    const npy_intp *offsets;
    const char *planes, *padded;
    npy_intp padded_length, n_images;
    char *weight;
} weighing;

static void
weigh_tile(const weighing *w, npy_intp image, npy_intp group, npy_intp row)
{
    const gs_convolution *c = w->c;
    const layout *l = w->layout;
    npy_intp n_rows = c->output[0] * c->output[1], channel = group * c->outer + row;
    npy_intp of_group = c->inner * l->n_phases * l->plane_size;
    npy_intp near = larger(8, NEAR / w->item_size / larger(1, c->inner * l->n_phases * l->extent[2]));
    correlation r = {
        .output = w->padded + (image * c->groups * c->outer + channel) * n_rows * w->padded_length * w->item_size,
        .plane = w->planes + (image * c->groups + group) * of_group * w->item_size,
        .weight = w->weight + channel * w->n_terms * w->item_size,
        .offsets = w->offsets,
        .height = smaller(TILE_ROWS, c->outer - row),
        .n_terms = w->n_terms,
        .weight_step = w->n_terms,
        .output_step = n_rows * w->padded_length,
        .rows = c->output[1],
        .row_step = l->extent[2],
        .plane_step = l->extent[1] * l->extent[2],
        .length = c->output[2],
        .padded_length = w->padded_length,
    };
    for (; r.first_row < n_rows; r.first_row = r.last_row) {
        r.last_row = smaller(n_rows, r.first_row + near);
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
weigh_images(weighing *w, const char *output, char *padded, npy_intp n_images)
{
    const gs_convolution *c = w->c;
    npy_intp rows = n_images * c->groups * c->outer * c->output[0] * c->output[1];
    padding p = {output, padded, c->output[2], w->padded_length};
    gs_parallel_run(c->type == NPY_FLOAT32 ? pad_rows_float32 : pad_rows_float64, &p, rows,
                    gs_piece(rows, w->padded_length / 4 + 1, 1));
    w->padded = padded;
    w->n_images = n_images;
    npy_intp n = c->groups * w->n_tiles;
    npy_intp cost = n_images * TILE_ROWS * w->n_terms * c->output[0] * c->output[1] * w->padded_length / 8;
    gs_parallel_run(weigh_tiles, w, n, gs_piece(n, cost, 1));
}

static int
weight_without_gil(weighing *w, const char *output, const char *image)
{
    const gs_convolution *c = w->c;
    const layout *l = w->layout;
    npy_intp n_taps = volume(c->window), in_image = c->groups * c->inner, in_output = c->groups * c->outer;
    npy_intp plane_bytes = in_image * l->n_phases * l->plane_size * w->item_size;
    npy_intp padded_bytes = in_output * c->output[0] * c->output[1] * w->padded_length * w->item_size;
    npy_intp at_once = images_at_once(c, plane_bytes + padded_bytes);
    npy_intp *offsets = malloc(sizeof(npy_intp) * (size_t)(w->n_terms + 1));
    char *planes = malloc((size_t)(at_once * plane_bytes + 1)), *padded = malloc((size_t)(at_once * padded_bytes + 1));
    int is_ready = offsets != NULL && planes != NULL && padded != NULL;
    for (npy_intp term = 0; is_ready && term < w->n_terms; term++) {
        npy_intp start = term / n_taps * l->n_phases * l->plane_size;
        offsets[term] = start + offset_in_image(c, l, term % n_taps);
    }
    memset(w->weight, 0, (size_t)(in_output * w->n_terms * w->item_size));
    for (npy_intp i = 0; is_ready && i < c->images; i += at_once) {
        npy_intp n = smaller(at_once, c->images - i);
        fill_planes(l, c->type, image + i * in_image * volume(c->image) * w->item_size, n * in_image, planes);
        w->planes = planes;
        w->offsets = offsets;
        weigh_images(w, output + i * in_output * volume(c->output) * w->item_size, padded, n);
    }
    free(padded);
    free(planes);
    free(offsets);
    return is_ready;
}

int
gs_convolve_weight(const gs_convolution *c, const void *output, const void *image, void *weight)
{
    int is_done;
    layout l;
    lay_out_image(c, &l);
    weighing w = {
        .c = c,
        .kernels = kernels_for(c->type),
        .layout = &l,
        .item_size = size_of_type(c->type),
        .n_terms = c->inner * volume(c->window),
        .n_tiles = (c->outer + TILE_ROWS - 1) / TILE_ROWS,
        .weight = weight,
    };
    w.padded_length = (c->output[2] + w.kernels->lanes - 1) / w.kernels->lanes * w.kernels->lanes;
    Py_BEGIN_ALLOW_THREADS
    is_done = weight_without_gil(&w, output, image);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        PyErr_NoMemory();
    }
    return is_done - 1;
}
