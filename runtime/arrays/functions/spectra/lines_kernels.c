/* Note [Lines side by side]
 *
 * A transform of one line needs its numbers in another order at every step, which vectors are bad at. Eight lines that are
 * transformed together need none: an element of all of them is a vector. So groups of eight are laid side by side,
 * real parts apart from imaginary ones,
 *
 *     room[element][real, imaginary][line]
 *
 * transformed, and laid back. Each factor of the length is one step (Stockham's) from one half of the room to the other:
 * with the length n = factor * m that is left, and s transforms that lie beside each other,
 *
 *     to[p][k][q] = turn(p * k / n) * sum over j of turn(j * k / factor) * from[j][p][q],   p < m, q < s
 *
 * after which s * factor transforms of the length m are left. An inverse is the same with both parts exchanged.
 * Single precision is transformed in double precision, as NumPy does.
 */
#include "lines_kernels.h"
#include "support/simd.h"

#include <stdlib.h>
#include <string.h>

/* Every instruction set gives the same bits: none rounds a product and a sum at once. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

enum { LANES = 8, PAIR = 2 * LANES };

npy_intp
gs_groups_of_lines(const gs_lines *lines)
{
    return lines->inner == 1 ? (lines->outer + LANES - 1) / LANES : lines->outer * ((lines->inner + LANES - 1) / LANES);
}

/* ---- one step */

typedef struct {
    const double *from;
    double *to;
    const double *turns;
    npy_intp m, s;       /* as in the note */
    int real, imaginary; /* where the parts of an element are */
} step;

typedef struct {
    double re, im;
} number;

GS_INLINE number
at(const step *st, const double *x)
{
    return (number){x[st->real], x[st->imaginary]};
}

GS_INLINE number
plus(number a, number b)
{
    return (number){a.re + b.re, a.im + b.im};
}

GS_INLINE number
minus(number a, number b)
{
    return (number){a.re - b.re, a.im - b.im};
}

GS_INLINE number
times(double factor, number a)
{
    return (number){factor * a.re, factor * a.im};
}

/* A quarter of a turn back: -i times as much. */
GS_INLINE number
turned(number a)
{
    return (number){a.im, -a.re};
}

/* Turned back by p * k parts of a full turn, where that is anything. */
GS_INLINE void
put(const step *st, const double *turn, int is_turned, int k, number a, double *y)
{
    double *to = y + k * st->s * PAIR;
    if (is_turned) {
        double c = turn[2 * k], s = turn[2 * k + 1];
        a = (number){a.re * c + a.im * s, a.im * c - a.re * s};
    }
    to[st->real] = a.re;
    to[st->imaginary] = a.im;
}

#define IN(j) at(st, x + (j) * apart + l)
#define OUT(k, a) put(st, turn, is_turned, k, a, y + l)
#define ARGUMENTS const step *st, const double *x, npy_intp apart, const double *turn, int is_turned, double *y

GS_INLINE void
combine_2(ARGUMENTS)
{
    GS_IVDEP
    for (int l = 0; l < LANES; l++) {
        number a = IN(0), b = IN(1);
        OUT(0, plus(a, b));
        OUT(1, minus(a, b));
    }
}

GS_INLINE void
combine_3(ARGUMENTS)
{
    const double sine = 0.86602540378443864676;
    GS_IVDEP
    for (int l = 0; l < LANES; l++) {
        number a = IN(0), b = IN(1), c = IN(2), sum = plus(b, c);
        number middle = minus(a, times(0.5, sum)), side = turned(times(sine, minus(b, c)));
        OUT(0, plus(a, sum));
        OUT(1, plus(middle, side));
        OUT(2, minus(middle, side));
    }
}

GS_INLINE void
combine_4(ARGUMENTS)
{
    GS_IVDEP
    for (int l = 0; l < LANES; l++) {
        number a = IN(0), b = IN(1), c = IN(2), d = IN(3);
        number even = plus(a, c), odd = plus(b, d), difference = minus(a, c), side = turned(minus(b, d));
        OUT(0, plus(even, odd));
        OUT(1, plus(difference, side));
        OUT(2, minus(even, odd));
        OUT(3, minus(difference, side));
    }
}

GS_INLINE void
combine_5(ARGUMENTS)
{
    const double cos_1 = 0.30901699437494742410, cos_2 = -0.80901699437494742410;
    const double sin_1 = 0.95105651629515357212, sin_2 = 0.58778525229247312917;
    GS_IVDEP
    for (int l = 0; l < LANES; l++) {
        number a = IN(0), b = IN(1), c = IN(2), d = IN(3), e = IN(4);
        number outer = plus(b, e), inner = plus(c, d), outer_side = turned(minus(b, e)), inner_side = turned(minus(c, d));
        number middle_1 = plus(a, plus(times(cos_1, outer), times(cos_2, inner)));
        number middle_2 = plus(a, plus(times(cos_2, outer), times(cos_1, inner)));
        number side_1 = plus(times(sin_1, outer_side), times(sin_2, inner_side));
        number side_2 = minus(times(sin_2, outer_side), times(sin_1, inner_side));
        OUT(0, plus(a, plus(outer, inner)));
        OUT(1, plus(middle_1, side_1));
        OUT(2, plus(middle_2, side_2));
        OUT(3, minus(middle_2, side_2));
        OUT(4, minus(middle_1, side_1));
    }
}

