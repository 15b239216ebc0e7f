/* Images of a convolution as planes; see Note [Planes] in convolution.c. */
#ifndef GRADSMITH_PLANES_H
#define GRADSMITH_PLANES_H

#include "convolution.h"
#include "support/simd.h"

#include <string.h>

GS_HIDDEN_BEGIN

typedef struct {
    npy_intp source[GS_CONVOLVED], step[GS_CONVOLVED], extent[GS_CONVOLVED];
    npy_intp first[GS_CONVOLVED]; /* the place in the source that comes first in a plane */
    npy_intp n_phases, plane_size; /* elements, with the slack */
    npy_intp n_read[GS_CONVOLVED]; /* phases along each dimension from the first on; no tap is in the others */
} gs_layout;

#define GS_SLACK 32 /* elements after a plane, which the last tile reads */

/* Counts phases and elements, once the rest is filled in. */
void gs_finish_layout(gs_layout *l);

/* Of an image for its windows: a phase for each remainder of the stride. */
void gs_lay_out_image(const gs_convolution *c, gs_layout *l);

/* Where a tap of the window, counted through, finds its elements in the planes of an image. */
npy_intp gs_offset_in_image(const gs_convolution *c, const gs_layout *l, npy_intp tap);

/* The channels of one or more sources, one after the other. */
void gs_fill_planes(const gs_layout *l, int type, const char *source, npy_intp channels, char *planes);

/* The way back: what lies in the planes of one image, to its channels. */
void gs_empty_planes(const gs_layout *l, int type, const char *planes, npy_intp channels, char *image);

/* As many images as fit into a chunk. */
npy_intp gs_images_at_once(const gs_convolution *c, npy_intp bytes_of_image);

GS_HIDDEN_END

static inline npy_intp
smaller(npy_intp a, npy_intp b)
{
    return a < b ? a : b;
}

static inline npy_intp
larger(npy_intp a, npy_intp b)
{
    return a > b ? a : b;
}

static inline npy_intp
ceil_div(npy_intp a, npy_intp b)
{
    return (a + b - 1) / b;
}

static inline npy_intp
volume(const npy_intp *sizes)
{
    return sizes[0] * sizes[1] * sizes[2];
}

static inline npy_intp
size_of_type(int type)
{
    return type == NPY_FLOAT32 ? 4 : 8;
}

/* Rows are short, and a call of memcpy or memset for each would take longer than what it does.  Numbers of bytes are
 * multiples of four; those at the end may be written twice. */
GS_INLINE void
copy_bytes(char *to, const char *from, npy_intp n)
{
    if (n >= 32) {
        for (npy_intp i = 0; i + 32 <= n; i += 32) {
            memcpy(to + i, from + i, 32);
        }
        memcpy(to + n - 32, from + n - 32, 32);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n == 4) {
        memcpy(to, from, 4);
    }
}

GS_INLINE void
clear_bytes(char *to, npy_intp n)
{
    if (n > 64) {
        memset(to, 0, (size_t)n);
    } else if (n >= 16) {
        for (npy_intp i = 0; i + 16 <= n; i += 16) {
            memset(to + i, 0, 16);
        }
        memset(to + n - 16, 0, 16);
    } else if (n >= 8) {
        memset(to, 0, 8);
        memset(to + n - 8, 0, 8);
    } else if (n == 4) {
        memset(to, 0, 4);
    }
}

#endif
