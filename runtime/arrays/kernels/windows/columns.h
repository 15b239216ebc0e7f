/* Convolutions as products of matrices; see Note [Columns] in columns.c. */
#ifndef GRADSMITH_COLUMNS_H
#define GRADSMITH_COLUMNS_H

#include "planes.h"

GS_HIDDEN_BEGIN

#define GS_TILE 128 /* bytes of a row of a product that are computed at once */

#define GS_COLUMN_BYTES (2 << 20) /* of columns at once */
#define GS_FEWEST_POSITIONS 128   /* at once, if there are so many */
#define GS_MOST_POSITIONS 2048
#define GS_LARGEST_IMAGE 4096 /* positions of one whose columns, of some channels, are there at once */

/* Is a product of matrices faster than what the planes alone can do, which are laid out like this?  It follows from the
 * sizes and from nothing else; see Note [Planes or columns] in choice.c. */
int gs_output_suits_columns(const gs_convolution *c, const gs_layout *planes);
int gs_image_suits_columns(const gs_convolution *c, const gs_layout *planes);
int gs_weight_suits_columns(const gs_convolution *c);

/* Is an image the matrix of its columns? */
int gs_is_its_columns(const gs_convolution *c);

/* How many images have their positions in one product, where a position needs so many numbers. */
npy_intp gs_images_together(const gs_convolution *c, npy_intp numbers);

/* As gs_convolve_output and so on. */
int gs_output_by_columns(const gs_convolution *c, const void *image, const void *weight, const void *bias, void *output);
int gs_image_by_columns(const gs_convolution *c, const void *output, const void *weight, void *image);
int gs_weight_by_columns(const gs_convolution *c, const void *output, const void *image, void *weight);

GS_HIDDEN_END

/* n numbers and those that fill up the last tile. */
static inline npy_intp
gs_whole_tiles(npy_intp size, npy_intp n)
{
    npy_intp numbers = GS_TILE / size;
    return ceil_div(n, numbers) * numbers;
}

#endif
