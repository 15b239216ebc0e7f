/* Note [No branch for each]
 *
 * A mask is rarely foreseen: where it is as often true as false, a branch for each element costs more than all else. So
 * every element is moved, one that is not chosen to where the next one is written over it, or onto itself, and the mask
 * is added to the number of those that were chosen. Eight of a kind, as most are where few or nearly all are chosen, are
 * passed over or copied together.
 */
#include "chosen_kernels.h"
#include "support/simd.h"

#include <string.h>

typedef struct {
    uint64_t halves[2];
} sixteen_bytes;

enum { TOGETHER = 8 };

#define ALL_TRUE 0x0101010101010101u

GS_INLINE uint64_t
eight_of(const uint8_t *mask)
{
    uint64_t word;
    memcpy(&word, mask, sizeof word);
    return word;
}

/* `move` is done for each element; `whole` for eight that are chosen. */
#define WALK(move, whole)                                                 \
    npy_intp i = 0, k = 0, n = c->size, count = c->count;                 \
    const uint8_t *mask = c->mask;                                        \
    while (i + TOGETHER <= n && k + TOGETHER <= count) {                  \
        uint64_t word = eight_of(mask + i);                               \
        if (word == ALL_TRUE) {                                           \
            whole;                                                        \
            k += TOGETHER;                                                \
        }                                                                 \
        else if (word != 0) {                                             \
            for (npy_intp j = i; j < i + TOGETHER; j++) {                 \
                move(j);                                                  \
                k += mask[j] != 0;                                        \
            }                                                             \
        }                                                                 \
        i += TOGETHER;                                                    \
    }                                                                     \
    for (; i < n && k < count; i++) {                                     \
        move(i);                                                          \
        k += mask[i] != 0;                                                \
    }

#define GATHER(j) others[k] = elements[j]
/* The address is chosen, by bits of it: of a choice between two elements compilers make a branch. */
#define WRITE(j)                                                                                \
    {                                                                                           \
        uintptr_t own = (uintptr_t)(elements + j), other = (uintptr_t)(others + k);             \
        uintptr_t from = own ^ ((own ^ other) & -(uintptr_t)(mask[j] != 0));                    \
        memcpy(elements + j, (const void *)from, sizeof *elements);                             \
    }

#define LOOPS(width, element)                                                      \
    static npy_intp gather_##width(const gs_chosen *c)                             \
    {                                                                              \
        const element *elements = (const element *)c->elements;                    \
        element *others = (element *)c->others;                                    \
        WALK(GATHER, memcpy(others + k, elements + i, TOGETHER * sizeof(element))) \
        return k;                                                                  \
    }                                                                              \
                                                                                   \
    static void write_##width(const gs_chosen *c)                                  \
    {                                                                              \
        element *elements = (element *)c->elements;                                \
        const element *others = (const element *)c->others;                        \
        WALK(WRITE, memcpy(elements + i, others + k, TOGETHER * sizeof(element)))  \
    }                                                                              \
                                                                                   \
    GS_CLONES static void fill_##width(const gs_chosen *c)                         \
    {                                                                              \
        element *elements = (element *)c->elements;                                \
        const uint8_t *mask = c->mask;                                             \
        const element value = *(const element *)c->others;                         \
        npy_intp n = c->size;                                                      \
        GS_IVDEP                                                                   \
        for (npy_intp i = 0; i < n; i++) {                                         \
            element own = elements[i];                                             \
            elements[i] = mask[i] ? value : own;                                   \
        }                                                                          \
    }

LOOPS(1, uint8_t)
LOOPS(2, uint16_t)
LOOPS(4, uint32_t)
LOOPS(8, uint64_t)
LOOPS(16, sixteen_bytes)

#define BY_WIDTH(run)          \
    switch (c->width) {        \
    case 1: run(1); break;     \
    case 2: run(2); break;     \
    case 4: run(4); break;     \
    case 8: run(8); break;     \
    default: run(16); break;   \
    }

int
gs_can_choose(npy_intp width)
{
    return width == 1 || width == 2 || width == 4 || width == 8 || width == 16;
}

npy_intp
gs_gather_chosen(const gs_chosen *c)
{
    npy_intp found = 0;
#define RUN_GATHER(width) found = gather_##width(c)
    BY_WIDTH(RUN_GATHER)
    return found;
}

void
gs_write_chosen(const gs_chosen *c)
{
#define RUN_WRITE(width) write_##width(c)
    BY_WIDTH(RUN_WRITE)
}

void
gs_fill_chosen(const gs_chosen *c)
{
#define RUN_FILL(width) fill_##width(c)
    BY_WIDTH(RUN_FILL)
}
