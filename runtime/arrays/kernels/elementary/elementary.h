/* All functions of this folder: gs_exp of double, gs_expf of float, and so on. */
#ifndef GRADSMITH_ELEMENTARY_H
#define GRADSMITH_ELEMENTARY_H

#include "elementary/bessel_functions.h"
#include "elementary/error_function.h"
#include "elementary/exponential.h"
#include "elementary/gamma_functions.h"
#include "elementary/hyperbolic.h"
#include "elementary/inverse_error_function.h"
#include "elementary/inverse_trigonometric.h"
#include "elementary/logarithm.h"
#include "elementary/normal_distribution.h"
#include "elementary/second_bessel_functions.h"
#include "elementary/trigonometric.h"

#endif
