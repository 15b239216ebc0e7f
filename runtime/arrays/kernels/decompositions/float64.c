#define FACTOR_TYPE 1
#include "decompositions/each_type.h"
