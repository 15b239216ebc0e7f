/* One element over and over. */
#ifndef GRADSMITH_FILL_H
#define GRADSMITH_FILL_H

#include "support/numpy_api.h"

GS_HIDDEN_BEGIN

/* Writes an element of `size` bytes to each of the `nbytes` / `size` places from `out` on. */
void gs_repeat(char *out, npy_intp nbytes, const char *element, npy_intp size);

GS_HIDDEN_END

#endif
