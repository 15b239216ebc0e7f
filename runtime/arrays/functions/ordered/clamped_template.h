/* The loop of clamped_kernels.c for one type; see each_real_type.h. */

GS_CLONES static void
NAME(clamp_all)(const T *from, T *to, npy_intp n, T least, T greatest)
{
    GS_IVDEP
    for (npy_intp i = 0; i < n; i++) {
        T raised = from[i] > least ? from[i] : least;
        to[i] = raised < greatest ? raised : greatest;
    }
}

static void
NAME(clamp)(const gs_clamped *c, npy_intp first, npy_intp last)
{
    NAME(clamp_all)((const T *)c->from + first, (T *)c->to + first, last - first, (T)c->least, (T)c->greatest);
}
