/* ---- GATED_BACKWARD */
/* derivatives.yaml: gated */

/* self: grad * conj(exp(self * other) * (1 + other * self)) */
GS_CLONES static void gated_backward_self_f(char **args, const double *scalars, npy_intp n)
{
    const float *grad = (const float *)args[0];
    const float *self = (const float *)args[1];
    const float *other = (const float *)args[2];
    float *out = (float *)args[3];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = grad[i] * (gs_expf(self[i] * other[i]) * (1.0f + other[i] * self[i]));
    }
}

GS_CLONES static void gated_backward_self_d(char **args, const double *scalars, npy_intp n)
{
    const double *grad = (const double *)args[0];
    const double *self = (const double *)args[1];
    const double *other = (const double *)args[2];
    double *out = (double *)args[3];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = grad[i] * (gs_exp(self[i] * other[i]) * (1.0 + other[i] * self[i]));
    }
}

static const gs_fused_kernel gated_backward_self = {
    .name = "gated_backward_self",
    .loops = {gated_backward_self_f, gated_backward_self_d},
    .n_inputs = 3,
    .n_scalars = 0,
    .cost = 13,
    .inputs = {GS_GRAD | 0, GS_SAVED | 0, GS_SAVED | 1},
};

/* other: grad * conj(self * self * exp(self * other)) */
GS_CLONES static void gated_backward_other_f(char **args, const double *scalars, npy_intp n)
{
    const float *grad = (const float *)args[0];
    const float *self = (const float *)args[1];
    const float *other = (const float *)args[2];
    float *out = (float *)args[3];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = grad[i] * (self[i] * self[i] * gs_expf(self[i] * other[i]));
    }
}

GS_CLONES static void gated_backward_other_d(char **args, const double *scalars, npy_intp n)
{
    const double *grad = (const double *)args[0];
    const double *self = (const double *)args[1];
    const double *other = (const double *)args[2];
    double *out = (double *)args[3];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = grad[i] * (self[i] * self[i] * gs_exp(self[i] * other[i]));
    }
}

static const gs_fused_kernel gated_backward_other = {
    .name = "gated_backward_other",
    .loops = {gated_backward_other_f, gated_backward_other_d},
    .n_inputs = 3,
    .n_scalars = 0,
    .cost = 12,
    .inputs = {GS_GRAD | 0, GS_SAVED | 0, GS_SAVED | 1},
};

const gs_fused_kernel *const GATED_BACKWARD[2] = {
    &gated_backward_self,
    &gated_backward_other,
};

/* ---- GATED_FORWARD */
/* derivatives.yaml: gated */

/* self * exp(self * other) */
GS_CLONES static void gated_forward_f(char **args, const double *scalars, npy_intp n)
{
    const float *self = (const float *)args[0];
    const float *other = (const float *)args[1];
    float *out = (float *)args[2];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = self[i] * gs_expf(self[i] * other[i]);
    }
}

GS_CLONES static void gated_forward_d(char **args, const double *scalars, npy_intp n)
{
    const double *self = (const double *)args[0];
    const double *other = (const double *)args[1];
    double *out = (double *)args[2];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = self[i] * gs_exp(self[i] * other[i]);
    }
}

const gs_fused_kernel GATED_FORWARD = {
    .name = "gated_forward",
    .loops = {gated_forward_f, gated_forward_d},
    .n_inputs = 2,
    .n_scalars = 0,
    .cost = 10,
    .inputs = {0, 1},
};
