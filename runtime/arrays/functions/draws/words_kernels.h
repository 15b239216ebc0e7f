/* Random numbers by the words of a bit generator of NumPy, in the order in which NumPy's `Generator` reads them: the same
 * numbers to the last bit. See Note [Normal numbers by words] in words_kernels.c. */
#ifndef GRADSMITH_WORDS_KERNELS_H
#define GRADSMITH_WORDS_KERNELS_H

#include <Python.h>
#include <stdint.h>
#include <numpy/npy_common.h>
#include <numpy/random/bitgen.h>

/* None needs the GIL, but the generator has to be locked. */
void gs_words_even_float(bitgen_t *source, float *out, npy_intp n);
void gs_words_even_double(bitgen_t *source, double *out, npy_intp n);
void gs_words_normal_float(bitgen_t *source, float *out, npy_intp n);
void gs_words_normal_double(bitgen_t *source, double *out, npy_intp n);
/* low + k for k <= last. */
void gs_words_int32(bitgen_t *source, uint32_t last, int32_t low, int32_t *out, npy_intp n);
void gs_words_int64(bitgen_t *source, uint32_t last, int64_t low, int64_t *out, npy_intp n);
/* The numbers from 0 to n - 1, fewer than 2^32, in random order. */
void gs_words_permutation(bitgen_t *source, int64_t *out, npy_intp n);

/* Integers from `low` to `low` + `last`, included. */
void gs_words_even_counts_float(bitgen_t *source, uint32_t last, int64_t low, float *out, npy_intp n);
void gs_words_even_counts_double(bitgen_t *source, uint32_t last, int64_t low, double *out, npy_intp n);

/* With the meaning of `first` and `second`; the last two have a parameter for each element instead. */
typedef enum {
    GS_EVEN_BETWEEN,  /* start, range */
    GS_NORMAL_AROUND, /* mean, deviation */
    GS_EXPONENTIAL,   /* rate */
    GS_CAUCHY,        /* median, width */
    GS_GEOMETRIC,     /* probability; how many trials it takes until one succeeds */
    GS_POISSON,       /* rates */
    GS_BERNOULLI,     /* probabilities */
} gs_distribution;

/* Numbers of single precision are those of double precision, rounded once. */
void gs_words_distribution_float(gs_distribution which, bitgen_t *source, double first, double second, const float *each,
                                 float *out, npy_intp n);
void gs_words_distribution_double(gs_distribution which, bitgen_t *source, double first, double second, const double *each,
                                  double *out, npy_intp n);

/* Means and deviations: one number for all, or one for each element (where `each` is not NULL, of the elements' type). */
typedef struct {
    const void *each;
    double number;
} gs_parameter;

/* drawn = drawn * deviation + mean, rounded as NumPy rounds it: in double precision from the first number of that. */
void gs_move_float(float *drawn, const gs_parameter *mean, const gs_parameter *deviation, npy_intp n);
void gs_move_double(double *drawn, const gs_parameter *mean, const gs_parameter *deviation, npy_intp n);

/* Reads the tables of normal numbers; to be called once, before the first of these is drawn. */
void gs_words_read_tables(void);

#endif
