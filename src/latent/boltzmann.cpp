#include "latent/boltzmann.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/base/errors.h"
#include "core/base/part_monitor.h"
#include "core/math/logspace.h"
#include "core/optim/lbfgs.h"

namespace granary::latent {
namespace {

constexpr Index most_nodes = 20;

// b on the diagonal of a symmetric matrix, J off it: theta of the model, and the moments that belong to it.
using Table = MatrixXd;

VectorXd pack(const Table& a) {
  const Index n = a.rows();
  VectorXd x(n * (n + 1) / 2);
  Index at = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) x[at++] = a(i, j);
  return x;
}

Table unpack(const VectorXd& x, Index n) {
  Table a(n, n);
  Index at = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) a(i, j) = a(j, i) = x[at++];
  return a;
}

// Energies of all states of `free` nodes, the others held at `s`: each from that without its lowest node.
VectorXd energies(const Table& theta, const std::vector<Index>& free, const VectorXd& s) {
  const std::size_t m = free.size(), states = std::size_t{1} << m;
  VectorXd e(static_cast<Index>(states));
  double held = 0;
  VectorXd field(static_cast<Index>(m));
  std::vector<char> is_free(static_cast<std::size_t>(theta.rows()), 0);
  for (const Index f : free) is_free[static_cast<std::size_t>(f)] = 1;
  for (Index i = 0; i < theta.rows(); ++i) {
    if (is_free[static_cast<std::size_t>(i)] || s[i] == 0) continue;
    held += theta(i, i);
    for (Index j = 0; j < i; ++j)
      if (!is_free[static_cast<std::size_t>(j)] && s[j] != 0) held += theta(i, j);
  }
  for (std::size_t a = 0; a < m; ++a) {
    double f = theta(free[a], free[a]);
    for (Index j = 0; j < theta.rows(); ++j)
      if (!is_free[static_cast<std::size_t>(j)] && s[j] != 0) f += theta(free[a], j);
    field[static_cast<Index>(a)] = f;
  }
  e[0] = held;
  for (std::size_t code = 1; code < states; ++code) {
    std::size_t low = 0;
    while (!(code >> low & 1)) ++low;
    const std::size_t rest = code & (code - 1);
    double x = e[static_cast<Index>(rest)] + field[static_cast<Index>(low)];
    for (std::size_t a = low + 1; a < m; ++a)
      if (rest >> a & 1) x += theta(free[low], free[a]);
    e[static_cast<Index>(code)] = x;
  }
  return e;
}

// Probabilities of states in, P(all nodes of a set are 1) for every set out: sums over supersets, O(m 2^m). Single nodes and pairs are the moments.
void superset_sums(VectorXd& p, std::size_t m) {
  const std::size_t states = std::size_t{1} << m;
  for (std::size_t a = 0; a < m; ++a) {
    const std::size_t bit = std::size_t{1} << a;
    for (std::size_t code = 0; code < states; ++code)
      if (!(code & bit)) p[static_cast<Index>(code)] += p[static_cast<Index>(code | bit)];
  }
}

struct RowLaw {
  Table moments;       // E s s', diagonal E s
  double loglik = 0;   // log sum over hidden states of exp(energy): log z is not taken off
  double entropy = 0;
};

std::vector<Index> hidden_nodes(const VectorXd& row) {
  std::vector<Index> free;
  for (Index i = 0; i < row.size(); ++i)
    if (row[i] < 0) free.push_back(i);
  return free;
}

Table outer(const VectorXd& mean) {
  Table m = mean * mean.transpose();
  m.diagonal() = mean;
  return m;
}

RowLaw exact_law(const Table& theta, const VectorXd& row) {
  const std::vector<Index> free = hidden_nodes(row);
  VectorXd e = energies(theta, free, row.cwiseMax(0.0));
  RowLaw law;
  law.loglik = log_sum_exp(e);
  VectorXd p = (e.array() - law.loglik).exp().matrix();
  law.entropy = law.loglik - p.dot(e);
  superset_sums(p, free.size());
  VectorXd mean = row.cwiseMax(0.0);
  for (std::size_t a = 0; a < free.size(); ++a) mean[free[a]] = p[Index{1} << a];
  law.moments = outer(mean);  // right wherever one of two nodes is seen
  for (std::size_t a = 0; a < free.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const double both = p[(Index{1} << a) | (Index{1} << b)];
      law.moments(free[a], free[b]) = law.moments(free[b], free[a]) = both;
    }
  return law;
}

