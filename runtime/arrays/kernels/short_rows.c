/* Note [Short rows]
 *
 * x - x.mean(1, keepdim=True) or scale * x of 64 columns is walked in rows of 64 elements, and NumPy's loops, made for
 * long rows, take longer to begin than to compute one: they check for overlap and choose a variant each time.  The loops
 * here take a whole plane of rows.  Sum, difference, product and quotient are rounded correctly whoever computes them,
 * so which loop runs does not show in the result.
 */
#include "support/loops.h"

/* One row.  A step of 0 repeats an input's element; the branches are decided outside of the loops, which then have
 * constant steps and are vectorised. */
#define ONE_ROW(REAL, OP, a, a_step, b, b_step, out, n)  \
    if (b_step == 0) {                                   \
        REAL y = *b;                                     \
        GS_IVDEP for (npy_intp i = 0; i < n; i++)        \
        {                                                \
            out[i] = a[i] OP y;                          \
        }                                                \
    } else if (a_step == 0) {                            \
        REAL x = *a;                                     \
        GS_IVDEP for (npy_intp i = 0; i < n; i++)        \
        {                                                \
            out[i] = x OP b[i];                          \
        }                                                \
    } else {                                             \
        GS_IVDEP for (npy_intp i = 0; i < n; i++)        \
        {                                                \
            out[i] = a[i] OP b[i];                       \
        }                                                \
    }

#define ROWS(NAME, REAL, OP)                                                                           \
    GS_CLONES static void NAME(char *const *data, const npy_intp *steps, const npy_intp *row_steps,    \
                               npy_intp n, npy_intp n_rows)                                            \
    {                                                                                                  \
        const char *left = data[0], *right = data[1];                                                  \
        char *result = data[2];                                                                        \
        for (npy_intp row = 0; row < n_rows; row++) {                                                  \
            const REAL *a = (const REAL *)(left + row * row_steps[0]);                                 \
            const REAL *b = (const REAL *)(right + row * row_steps[1]);                                \
            REAL *out = (REAL *)(result + row * row_steps[2]);                                         \
            ONE_ROW(REAL, OP, a, steps[0], b, steps[1], out, n)                                        \
        }                                                                                              \
    }

ROWS(add_floats, float, +)
ROWS(add_doubles, double, +)
ROWS(subtract_floats, float, -)
ROWS(subtract_doubles, double, -)
ROWS(multiply_floats, float, *)
ROWS(multiply_doubles, double, *)
ROWS(divide_floats, float, /)
ROWS(divide_doubles, double, /)

gs_rows_function
gs_rows_loop(gs_ufunc ufunc, int type)
{
    if (type != NPY_FLOAT32 && type != NPY_FLOAT64) {
        return NULL;
    }
    int is_float = type == NPY_FLOAT32;
    switch (ufunc) {
    case GS_ADD: return is_float ? add_floats : add_doubles;
    case GS_SUBTRACT: return is_float ? subtract_floats : subtract_doubles;
    case GS_MULTIPLY: return is_float ? multiply_floats : multiply_doubles;
    case GS_TRUE_DIVIDE: return is_float ? divide_floats : divide_doubles;
    default: return NULL;
    }
}
