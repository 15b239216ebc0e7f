#define FACTOR_TYPE 0
#include "decompositions/each_type.h"