double energy_of(const Table& theta, const Table& moments) {
  double sum = theta.diagonal().dot(moments.diagonal());
  for (Index j = 0; j < theta.cols(); ++j)
    for (Index i = j + 1; i < theta.rows(); ++i) sum += theta(i, j) * moments(i, j);
  return sum;
}

double bit_entropy(double p) { return (p > 0 ? -p * std::log(p) : 0) + (p < 1 ? -(1 - p) * std::log1p(-p) : 0); }

// Coordinate ascent from the given means; every update minimises D in its coordinate.
RowLaw settle(const Table& theta, const std::vector<Index>& free, VectorXd mean) {
  for (int sweep = 0; sweep < 10000; ++sweep) {
    double moved = 0;
    for (const Index i : free) {
      const double field = theta(i, i) * (1 - mean[i]) + theta.col(i).dot(mean);  // the diagonal of theta is b, not a coupling
      const double next = expit(field);
      moved = std::max(moved, std::abs(next - mean[i]));
      mean[i] = next;
    }
    if (moved < 1e-10) break;
  }
  RowLaw law;
  law.moments = outer(mean);
  for (const Index i : free) law.entropy += bit_entropy(mean[i]);
  law.loglik = energy_of(theta, law.moments) + law.entropy;
  return law;
}

RowLaw mean_field_law(const Table& theta, const VectorXd& row, const VectorXd* last, int starts, Rng& rng) {
  const std::vector<Index> free = hidden_nodes(row);
  VectorXd mean = row.cwiseMax(0.0);
  for (const Index i : free) mean[i] = last != nullptr ? (*last)[i] : 0.5;
  RowLaw best = settle(theta, free, mean);
  for (int r = 1; r < starts && !free.empty(); ++r) {
    for (const Index i : free) mean[i] = rng.uniform();
    RowLaw other = settle(theta, free, mean);
    if (other.loglik > best.loglik) best = std::move(other);
  }
  return best;
}

struct Patterns {  // equal rows once
  std::vector<VectorXd> row;
  std::vector<double> weight;
  std::vector<Index> of;
  double total = 0;
};

Patterns collect(ConstMatrixRef rows, ConstVectorRef weights) {
  Patterns out;
  std::map<std::vector<double>, Index> seen;
  for (Index i = 0; i < rows.rows(); ++i) {
    std::vector<double> key(static_cast<std::size_t>(rows.cols()));
    for (Index j = 0; j < rows.cols(); ++j) {
      const double x = rows(i, j);
      require(x == 0 || x == 1 || x == -1, "states must be 0, 1, or hidden.");
      key[static_cast<std::size_t>(j)] = x;
    }
    const auto [at, fresh] = seen.emplace(std::move(key), static_cast<Index>(out.row.size()));
    if (fresh) {
      out.row.push_back(rows.row(i).transpose());
      out.weight.push_back(0);
    }
    const double w = weights.size() > 0 ? weights[i] : 1;
    out.weight[static_cast<std::size_t>(at->second)] += w;
    out.total += w;
    out.of.push_back(at->second);
  }
  return out;
}

double log_z(const Table& theta, Table* moments) {
  const VectorXd none = VectorXd::Constant(theta.rows(), -1.0);
  const RowLaw law = exact_law(theta, none);
  if (moments != nullptr) *moments = law.moments;
  return law.loglik;
}

void check_nodes(Index n) {
  require(n >= 1 && n <= most_nodes, message("the states of all nodes are enumerated, so there may be at most ", most_nodes, " nodes, not ", n, "."));
}

class Fit {
 public:
  Fit(const Patterns& data, Index n, const BoltzmannOptions& o, Rng& rng, Monitor& monitor) : data_(data), n_(n), o_(o), rng_(rng), monitor_(monitor) {}

  BoltzmannResult run(Table theta) {
    theta_ = std::move(theta);
    law_.assign(data_.row.size(), RowLaw());
    mean_.clear();
    BoltzmannResult r;
    double before = std::numeric_limits<double>::infinity(), whole = before;
    int pass = 1;
    for (;; ++pass) {
      monitor_.check();
      const double free_energy = forward();  // sum of loglik without log z
      Table expected;
      const double z = log_z(theta_, &expected);
      const double d = data_.total * (z + penalty()) - free_energy;
      if (d > before + 1e-10 * (1 + std::abs(before))) ++r.rises;
      r.trace.push_back({pass, d, d, o_.method == BoltzmannMethod::exact ? free_energy - data_.total * z : Convergence::unknown});
      score_ = slope(expected);
      if ((whole - d <= o_.tol * (std::abs(d) + o_.tol) && score_ <= std::sqrt(o_.tol)) || pass >= o_.max_iter) {
        r.convergence.converged = pass < o_.max_iter || score_ <= std::sqrt(o_.tol);
        r.divergence = d;
        break;
      }
      whole = d;
      backward();
      before = divergence();
      r.trace.back().backward = before;
      if (before > d + 1e-10 * (1 + std::abs(d))) ++r.rises;
    }
    r.convergence.iterations = pass;
    finish(r);
    return r;
  }

