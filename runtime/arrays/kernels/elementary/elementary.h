/* All functions of this folder: gs_exp of double, gs_expf of float, and so on. */
#ifndef GRADSMITH_ELEMENTARY_H
#define GRADSMITH_ELEMENTARY_H

#include "elementary/error_function.h"
#include "elementary/exponential.h"
#include "elementary/hyperbolic.h"
#include "elementary/logarithm.h"
#include "elementary/trigonometric.h"

#endif
