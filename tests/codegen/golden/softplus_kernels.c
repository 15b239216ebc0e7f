/* ---- SOFTPLUS_BACKWARD */
/* derivatives.yaml: softplus */

/* self: where(self * beta > threshold, grad, grad * beta * exp(self * beta)) */
GS_CLONES static void softplus_backward_self_f(char **args, const double *scalars, npy_intp n)
{
    const float *grad = (const float *)args[0];
    const float *self = (const float *)args[1];
    float *out = (float *)args[2];
    const float beta = (float)scalars[0];
    const float threshold = (float)scalars[1];
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        const float part_1 = self[i] * beta;
        const float exp_1 = gs_expf(part_1);
        out[i] = part_1 > threshold ? grad[i] : grad[i] * beta * exp_1;
    }
}

GS_CLONES static void softplus_backward_self_d(char **args, const double *scalars, npy_intp n)
{
    const double *grad = (const double *)args[0];
    const double *self = (const double *)args[1];
    double *out = (double *)args[2];
    const double beta = (double)scalars[0];
    const double threshold = (double)scalars[1];
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        const double part_1 = self[i] * beta;
        const double exp_1 = gs_exp(part_1);
        out[i] = part_1 > threshold ? grad[i] : grad[i] * beta * exp_1;
    }
}

static const gs_fused_kernel softplus_backward_self = {
    .name = "softplus_backward_self",
    .loops = {softplus_backward_self_f, softplus_backward_self_d},
    .n_inputs = 2,
    .n_scalars = 2,
    .cost = 13,
    .inputs = {GS_GRAD | 0, GS_SAVED | 0},
    .scalars = {0, 1},
};

const gs_fused_kernel *const SOFTPLUS_BACKWARD[1] = {
    &softplus_backward_self,
};

/* ---- SOFTPLUS_FORWARD */
/* derivatives.yaml: softplus */

/* where(self * beta > threshold, self, exp(self * beta) - 1) */
GS_CLONES static void softplus_forward_f(char **args, const double *scalars, npy_intp n)
{
    const float *self = (const float *)args[0];
    float *out = (float *)args[1];
    const float beta = (float)scalars[0];
    const float threshold = (float)scalars[1];
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        const float part_1 = self[i] * beta;
        const float exp_1 = gs_expf(part_1);
        out[i] = part_1 > threshold ? self[i] : exp_1 - 1.0f;
    }
}

GS_CLONES static void softplus_forward_d(char **args, const double *scalars, npy_intp n)
{
    const double *self = (const double *)args[0];
    double *out = (double *)args[1];
    const double beta = (double)scalars[0];
    const double threshold = (double)scalars[1];
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        const double part_1 = self[i] * beta;
        const double exp_1 = gs_exp(part_1);
        out[i] = part_1 > threshold ? self[i] : exp_1 - 1.0;
    }
}

const gs_fused_kernel SOFTPLUS_FORWARD = {
    .name = "softplus_forward",
    .loops = {softplus_forward_f, softplus_forward_d},
    .n_inputs = 1,
    .n_scalars = 2,
    .cost = 12,
    .inputs = {0},
    .scalars = {0, 1},
};
