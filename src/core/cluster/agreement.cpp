#include "core/cluster/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/optim/assignment.h"

namespace granary {

namespace {

double entropy(const VectorXd& weight, double total) {
  double h = 0;
  for (Index a = 0; a < weight.size(); ++a)
    if (weight[a] > 0) h -= weight[a] / total * std::log(weight[a] / total);
  return h;
}

double pairs(double n) { return 0.5 * n * (n - 1); }

}  // namespace

Agreement agreement(const VectorXi& first, const VectorXi& second, ConstVectorRef weights, Monitor& monitor) {
  const Index n = first.size();
  if (second.size() != n) throw InputError(message("the labellings have ", n, " and ", second.size(), " rows."));
  if (n == 0) throw InputError("there are no labels to compare.");
  Agreement out;
  out.table = MatrixXd::Zero(first.maxCoeff() + 1, second.maxCoeff() + 1);
  for (Index i = 0; i < n; ++i) out.table(first[i], second[i]) += weights.size() > 0 ? weights[i] : 1;
  const VectorXd rows = out.table.rowwise().sum(), columns = out.table.colwise().sum().transpose();
  const double total = rows.sum();
  if (!(total > 0)) throw InputError("the weights of the labels must not all be zero.");
  out.entropy_first = entropy(rows, total);
  out.entropy_second = entropy(columns, total);
  double same = 0, expected_rows = 0, expected_columns = 0;
  for (Index b = 0; b < columns.size(); ++b) {
    for (Index a = 0; a < rows.size(); ++a) {
      const double w = out.table(a, b);
      if (w > 0) out.mutual_information += w / total * std::log(w * total / (rows[a] * columns[b]));
      same += pairs(w);
    }
    expected_columns += pairs(columns[b]);
  }
  for (Index a = 0; a < rows.size(); ++a) expected_rows += pairs(rows[a]);
  out.mutual_information = std::max(out.mutual_information, 0.0);
  const double scale = std::sqrt(out.entropy_first * out.entropy_second);
  out.nmi = scale > 0 ? std::min(out.mutual_information / scale, 1.0) : out.entropy_first == out.entropy_second ? 1 : 0;
  const double expected = total > 1 ? expected_rows * expected_columns / pairs(total) : 0, most = 0.5 * (expected_rows + expected_columns);
  out.ari = most != expected ? (same - expected) / (most - expected) : 1;
  const AssignmentResult match = assign_rows_most(out.table, monitor);
  out.match = match.column;
  out.accuracy = match.objective / total;
  for (Index a = 0; a < rows.size(); ++a) out.purity += out.table.row(a).maxCoeff() / total;
  return out;
}

Silhouettes silhouettes(const DataRows& x, const VectorXi& cluster, Index k, SilhouetteDistance distance, int threads, Monitor& monitor) {
  const Index n = x.rows();
  if (cluster.size() != n) throw InputError(message("there are ", cluster.size(), " labels for ", n, " rows."));
  VectorXd size = VectorXd::Zero(k);
  for (Index i = 0; i < n; ++i) size[cluster[i]] += 1;
  VectorXd norm;
  if (distance == SilhouetteDistance::cosine) norm = x.squared_norms().cwiseSqrt();
  Silhouettes out{VectorXd::Zero(n), VectorXi::Constant(n, -1)};
  parallel_for(n, threads, monitor, [&](Index i) {
    VectorXd d = x.squared_distances(i);
    if (distance == SilhouetteDistance::euclidean) d = d.cwiseSqrt();
    if (distance == SilhouetteDistance::cosine) {  // 1 - cos = (|x - y|^2 - (|x| - |y|)^2) / (2 |x| |y|)
      for (Index r = 0; r < n; ++r) {
        const double product = norm[i] * norm[r], difference = norm[i] - norm[r];
        d[r] = product > 0 ? (d[r] - difference * difference) / (2 * product) : 1;
      }
    }
    VectorXd sum = VectorXd::Zero(k);
    for (Index r = 0; r < n; ++r) sum[cluster[r]] += d[r];
    const Index own = cluster[i];
    double nearest = std::numeric_limits<double>::infinity();
    for (Index h = 0; h < k; ++h) {
      if (h == own || size[h] == 0) continue;
      if (sum[h] / size[h] < nearest) {
        nearest = sum[h] / size[h];
        out.neighbour[i] = static_cast<int>(h);
      }
    }
    if (size[own] < 2 || out.neighbour[i] < 0) return;
    const double within = sum[own] / (size[own] - 1), larger = std::max(within, nearest);
    out.width[i] = larger > 0 ? (nearest - within) / larger : 0;
  });
  return out;
}

}  // namespace granary
