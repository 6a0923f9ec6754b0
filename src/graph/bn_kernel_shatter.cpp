#include "graph/bn_kernel_shatter.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/math/logspace.h"
#include "core/optim/lp.h"
#include "core/graph/subsets.h"

namespace granary::graph {

namespace {

const double log2_e = 1 / std::log(2.0);

// log2(1 - p) for p = 2^log2_p.
double log2_complement(double log2_p) { return log1mexp(log2_p / log2_e) * log2_e; }

void require_binary(const BnStructure& s) {
  for (int i = 0; i < s.nodes(); ++i) {
    if (s.levels[i] != 2)
      throw InputError(message("Node ", i + 1, " has ", s.levels[i], " levels; this construction is for two."));
  }
}

void count_wrong(Shattering& out, const std::vector<int>& labels) {
  out.wrong = 0;
  for (std::size_t k = 0; k < labels.size(); ++k) out.wrong += (out.odds[k] >= 0) != (labels[k] > 0);
}

void require_labels(std::size_t have, Index need) {
  if (static_cast<Index>(have) != need) {
    throw InputError(message("labels must have one sign for each of the ", need, " points, not ", have, "."));
  }
}

}  // namespace

VectorXd shatter_constants(const BnStructure& s, bool paper) {
  const int n = s.nodes();
  VectorXd constants(n);
  for (int t = 0; t < n; ++t) {
    const int i = s.order[t];
    if (paper) {
      constants[i] = std::ldexp(static_cast<double>(n), t);
    } else {
      constants[i] = n;
      for (int j : s.parents[i]) constants[i] += constants[j];
    }
  }
  return constants;
}

double table_odds(const BnStructure& s, const Shattering& shattering, const int* x) {
  double total = 0;
  for (int i = 0; i < s.nodes(); ++i) {
    const int a = s.pattern(i, x);
    const double p = shattering.log2_p[i][a], q = shattering.log2_q[i][a];
    total += x[i] ? p - q : log2_complement(p) - log2_complement(q);
  }
  return total;
}

Shattering shatter_tables(const BnStructure& s, const std::vector<int>& labels, const VectorXd& constants) {
  require_binary(s);
  const int n = s.nodes();
  Index count = 0;
  for (int i = 0; i < n; ++i) count += s.patterns(i);
  require_labels(labels.size(), count);
  Shattering out;
  out.points = MatrixXd::Zero(count, n);
  out.odds.resize(count);
  out.log2_p.resize(n);
  out.log2_q.resize(n);
  Index k = 0;
  for (int i : s.order) {
    out.log2_p[i].resize(s.patterns(i));
    out.log2_q[i].resize(s.patterns(i));
    for (Index a = 0; a < s.patterns(i); ++a, ++k) {
      const bool up = labels[k] > 0;
      out.log2_p[i][a] = up ? -1 : -1 - constants[i];
      out.log2_q[i][a] = up ? -1 - constants[i] : -1;
      out.points(k, i) = 1;
      for (std::size_t b = 0; b < s.parents[i].size(); ++b) out.points(k, s.parents[i][b]) = static_cast<double>(a >> b & 1);
    }
  }
  std::vector<int> x(n);
  for (k = 0; k < count; ++k) {
    for (int j = 0; j < n; ++j) x[j] = static_cast<int>(out.points(k, j));
    out.odds[k] = table_odds(s, out, x.data());
  }
  count_wrong(out, labels);
  return out;
}

Shattering shatter_logistic(int n, const std::vector<int>& labels, bool paper) {
  const Index count = static_cast<Index>(n) * (n - 1) / 2;
  require_labels(labels.size(), count);
  Shattering out;
  out.points = MatrixXd::Zero(count, n);
  out.odds.resize(count);
  out.log2_p.assign(n, VectorXd::Zero(n));
  out.log2_q.assign(n, VectorXd::Zero(n));
  Index k = 0;
  for (int i = 1; i < n; ++i) {
    const double constant = paper ? std::ldexp(static_cast<double>(n), i) : n;
    const double low = (-1 - constant) / log2_e - log1mexp((-1 - constant) / log2_e);  // logit(2^{-1 - L})
    for (int c = 0; c < i; ++c, ++k) {
      out.log2_p[i][c] = labels[k] > 0 ? 0 : low;
      out.log2_q[i][c] = labels[k] > 0 ? low : 0;
      out.points(k, i) = out.points(k, c) = 1;
    }
  }
  for (k = 0; k < count; ++k) {
    double total = 0;
    for (int i = 0; i < n; ++i) {
      double p = 0, q = 0;
      for (int j = 0; j < i; ++j) {
        p += out.log2_p[i][j] * out.points(k, j);
        q += out.log2_q[i][j] * out.points(k, j);
      }
      total += out.points(k, i) > 0 ? log_expit(p) - log_expit(q) : log_expit(-p) - log_expit(-q);
    }
    out.odds[k] = total * log2_e;
  }
  count_wrong(out, labels);
  return out;
}

HalfSpace to_half_space(double p, double q) {
  if (!(p > 0 && p < 1 && q > 0 && q < 1)) throw InputError("Probabilities must lie strictly between 0 and 1.");
  if (p == q) return {0, 0.5};
  const double w = logit(p) - logit(q), c = std::log1p(-p) - std::log1p(-q);
  return {w, std::min(std::max(-c / w, 0.0), 1.0)};
}

BernoulliPair from_half_space(double w, double b) {
  if (!(b > 0 && b < 1)) throw InputError(message("b must lie strictly between 0 and 1, but it is ", b, "."));
  if (w == 0) return {0.5, 0.5};
  // q = (1 - e^c) / (e^{w+c} - e^c), c = -b w; for w < 0 the roles of the two sides change.
  if (w < 0) {
    const BernoulliPair turned = from_half_space(-w, b);
    return {turned.q, turned.p};
  }
  const double q = std::exp(log1mexp(-b * w) - (log1mexp(-w) + w - b * w));
  const double p = std::exp(log1mexp(-b * w) - log1mexp(-w));
  return {p, q};
}

Shattering shatter_naive(int n, const std::vector<int>& labels) {
  if (n < 2)
    throw InputError(
        "Naive Bayes shatters e_1 .. e_n and the vector of ones for n >= 2; with one variable its VC dimension is 1.");
  require_labels(labels.size(), n + 1);
  const int last = labels[n] > 0 ? 1 : -1;
  int with = 0;
  for (int i = 0; i < n; ++i) with += (labels[i] > 0) == (last > 0);
  VectorXd w(n);
  double b;
  if (with == 0) {
    w.setConstant(last);
    b = 0.75;  // at e_i: last (1 - 3n/4) < 0 < last n/4
  } else {
    for (int i = 0; i < n; ++i) w[i] = (labels[i] > 0) == (last > 0) ? last * n : -last;
    b = 0.25 / (static_cast<double>(n) * n);  // b |sum w| <= 1/4
  }
  Shattering out;
  out.points = MatrixXd::Zero(n + 1, n);
  out.points.topRows(n).setIdentity();
  out.points.row(n).setOnes();
  out.odds.resize(n + 1);
  out.log2_p.resize(n);
  out.log2_q.resize(n);
  VectorXd one(n), zero(n);
  for (int i = 0; i < n; ++i) {
    const BernoulliPair pair = from_half_space(w[i], b);
    out.log2_p[i] = VectorXd::Constant(1, std::log2(pair.p));
    out.log2_q[i] = VectorXd::Constant(1, std::log2(pair.q));
    one[i] = out.log2_p[i][0] - out.log2_q[i][0];
    zero[i] = (std::log1p(-pair.p) - std::log1p(-pair.q)) * log2_e;
  }
  for (int k = 0; k <= n; ++k) out.odds[k] = out.points.row(k).dot(one) + (1 - out.points.row(k).array()).matrix().dot(zero);
  count_wrong(out, labels);
  return out;
}

namespace {

class ConceptSearch {
 public:
  ConceptSearch(const BnStructure& s, Monitor& monitor) : monitor_(monitor), points_(1 << s.nodes()) {
    std::vector<int> start(s.nodes() + 1, 0);
    for (int i = 0; i < s.nodes(); ++i) start[i + 1] = start[i] + static_cast<int>(s.patterns(i));
    rows_ = start.back();
    features_ = MatrixXd::Zero(points_, 2 * rows_);
    std::vector<int> x(s.nodes());
    for (int k = 0; k < points_; ++k) {
      for (int j = 0; j < s.nodes(); ++j) x[j] = k >> j & 1;
      for (int i = 0; i < s.nodes(); ++i) features_(k, 2 * (start[i] + s.pattern(i, x.data())) + x[i]) = 1;
    }
    sign_.assign(rows_, undecided);
  }

