/* Random bits in large numbers, and the numbers that are made of them. See Note [Streams] in bits_kernels.c. */
#ifndef GRADSMITH_BITS_KERNELS_H
#define GRADSMITH_BITS_KERNELS_H

#include <Python.h>
#include <stdint.h>
#include <numpy/npy_common.h>

/* Elements of one stream: a job for one thread. */
#define GS_STREAM ((npy_intp)1 << 18)

/* All functions write the elements of stream number `stream` into `out`, n <= GS_STREAM of them; none needs the GIL. */
typedef struct {
    uint64_t key[2];
    uint64_t stream;
} gs_stream;

/* Ones with probability threshold / 2^64. */
void gs_fill_kept(const gs_stream *s, uint64_t threshold, uint8_t *out, npy_intp n);
void gs_fill_even_float(const gs_stream *s, float *out, npy_intp n);
void gs_fill_even_double(const gs_stream *s, double *out, npy_intp n);
void gs_fill_normal_float(const gs_stream *s, float *out, npy_intp n);
/* low + k for k < range <= 2^32. */
void gs_fill_int32(const gs_stream *s, uint64_t range, int32_t low, int32_t *out, npy_intp n);
void gs_fill_int64(const gs_stream *s, uint64_t range, int64_t low, int64_t *out, npy_intp n);

/* out = x * (kept ? scale : 0) + (kept ? above : below); nothing is added where both are zero. */
typedef struct {
    double scale, above, below;
} gs_kept_numbers;

void gs_keep_float(const gs_kept_numbers *k, const float *x, const uint8_t *kept, float *out, npy_intp n);
void gs_keep_double(const gs_kept_numbers *k, const double *x, const uint8_t *kept, double *out, npy_intp n);

#endif
