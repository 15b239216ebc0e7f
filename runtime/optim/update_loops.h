/* The loops of all rules for one type, REAL; included by updates_kernels.c once for each.
 *
 * A variant of a rule (with a weight decay or without) is a call of the same inline function with other constants.
 */

#define TO_REAL(index) const REAL index##_ = (REAL)numbers[index]

/* The gradient as the rule sees it: its sign turned when the objective is maximized, and with the weight decay. */
GS_INLINE REAL
NAME(gradient)(REAL g, REAL p, REAL sign, REAL decay, int decays)
{
    return decays ? sign * g + p * decay : sign * g;
}

/* NaN wins, as in `maximum`. */
GS_INLINE REAL
NAME(greater)(REAL a, REAL b)
{
    return a > b || a != a ? a : b;
}

GS_INLINE REAL
NAME(sign_of)(REAL x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

#define GRADIENT(i) NAME(gradient)(g[i], p[i], SIGN_, DECAY_, decays)

/* ---- SGD */

GS_INLINE void
NAME(sgd_body)(REAL *p, const REAL *g, REAL *buffer, ptrdiff_t n, const double *numbers, int decays, int kind)
{
    TO_REAL(SIGN);
    TO_REAL(DECAY);
    TO_REAL(SGD_MOMENTUM);
    TO_REAL(SGD_UNDAMPED);
    TO_REAL(SGD_RATE);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        REAL change = GRADIENT(i);
        if (kind != SGD_PLAIN) {
            const REAL old = buffer[i] * SGD_MOMENTUM_, new = change * SGD_UNDAMPED_;
            const REAL sum = kind & SGD_FIRST ? change : old + new;
            buffer[i] = sum;
            change = kind & SGD_NESTEROV ? change + sum * SGD_MOMENTUM_ : sum;
        }
        p[i] = p[i] - change * SGD_RATE_;
    }
}

GS_CLONES static void
NAME(sgd)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *buffer = (REAL *)arrays[2];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0;
#define CASE(kind)                                             \
    case kind:                                                 \
        if (decays) {                                          \
            NAME(sgd_body)(p, g, buffer, n, numbers, 1, kind); \
        } else {                                               \
            NAME(sgd_body)(p, g, buffer, n, numbers, 0, kind); \
        }                                                      \
        break;
    switch (buffer == NULL ? SGD_PLAIN : (int)numbers[SGD_KIND]) {
        CASE(SGD_PLAIN)
        CASE(SGD_BUFFERED)
        CASE(SGD_BUFFERED | SGD_FIRST)
        CASE(SGD_BUFFERED | SGD_NESTEROV)
        CASE(SGD_BUFFERED | SGD_FIRST | SGD_NESTEROV)
    }
#undef CASE
}

/* ---- the Adam family: a mean of gradients, and one of their squares */

#define MEANS(i)                                  \
    const REAL grad = GRADIENT(i);                \
    const REAL mean = m[i] * BETA1_ + grad * REST1_; \
    m[i] = mean

#define SQUARES(i)                                           \
    const REAL square = v[i] * BETA2_ + grad * grad * REST2_; \
    v[i] = square

#define ADAM_NUMBERS \
    TO_REAL(SIGN);   \
    TO_REAL(DECAY);  \
    TO_REAL(SHRINK); \
    TO_REAL(BETA1);  \
    TO_REAL(REST1);  \
    TO_REAL(BETA2);  \
    TO_REAL(REST2);  \
    TO_REAL(EPS);    \
    TO_REAL(ROOT);   \
    TO_REAL(RATE)

GS_INLINE void
NAME(adam_body)(REAL *p, const REAL *g, REAL *m, REAL *v, REAL *top, ptrdiff_t n, const double *numbers, int decays,
                int keeps_top)
{
    ADAM_NUMBERS;
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        MEANS(i);
        SQUARES(i);
        REAL largest = square;
        if (keeps_top) {
            largest = NAME(greater)(top[i], square);
            top[i] = largest;
        }
        const REAL scale = SQRT(largest) * ROOT_ + EPS_;
        p[i] = p[i] * SHRINK_ - mean / scale * RATE_;
    }
}

GS_CLONES static void
NAME(adam)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *m = (REAL *)arrays[2], *v = (REAL *)arrays[3], *top = (REAL *)arrays[4];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0;
    if (top != NULL) {
        NAME(adam_body)(p, g, m, v, top, n, numbers, decays, 1);
    } else if (decays) {
        NAME(adam_body)(p, g, m, v, top, n, numbers, 1, 0);
    } else {
        NAME(adam_body)(p, g, m, v, top, n, numbers, 0, 0);
    }
}

GS_CLONES static void
NAME(adamax)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *m = (REAL *)arrays[2], *u = (REAL *)arrays[3];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0;
    TO_REAL(SIGN);
    TO_REAL(DECAY);
    TO_REAL(BETA1);
    TO_REAL(REST1);
    TO_REAL(BETA2);
    TO_REAL(EPS);
    TO_REAL(RATE);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        MEANS(i);
        const REAL size = ABS(grad) + EPS_;
        const REAL greatest = NAME(greater)(u[i] * BETA2_, size);
        u[i] = greatest;
        p[i] = p[i] - mean / greatest * RATE_;
    }
}

GS_CLONES static void
NAME(nadam)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *m = (REAL *)arrays[2], *v = (REAL *)arrays[3];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0;
    ADAM_NUMBERS;
    TO_REAL(NADAM_GRADIENT_RATE);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        MEANS(i);
        SQUARES(i);
        const REAL scale = SQRT(square * ROOT_) + EPS_;
        p[i] = p[i] * SHRINK_ - (grad * NADAM_GRADIENT_RATE_ + mean * RATE_) / scale;
    }
}

