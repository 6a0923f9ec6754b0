#include "process/ec_wide.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/linalg/dense.h"

namespace granary::process {

namespace {

// The covariance of the first `size` members of a clique, held away from singularity.
MatrixXd clique_covariance(const EcMoments& moments, const EcClique& clique, Index size) {
  MatrixXd c(size, size);
  for (Index b = 0; b < size; ++b) {
    c(b, b) = moments.variance[clique.members[b]];
    for (Index a = 0; a < b; ++a) c(a, b) = c(b, a) = moments.edge[clique.edge(a, b)];
  }
  for (double shrink = 1e-12; shrink < 1; shrink *= 10) {
    const Llt llt(c);
    const double least = llt.matrixLLT().diagonal().cwiseAbs2().cwiseQuotient(c.diagonal()).minCoeff();
    if (llt.info() == Eigen::Success && least > 1e-13) break;
    const VectorXd diagonal = c.diagonal();
    c *= 1 - shrink;
    c.diagonal() = diagonal;
  }
  return c;
}

// f(covariance of clique or separator, clique, +1 or -1).
template <class F>
void for_parts(const EcMoments& moments, const EcForest& forest, const F& f) {
  for (const EcClique& clique : forest.cliques) {
    const Index m = clique.size();
    const MatrixXd c = clique_covariance(moments, clique, m);
    f(c, clique, 1.0);
    if (m > 1) f(MatrixXd(c.topLeftCorner(m - 1, m - 1)), clique, -1.0);
  }
}

// The state of the members at these positions, given that of the clique.
Index part_of(Index state, const std::vector<int>& at) {
  Index part = 0;
  for (std::size_t k = 0; k < at.size(); ++k) part |= ((state >> at[k]) & 1) << k;
  return part;
}

// A table of logarithms summed over the members that are not at these positions.
VectorXd summed(const VectorXd& table, const std::vector<int>& at) {
  std::vector<LogSumExp> sums(std::size_t{1} << at.size());
  for (Index s = 0; s < table.size(); ++s) sums[part_of(s, at)].add(table[s]);
  VectorXd result(static_cast<Index>(sums.size()));
  for (Index s = 0; s < result.size(); ++s) result[s] = sums[s].value();
  return result;
}

// Adds the table of those members to that of the clique.
void spread(const VectorXd& part, const std::vector<int>& at, VectorXd& table) {
  for (Index s = 0; s < table.size(); ++s) table[s] += part[part_of(s, at)];
}

}  // namespace

EcForest wide_forest(ConstMatrixRef j, int width) {
  const Index n = j.rows();
  if (width < 1 || width > 20) throw InputError(message("the width of a tree must be from 1 to 20, but it is ", width, "."));
  EcForest forest(n, {});
  struct Offer {
    double weight = 0;
    int clique = -1, without = -1;  // all members but this one; -1: all
  };
  std::vector<Offer> best(n);
  std::vector<bool> inside(n, false);
  Index heaviest = 0;
  const VectorXd strongest = j.cwiseAbs().rowwise().maxCoeff();
  strongest.maxCoeff(&heaviest);
  for (Index joined = 0; joined < n; ++joined) {
    Index next = joined == 0 ? heaviest : -1;
    for (Index i = 0; i < n && joined > 0; ++i) {
      if (!inside[i] && (next < 0 || best[i].weight > best[next].weight)) next = i;
    }
    const Offer offer = best[next];
    EcClique clique;
    clique.parent = offer.clique;
    if (offer.clique >= 0) {
      const EcClique& parent = forest.cliques[offer.clique];
      for (Index k = 0; k < parent.size(); ++k) {
        if (k == offer.without) continue;
        clique.members.push_back(parent.members[k]);
        clique.in_parent.push_back(static_cast<int>(k));
      }
      for (std::size_t b = 1; b < clique.in_parent.size(); ++b) {
        for (std::size_t a = 0; a < b; ++a) clique.edges.push_back(parent.edge(clique.in_parent[a], clique.in_parent[b]));
      }
    }
    for (const int other : clique.members) {
      clique.edges.push_back(static_cast<int>(forest.edges.size()));
      forest.edges.push_back(std::minmax(other, static_cast<int>(next)));
      forest.degree[other] += 1;
      forest.degree[next] += 1;
    }
    clique.members.push_back(static_cast<int>(next));
    inside[next] = true;
    for (Index i = 0; i < n; ++i) {
      if (inside[i]) continue;
      Offer made{0, static_cast<int>(forest.cliques.size()), -1};
      double least = std::numeric_limits<double>::infinity();
      for (Index k = 0; k < clique.size(); ++k) {
        const double weight = std::abs(j(i, clique.members[k]));
        made.weight += weight;
        if (clique.size() > width && weight < least) {
          least = weight;
          made.without = static_cast<int>(k);
        }
      }
      if (made.without >= 0) made.weight -= least;
      // Of equal offers the later: its clique is the larger one, and leaves more to choose from.
      if (made.weight > 0 && made.weight >= best[i].weight) best[i] = made;
    }
    forest.cliques.push_back(std::move(clique));
  }
  return forest;
}

EcParameters wide_gaussian_parameters(const EcMoments& moments, const EcForest& forest) {
  const Index n = forest.size();
  EcParameters p{VectorXd::Zero(n), VectorXd::Zero(n), VectorXd::Zero(static_cast<Index>(forest.edges.size()))};
  for_parts(moments, forest, [&](const MatrixXd& c, const EcClique& clique, double sign) {
    const Index m = c.rows();
    const MatrixXd precision = sign * Llt(c).solve(MatrixXd::Identity(m, m));
    for (Index b = 0; b < m; ++b) {
      p.lambda[clique.members[b]] += precision(b, b);
      for (Index a = 0; a < b; ++a) p.edge[clique.edge(a, b)] += precision(a, b);
      for (Index a = 0; a < m; ++a) p.gamma[clique.members[b]] += precision(b, a) * moments.mean[clique.members[a]];
    }
  });
  return p;
}

double wide_gaussian_log_z(const EcMoments& moments, const EcForest& forest) {
  double log_det = 0;
  for_parts(moments, forest, [&](const MatrixXd& c, const EcClique&, double sign) {
    log_det += sign * 2 * Llt(c).matrixLLT().diagonal().array().log().sum();
  });
  return 0.5 * log_det + 0.5 * wide_gaussian_parameters(moments, forest).gamma.dot(moments.mean);
}

BinaryForest wide_binary_inference(const EcParameters& parameters, const EcForest& forest) {
  const std::size_t count = forest.cliques.size();
  std::vector<VectorXd> table(count), message(count);
  const auto spin = [](Index state, Index k) { return (state >> k) & 1 ? 1.0 : -1.0; };
  // Each clique brings the field of the member that joined with it and the couplings of that member; bit k of a state is member
  // k.
  for (std::size_t c = 0; c < count; ++c) {
    const EcClique& clique = forest.cliques[c];
    const Index last = clique.size() - 1;
    table[c].resize(Index{2} << last);
    for (Index s = 0; s < table[c].size(); ++s) {
      double field = parameters.gamma[clique.members[last]];
      for (Index a = 0; a < last; ++a) field -= parameters.edge[clique.edge(a, last)] * spin(s, a);
      table[c][s] = field * spin(s, last);
    }
  }
  BinaryForest result;
  result.log_z = -0.5 * parameters.lambda.sum();
  for (std::size_t c = count; c-- > 0;) {
    const EcClique& clique = forest.cliques[c];
    const Index half = table[c].size() / 2;
    message[c].resize(half);
    for (Index s = 0; s < half; ++s) message[c][s] = log_sum_exp(table[c][s], table[c][s + half]);
    if (clique.parent >= 0) {
      spread(message[c], clique.in_parent, table[clique.parent]);
    } else {
      result.log_z += message[c][0];
      message[c].setZero();
    }
  }
  EcMoments& moments = result.moments;
  const Index n = forest.size();
  moments.mean.resize(n);
  moments.variance.resize(n);
  moments.edge.resize(static_cast<Index>(forest.edges.size()));
  for (std::size_t c = 0; c < count; ++c) {
    const EcClique& clique = forest.cliques[c];
    const Index last = clique.size() - 1;
    VectorXd& t = table[c];
    if (clique.parent >= 0) {
      const VectorXd news = summed(table[clique.parent], clique.in_parent) - message[c];
      t += news.replicate(2, 1);  // the separator has the lower bits
    }
    const Eigen::ArrayXd p = (t.array() - log_sum_exp(t)).exp();
    const Index i = clique.members[last];
    const double up = p.tail(p.size() / 2).sum(), down = p.head(p.size() / 2).sum();
    moments.mean[i] = up - down;
    moments.variance[i] = std::max(smallest_spin_variance, 4 * up * down);
    for (Index a = 0; a < last; ++a) {
      double q[2][2] = {{0, 0}, {0, 0}};
      for (Index s = 0; s < p.size(); ++s) q[(s >> a) & 1][(s >> last) & 1] += p[s];
      moments.edge[clique.edge(a, last)] = 4 * (q[1][1] * q[0][0] - q[1][0] * q[0][1]);
    }
  }
  return result;
}

}  // namespace granary::process
