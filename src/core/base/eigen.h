// Eigen as granary uses it: products, triangular solves and symmetric updates of dense matrices are not instantiated where they
// are written, but go to the functions of core/linalg/engine.h, compiled once for each kind of processor.
//
// This is Eigen's own door for a BLAS (EIGEN_USE_BLAS), with other names behind it, so `c.noalias() += a * b` stays what it is.
// No file includes <Eigen/...> before this one: the two kinds of Eigen must not meet in one library.
#pragma once

#ifdef EIGEN_CORE_H
#error "include core/base/types.h before any header of Eigen"
#endif

#define EIGEN_USE_BLAS
#define daxpy_ granary_daxpy
#define dgemm_ granary_dgemm
#define dgemv_ granary_dgemv
#define dsymm_ granary_dsymm
#define dsymv_ granary_dsymv
#define dsyrk_ granary_dsyrk
#define dtrmm_ granary_dtrmm
#define dtrmv_ granary_dtrmv
#define dtrsm_ granary_dtrsm
#define sgemm_ granary_sgemm
#define sgemv_ granary_sgemv

// GCC says of every vector type that it loses its attributes as a template argument; in Eigen that is meant.
#if defined(__GNUC__) && !defined(__clang__)
_Pragma("GCC diagnostic ignored \"-Wignored-attributes\"")
#endif
#include <Eigen/Core>
#include <Eigen/SparseCore>

#undef daxpy_
#undef dgemm_
#undef dgemv_
#undef dsymm_
#undef dsymv_
#undef dsyrk_
#undef dtrmm_
#undef dtrmv_
#undef dtrsm_
#undef sgemm_
#undef sgemv_
