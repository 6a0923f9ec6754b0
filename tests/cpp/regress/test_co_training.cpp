#include "eigen.h"

#include "core/random/rng.h"
#include "harness.h"
#include "regress/co_training.h"

using namespace granary;
using namespace granary::regress;

TEST("co-training labels every row once, sparse and dense alike, and learns from them") {
  Monitor monitor;
  Rng rng(4);
  const Index n = 300, p = 10;
  MatrixXd x = MatrixXd::NullaryExpr(n, p, [&](Index, Index) { return rng.normal(); });
  std::vector<int> truth(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    truth[static_cast<std::size_t>(i)] = static_cast<int>(i % 2);
    x(i, 0) += i % 2 ? 2 : -2;
    x(i, 5) += i % 2 ? 2 : -2;
  }
  const MatrixXd first = x.topRows(20), rest = x.bottomRows(280);
  CoTrainingData data;
  data.labelled = Design(MatrixView(first.data(), 20, p));
  data.unlabelled = Design(MatrixView(rest.data(), 280, p));
  data.classes.assign(truth.begin(), truth.begin() + 20);
  data.views = {std::vector<char>(10, 0), std::vector<char>(10, 0)};
  for (int j = 0; j < 10; ++j) data.views[j < 5 ? 0 : 1][static_cast<std::size_t>(j)] = 1;
  CoTrainingOptions options;
  options.pool = 100;
  options.add = 20;
  const CoTrainingResult fit = co_training(data, options, Rng(7), monitor);
  CHECK(fit.rows.size() == 280 && fit.counts.back() == 300);
  std::vector<int> seen(280, 0);
  int right = 0;
  for (std::size_t k = 0; k < fit.rows.size(); ++k) {
    ++seen[static_cast<std::size_t>(fit.rows[k])];
    right += fit.classes[k] == truth[20 + static_cast<std::size_t>(fit.rows[k])];
  }
  for (const int times : seen) CHECK(times == 1);
  CHECK(right > 240);

  const SparseMatrix sparse = first.sparseView();
  data.labelled = Design(ConstSparseMap(20, p, sparse.nonZeros(), sparse.outerIndexPtr(), sparse.innerIndexPtr(), sparse.valuePtr()));
  const CoTrainingResult same = co_training(data, options, Rng(7), monitor);
  CHECK(same.rows == fit.rows);
  CHECK_NEAR((same.fits[0].u - fit.fits[0].u).norm(), 0.0, 1e-6);
}
