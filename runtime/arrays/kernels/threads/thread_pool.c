/* Note [Claiming pieces]
 *
 * A job is cut into pieces.  Its state is one word, (generation << 32 | next piece), and a thread that raises the lower half
 * by one owns that piece.  The generation is in the same word so that a worker that wakes up late can never claim a
 * piece of another job than the one whose description it has read.
 *
 *     caller:  describe job, publish state and generation, wake sleepers, work, wait for claimed pieces
 *     worker:  spin a little, sleep, see a new generation, work, ...
 *
 * The caller works too and waits only for pieces that somebody has claimed, never for a worker that has not started:
 * a busy machine makes a job slow as on one thread, not slower.  (OpenMP waits for all its threads, which costs
 * milliseconds when another process has the core.)
 *
 * One job runs at a time.  A second caller does its job alone.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* cpu_set_t */
#endif
#include "thread_pool.h"
#include "primitives.h"
#include "products/blas.h"

#include <stdlib.h>

#define MOST_THREADS 256

#ifdef GS_NO_THREADS

void
gs_parallel_run(gs_task task, void *context, npy_intp n, npy_intp piece)
{
    (void)piece;
    task(context, 0, n);
}

int
gs_get_num_threads(void)
{
    return 1;
}

void
gs_set_num_threads(int n)
{
    (void)n;
}

void
gs_threads_init(void)
{
}

#else

#define CLOSED UINT32_MAX  /* a piece number that no job reaches */
#define WORKER_SPINS 10000 /* about 0.3 ms: the next job of a chain finds the worker awake */
#define CALLER_SPINS 2000
#define STALLED_YIELDS 200 /* a join this long means that the other core is taken */
#define REST_JOBS 32       /* jobs done alone after that */

static struct {
    _Alignas(64) gs_gate gate; /* its counter is the generation of the newest job */
    _Alignas(64) _Atomic uint64_t state;
    _Alignas(64) atomic_uint done; /* finished pieces */
    /* The job.  Written only while the state is closed; a late worker may read a mixture of two jobs, but then its claim
     * fails. */
    _Alignas(64) _Atomic gs_task task;
    _Atomic(void *) context;
    _Atomic npy_intp n;
    _Atomic npy_intp piece;
    atomic_uint n_pieces;
    /* Changes rarely. */
    _Alignas(64) atomic_int sleepers;
    atomic_int busy;      /* a caller is inside gs_parallel_run */
    atomic_int n_threads; /* wanted, the caller included */
    int n_started;        /* workers alive; owned by the holder of busy */
    int rest;             /* jobs to do alone; owned by the holder of busy */
} pool;

static void
work(uint32_t generation)
{
    for (;;) {
        uint64_t state = atomic_load_explicit(&pool.state, memory_order_acquire);
        gs_task task = atomic_load_explicit(&pool.task, memory_order_relaxed);
        void *context = atomic_load_explicit(&pool.context, memory_order_relaxed);
        npy_intp n = atomic_load_explicit(&pool.n, memory_order_relaxed);
        npy_intp piece = atomic_load_explicit(&pool.piece, memory_order_relaxed);
        unsigned int n_pieces = atomic_load_explicit(&pool.n_pieces, memory_order_acquire);
        uint32_t number = (uint32_t)state;
        if ((uint32_t)(state >> 32) != generation || number >= n_pieces) {
            return;
        }
        if (!atomic_compare_exchange_weak_explicit(&pool.state, &state, state + 1, memory_order_acq_rel,
                                                   memory_order_relaxed)) {
            continue;
        }
        npy_intp first = (npy_intp)number * piece;
        task(context, first, n - first < piece ? n : first + piece);
        atomic_fetch_add_explicit(&pool.done, 1, memory_order_release);
    }
}

static uint32_t
wait_for_job(uint32_t seen)
{
    for (int i = 0; i < WORKER_SPINS; i++) {
        uint32_t generation = atomic_load_explicit(&pool.gate.counter, memory_order_acquire);
        if (generation != seen) {
            return generation;
        }
        gs_pause();
    }
    uint32_t generation;
    atomic_fetch_add(&pool.sleepers, 1);
    while ((generation = atomic_load(&pool.gate.counter)) == seen) {
        gs_gate_wait(&pool.gate, seen);
    }
    atomic_fetch_sub(&pool.sleepers, 1);
    return generation;
}

static void
worker_main(intptr_t index)
{
    uint32_t generation = atomic_load(&pool.gate.counter);
    for (;;) {
        if (index + 1 < atomic_load_explicit(&pool.n_threads, memory_order_relaxed)) {
            work(generation);
        }
        generation = wait_for_job(generation);
    }
}

static void
start_workers(int wanted)
{
    while (pool.n_started < wanted) {
        gs_thread_start *start = malloc(sizeof(*start));
        if (start == NULL) {
            return;
        }
        start->main = worker_main;
        start->argument = pool.n_started;
        if (gs_thread_create(start) < 0) {
            free(start);
            return;
        }
        pool.n_started++;
    }
}

