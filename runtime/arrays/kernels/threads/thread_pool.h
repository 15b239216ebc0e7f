/* One pool of threads for all kernels.  Callers hold no GIL while they wait in it. */
#ifndef GRADSMITH_THREAD_POOL_H
#define GRADSMITH_THREAD_POOL_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Work on the items first <= i < last of a job. */
typedef void (*gs_task)(void *context, npy_intp first, npy_intp last);

/* Runs the task over n items in pieces of `piece` items, on this thread and the pool's; returns when all are done. */
void gs_parallel_run(gs_task task, void *context, npy_intp n, npy_intp piece);

/* Work below this many additions is not worth a second thread, nor giving up the GIL. */
#define GS_GRAIN 32768

/* The size of the pieces for n items of `cost` additions each, a multiple of `step`; n when one thread should do all. */
npy_intp gs_piece(npy_intp n, npy_intp cost, npy_intp step);

/* gs_parallel_run in pieces from gs_piece; called with the GIL, which is released when the job is not small. */
void gs_parallel(gs_task task, void *context, npy_intp n, npy_intp cost, npy_intp step);

GS_HIDDEN_END

#endif
