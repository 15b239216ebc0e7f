/* Note [Planes or columns]
 *
 * What a convolution costs by either way (Note [Planes] in convolution.c, Note [Columns] in columns.c) is estimated from its
 * sizes, in multiplications of vectors, of which there is about one in a cycle.  The factors were measured.  Vectors are the
 * widest ones on every processor, so that all choose alike.
 */
#include "columns.h"

typedef struct {
    double positions, terms, outer;        /* of all images; of a group */
    double padded_terms;                   /* to whole tiles of a product */
    double lanes;                          /* numbers of a vector */
    double copying;                        /* an element of a column */
} sizes;

int
gs_is_its_columns(const gs_convolution *c)
{
    for (int i = 0; i < GS_CONVOLVED; i++) {
        if (c->window[i] != 1 || c->padding[i] != 0 || c->stride[i] != 1 || c->image[i] != c->output[i]) {
            return 0;
        }
    }
    return 1;
}

/* Rows of columns that are joined are copied faster. */
static int
has_overlaps(const gs_convolution *c)
{
    return (c->window[2] - 1) * c->dilation[2] >= c->stride[2];
}

npy_intp
gs_images_together(const gs_convolution *c, npy_intp numbers)
{
    npy_intp fit = larger(GS_FEWEST_POSITIONS, GS_COLUMN_BYTES / (numbers * size_of_type(c->type)));
    npy_intp positions = smaller(GS_MOST_POSITIONS, fit);
    return smaller(c->images, larger(1, positions / volume(c->output)));
}

/* Of products of the positions of some images each, with some rows; those of few positions are turned around. */
static double
padded(const gs_convolution *c, npy_intp together, npy_intp rows)
{
    npy_intp size = size_of_type(c->type), n = together * volume(c->output);
    double turned = 1.1 * (double)n * (double)gs_whole_tiles(size, rows) / (double)rows;
    double plain = (double)gs_whole_tiles(size, n);
    return (double)c->images / (double)together * (turned < plain ? turned : plain);
}

static sizes
sizes_of(const gs_convolution *c)
{
    npy_intp size = size_of_type(c->type), terms = c->inner * volume(c->window);
    npy_intp positions = c->images * volume(c->output);
    return (sizes){
        .positions = (double)positions,
        .terms = (double)terms,
        .outer = (double)c->outer,
        .padded_terms = (double)gs_whole_tiles(size, terms),
        .lanes = (double)(GS_TILE / 2 / size),
        .copying = gs_is_its_columns(c) ? 0.3 : has_overlaps(c) ? 1 : 0.5,
    };
}

static int
is_too_large(const gs_convolution *c)
{
    return volume(c->output) > GS_LARGEST_IMAGE && !gs_is_its_columns(c);
}

/* Of a group of one image: how many positions in a plane, rows of the result, and products of weights for each. */
typedef struct {
    double positions, rows, terms;
} by_planes;

/* The fewer the rows, the more loads there are for each product.  Weights are packed, and sums go through a buffer. */
static double
cost_of_planes(const gs_convolution *c, const by_planes *p, double stored)
{
    double products = (double)c->images * p->positions * p->rows * p->terms / sizes_of(c).lanes;
    return products * (1.05 + 0.5 / p->rows) + 1.5 * p->rows * p->terms + 0.8 * stored;
}

static double
positions_in_planes(const gs_convolution *c, const npy_intp *grid, const npy_intp *extent)
{
    npy_intp n = ((grid[0] - 1) * extent[1] + grid[1] - 1) * extent[2] + grid[2];
    return (double)gs_whole_tiles(size_of_type(c->type), n);
}

int
gs_output_suits_columns(const gs_convolution *c, const gs_layout *planes)
{
    sizes s = sizes_of(c);
    by_planes p = {positions_in_planes(c, c->output, planes->extent), s.outer, s.terms};
    double stored = s.outer * s.positions;
    double positions = padded(c, gs_images_together(c, c->inner * volume(c->window)), c->outer);
    /* What is copied is read again from L2 or from memory, as long columns of few positions are. */
    double cost = 1.05 * positions * s.outer * s.terms / s.lanes + 4 * s.copying * s.terms * s.positions + stored;
    return cost < cost_of_planes(c, &p, stored);
}

int
gs_image_suits_columns(const gs_convolution *c, const gs_layout *planes)
{
    sizes s = sizes_of(c);
    npy_intp grid[GS_CONVOLVED]; /* of a phase of the image; each tap belongs to one */
    for (int i = 0; i < GS_CONVOLVED; i++) {
        grid[i] = ceil_div(c->image[i], c->stride[i]);
    }
    by_planes p = {positions_in_planes(c, grid, planes->extent), (double)c->inner, s.outer * (double)volume(c->window)};
    double stored = (double)c->images * (double)c->inner * (double)volume(c->image);
    double positions = padded(c, gs_images_together(c, c->outer), c->inner * volume(c->window));
    double cost = 1.05 * positions * s.outer * s.terms / s.lanes + (1 + 1.5 * s.copying) * s.terms * s.positions;
    return !is_too_large(c) && cost < cost_of_planes(c, &p, stored);
}

int
gs_weight_suits_columns(const gs_convolution *c)
{
    sizes s = sizes_of(c);
    double outputs = s.positions * s.outer;
    double cost = outputs * s.padded_terms / s.lanes + 1.5 * s.copying * s.terms * s.positions;
    return !is_too_large(c) && cost < 1.2 * outputs * s.terms / s.lanes + outputs;
}
