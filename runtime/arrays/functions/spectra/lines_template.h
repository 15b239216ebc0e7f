/* How lines of numbers of type T are laid side by side, and back; NAME(x) adds the suffix of the type. */

/* Lines that are `line` numbers of T apart, the elements of each `element` apart. */
GS_INLINE void
NAME(lay_lines)(const T *x, npy_intp line, npy_intp element, npy_intp length, npy_intp count, double *room)
{
    for (npy_intp i = 0; i < length; i++) {
        for (npy_intp l = 0; l < count; l++) {
            room[i * PAIR + l] = (double)x[l * line + i * element];
            room[i * PAIR + LANES + l] = (double)x[l * line + i * element + 1];
        }
    }
}

GS_INLINE void
NAME(lay_back)(const double *room, npy_intp line, npy_intp element, npy_intp length, npy_intp count, T *x)
{
    for (npy_intp i = 0; i < length; i++) {
        for (npy_intp l = 0; l < count; l++) {
            x[l * line + i * element] = (T)room[i * PAIR + l];
            x[l * line + i * element + 1] = (T)room[i * PAIR + LANES + l];
        }
    }
}

/* Eight whole lines whose elements lie side by side: squares of four lines and two elements; an odd element is left. */
#if HAS_SQUARES
typedef T NAME(four) __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));

GS_INLINE void
NAME(lay_squares)(const T *x, npy_intp line, npy_intp length, double *room)
{
    for (npy_intp i = 0; i + 2 <= length; i += 2) {
        for (int l = 0; l < LANES; l += 4) {
            four a[4];
            for (int k = 0; k < 4; k++) {
                a[k] = __builtin_convertvector(*(const NAME(four) *)(x + (l + k) * line + 2 * i), four);
            }
            transpose(a);
            for (int k = 0; k < 4; k++) {
                memcpy(room + i * PAIR + k * LANES + l, &a[k], sizeof(four));
            }
        }
    }
}

GS_INLINE void
NAME(squares_back)(const double *room, npy_intp line, npy_intp length, T *x)
{
    for (npy_intp i = 0; i + 2 <= length; i += 2) {
        for (int l = 0; l < LANES; l += 4) {
            four a[4];
            for (int k = 0; k < 4; k++) {
                memcpy(&a[k], room + i * PAIR + k * LANES + l, sizeof(four));
            }
            transpose(a);
            for (int k = 0; k < 4; k++) {
                *(NAME(four) *)(x + (l + k) * line + 2 * i) = __builtin_convertvector(a[k], NAME(four));
            }
        }
    }
}
#endif

/* With numbers that compilers know. */
GS_CLONES static void
NAME(lay)(const T *x, npy_intp line, npy_intp element, npy_intp length, npy_intp count, double *room)
{
    if (count == LANES && line == 2) {
        NAME(lay_lines)(x, 2, element, length, LANES, room);
    } else if (count == LANES && element == 2) {
#if HAS_SQUARES
        NAME(lay_squares)(x, line, length, room);
        x += length / 2 * 4;
        room += length / 2 * 2 * PAIR;
        length %= 2;
#endif
        NAME(lay_lines)(x, line, 2, length, LANES, room);
    } else {
        NAME(lay_lines)(x, line, element, length, count, room);
    }
}

GS_CLONES static void
NAME(bring_back)(const double *room, npy_intp line, npy_intp element, npy_intp length, npy_intp count, T *x)
{
    if (count == LANES && line == 2) {
        NAME(lay_back)(room, 2, element, length, LANES, x);
    } else if (count == LANES && element == 2) {
#if HAS_SQUARES
        NAME(squares_back)(room, line, length, x);
        x += length / 2 * 4;
        room += length / 2 * 2 * PAIR;
        length %= 2;
#endif
        NAME(lay_back)(room, line, 2, length, LANES, x);
    } else {
        NAME(lay_back)(room, line, element, length, count, x);
    }
}

static void
NAME(transform_group)(const gs_lines *lines, npy_intp group, double *room)
{
    npy_intp length = lines->length, inner = lines->inner, groups = (inner + LANES - 1) / LANES;
    npy_intp start, line, element = 2 * inner, left;
    if (inner == 1) {
        start = 2 * group * LANES * length;
        line = 2 * length;
        left = lines->outer - group * LANES;
    } else {
        start = 2 * (group / groups * length * inner + group % groups * LANES);
        line = 2;
        left = inner - group % groups * LANES;
    }
    npy_intp count = left < LANES ? left : LANES;
    if (count < LANES) {
        memset(room, 0, sizeof(double) * PAIR * (size_t)length);
    }
    NAME(lay)((const T *)lines->from + start, line, element, length, count, room);
    double *found = transform(lines, room);
    if (lines->factor != 1) {
        multiply(found, length * PAIR, lines->factor);
    }
    NAME(bring_back)(found, line, element, length, count, (T *)lines->to + start);
}