GS_INLINE void
combine_8(ARGUMENTS)
{
    const double half = 0.70710678118654752440;
    GS_IVDEP
    for (int l = 0; l < LANES; l++) {
        number a = IN(0), b = IN(1), c = IN(2), d = IN(3), e = IN(4), f = IN(5), g = IN(6), h = IN(7);
        number ae = plus(a, e), cg = plus(c, g), bf = plus(b, f), dh = plus(d, h);
        number even = plus(ae, cg), odd = plus(bf, dh), difference = minus(ae, cg), side = turned(minus(bf, dh));
        OUT(0, plus(even, odd));
        OUT(2, plus(difference, side));
        OUT(4, minus(even, odd));
        OUT(6, minus(difference, side));
        number a_e = minus(a, e), c_g = turned(minus(c, g)), b_f = minus(b, f), d_h = turned(minus(d, h));
        number one = plus(a_e, c_g), three = minus(a_e, c_g), first = plus(b_f, d_h), last = minus(b_f, d_h);
        number eighth = times(half, plus(first, turned(first))), past = times(half, minus(turned(last), last));
        OUT(1, plus(one, eighth));
        OUT(3, plus(three, past));
        OUT(5, minus(one, eighth));
        OUT(7, minus(three, past));
    }
}

/* All elements that are turned alike, and then the next ones. */
#define STEP(factor)                                                                                           \
    GS_CLONES static void step_##factor(const step *st)                                                        \
    {                                                                                                          \
        npy_intp apart = st->m * st->s * PAIR;                                                                 \
        const step here = *st;                                                                                 \
        for (npy_intp p = 0; p < st->m; p++) {                                                                 \
            const double *x = st->from + p * st->s * PAIR;                                                     \
            double turn[2 * factor], *y = st->to + p * factor * st->s * PAIR;                                  \
            for (int k = 0; k < factor; k++) {                                                                 \
                turn[2 * k] = st->turns[2 * p * k * st->s];                                                    \
                turn[2 * k + 1] = st->turns[2 * p * k * st->s + 1];                                            \
            }                                                                                                  \
            for (npy_intp q = 0; q < st->s; q++) {                                                             \
                if (p == 0) {                                                                                  \
                    combine_##factor(&here, x + q * PAIR, apart, turn, 0, y + q * PAIR);                       \
                } else {                                                                                       \
                    combine_##factor(&here, x + q * PAIR, apart, turn, 1, y + q * PAIR);                       \
                }                                                                                              \
            }                                                                                                  \
        }                                                                                                      \
    }

STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(8)

/* The result is in the half of the room that is returned. */
static double *
transform(const gs_lines *lines, double *room)
{
    double *from = room, *to = room + lines->length * PAIR;
    npy_intp s = 1;
    for (int i = 0; i < lines->n_factors; i++) {
        int factor = lines->factors[i];
        step st = {from, to, lines->turns, lines->length / s / factor, s, lines->is_inverse ? LANES : 0,
                   lines->is_inverse ? 0 : LANES};
        (factor == 2   ? step_2
         : factor == 3 ? step_3
         : factor == 4 ? step_4
         : factor == 5 ? step_5
                       : step_8)(&st);
        s *= factor;
        double *last = from;
        from = to;
        to = last;
    }
    return from;
}

/* ---- lines into the room, and out of it */

GS_CLONES static void
multiply(double *x, npy_intp n, double factor)
{
    for (npy_intp i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

#if defined(__GNUC__) && !defined(__clang__)
#define HAS_SQUARES 1
typedef double four __attribute__((vector_size(32)));
typedef long long four_numbers __attribute__((vector_size(32)));

/* The rows of a square become its columns. */
GS_INLINE void
transpose(four *a)
{
    four low = __builtin_shuffle(a[0], a[1], (four_numbers){0, 4, 2, 6});
    four high = __builtin_shuffle(a[0], a[1], (four_numbers){1, 5, 3, 7});
    four next_low = __builtin_shuffle(a[2], a[3], (four_numbers){0, 4, 2, 6});
    four next_high = __builtin_shuffle(a[2], a[3], (four_numbers){1, 5, 3, 7});
    a[0] = __builtin_shuffle(low, next_low, (four_numbers){0, 1, 4, 5});
    a[1] = __builtin_shuffle(high, next_high, (four_numbers){0, 1, 4, 5});
    a[2] = __builtin_shuffle(low, next_low, (four_numbers){2, 3, 6, 7});
    a[3] = __builtin_shuffle(high, next_high, (four_numbers){2, 3, 6, 7});
}
#else
#define HAS_SQUARES 0
#endif

#define T float
#define NAME(x) x##_single
#include "lines_template.h"
#undef T
#undef NAME
#define T double
#define NAME(x) x##_double
#include "lines_template.h"

void
gs_transform_lines(void *context, npy_intp first, npy_intp last)
{
    gs_lines *lines = context;
    double *room = malloc(sizeof(double) * 2 * PAIR * (size_t)lines->length);
    if (room == NULL) {
        lines->is_out_of_memory = 1;
        return;
    }
    for (npy_intp group = first; group < last; group++) {
        (lines->is_single ? transform_group_single : transform_group_double)(lines, group, room);
    }
    free(room);
}
