#include "process/bo_space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/errors.h"
#include "core/cluster/space_filling.h"

#include "core/linalg/dense.h"

namespace granary::process {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index points_at_once = 2000;

MatrixXd rows_of(const MatrixXd& x, const std::vector<Index>& rows) {
  MatrixXd out(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) out.row(i) = x.row(rows[i]);
  return out;
}

MatrixXd feasible_rows(const BoSpace& space, const MatrixXd& x) {
  if (!space.feasible) return x;
  std::vector<Index> rows;
  for (Index i = 0; i < x.rows(); ++i)
    if (space.allows(x.row(i).transpose())) rows.push_back(i);
  return rows_of(x, rows);
}

// Values at feasible points, -infinity at the others, in blocks so that a long list can be interrupted.
VectorXd values_at(const BatchObjective& criterion, const BoSpace& space, const MatrixXd& x, Monitor& monitor) {
  VectorXd values = VectorXd::Constant(x.rows(), -infinity);
  for (Index from = 0; from < x.rows(); from += points_at_once) {
    monitor.check();
    const Index count = std::min(points_at_once, x.rows() - from);
    std::vector<Index> rows;
    for (Index i = from; i < from + count; ++i)
      if (space.allows(x.row(i).transpose())) rows.push_back(i);
    if (rows.empty()) continue;
    const VectorXd found = criterion(rows_of(x, rows));
    for (std::size_t i = 0; i < rows.size(); ++i) values[rows[i]] = std::isfinite(found[i]) ? found[i] : -infinity;
  }
  return values;
}

struct Search {
  const BatchObjective& criterion;
  const BoGradient& gradient;
  const BoSpace& space;
  Monitor& monitor;
  BoMaximum best{{}, -infinity, false};
  double least = infinity;  // of the finite values seen

  void see(const MatrixXd& x, const VectorXd& values) {
    for (Index i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      least = std::min(least, values[i]);
      if (values[i] > best.value) {
        best.value = values[i];
        best.x = x.row(i).transpose();
      }
    }
  }
  VectorXd look(const MatrixXd& x) {
    const VectorXd values = values_at(criterion, space, x, monitor);
    see(x, values);
    return values;
  }

  void refine_smooth(const VectorXd& start) {
    const Index d = space.dimension();
    const Objective minus = [&](const VectorXd& x, VectorXd& g) {
      monitor.check();
      const double value = gradient(x, g);
      g = -g;
      return -value;
    };
    LbfgsOptions options;
    options.tol = 1e-6;
    options.max_iter = 40;
    options.value_tol = 1e-10;
    const LbfgsResult end = lbfgs_box(minus, start, VectorXd::Zero(d), VectorXd::Ones(d), options, monitor);
    if (std::isfinite(end.value)) see(end.x.transpose(), VectorXd::Constant(1, -end.value));
  }

  void refine_compass(VectorXd at, double value) {
    const Index d = space.dimension();
    double step = 0.1;
    for (int round = 0; round < 200 && step > 1e-5; ++round) {
      std::vector<VectorXd> neighbours;
      const auto propose = [&](Index k, double to) {
        to = std::min(std::max(to, 0.0), space.categorical[k] ? to : 1.0);
        if (to == at[k]) return;
        neighbours.push_back(at);
        neighbours.back()[k] = to;
      };
      for (Index k = 0; k < d; ++k) {
        if (space.values[k] == 0) {
          propose(k, at[k] - step);
          propose(k, at[k] + step);
        } else if (space.categorical[k]) {
          for (int code = 0; code < space.values[k]; ++code) propose(k, code);
        } else if (space.values[k] > 1) {
          const double grid = space.values[k] - 1, here = std::round(at[k] * grid);
          const double leap = std::max(1.0, std::floor(step * grid));
          for (double by : {1.0, leap}) {
            propose(k, std::max(here - by, 0.0) / grid);
            propose(k, std::min(here + by, grid) / grid);
          }
        }
      }
      MatrixXd x(static_cast<Index>(neighbours.size()), d);
      for (std::size_t i = 0; i < neighbours.size(); ++i) x.row(i) = neighbours[i].transpose();
      if (x.rows() == 0) return;
      const VectorXd values = look(x);
      Index top;
      if (values.maxCoeff(&top) > value) {
        value = values[top];
        at = x.row(top).transpose();
      } else if (space.count() < infinity && step * space.values.maxCoeff() < 1) {
        return;  // the nearest grid values were tried
      } else {
        step *= 0.5;
      }
    }
  }

  // The best of the points, apart from each other.
  void refine(const MatrixXd& x, const VectorXd& values, int starts) {
    std::vector<Index> order(values.size());
    for (Index i = 0; i < values.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] > values[b]; });
    std::vector<Index> chosen;
    for (Index i : order) {
      if (static_cast<int>(chosen.size()) >= starts || !std::isfinite(values[i])) break;
      bool apart = true;
      for (Index j : chosen) apart = apart && space.distance(x.row(i).transpose(), x.row(j).transpose()) > 0.02;
      if (apart) chosen.push_back(i);
    }
    const bool smooth = gradient && !space.feasible && space.continuous();
    for (Index i : chosen) {
      const VectorXd start = x.row(i).transpose();
      if (smooth)
        refine_smooth(start);
      else
        refine_compass(start, values[i]);
    }
  }
};

}  // namespace

