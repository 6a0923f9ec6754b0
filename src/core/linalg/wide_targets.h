// For files of inner loops: GRANARY_WIDE before a function compiles it for every machine and for those with vectors of four doubles, chosen at load;
// GRANARY_INLINE makes what it calls part of it. Only for .cpp files.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#define GRANARY_INLINE __attribute__((always_inline)) inline
#else
#define GRANARY_INLINE inline
#endif

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__AVX2__)
#define GRANARY_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define GRANARY_WIDE
#endif
