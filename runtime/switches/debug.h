/* Internal checks, compiled in by `make debug` (GRADSMITH_DEBUG) and gone otherwise.
 *
 * A failed check is a bug of gradsmith, whatever Python code did, and may be found where no exception can be raised:
 * it ends the process with its message.
 */
#ifndef GRADSMITH_DEBUG_H
#define GRADSMITH_DEBUG_H

#include <Python.h>

#ifdef GRADSMITH_DEBUG
#define GS_HAS_CHECKS 1
#define GS_CHECK(condition, message)                                                                                   \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            Py_FatalError(message);                                                                                    \
    } while (0)
#else
#define GS_HAS_CHECKS 0
#define GS_CHECK(condition, message) ((void)sizeof(condition))
#endif

#endif
