/* Copies of few bytes, whose number is not known when the code is compiled: a call of memcpy takes longer than to copy them. */
#ifndef GRADSMITH_SHORT_COPY_H
#define GRADSMITH_SHORT_COPY_H

#include "support/numpy_api.h"
#include "support/simd.h"

#include <string.h>

/* What is copied twice, in the middle, is read before it is written. */
#define GS_COPY_ENDS(size)                         \
    do {                                           \
        char first[size], last[size];              \
        memcpy(first, from, size);                 \
        memcpy(last, from + n - size, size);       \
        memcpy(to, first, size);                   \
        memcpy(to + n - size, last, size);         \
    } while (0)

/* n bytes to where they do not overlap with what they were. */
GS_INLINE void
gs_copy_few(char *to, const char *from, npy_intp n)
{
    if (n < 4 || n > 64) {
        memcpy(to, from, (size_t)n);
    } else if (n <= 8) {
        GS_COPY_ENDS(4);
    } else if (n <= 16) {
        GS_COPY_ENDS(8);
    } else if (n <= 32) {
        GS_COPY_ENDS(16);
    } else {
        GS_COPY_ENDS(32);
    }
}

#undef GS_COPY_ENDS

#endif
