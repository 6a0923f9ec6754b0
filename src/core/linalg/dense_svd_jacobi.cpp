// The rotations of Jacobi and the bidiagonals behind Svd (see dense_svd.cpp), compiled once.
#include "core/linalg/dense.h"

#include <Eigen/SVD>

template class Eigen::JacobiSVD<Eigen::MatrixXd>;
template class Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>;