static uint32_t
publish(gs_task task, void *context, npy_intp n, npy_intp piece)
{
    uint32_t generation = atomic_load_explicit(&pool.gate.counter, memory_order_relaxed) + 1;
    /* Close the state before the description changes.  All pieces of the last job are claimed, but a worker that has
     * just finished one may look again: with the old state and the new, larger n_pieces it would claim too much.  The
     * release-acquire pair on n_pieces makes the claim of such a worker meet the closed state. */
    atomic_store_explicit(&pool.state, (uint64_t)generation << 32 | CLOSED, memory_order_relaxed);
    unsigned int n_pieces = (unsigned int)((n + piece - 1) / piece);
    atomic_store_explicit(&pool.n_pieces, n_pieces, memory_order_release);
    atomic_store_explicit(&pool.task, task, memory_order_relaxed);
    atomic_store_explicit(&pool.context, context, memory_order_relaxed);
    atomic_store_explicit(&pool.n, n, memory_order_relaxed);
    atomic_store_explicit(&pool.piece, piece, memory_order_relaxed);
    atomic_store_explicit(&pool.done, 0, memory_order_relaxed);
    atomic_store_explicit(&pool.state, (uint64_t)generation << 32, memory_order_release);
    atomic_store(&pool.gate.counter, generation);
    if (atomic_load(&pool.sleepers) > 0) {
        gs_gate_open(&pool.gate);
    }
    return generation;
}

/* Waits for claimed pieces.  A thread that holds one may have lost its core, so spinning soon gives way. */
static void
join(void)
{
    unsigned int n_pieces = atomic_load_explicit(&pool.n_pieces, memory_order_relaxed);
    int spins = 0, yields = 0;
    while (atomic_load_explicit(&pool.done, memory_order_acquire) != n_pieces) {
        if (spins < CALLER_SPINS) {
            spins++;
            gs_pause();
        } else {
            yields++;
            gs_yield();
        }
    }
    if (yields > STALLED_YIELDS) {
        pool.rest = REST_JOBS;
    }
}

static int
enter(int n_threads)
{
    if (atomic_exchange_explicit(&pool.busy, 1, memory_order_acquire)) {
        return 0;
    }
    if (pool.rest > 0) {
        pool.rest--;
        atomic_store_explicit(&pool.busy, 0, memory_order_release);
        return 0;
    }
    start_workers(n_threads - 1);
    return 1;
}

void
gs_parallel_run(gs_task task, void *context, npy_intp n, npy_intp piece)
{
    int n_threads = atomic_load_explicit(&pool.n_threads, memory_order_relaxed);
    if (n <= 0) {
        return;
    }
    if (n_threads < 2 || piece >= n || (uint64_t)((n + piece - 1) / piece) >= CLOSED || !enter(n_threads)) {
        task(context, 0, n);
        return;
    }
    work(publish(task, context, n, piece));
    join();
    atomic_store_explicit(&pool.busy, 0, memory_order_release);
}

int
gs_get_num_threads(void)
{
    return atomic_load(&pool.n_threads);
}

void
gs_set_num_threads(int n)
{
    atomic_store(&pool.n_threads, n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : n);
}

/* A forked child has only the thread that forked: it starts its own workers when it needs them. */
#ifndef _WIN32
static void
reset_after_fork(void)
{
    gs_gate_init(&pool.gate);
    atomic_store(&pool.gate.counter, 0);
    atomic_store(&pool.state, 0);
    atomic_store(&pool.n_pieces, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.busy, 0);
    pool.n_started = 0;
    pool.rest = 0;
}
#endif

/* What the environment asks for, or 0. */
static int
wanted_threads(void)
{
    const char *text = getenv("GRADSMITH_NUM_THREADS");
    int n = text == NULL ? 0 : atoi(text);
    return n > 0 ? n : 0;
}

void
gs_threads_init(void)
{
    gs_gate_init(&pool.gate);
    int wanted = wanted_threads();
    gs_set_num_threads(wanted > 0 ? wanted : gs_available_cores());
    if (wanted > 0) {
        gs_limit_blas_threads(wanted);
    }
#ifndef _WIN32
    pthread_atfork(NULL, NULL, reset_after_fork);
#endif
}

#endif

/* ---- shared by both */

npy_intp
gs_piece(npy_intp n, npy_intp cost, npy_intp step)
{
    int n_threads = gs_get_num_threads();
    double total = (double)n * (double)cost;
    if (n_threads < 2 || total < GS_GRAIN) {
        return n;
    }
    /* At least two pieces, and small enough ones that a thread which lost its core delays little. */
    double pieces = total / (GS_GRAIN / 2);
    double most = 8.0 * n_threads;
    pieces = pieces < 2 ? 2 : pieces > most ? most : pieces;
    npy_intp piece = (npy_intp)((double)n / pieces) + 1;
    return (piece + step - 1) / step * step;
}

void
gs_parallel(gs_task task, void *context, npy_intp n, npy_intp cost, npy_intp step)
{
    if ((double)n * (double)cost < GS_GRAIN) {
        task(context, 0, n);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    gs_parallel_run(task, context, n, gs_piece(n, cost, step));
    Py_END_ALLOW_THREADS
}
