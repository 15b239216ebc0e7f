/* Note [Far arguments]
 *
 * x = m 2^e with an integer m of 53 bits, and x / (2 pi) = m 2^e (2 / pi) / 4 is wanted without its whole part.  Those bits
 * of 2 / pi whose product with 2^e is a multiple of 4 are left out; with the next 192 bits as a fraction w, it is the
 * fraction of m w.  Its first two bits are the quadrant.  The rest times pi/2 is the rest of x, in two doubles: at the
 * worst 62 bits of it are zero.  All of that is done with 32 bits at a time.
 */
#ifndef GRADSMITH_FAR_ARGUMENTS_H
#define GRADSMITH_FAR_ARGUMENTS_H

#include "elementary/exponential.h"

#define GS_WINDOW 6 /* words of 32 bits, the first the highest */

static const uint32_t gs_two_over_pi[] GS_UNUSED = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
    0xa9e39161, 0x5ee61b08,
};

/* `GS_WINDOW` words of 2 / pi from bit `first` behind the point on; before the point there are zeros. */
GS_UNUSED static void
gs_take_window(int first, uint32_t *window)
{
    for (int i = 0; i < GS_WINDOW; i++) {
        int bit = first + 32 * i;
        int word = bit >= 0 ? bit / 32 : -1 - (-1 - bit) / 32, shift = bit - 32 * word;
        uint64_t pair = (uint64_t)(word >= 0 ? gs_two_over_pi[word] : 0) << 32;
        pair |= word + 1 >= 0 ? gs_two_over_pi[word + 1] : 0;
        window[i] = (uint32_t)(pair << shift >> 32);
    }
}

/* The fraction of m times the fraction in `window`. */
GS_UNUSED static void
gs_multiply_fraction(uint64_t m, const uint32_t *window, uint32_t *product)
{
    uint64_t low = m & 0xffffffffu, high = m >> 32, carry = 0;
    for (int i = GS_WINDOW - 1; i >= 0; i--) {
        uint64_t first = low * window[i];
        uint64_t second = i + 1 < GS_WINDOW ? high * window[i + 1] : 0;
        uint64_t sum = (first & 0xffffffffu) + (second & 0xffffffffu) + (carry & 0xffffffffu);
        product[i] = (uint32_t)sum;
        carry = (carry >> 32) + (first >> 32) + (second >> 32) + (sum >> 32);
    }
}

/* pi/2 times a number in two parts; the first factors are split in halves, whose products are exact. */
GS_UNUSED static double
gs_times_half_pi(double high, double low, double *rest)
{
    const double pi_high = 1.5707963267948966, pi_low = 6.123233995736766e-17, pi_upper = 1.5707963109016418;
    gs_double_bits upper = {high};
    upper.bits &= 0xfffffffff8000000u;
    double lower = high - upper.value, pi_lower = pi_high - pi_upper;
    double product = high * pi_high;
    double lost = ((upper.value * pi_upper - product) + upper.value * pi_lower + lower * pi_upper) + lower * pi_lower;
    double small = lost + (high * pi_low + low * pi_high);
    double sum = product + small;
    *rest = (product - sum) + small;
    return sum;
}

/* x less the multiple of pi/2 next to it, and the lowest bits of that multiple. */
GS_UNUSED static double
gs_far_rest(double x, double *low, uint64_t *quadrant)
{
    gs_double_bits parts = {fabs(x)};
    int exponent = (int)(parts.bits >> 52) - 1075;
    uint64_t m = (parts.bits & 0x000fffffffffffffu) | 0x0010000000000000u;
    uint32_t window[GS_WINDOW], product[GS_WINDOW];
    gs_take_window(exponent - 2, window);
    gs_multiply_fraction(m, window, product);
    uint64_t turns = product[0] >> 30;
    /* The fraction of a quarter turn, from -1/2 to 1/2: the words in two's complement, then as doubles. */
    uint32_t sign = (product[0] >> 29 & 1) ? 0xffffffffu : 0;
    product[0] = (product[0] & 0x3fffffffu) | (sign & 0xc0000000u);
    turns += sign & 1;
    double high = 0, tail = 0, scale = 9.313225746154785e-10; /* 2^-30 */
    double words[GS_WINDOW];
    for (int i = 0; i < GS_WINDOW; i++, scale *= 2.3283064365386963e-10) {
        words[i] = (double)(product[i] ^ sign) * scale;
    }
    for (int i = GS_WINDOW - 1; i >= 0; i--) {
        double sum = words[i] + high;
        tail = tail + (high - (sum - words[i]));
        high = sum;
    }
    double rest = gs_times_half_pi(high, tail, low);
    int is_negative = (sign != 0) != (x < 0);
    *quadrant = x < 0 ? -turns : turns;
    *low = is_negative ? -*low : *low;
    return is_negative ? -rest : rest;
}

#endif
