#include "threads/fill.h"
#include "support/simd.h"
#include "threads/thread_pool.h"

#include <string.h>

#define WORD ((npy_intp)sizeof(uint64_t))
#define PAGE 4096
#define MANY ((npy_intp)1 << 16) /* bytes */

GS_CLONES static void
store_words(char *out, npy_intp count, uint64_t word)
{
    GS_IVDEP
    for (npy_intp i = 0; i < count; i++) {
        memcpy(out + i * WORD, &word, sizeof word);
    }
}

static void
fill_words(char *out, npy_intp count, uint64_t word)
{
#if defined(__GNUC__) && defined(__x86_64__)
    /* Whole lines are written without being read first, which vector stores do not spare: a third of the time in L3. */
    if (count * WORD >= MANY) {
        __asm__ volatile("rep stosq" : "+D"(out), "+c"(count) : "a"(word) : "memory");
        return;
    }
#endif
    store_words(out, count, word);
}

typedef struct {
    char *out;
    npy_intp nbytes;
    uint64_t word;
} word_fill;

static void
fill_pages(void *context, npy_intp first, npy_intp last)
{
    const word_fill *f = context;
    npy_intp end = last * PAGE < f->nbytes ? last * PAGE : f->nbytes;
    fill_words(f->out + first * PAGE, (end - first * PAGE) / WORD, f->word);
}

/* Elements that are no part of a word, such as complex ones, by doubling what is already there. */
static void
fill_by_doubling(char *out, npy_intp nbytes, const char *element, npy_intp size)
{
    memcpy(out, element, (size_t)size);
    for (npy_intp done = size; done < nbytes;) {
        npy_intp next = done < 32768 ? done : 32768 / size * size; /* from the part that is still in L1 */
        next = next < nbytes - done ? next : nbytes - done;
        memcpy(out + done, out, (size_t)next);
        done += next;
    }
}

void
gs_repeat(char *out, npy_intp nbytes, const char *element, npy_intp size)
{
    if (nbytes == 0) {
        return;
    }
    if (WORD % size != 0) {
        fill_by_doubling(out, nbytes, element, size);
        return;
    }
    word_fill fill = {out, nbytes / WORD * WORD, 0};
    for (npy_intp i = 0; i < WORD; i += size) {
        memcpy((char *)&fill.word + i, element, (size_t)size);
    }
    gs_parallel(fill_pages, &fill, (fill.nbytes + PAGE - 1) / PAGE, PAGE / 4, 1);
    memcpy(out + fill.nbytes, &fill.word, (size_t)(nbytes - fill.nbytes));
}