 private:
  double penalty() const {
    double sum = 0;
    for (Index j = 0; j < n_; ++j)
      for (Index i = j + 1; i < n_; ++i) sum += theta_(i, j) * theta_(i, j);
    return 0.5 * o_.lambda * sum;
  }

  double forward() {
    double sum = 0;
    sum_ = Table::Zero(n_, n_);
    const bool again = !mean_.empty();
    if (!again) mean_.resize(data_.row.size());
    for (std::size_t u = 0; u < data_.row.size(); ++u) {
      monitor_.check();
      law_[u] = o_.method == BoltzmannMethod::exact ? exact_law(theta_, data_.row[u])
                                                    : mean_field_law(theta_, data_.row[u], again ? &mean_[u] : nullptr, o_.n_starts, rng_);
      mean_[u] = law_[u].moments.diagonal();
      sum += data_.weight[u] * law_[u].loglik;
      sum_ += data_.weight[u] * law_[u].moments;
    }
    return sum;
  }

  double divergence() const {
    double entropy = 0;
    for (std::size_t u = 0; u < law_.size(); ++u) entropy += data_.weight[u] * law_[u].entropy;
    return -entropy - energy_of(theta_, sum_) + data_.total * (log_z(theta_, nullptr) + penalty());
  }

  // Of D in theta, per row, where no bound holds it.
  double slope(const Table& expected) const {
    Table g = expected - sum_ / data_.total;
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < n_; ++i)
        if (i != j) g(i, j) += o_.lambda * theta_(i, j);
    double worst = 0;
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < n_; ++i) {
        const bool held = (theta_(i, j) >= o_.limit && g(i, j) < 0) || (theta_(i, j) <= -o_.limit && g(i, j) > 0);
        if (!held) worst = std::max(worst, std::abs(g(i, j)));
      }
    return worst;
  }

  void backward() {
    const Table mean = sum_ / data_.total;
    const VectorXd target = pack(mean);
    const auto f = [&](const VectorXd& x, VectorXd& gradient) {
      monitor_.check();
      const Table theta = unpack(x, n_);
      Table moments;
      double value = log_z(theta, &moments) - target.dot(x);
      gradient = pack(moments) - target;
      Index at = 0;
      for (Index i = 0; i < n_; ++i)
        for (Index j = 0; j <= i; ++j, ++at) {
          if (j == i) continue;
          value += 0.5 * o_.lambda * x[at] * x[at];
          gradient[at] += o_.lambda * x[at];
        }
      return value;
    };
    const VectorXd start = pack(theta_), bound = VectorXd::Constant(start.size(), o_.limit);
    LbfgsOptions options;
    options.tol = 1e-10;
    options.max_iter = 200;
    theta_ = unpack(lbfgs_box(f, start, -bound, bound, options, monitor_).x, n_);
  }

  void finish(BoltzmannResult& r) {
    Table expected;
    const double z = log_z(theta_, &expected);
    Table exact = Table::Zero(n_, n_);
    r.loglik = -data_.total * z;
    for (std::size_t u = 0; u < data_.row.size(); ++u) {
      const RowLaw law = exact_law(theta_, data_.row[u]);
      r.loglik += data_.weight[u] * law.loglik;
      exact += data_.weight[u] * law.moments;
    }
    r.bias = (exact - sum_) / data_.total;
    r.gap = r.divergence + r.loglik - data_.total * penalty();
    Table g = exact / data_.total - expected;
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < n_; ++i) {
        if (i != j) g(i, j) -= o_.lambda * theta_(i, j);
        if (std::abs(theta_(i, j)) >= o_.limit) g(i, j) = 0;
      }
    r.score = g.cwiseAbs().maxCoeff();
    r.convergence.residual = score_;
    r.b = theta_.diagonal();
    r.J = theta_;
    r.J.diagonal().setZero();
    if (theta_.cwiseAbs().maxCoeff() >= o_.limit) {
      r.convergence.converged = false;
      r.convergence.reason = Stop::unbounded;
      r.convergence.message = "a parameter reached `limit`: a pattern that never occurs drives it to infinity; use `lambda`";
    }
    r.mean.resize(static_cast<Index>(data_.of.size()), n_);
    for (std::size_t i = 0; i < data_.of.size(); ++i) r.mean.row(static_cast<Index>(i)) = mean_[static_cast<std::size_t>(data_.of[i])].transpose();
  }

  const Patterns& data_;
  Index n_;
  const BoltzmannOptions& o_;
  Rng& rng_;
  Monitor& monitor_;
  Table theta_, sum_;
  std::vector<RowLaw> law_;
  std::vector<VectorXd> mean_;
  double score_ = 0;
};

