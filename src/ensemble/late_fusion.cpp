#include "ensemble/late_fusion.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/parallel.h"
#include "core/base/quiet_monitor.h"

namespace granary::ensemble {
namespace {

// All ways to part `steps` among the views that are left, as rows.
void lattice_points(std::vector<int>& taken, std::size_t view, int left, std::vector<std::vector<int>>& out) {
  if (view + 1 == taken.size()) {
    taken[view] = left;
    out.push_back(taken);
    return;
  }
  for (int s = 0; s <= left; ++s) {
    taken[view] = s;
    lattice_points(taken, view + 1, left - s, out);
  }
}

double error_of(ConstMatrixRef posterior, const VectorXi& y, const VectorXd& w) {
  const VectorXi answers = best_class(posterior);
  double sum = 0;
  for (Index i = 0; i < y.size(); ++i)
    if (answers[i] != y[i]) sum += w[i];
  return sum / w.sum();
}

std::vector<int> all_columns(const CaseView& view) {
  std::vector<int> out(static_cast<std::size_t>(view.x.cols()));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

LateFusionResult late_fusion(const std::vector<CaseView>& views, const VectorXi& y, ConstVectorRef weights,
                             const VectorXi& folds, const LateFusionOptions& o, Rng& rng,
                             Monitor& monitor) {
  const Index n = y.size(), k = o.classes, v = static_cast<Index>(views.size());
  require(v >= 1 && static_cast<Index>(o.learners.size()) == v, "every view needs its learner.");
  for (const CaseView& view : views) require(view.cases() == n,
                                             message("every view must have the ", n, " cases of the labels, but one has ",
                                                     view.cases(), "."));
  const VectorXd w = weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(n);
  std::vector<VectorXd> spread;
  for (const CaseView& view : views) spread.push_back(view_spread(view));
  const auto fit = [&](Index view, const VectorXd& own, std::uint64_t task, Monitor& quiet) {
    const std::size_t at = static_cast<std::size_t>(view);
    Rng draws = rng.stream(task);
    return fit_view(views[at], y, own, all_columns(views[at]), o.classes, spread[at], o.learners[at], draws, quiet);
  };
  LateFusionResult out;
  const Index count = folds.size() > 0 ? folds.maxCoeff() + 1 : 0;
  std::vector<MatrixXd> posterior(static_cast<std::size_t>(v), MatrixXd::Zero(n, k));
  if (o.share.empty()) {
    require(folds.size() == n && count >= 2, "there must be a fold for each case, and at least two.");
    std::vector<MatrixXd> parts(static_cast<std::size_t>(v * count));
    parallel_for(v * count, o.threads, monitor, [&](Index t) {
      QuietMonitor quiet(monitor);
      const Index view = t % v, fold = t / v;
      VectorXd own = w;
      for (Index i = 0; i < n; ++i)
        if (folds[i] == fold) own[i] = 0;
      parts[static_cast<std::size_t>(t)] =
          class_posterior(view_scores(fit(view, own, static_cast<std::uint64_t>(t + 1), quiet),
                                      views[static_cast<std::size_t>(view)], 1, quiet));
    });
    for (Index t = 0; t < v * count; ++t)
      for (Index i = 0; i < n; ++i)
        if (folds[i] == t / v) posterior[static_cast<std::size_t>(t % v)].row(i) = parts[static_cast<std::size_t>(t)].row(i);
    out.view_error.resize(v);
    for (Index i = 0; i < v; ++i) out.view_error[i] = error_of(posterior[static_cast<std::size_t>(i)], y, w);
    std::vector<std::vector<int>> points;
    std::vector<int> taken(static_cast<std::size_t>(v), 0);
    lattice_points(taken, 0, o.steps, points);
    out.lattice.resize(static_cast<Index>(points.size()), v);
    out.error.resize(out.lattice.rows());
    double best = std::numeric_limits<double>::infinity(), nearest = best;
    for (Index a = 0; a < out.lattice.rows(); ++a) {
      MatrixXd mean = MatrixXd::Zero(n, k);
      for (Index i = 0; i < v; ++i) {
        out.lattice(a, i) = static_cast<double>(points[static_cast<std::size_t>(a)][static_cast<std::size_t>(i)]) / o.steps;
        mean += out.lattice(a, i) * posterior[static_cast<std::size_t>(i)];
      }
      out.error[a] = error_of(mean, y, w);
      const double off = (out.lattice.row(a).array() - 1.0 / static_cast<double>(v)).square().sum();
      if (out.error[a] < best - 1e-12 || (out.error[a] <= best + 1e-12 && off < nearest - 1e-12)) {
        best = out.error[a];
        nearest = off;
        out.model.share = out.lattice.row(a).transpose();
      }
    }
  } else {
    require(static_cast<Index>(o.share.size()) == v, message("there must be a share for each of the ", v, " views."));
    out.model.share = Eigen::Map<const VectorXd>(o.share.data(), v) / std::accumulate(o.share.begin(), o.share.end(), 0.0);
  }
  out.model.members.resize(static_cast<std::size_t>(v));
  parallel_for(v, o.threads, monitor, [&](Index view) {
    QuietMonitor quiet(monitor);
    out.model.members[static_cast<std::size_t>(view)] = fit(view, w, 0, quiet);
  });
  return out;
}

MatrixXd late_fusion_posterior(const LateFusionModel& model, const std::vector<CaseView>& views, int threads, Monitor& monitor) {
  require(!views.empty() && views.size() == model.members.size(),
          message("there must be ", model.members.size(), " views, not ", views.size(), "."));
  MatrixXd out;
  for (std::size_t v = 0; v < views.size(); ++v) {
    require(views[v].x.cols() == static_cast<Index>(model.members[v].features.size()), "a view has another number of columns.");
    const MatrixXd one = model.share[static_cast<Index>(v)] * class_posterior(
        view_scores(model.members[v], views[v], threads, monitor));
    if (v == 0) out = one;
    else out += one;
  }
  return out;
}

}  // namespace granary::ensemble
