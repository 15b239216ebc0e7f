/* The vectors of one type and instruction set; without such extensions of C they are single numbers. */
#if defined(__GNUC__) || defined(__clang__)
typedef REAL NAME(vector) __attribute__((vector_size(BYTES)));
typedef REAL NAME(unaligned) __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
typedef INTEGER NAME(mask) __attribute__((vector_size(BYTES), aligned(sizeof(REAL))));
#else
typedef REAL NAME(vector);
typedef REAL NAME(unaligned);
#endif