  ConceptClass run() {
    label(0, 0);
    ConceptClass out;
    out.points = points_;
    out.concepts = found_;
    out.programs = programs_;
    for (int d = 1; d <= points_ && (std::size_t{1} << d) <= found_.size(); ++d) {
      bool shattered = false;
      for (KSubsets subset(points_, d); subset.valid() && !shattered; subset.next()) {
        monitor_.check();
        std::vector<char> seen(std::size_t{1} << d, 0);
        std::size_t distinct = 0;
        for (std::uint32_t one : found_) {
          std::size_t key = 0;
          for (int b = 0; b < d; ++b) key |= static_cast<std::size_t>(one >> subset.indices()[b] & 1) << b;
          if (!seen[key]) {
            seen[key] = 1;
            ++distinct;
          }
        }
        if (distinct == seen.size()) {
          shattered = true;
          out.vc = d;
          out.witness = subset.indices();
        }
      }
      if (!shattered) break;
    }
    return out;
  }

 private:
  static constexpr int undecided = 2;

  // A feasible point of the program for the first `count` labels, given what is decided about the table rows.
  bool solve(int count, std::uint32_t labels, VectorXd* solution) {
    monitor_.check();
    if (++programs_ > 3e6) throw InputError("This network has too many concepts to list. Use bn_dimension() for bounds.");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    LinearProgram lp;
    lp.c = VectorXd::Zero(2 * rows_);
    lp.a = features_.topRows(count);
    lp.b = VectorXd::Zero(count);
    lp.lower = VectorXd::Constant(2 * rows_, -infinity);
    lp.upper = VectorXd::Constant(2 * rows_, infinity);
    for (int k = 0; k < count; ++k) {
      const bool up = labels >> k & 1;
      lp.sense.push_back(up ? RowSense::greater_equal : RowSense::less_equal);
      lp.b[k] = up ? 0 : -1;
    }
    for (int r = 0; r < rows_; ++r) {
      if (sign_[r] == 0) lp.lower.segment(2 * r, 2).setZero(), lp.upper.segment(2 * r, 2).setZero();
      if (sign_[r] == 1) lp.upper[2 * r] = -1, lp.lower[2 * r + 1] = 1;
      if (sign_[r] == -1) lp.lower[2 * r] = 1, lp.upper[2 * r + 1] = -1;
    }
    const LpResult result = solve_lp(lp, {}, monitor_);
    if (result.status == LpStatus::stopped) throw NumericalError("A linear program of the search did not finish.");
    if (result.status == LpStatus::infeasible) return false;
    if (solution) *solution = result.x;
    return true;
  }

