/* Memory that nothing may read or write: known to AddressSanitizer where a build is watched by it. */
#ifndef GRADSMITH_FORBIDDEN_H
#define GRADSMITH_FORBIDDEN_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define GS_IS_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GS_IS_WATCHED 1
#endif
#endif

#ifdef GS_IS_WATCHED
#include <sanitizer/asan_interface.h>
#else
#define GS_IS_WATCHED 0
#endif

static inline void
gs_forbid(char *start, size_t nbytes)
{
#if GS_IS_WATCHED
    ASAN_POISON_MEMORY_REGION(start, nbytes);
#else
    (void)start, (void)nbytes;
#endif
}

static inline void
gs_allow(char *start, size_t nbytes)
{
#if GS_IS_WATCHED
    ASAN_UNPOISON_MEMORY_REGION(start, nbytes);
#else
    (void)start, (void)nbytes;
#endif
}

#endif
