/* ---- TANH_BACKWARD */
/* derivatives.yaml: tanh */

/* self: grad * conj(1 - result * result) */
GS_CLONES static void tanh_backward_self_f(char **args, const double *scalars, npy_intp n)
{
    const float *grad = (const float *)args[0];
    const float *result = (const float *)args[1];
    float *out = (float *)args[2];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = grad[i] * (1.0f - result[i] * result[i]);
    }
}

GS_CLONES static void tanh_backward_self_d(char **args, const double *scalars, npy_intp n)
{
    const double *grad = (const double *)args[0];
    const double *result = (const double *)args[1];
    double *out = (double *)args[2];
    (void)scalars;
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        out[i] = grad[i] * (1.0 - result[i] * result[i]);
    }
}

static const gs_fused_kernel tanh_backward_self = {
    .name = "tanh_backward_self",
    .loops = {tanh_backward_self_f, tanh_backward_self_d},
    .n_inputs = 2,
    .n_scalars = 0,
    .cost = 3,
    .inputs = {GS_GRAD | 0, GS_SAVED | 0},
};

const gs_fused_kernel *const TANH_BACKWARD[1] = {
    &tanh_backward_self,
};
