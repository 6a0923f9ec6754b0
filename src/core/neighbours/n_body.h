// Sums over all other points, of a kernel of the distance:
//
//   mass_i = sum_j k(|y_i - y_j|^2)        force_i = sum_j f(|y_i - y_j|^2) (y_i - y_j)
//
//   student    k = 1 / (1 + s),  f = k^2       gaussian   k = f = exp(-s)
//
// exactly (theta = 0), by the algorithm of Barnes and Hut (1986), or by pairs of cells (dual tree; Gray and Moore 2001). A cell
// stands for its points where its size is less than theta times its distance; the size is its side or its diagonal.
//
// Barnes and Hut for the leaf of a tree at once: which cells stand for their points is decided for the nearest corner of the box
// around the leaf's points, so never more coarsely than for a point alone; what results is one list for all its points, and sums
// over it need no decisions. Dual tree: each of two cells gathers what the other does to it, and hands it down to its points at
// the end.
//
// The sums of a point are made in the same order whatever the number of threads or the kind of processor.
#pragma once

#include "core/base/fields.h"
#include "core/base/monitor.h"
#include "core/neighbours/space_tree.h"

namespace granary {

enum class BodyKernel { student, gaussian };
enum class BodyMethod { barnes_hut, dual_tree, exact };
inline Names<BodyMethod> names(BodyMethod) {
  return {{BodyMethod::barnes_hut, "barnes_hut"}, {BodyMethod::dual_tree, "dual_tree"}, {BodyMethod::exact, "exact"}};
}
enum class CellSize { side, diagonal };
inline Names<CellSize> names(CellSize) { return {{CellSize::side, "side"}, {CellSize::diagonal, "diagonal"}}; }

struct BodySums {
  MatrixXd force;  // dim x n
  VectorXd mass;   // of each point, itself left out
};

struct BodyOptions {
  BodyKernel kernel = BodyKernel::student;
  BodyMethod method = BodyMethod::barnes_hut;
  CellSize cell = CellSize::side;
  double theta = 0.5;
  int threads = 1;
};

// The points are those of the tree; columns of the answer in their order, not that of the tree.
void body_sums(const SpaceTree& tree, const BodyOptions& options, BodySums& out, Monitor& monitor);
// What the points of the tree do to a point that is none of them; the mass comes back.
double body_sums_at(const SpaceTree& tree, const BodyOptions& options, const double* point, double* force);

namespace body {

// Cells or points whose sums are wanted, padded to a multiple of `lanes` by some of weight 0.
constexpr Index lanes = 8;
struct Sources {
  const double* place[3];
  const double* weight;  // null: all 1
  Index size;            // with weights: a multiple of lanes
};
// out: dim sums of forces, then the mass. Compiled for several kinds of processors (n_body_loops.cpp).
void student_sums(int dim, const Sources& from, const double* point, double* out);
void gaussian_sums(int dim, const Sources& from, const double* point, double* out, double* work);  // work: from.size numbers

}  // namespace body

}  // namespace granary