  // Is there a choice for every row that is still undecided?
  bool reachable(std::uint32_t labels) {
    VectorXd at;
    if (!solve(points_, labels, &at)) return false;
    int open = -1;
    for (int r = 0; r < rows_ && open < 0; ++r) {
      if (sign_[r] == undecided) open = r;
    }
    if (open < 0) return true;
    const int first = at[2 * open + 1] > at[2 * open] ? 1 : -1;
    bool found = false;
    for (int choice : {first, -first, 0}) {
      sign_[open] = choice;
      found = reachable(labels);
      if (found) break;
    }
    sign_[open] = undecided;
    return found;
  }

  void label(int count, std::uint32_t labels) {
    if (count > 0 && !solve(count, labels, nullptr)) return;
    if (count == points_) {
      if (reachable(labels)) found_.push_back(labels);
      return;
    }
    label(count + 1, labels);
    label(count + 1, labels | std::uint32_t{1} << count);
  }

  Monitor& monitor_;
  int points_, rows_ = 0;
  MatrixXd features_;
  std::vector<int> sign_;
  std::vector<std::uint32_t> found_;
  double programs_ = 0;
};

}  // namespace

ConceptClass enumerate_concepts(const BnStructure& s, Monitor& monitor) {
  require_binary(s);
  if (s.nodes() > 4)
    throw InputError(message("Concepts are listed for at most 4 nodes, not ", s.nodes(), ". Use bn_dimension() for bounds."));
  return ConceptSearch(s, monitor).run();
}

Shattering shatter(const BnStructure& structure, ShatterType type, const std::vector<int>& labels, bool paper) {
  if (type == ShatterType::logistic) return shatter_logistic(structure.nodes(), labels, paper);
  if (type == ShatterType::naive) return shatter_naive(structure.nodes(), labels);
  const VectorXd constants = shatter_constants(structure, paper);
  Shattering out = shatter_tables(structure, labels, constants);
  out.constants = constants;
  return out;
}

double shatter_failures(const BnStructure& structure, ShatterType type, int points, bool paper, Monitor& monitor) {
  double failures = 0;
  std::vector<int> labels(static_cast<std::size_t>(points));
  for (std::uint32_t mask = 0; mask < std::uint32_t{1} << points; ++mask) {
    monitor.check();
    for (int k = 0; k < points; ++k) labels[static_cast<std::size_t>(k)] = mask >> k & 1 ? 1 : -1;
    failures += shatter(structure, type, labels, paper).wrong > 0;
  }
  return failures;
}

MatrixXd half_space_rows(ConstVectorRef first, ConstVectorRef second, bool forward) {
  MatrixXd out(first.size(), 2);
  for (Index i = 0; i < out.rows(); ++i) {
    if (forward) {
      const HalfSpace h = to_half_space(first[i], second[i]);
      out.row(i) << h.w, h.b;
    } else {
      const BernoulliPair pair = from_half_space(first[i], second[i]);
      out.row(i) << pair.p, pair.q;
    }
  }
  return out;
}

}  // namespace granary::graph
