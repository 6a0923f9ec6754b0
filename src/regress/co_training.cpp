#include "regress/co_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"

namespace granary::regress {
namespace {

using RowMajor = Eigen::SparseMatrix<double, Eigen::RowMajor>;

// Labelled rows, then unlabelled ones, as one view sees them.
class View {
 public:
  View(const CoTrainingData& data, const std::vector<char>& keep, bool normalize)
      : labelled_(data.labelled.rows()), sparse_(data.labelled.is_sparse() || data.unlabelled.is_sparse()) {
    const Index p = data.labelled.cols(), n = labelled_ + data.unlabelled.rows();
    if (sparse_) {
      std::vector<Eigen::Triplet<double>> cells;
      add_cells(data.labelled, 0, keep, cells);
      add_cells(data.unlabelled, labelled_, keep, cells);
      rows_.resize(n, p);
      rows_.setFromTriplets(cells.begin(), cells.end());
    } else {
      dense_.resize(n, p);
      dense_.topRows(labelled_) = data.labelled.dense();
      dense_.bottomRows(n - labelled_) = data.unlabelled.dense();
      for (Index j = 0; j < p; ++j)
        if (!keep[static_cast<std::size_t>(j)]) dense_.col(j).setZero();
    }
    for (Index i = 0; normalize && i < n; ++i) {
      const double length = sparse_ ? rows_.row(i).norm() : dense_.row(i).norm();
      if (!(length > 0)) continue;
      if (sparse_) {
        rows_.row(i) /= length;
      } else {
        dense_.row(i) /= length;
      }
    }
  }

  AsoResult train(const std::vector<Index>& rows, std::vector<Task> tasks, const CoTrainingOptions& options, Monitor& monitor) const {
    const Index p = sparse_ ? rows_.cols() : dense_.cols(), n = static_cast<Index>(rows.size());
    MatrixXd dense;
    SparseMatrix sparse;
    std::vector<Design> designs;
    if (sparse_) {
      std::vector<Eigen::Triplet<double>> cells;
      for (Index i = 0; i < n; ++i)
        for (RowMajor::InnerIterator it(rows_, rows[static_cast<std::size_t>(i)]); it; ++it)
          cells.emplace_back(static_cast<int>(i), static_cast<int>(it.col()), it.value());
      sparse.resize(n, p);
      sparse.setFromTriplets(cells.begin(), cells.end());
      designs.emplace_back(ConstSparseMap(n, p, sparse.nonZeros(), sparse.outerIndexPtr(), sparse.innerIndexPtr(), sparse.valuePtr()));
    } else {
      dense.resize(n, p);
      for (Index i = 0; i < n; ++i) dense.row(i) = dense_.row(rows[static_cast<std::size_t>(i)]);
      designs.emplace_back(MatrixView(dense.data(), n, p));
    }
    Structure none;
    none.groups.emplace_back(static_cast<std::size_t>(p));
    std::iota(none.groups[0].begin(), none.groups[0].end(), 0);
    none.theta.emplace_back(0, p);
    TaskOptions settings;
    settings.loss = options.loss;
    return aso_target(designs, tasks, none, settings, options.threads, monitor);
  }

  // One column per class, also for two.
  MatrixXd scores(const AsoResult& fit, const std::vector<Index>& unlabelled) const {
    MatrixXd out(static_cast<Index>(unlabelled.size()), fit.u.cols());
    for (Index i = 0; i < out.rows(); ++i) {
      const Index row = labelled_ + unlabelled[static_cast<std::size_t>(i)];
      if (sparse_) {
        out.row(i) = rows_.row(row) * fit.u;
      } else {
        out.row(i).noalias() = dense_.row(row) * fit.u;
      }
      out.row(i) += fit.intercepts.transpose();
    }
    if (out.cols() > 1) return out;
    MatrixXd both(out.rows(), 2);
    both << -out, out;
    return both;
  }

 private:
  static void add_cells(const Design& from, Index offset, const std::vector<char>& keep, std::vector<Eigen::Triplet<double>>& cells) {
    for (Index j = 0; j < from.cols(); ++j) {
      if (!keep[static_cast<std::size_t>(j)]) continue;
      if (from.is_sparse()) {
        for (ConstSparseMap::InnerIterator it(from.sparse(), j); it; ++it)
          cells.emplace_back(static_cast<int>(offset + it.row()), static_cast<int>(j), it.value());
      } else {
        for (Index i = 0; i < from.rows(); ++i)
          if (from.dense()(i, j) != 0) cells.emplace_back(static_cast<int>(offset + i), static_cast<int>(j), from.dense()(i, j));
      }
    }
  }