Table given_start(const BoltzmannOptions& o, Index n) {
  require(o.J.rows() == n && o.J.cols() == n && o.b.size() == n, message("`J` must be ", n, " x ", n, " and `b` have ", n, " entries."));
  require(o.J.isApprox(o.J.transpose(), 1e-12), "`J` must be symmetric.");
  Table theta = o.J;
  theta.diagonal() = o.b;
  return theta;
}

}  // namespace

BoltzmannResult boltzmann_fit(ConstMatrixRef rows, ConstVectorRef weights, const BoltzmannOptions& options, Rng& rng, Monitor& monitor) {
  const Stopwatch clock;
  const Index n = rows.cols();
  check_nodes(n);
  const Patterns data = collect(rows, weights);
  const bool given = options.J.size() > 0;
  bool hidden = false;
  for (const VectorXd& row : data.row) hidden = hidden || row.minCoeff() < 0;
  const int starts = given || !hidden ? 1 : std::max(1, options.n_starts);
  BoltzmannResult best;
  best.divergence = std::numeric_limits<double>::infinity();
  VectorXd values(starts);
  for (int r = 0; r < starts; ++r) {
    PartMonitor part(monitor, static_cast<double>(r) / starts, static_cast<double>(r + 1) / starts);
    Rng draws = rng.stream(static_cast<std::uint64_t>(r));
    Table theta = Table::Zero(n, n);
    if (given) {
      theta = given_start(options, n);
    } else if (hidden) {
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j <= i; ++j) theta(i, j) = theta(j, i) = draws.normal();
    }
    BoltzmannResult one = Fit(data, n, options, draws, part).run(theta);
    values[r] = -one.divergence;
    if (one.divergence < best.divergence) best = std::move(one);
  }
  best.values = values;
  best.convergence.seconds = clock.seconds();
  return best;
}

BoltzmannRows boltzmann_rows(ConstMatrixRef rows, const BoltzmannOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = rows.cols();
  check_nodes(n);
  const Table theta = given_start(options, n);
  const double z = log_z(theta, nullptr);
  BoltzmannRows out;
  out.mean.resize(rows.rows(), n);
  out.loglik.resize(rows.rows());
  out.divergence.resize(rows.rows());
  for (Index i = 0; i < rows.rows(); ++i) {
    monitor.check();
    const VectorXd row = rows.row(i).transpose();
    const RowLaw exact = exact_law(theta, row);
    const RowLaw used = options.method == BoltzmannMethod::exact ? exact : mean_field_law(theta, row, nullptr, options.n_starts, rng);
    out.mean.row(i) = used.moments.diagonal().transpose();
    out.loglik[i] = exact.loglik - z;
    out.divergence[i] = z - used.loglik;
  }
  return out;
}

MatrixXd boltzmann_draws(Index count, ConstMatrixRef J, ConstVectorRef b, Rng& rng) {
  const Index n = b.size();
  check_nodes(n);
  Table theta = J;
  theta.diagonal() = b;
  std::vector<Index> free(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) free[static_cast<std::size_t>(i)] = i;
  const VectorXd e = energies(theta, free, VectorXd::Zero(n));
  const double z = log_sum_exp(e);
  VectorXd cumulated(e.size());
  double sum = 0;
  for (Index i = 0; i < e.size(); ++i) cumulated[i] = sum += std::exp(e[i] - z);
  MatrixXd out(count, n);
  for (Index r = 0; r < count; ++r) {
    const double u = rng.uniform() * sum;
    const Index code = std::min<Index>(std::upper_bound(cumulated.data(), cumulated.data() + cumulated.size(), u) - cumulated.data(), e.size() - 1);
    for (Index i = 0; i < n; ++i) out(r, i) = static_cast<double>(code >> i & 1);
  }
  return out;
}

}  // namespace granary::latent
