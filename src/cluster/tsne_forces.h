// What a map costs, and the forces on its points. With s_ij = |y_i - y_j|^2:
//
//   tsne      KL(P || Q), q_ij = 1 / (1 + s_ij) / Z          (van der Maaten and Hinton 2008; van der Maaten, JMLR 2014)
//   ssne      KL(P || Q), q_ij = exp(-s_ij) / Z              symmetric SNE (Cook, Sutskever, Mnih and Hinton 2007)
//   elastic   sum p_ij s_ij + lambda mean exp(-s_ij)         elastic embedding (Carreira-Perpinan 2010) with equal repulsion
//
//   dC/dy_i = 4 (F_attr - F_rep),  F_attr = sum_j p_ij w_ij (y_i - y_j)    w = 1 / (1 + s), or 1
//                                  F_rep  = c sum_j f(s_ij) (y_i - y_j)    (core/neighbours/n_body.h), c = 1 / Z, or lambda / (n (n - 1))
//
// F_attr runs over the entries of P, exactly; F_rep and Z are as exact as theta says.
#pragma once

#include "core/neighbours/n_body.h"

namespace granary::cluster {

enum class MapType { tsne, ssne, elastic };
inline Names<MapType> names(MapType) { return {{MapType::tsne, "tsne"}, {MapType::ssne, "ssne"}, {MapType::elastic, "elastic"}}; }

struct ForceOptions {
  MapType type = MapType::tsne;
  double lambda = 10;  // elastic
  BodyMethod method = BodyMethod::barnes_hut;
  CellSize cell = CellSize::side;
  double theta = 0.5;
  int threads = 1;
};
template <class V>
void fields(V& v, ForceOptions& t) {
  v("type", t.type);
  v("lambda", t.lambda);
  v("method", t.method);
  v("cell", t.cell);
  v("theta", t.theta);
  v("threads", t.threads);
}
BodyOptions body_options(const ForceOptions& options);

using ConstAffinity = Eigen::Ref<const SparseMatrix>;  // symmetric, zero diagonal, sum 1, compressed

// Of the points in the columns of y. The factor 4 of the gradient is left out.
class MapForces {
 public:
  MapForces(ConstAffinity p, int dim, const ForceOptions& options);

  void compute(ConstMatrixRef y, Monitor& monitor);                                      // attraction, repulsion, z
  double cost(ConstMatrixRef y, Monitor& monitor, VectorXd* of_points = nullptr) const;  // with the z of compute()
  // How far the forces are from balance: |F_attr - F_rep| / (|F_attr| + |F_rep|).
  double imbalance() const;

  MatrixXd attraction, repulsion;  // dim x n
  double z = 0;                    // sum over pairs of the kernel

 private:
  const int* start_;
  const int* row_;
  const double* p_;
  Index n_;
  VectorXd entropy_, share_;  // sum_j p_ij log p_ij and sum_j p_ij
  ForceOptions options_;
  SpaceTree tree_;
  BodySums sums_;
};

// Points of a leaf: their sums are made over one list (see n_body.h).
constexpr int map_leaf_size = 24;

namespace map_loops {
// sum_j p_j w_j (y - y_j) over `size` entries; y: dim numbers for each point.
void attraction(int dim, bool student, const double* p, const int* row, Index size, const double* y, const double* point,
                double* out);
// sum_j p_j log(1 + s_j), or sum_j p_j s_j.
double stress(int dim, bool student, const double* p, const int* row, Index size, const double* y, const double* point);
}  // namespace map_loops

}  // namespace granary::cluster