  Index labelled_;
  bool sparse_;
  MatrixXd dense_;
  RowMajor rows_;
};

std::vector<Task> class_tasks(const std::vector<int>& classes, int count, double lambda) {
  std::vector<Task> tasks;
  for (int g = count == 2 ? 1 : 0; g < count; ++g) {
    Task task;
    task.y.resize(static_cast<Index>(classes.size()));
    for (std::size_t i = 0; i < classes.size(); ++i) task.y[static_cast<Index>(i)] = classes[i] == g ? 1 : -1;
    task.lambda = VectorXd::Constant(1, lambda);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// Classes drawn by their shares, then the rows with the highest scores for them; a row is picked once.
void pick_confident(const MatrixXd& scores, const std::vector<double>& shares, int count, Rng& rng, std::vector<Index>& rows,
                    std::vector<int>& classes) {
  const std::size_t groups = shares.size();
  std::vector<std::vector<Index>> ranking(groups);
  std::vector<std::size_t> place(groups, 0);
  std::vector<char> used(static_cast<std::size_t>(scores.rows()), 0);
  for (std::size_t g = 0; g < groups; ++g) {
    ranking[g].resize(used.size());
    std::iota(ranking[g].begin(), ranking[g].end(), Index{0});
    const auto column = scores.col(static_cast<Index>(g));
    std::stable_sort(ranking[g].begin(), ranking[g].end(), [&](Index a, Index b) { return column[a] > column[b]; });
  }
  for (int k = 0; k < count; ++k) {
    double left = rng.uniform();
    std::size_t g = 0;
    while (g + 1 < groups && left >= shares[g]) left -= shares[g++];
    while (used[static_cast<std::size_t>(ranking[g][place[g]])]) ++place[g];
    const Index row = ranking[g][place[g]];
    used[static_cast<std::size_t>(row)] = 1;
    rows.push_back(row);
    classes.push_back(static_cast<int>(g));
  }
}

}  // namespace

CoTrainingResult co_training(const CoTrainingData& data, const CoTrainingOptions& options, Rng rng, Monitor& monitor) {
  const Stopwatch watch;
  require(data.labelled.cols() == data.unlabelled.cols(), "labelled and unlabelled rows must have the same columns.");
  require(static_cast<Index>(data.classes.size()) == data.labelled.rows(), "every labelled row needs a class.");
  const int groups = *std::max_element(data.classes.begin(), data.classes.end()) + 1;
  std::vector<double> shares(static_cast<std::size_t>(groups), 0);
  for (const int g : data.classes) shares[static_cast<std::size_t>(g)] += 1.0 / static_cast<double>(data.classes.size());
  std::vector<View> views;
  for (const std::vector<char>& keep : data.views) views.emplace_back(data, keep, options.normalize);

  std::vector<Index> waiting(static_cast<std::size_t>(data.unlabelled.rows())), pool, rows(data.classes.size());
  std::iota(waiting.begin(), waiting.end(), Index{0});
  std::shuffle(waiting.begin(), waiting.end(), rng);
  std::iota(rows.begin(), rows.end(), Index{0});
  std::vector<int> classes = data.classes;

  CoTrainingResult result;
  const auto train = [&] {
    const std::vector<Task> tasks = class_tasks(classes, groups, options.lambda);
    result.fits.clear();
    for (const View& view : views) result.fits.push_back(view.train(rows, tasks, options, monitor));
    result.counts.push_back(static_cast<int>(classes.size()));
  };
  train();
  for (int round = 0; round < options.max_rounds && !(waiting.empty() && pool.empty()); ++round) {
    monitor.progress(static_cast<double>(round) / options.max_rounds);
    while (static_cast<int>(pool.size()) < options.pool && !waiting.empty()) {
      pool.push_back(waiting.back());
      waiting.pop_back();
    }
    for (std::size_t v = 0; v < views.size() && !pool.empty(); ++v) {
      std::vector<Index> picked;
      const int count = std::min(options.add, static_cast<int>(pool.size()));
      pick_confident(views[v].scores(result.fits[v], pool), shares, count, rng, picked, result.classes);
      for (const Index at : picked) result.rows.push_back(pool[static_cast<std::size_t>(at)]);
      std::vector<char> gone(pool.size(), 0);
      for (const Index at : picked) gone[static_cast<std::size_t>(at)] = 1;
      std::vector<Index> left;
      for (std::size_t i = 0; i < pool.size(); ++i)
        if (!gone[i]) left.push_back(pool[i]);
      pool = std::move(left);
    }
    rows.resize(data.classes.size());
    classes.resize(data.classes.size());
    for (std::size_t k = 0; k < result.rows.size(); ++k) {
      rows.push_back(data.labelled.rows() + result.rows[k]);
      classes.push_back(result.classes[k]);
    }
    train();
  }
  result.convergence.converged = true;
  result.convergence.iterations = static_cast<int>(result.counts.size()) - 1;
  result.convergence.seconds = watch.seconds();
  return result;
}

}  // namespace granary::regress
