#include "planes.h"
#include "threads/thread_pool.h"

#define CHUNK (768 << 10) /* bytes of planes, of as many images, that are filled before they are used */

typedef struct {
    const gs_layout *layout;
    const char *source;
    char *planes;
} filling;

typedef struct {
    const gs_layout *layout;
    const char *planes;
    char *image;
    int covers; /* has each element of the image a place in a plane? */
} emptying;

/* Which places of a plane's row lie in the source, and where in the source the row begins, which may be before it. */
typedef struct {
    npy_intp start, end, begin;
} piece;

static piece
piece_of_row(const gs_layout *l, npy_intp phase)
{
    npy_intp step = l->step[2], begin = phase + l->first[2];
    npy_intp start = begin < 0 ? smaller((step - 1 - begin) / step, l->extent[2]) : 0;
    npy_intp end = l->source[2] <= begin ? 0 : smaller(ceil_div(l->source[2] - begin, step), l->extent[2]);
    return (piece){start, larger(start, end), begin};
}

static int
is_read(const gs_layout *l, const npy_intp *phase)
{
    return phase[0] < l->n_read[0] && phase[1] < l->n_read[1] && phase[2] < l->n_read[2];
}

#include "support/with_float32.h"
#include "planes_fill.h"
#include "support/with_float64.h"
#include "planes_fill.h"

void
gs_finish_layout(gs_layout *l)
{
    memcpy(l->n_read, l->step, sizeof l->n_read);
    l->n_phases = volume(l->step);
    l->plane_size = volume(l->extent) + GS_SLACK;
}

/* In which there are taps. */
static npy_intp
last_phase(npy_intp window, npy_intp dilation, npy_intp stride)
{
    npy_intp last = 0;
    for (npy_intp k = 0; k < window; k++) {
        last = larger(last, k * dilation % stride);
    }
    return last;
}

void
gs_lay_out_image(const gs_convolution *c, gs_layout *l)
{
    for (int i = 0; i < GS_CONVOLVED; i++) {
        l->source[i] = c->image[i];
        l->step[i] = c->stride[i];
        l->first[i] = -c->padding[i];
        l->extent[i] = c->output[i] + (c->window[i] - 1) * c->dilation[i] / c->stride[i];
    }
    gs_finish_layout(l);
    for (int i = 0; i < GS_CONVOLVED; i++) {
        l->n_read[i] = last_phase(c->window[i], c->dilation[i], c->stride[i]) + 1;
    }
}

npy_intp
gs_offset_in_image(const gs_convolution *c, const gs_layout *l, npy_intp tap)
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

void
gs_fill_planes(const gs_layout *l, int type, const char *source, npy_intp channels, char *planes)
{
    filling f = {l, source, planes};
    gs_task task = type == NPY_FLOAT32 ? fill_channels_float32 : fill_channels_float64;
    gs_parallel_run(task, &f, channels, gs_piece(channels, l->n_phases * l->plane_size, 1));
}

static int
covers_image(const gs_layout *l)
{
    int covers = 1;
    for (int i = 0; i < GS_CONVOLVED; i++) {
        covers = covers && l->first[i] <= 0 && l->first[i] + l->extent[i] * l->step[i] >= l->source[i];
    }
    return covers;
}

void
gs_empty_planes(const gs_layout *l, int type, const char *planes, npy_intp channels, char *image)
{
    emptying e = {l, planes, image, covers_image(l)};
    gs_task task = type == NPY_FLOAT32 ? empty_channels_float32 : empty_channels_float64;
    gs_parallel_run(task, &e, channels, gs_piece(channels, l->n_phases * l->plane_size, 1));
}

npy_intp
gs_images_at_once(const gs_convolution *c, npy_intp bytes_of_image)
{
    return smaller(c->images, larger(1, CHUNK / larger(1, bytes_of_image)));
}
