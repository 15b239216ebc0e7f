/* Fused kernels: one loop for a whole pointwise formula.
 *
 * The loops are generated (generated/<family>_kernels.c); the executor that feeds them is fused.c.  This header is the
 * contract between the two.
 */
#ifndef GRADSMITH_FUSED_H
#define GRADSMITH_FUSED_H

#include <Python.h>
#include <stdint.h>
#include <numpy/npy_common.h>

#include "support/simd.h"

/* args: the inputs, then the output; each holds n contiguous aligned elements of the loop's type.  The output may be
 * exactly one of the inputs (same pointer), never a shifted part of it.  scalars: the kernel's numbers, as double. */
typedef void (*gs_fused_loop)(char **args, const double *scalars, npy_intp n);

#define GS_FUSED_MAX_INPUTS 8
#define GS_FUSED_MAX_SCALARS 8

/* Where the backward of a node finds an input: GS_GRAD + number of the output whose gradient it is, or GS_SAVED + slot
 * of the saved variable.  Scalars are numbers of the node's value slots. */
#define GS_GRAD 0x00
#define GS_SAVED 0x40

typedef struct {
    const char *name;
    gs_fused_loop loops[2]; /* float32, float64; both NULL: the result is the first input, unchanged */
    uint8_t n_inputs;
    uint8_t n_scalars;
    uint8_t cost; /* work per element, in multiples of one addition: decides when threads are worth it */
    uint8_t inputs[GS_FUSED_MAX_INPUTS];
    uint8_t scalars[GS_FUSED_MAX_SCALARS];
} gs_fused_kernel;

/* Passes the gradient of the first output through. */
static const gs_fused_kernel gs_pass GS_UNUSED = {"pass", {NULL, NULL}, 1, 0, 0, {GS_GRAD}, {0}};

#endif