double BoSpace::count() const {
  double product = 1;
  for (Index k = 0; k < values.size(); ++k) product *= values[k] == 0 ? infinity : values[k];
  return product;
}

MatrixXd BoSpace::place(ConstMatrixRef unit) const {
  MatrixXd x = unit;
  for (Index k = 0; k < values.size(); ++k) {
    if (values[k] == 0) continue;
    const double cells = values[k];
    for (Index i = 0; i < x.rows(); ++i) {
      const double cell = std::min(std::floor(x(i, k) * cells), cells - 1);
      x(i, k) = categorical[k] ? cell : cells > 1 ? cell / (cells - 1) : 0;
    }
  }
  return x;
}

MatrixXd BoSpace::all() const {
  const Index n = static_cast<Index>(count()), d = dimension();
  MatrixXd x(n, d);
  Index repeat = 1;
  for (Index k = 0; k < d; ++k) {
    for (Index i = 0; i < n; ++i) {
      const double cell = static_cast<double>((i / repeat) % values[k]);
      x(i, k) = categorical[k] ? cell : values[k] > 1 ? cell / (values[k] - 1) : 0;
    }
    repeat *= values[k];
  }
  return x;
}

double BoSpace::distance(ConstVectorRef a, ConstVectorRef b) const {
  double largest = 0;
  for (Index k = 0; k < a.size(); ++k)
    largest = std::max(largest, categorical[k] ? (a[k] != b[k] ? 1.0 : 0.0) : std::abs(a[k] - b[k]));
  return largest;
}

MatrixXd bo_random_points(const BoSpace& space, Index n, Rng& rng, Monitor& monitor, int tries) {
  const Index d = space.dimension();
  std::vector<VectorXd> found;
  MatrixXd unit(1, d);
  // A list is drawn from without repetition while it lasts.
  const MatrixXd listed = space.candidates.rows() > 0 ? feasible_rows(space, space.candidates) : MatrixXd(0, d);
  if (space.candidates.rows() > 0) {
    while (static_cast<Index>(found.size()) < n && listed.rows() > 0)
      for (int i : rng.permutation(static_cast<int>(listed.rows())))
        if (static_cast<Index>(found.size()) < n) found.push_back(listed.row(i).transpose());
  } else {
    for (Index i = 0; i < n; ++i) {
      for (int attempt = 0; attempt < tries; ++attempt) {
        if (attempt % 100 == 0) monitor.check();
        for (Index k = 0; k < d; ++k) unit(0, k) = rng.uniform();
        VectorXd x = space.place(unit).row(0).transpose();
        if (!space.allows(x)) continue;
        found.push_back(std::move(x));
        break;
      }
      if (static_cast<Index>(found.size()) <= i) break;
    }
  }
  MatrixXd x(static_cast<Index>(found.size()), d);
  for (std::size_t i = 0; i < found.size(); ++i) x.row(i) = found[i].transpose();
  return x;
}

MatrixXd bo_design(const BoSpace& space, BoDesign design, Index n, Rng& rng, Monitor& monitor) {
  if (space.candidates.rows() > 0 || design == BoDesign::uniform) return bo_random_points(space, n, rng, monitor);
  const Index d = space.dimension();
  const MatrixXd unit = design == BoDesign::sobol ? sobol_shifted(n, d, rng) : latin_hypercube(n, d, rng, 10);
  const MatrixXd kept = feasible_rows(space, space.place(unit));
  const MatrixXd more = bo_random_points(space, n - kept.rows(), rng, monitor);
  MatrixXd x(kept.rows() + more.rows(), d);
  x << kept, more;
  return x;
}

MatrixXd bo_cover(const BoSpace& space, ConstMatrixRef known, Index n, Rng& rng, Monitor& monitor) {
  if (space.candidates.rows() > 0) return feasible_rows(space, space.candidates);
  if (space.count() <= static_cast<double>(n)) return feasible_rows(space, space.all());
  const Index d = space.dimension(), local = n / 5;
  MatrixXd unit(n + local, d);
  unit.topRows(n) = sobol_shifted(n, d, rng);
  MatrixXd x = space.place(unit);
  for (Index i = 0; i < local; ++i) {
    if (known.rows() == 0) {
      x.row(n + i) = x.row(i);
      continue;
    }
    // Around the known points at scales from a tenth of the box down.
    const Index from = i % known.rows();
    const double spread = std::pow(10.0, -rng.uniform(1, 4));
    for (Index k = 0; k < d; ++k) {
      x(n + i, k) = known(from, k);
      if (space.values[k] == 0) {
        x(n + i, k) = std::min(std::max(known(from, k) + spread * rng.normal(), 0.0), 1.0);
      } else if (rng.uniform() < 1.0 / static_cast<double>(d)) {
        MatrixXd other = MatrixXd::Constant(1, d, rng.uniform());
        x(n + i, k) = space.place(other)(0, k);
      }
    }
  }
  MatrixXd kept = feasible_rows(space, x);
  if (kept.rows() == 0) kept = bo_random_points(space, 1, rng, monitor);
  return kept;
}

