/* The few operating system services the thread pool needs, three times: Linux, other POSIX, Windows.
 *
 * A `gs_gate` is where workers sleep: gs_gate_wait returns when the counter differs from `seen` (or spuriously),
 * gs_gate_open is called after the counter was changed.
 */
#ifndef GRADSMITH_THREAD_PRIMITIVES_H
#define GRADSMITH_THREAD_PRIMITIVES_H

#if defined(__STDC_NO_ATOMICS__)
#define GS_NO_THREADS 1
#elif defined(_MSC_VER) && !defined(__clang__) && _MSC_VER < 1937
#define GS_NO_THREADS 1 /* no <stdatomic.h> */
#endif

#ifndef GS_NO_THREADS

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#define gs_pause() _mm_pause()
#elif defined(__aarch64__) && defined(__GNUC__)
#define gs_pause() __asm__ volatile("yield")
#else
#define gs_pause() ((void)0)
#endif

/* ---- Linux: futex */
#if defined(__linux__)

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    atomic_uint counter;
} gs_gate;

static inline void
gs_gate_init(gs_gate *gate)
{
    (void)gate;
}

static inline void
gs_gate_wait(gs_gate *gate, unsigned int seen)
{
    syscall(SYS_futex, &gate->counter, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static inline void
gs_gate_open(gs_gate *gate)
{
    syscall(SYS_futex, &gate->counter, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static inline int
gs_available_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return CPU_COUNT(&set);
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- other POSIX: condition variable */
#elif !defined(_WIN32)

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

typedef struct {
    atomic_uint counter;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} gs_gate;

static inline void
gs_gate_init(gs_gate *gate)
{
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

static inline void
gs_gate_wait(gs_gate *gate, unsigned int seen)
{
    pthread_mutex_lock(&gate->mutex);
    while (atomic_load(&gate->counter) == seen) {
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    pthread_mutex_unlock(&gate->mutex);
}

static inline void
gs_gate_open(gs_gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

static inline int
gs_available_cores(void)
{
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- Windows */
#else

#include <windows.h>

typedef struct {
    atomic_uint counter;
    SRWLOCK lock;
    CONDITION_VARIABLE changed;
} gs_gate;

static inline void
gs_gate_init(gs_gate *gate)
{
    InitializeSRWLock(&gate->lock);
    InitializeConditionVariable(&gate->changed);
}

static inline void
gs_gate_wait(gs_gate *gate, unsigned int seen)
{
    AcquireSRWLockExclusive(&gate->lock);
    while (atomic_load(&gate->counter) == seen) {
        SleepConditionVariableSRW(&gate->changed, &gate->lock, INFINITE, 0);
    }
    ReleaseSRWLockExclusive(&gate->lock);
}

static inline void
gs_gate_open(gs_gate *gate)
{
    AcquireSRWLockExclusive(&gate->lock);
    WakeAllConditionVariable(&gate->changed);
    ReleaseSRWLockExclusive(&gate->lock);
}

static inline int
gs_available_cores(void)
{
    DWORD_PTR process, machine;
    int cores = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &process, &machine)) {
        for (; process != 0; process &= process - 1) {
            cores++;
        }
    }
    return cores;
}

#endif

/* ---- threads that are never joined: they sleep until the process ends */

typedef void (*gs_thread_main)(intptr_t argument);

typedef struct {
    gs_thread_main main;
    intptr_t argument;
} gs_thread_start;

#if defined(_WIN32)

static DWORD WINAPI
gs_thread_entry(LPVOID start)
{
    gs_thread_start s = *(gs_thread_start *)start;
    free(start);
    s.main(s.argument);
    return 0;
}

static inline int
gs_thread_create(gs_thread_start *start)
{
    HANDLE thread = CreateThread(NULL, 0, gs_thread_entry, start, 0, NULL);
    if (thread == NULL) {
        return -1;
    }
    CloseHandle(thread);
    return 0;
}

static inline void
gs_yield(void)
{
    SwitchToThread();
}

#else

static void *
gs_thread_entry(void *start)
{
    gs_thread_start s = *(gs_thread_start *)start;
    free(start);
    s.main(s.argument);
    return NULL;
}

static inline int
gs_thread_create(gs_thread_start *start)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, gs_thread_entry, start) != 0) {
        return -1;
    }
    pthread_detach(thread);
    return 0;
}

static inline void
gs_yield(void)
{
    sched_yield();
}

#endif

#endif
#endif