GS_CLONES static void
NAME(radam)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *m = (REAL *)arrays[2], *v = (REAL *)arrays[3];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0, is_rectified = numbers[ROOT] != 0;
    ADAM_NUMBERS;
    (void)ROOT_;
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        MEANS(i);
        SQUARES(i);
        const REAL change = mean * RATE_, scale = SQRT(square) + EPS_;
        p[i] = p[i] * SHRINK_ - (is_rectified ? change / scale : change);
    }
}

/* ---- adaptive rates */

GS_CLONES static void
NAME(adagrad)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *sum = (REAL *)arrays[2];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0;
    TO_REAL(SIGN);
    TO_REAL(DECAY);
    TO_REAL(EPS);
    TO_REAL(RATE);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        const REAL grad = GRADIENT(i);
        const REAL total = sum[i] + grad * grad;
        sum[i] = total;
        p[i] = p[i] - grad / (SQRT(total) + EPS_) * RATE_;
    }
}

GS_CLONES static void
NAME(adadelta)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *v = (REAL *)arrays[2], *deltas = (REAL *)arrays[3];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0;
    TO_REAL(SIGN);
    TO_REAL(DECAY);
    TO_REAL(BETA2);
    TO_REAL(REST2);
    TO_REAL(EPS);
    TO_REAL(RATE);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        const REAL grad = GRADIENT(i);
        SQUARES(i);
        const REAL old = deltas[i];
        const REAL delta = SQRT(old + EPS_) / SQRT(square + EPS_) * grad;
        deltas[i] = old * BETA2_ + delta * delta * REST2_;
        p[i] = p[i] - delta * RATE_;
    }
}

GS_INLINE void
NAME(rmsprop_body)(char *const *arrays, ptrdiff_t n, const double *numbers, int decays, int is_centered, int has_buffer)
{
    REAL *p = (REAL *)arrays[0], *v = (REAL *)arrays[2], *buffer = (REAL *)arrays[3], *m = (REAL *)arrays[4];
    const REAL *g = (const REAL *)arrays[1];
    TO_REAL(SIGN);
    TO_REAL(DECAY);
    TO_REAL(BETA2);
    TO_REAL(REST2);
    TO_REAL(EPS);
    TO_REAL(RATE);
    TO_REAL(RMSPROP_MOMENTUM);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        const REAL grad = GRADIENT(i);
        SQUARES(i);
        REAL variance = square;
        if (is_centered) {
            const REAL mean = m[i] * BETA2_ + grad * REST2_;
            m[i] = mean;
            variance = square - mean * mean;
        }
        REAL change = grad / (SQRT(variance) + EPS_);
        if (has_buffer) {
            change = buffer[i] * RMSPROP_MOMENTUM_ + change;
            buffer[i] = change;
        }
        p[i] = p[i] - change * RATE_;
    }
}

GS_CLONES static void
NAME(rmsprop)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    const int decays = numbers[DECAY] != 0;
    if (arrays[3] != NULL && arrays[4] != NULL) {
        NAME(rmsprop_body)(arrays, n, numbers, decays, 1, 1);
    } else if (arrays[3] != NULL) {
        NAME(rmsprop_body)(arrays, n, numbers, decays, 0, 1);
    } else if (arrays[4] != NULL) {
        NAME(rmsprop_body)(arrays, n, numbers, decays, 1, 0);
    } else {
        NAME(rmsprop_body)(arrays, n, numbers, decays, 0, 0);
    }
}

/* ---- averages, and signs */

GS_CLONES static void
NAME(asgd)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *average = (REAL *)arrays[2];
    const REAL *g = (const REAL *)arrays[1];
    const int decays = numbers[DECAY] != 0, copies = numbers[ASGD_WEIGHT] == 1;
    TO_REAL(SIGN);
    TO_REAL(DECAY);
    TO_REAL(SHRINK);
    TO_REAL(RATE);
    TO_REAL(ASGD_WEIGHT);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        const REAL grad = GRADIENT(i), old = average[i];
        const REAL new = p[i] * SHRINK_ - grad * RATE_;
        p[i] = new;
        average[i] = copies ? new : old + (new - old) * ASGD_WEIGHT_;
    }
}

GS_CLONES static void
NAME(rprop)(char *const *arrays, ptrdiff_t n, const double *numbers)
{
    REAL *p = (REAL *)arrays[0], *previous = (REAL *)arrays[2], *steps = (REAL *)arrays[3];
    const REAL *g = (const REAL *)arrays[1];
    TO_REAL(SIGN);
    TO_REAL(RPROP_SHRINK);
    TO_REAL(RPROP_GROW);
    TO_REAL(RPROP_LEAST);
    TO_REAL(RPROP_MOST);
    GS_IVDEP
    for (ptrdiff_t i = 0; i < n; i++) {
        const REAL grad = SIGN_ * g[i], agreement = grad * previous[i];
        const REAL factor = agreement > 0 ? RPROP_GROW_ : agreement < 0 ? RPROP_SHRINK_ : 1;
        const REAL free = steps[i] * factor;
        const REAL step = free < RPROP_LEAST_ ? RPROP_LEAST_ : free > RPROP_MOST_ ? RPROP_MOST_ : free;
        const REAL used = agreement < 0 ? 0 : grad;
        steps[i] = step;
        previous[i] = used;
        p[i] = p[i] - NAME(sign_of)(used) * step;
    }
}

#undef ADAM_NUMBERS
#undef SQUARES
#undef MEANS
#undef GRADIENT
#undef TO_REAL