VectorXd bo_farthest(const BoSpace& space, ConstMatrixRef known, Rng& rng, Monitor& monitor) {
  const MatrixXd x = bo_cover(space, MatrixXd(0, space.dimension()), 200 * space.dimension(), rng, monitor);
  double largest = -1;
  Index at = -1;
  for (Index i = 0; i < x.rows(); ++i) {
    double nearest = infinity;
    for (Index j = 0; j < known.rows(); ++j) {
      double sum = 0;
      for (Index k = 0; k < x.cols(); ++k) {
        const double gap = space.categorical[k] ? (x(i, k) != known(j, k) ? 1.0 : 0.0) : x(i, k) - known(j, k);
        sum += gap * gap;
      }
      nearest = std::min(nearest, sum);
    }
    if (nearest > largest) {
      largest = nearest;
      at = i;
    }
  }
  return at < 0 ? VectorXd() : VectorXd(x.row(at).transpose());
}

BoMaximum bo_maximise(const BatchObjective& criterion, const BoGradient& gradient, const BoSpace& space, ConstMatrixRef known,
                      const BoSearchOptions& options, Rng& rng, Monitor& monitor) {
  Search search{criterion, gradient, space, monitor};
  const Index d = space.dimension();
  const int budget = std::max(50, static_cast<int>(options.evaluations_per_input * d));
  if (space.candidates.rows() > 0 || space.enumerable()) {
    search.look(space.candidates.rows() > 0 ? space.candidates : space.all());
  } else {
    MatrixXd points;
    VectorXd values;
    if (space.has_categories()) {
      points = bo_cover(space, known, budget, rng, monitor);
      values = search.look(points);
    } else {
      const BatchObjective minus = [&](const MatrixXd& unit) {
        return VectorXd(-values_at(criterion, space, space.place(unit), monitor));
      };
      DirectOptions direct_options;
      direct_options.max_evaluations = static_cast<int>(0.9 * budget);
      const DirectResult found = direct(minus, VectorXd::Zero(d), VectorXd::Ones(d), direct_options, monitor);
      points = space.place(found.points);
      values = -found.values;
      search.see(points, values);
      // Points tried before, and others close to them: late in a run the criterion is a spike beside the best of them.
      MatrixXd near(4 * known.rows(), d);
      for (Index i = 0; i < near.rows(); ++i) {
        const double spread = std::pow(10.0, -1 - static_cast<double>(i / std::max<Index>(known.rows(), 1)));
        for (Index k = 0; k < d; ++k)
          near(i, k) = std::min(std::max(known(i % known.rows(), k) + spread * rng.uniform(-1, 1), 0.0), 1.0);
      }
      near = space.place(near);
      const VectorXd near_values = search.look(near);
      if (near.rows() > 0) search.refine(near, near_values, std::max(1, options.starts / 2));
    }
    if (!(search.best.value > -infinity)) {  // a small feasible set: look for it at random
      points = bo_random_points(space, 50, rng, monitor);
      values = search.look(points);
    }
    search.refine(points, values, options.starts);
  }
  search.best.flat = !(search.best.value > search.least);
  return search.best;
}

MatrixXd embedding_preimage(ConstMatrixRef a, ConstMatrixRef v) {
  const Index e = a.cols(), d = a.rows();
  require(v.cols() == d, "the points do not have the inputs of the embedding.");
  const double root = std::sqrt(static_cast<double>(e));
  MatrixXd out = MatrixXd::Constant(v.rows(), e, std::numeric_limits<double>::quiet_NaN());
  for (Index i = 0; i < v.rows(); ++i) {
    std::vector<Index> inner;
    for (Index j = 0; j < d; ++j)
      if (std::abs(v(i, j)) < 1 - 1e-9) inner.push_back(j);
    MatrixXd rows(static_cast<Index>(inner.size()), e);
    VectorXd right(rows.rows());
    for (Index r = 0; r < rows.rows(); ++r) {
      rows.row(r) = a.row(inner[r]);
      right[r] = v(i, inner[r]);
    }
    if (rows.rows() < e) continue;
    const PivotedQr qr(rows);
    if (qr.rank() < e) continue;
    const VectorXd z = qr.solve(right), found = (a * z).cwiseMax(-1).cwiseMin(1);
    if ((found - v.row(i).transpose()).cwiseAbs().maxCoeff() > 1e-7 || z.cwiseAbs().maxCoeff() > root * (1 + 1e-7)) continue;
    out.row(i) = (0.5 * (z.array() / root + 1)).max(0).min(1).matrix().transpose();
  }
  return out;
}

}  // namespace granary::process
