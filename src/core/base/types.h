// The matrix types every method speaks. Data crosses from R without a copy as `ConstMatrixRef`.
#pragma once

#include "core/base/eigen.h"

namespace granary {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Eigen::VectorXi;

using ConstMatrixRef = Eigen::Ref<const MatrixXd>;
using ConstVectorRef = Eigen::Ref<const VectorXd>;
using MatrixRef = Eigen::Ref<MatrixXd>;
using VectorRef = Eigen::Ref<VectorXd>;
using SparseMatrix = Eigen::SparseMatrix<double>;  // column-major, int indices: R's dgCMatrix
using MatrixView = Eigen::Map<const MatrixXd>;  // of memory that someone else keeps
using VectorView = Eigen::Map<const VectorXd>;
using ConstSparseMap = Eigen::Map<const SparseMatrix>;

}  // namespace granary
