#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "core/base/parallel.h"
#include "core/math/logspace.h"
#include "ensemble/multilabel.h"

namespace granary::ensemble {

std::vector<LabelChain> chain_fit(ConstMatrixRef x, ConstMatrixRef y, const MultilabelOptions& options, Rng& rng,
                                  Monitor& monitor) {
  const Index m = y.cols(), p = x.cols();
  std::vector<LabelChain> out(static_cast<std::size_t>(options.n_chains));
  for (std::size_t c = 0; c < out.size(); ++c) {
    LabelChain& chain = out[c];
    chain.order.resize(m);
    if (static_cast<Index>(c) < options.order.rows()) {
      chain.order = options.order.row(static_cast<Index>(c)).transpose();
    } else if (c == 0) {
      std::iota(chain.order.data(), chain.order.data() + m, 0);
    } else {
      const std::vector<int> drawn = rng.permutation(static_cast<int>(m));
      for (Index i = 0; i < m; ++i) chain.order[i] = drawn[static_cast<std::size_t>(i)];
    }
    MatrixXd design(x.rows(), p + m);
    design.leftCols(p) = x;
    for (Index i = 0; i < m; ++i) design.col(p + i) = y.col(chain.order[i]);
    chain.step.resize(static_cast<std::size_t>(m));
    parallel_for(m, options.threads, monitor, [&](Index i) {
      const VectorXi own = design.col(p + i).cast<int>();
      chain.step[static_cast<std::size_t>(i)] = fit_label(design.leftCols(p + i), own, 2, options, monitor);
    });
  }
  return out;
}

VectorXd chain_scores(const LabelChain& chain, ConstVectorRef x) {
  VectorXd out(chain.order.size());
  for (Index i = 0; i < out.size(); ++i) {
    const LabelModel& step = chain.step[static_cast<std::size_t>(i)];
    out[i] = step.constant >= 0 ? 0 : step.fit.intercept[0] + step.fit.coefficients.col(0).head(x.size()).dot(x);
  }
  return out;
}

namespace {

// log P(y_i = 1 | x, before), and that of its complement.
std::pair<double, double> step_logs(const LabelModel& step, double score, const double* before, Index i) {
  if (step.constant >= 0) return {std::log(step.constant), std::log1p(-step.constant)};
  const Index p = step.fit.coefficients.rows() - i;
  const double* b = step.fit.coefficients.data() + p;
  for (Index j = 0; j < i; ++j) score += b[j] * before[j];
  return {-log1pexp(-score), -log1pexp(score)};
}

struct Prefix {
  double log_p;
  std::vector<double> y;
};

}  // namespace

void chain_draw(const LabelChain& chain, const VectorXd& scores, Rng& rng, double* y, Index stride) {
  const Index m = scores.size();
  double before[64];
  std::vector<double> many;
  double* y_chain = before;
  if (m > 64) {
    many.resize(static_cast<std::size_t>(m));
    y_chain = many.data();
  }
  for (Index i = 0; i < m; ++i) {
    const LabelModel& step = chain.step[static_cast<std::size_t>(i)];
    double p = step.constant;
    if (p < 0) {
      double score = scores[i];
      const double* b = step.fit.coefficients.data() + (step.fit.coefficients.rows() - i);
      for (Index j = 0; j < i; ++j) score += b[j] * y_chain[j];
      p = expit(score);
    }
    y_chain[i] = rng.uniform() < p ? 1 : 0;
    y[chain.order[i] * stride] = y_chain[i];
  }
}

ChainMode chain_mode(const LabelChain& chain, const VectorXd& scores, ModeSearch search, int beam, int max_nodes) {
  const Index m = scores.size();
  std::vector<double> best;
  double best_log = -std::numeric_limits<double>::infinity();
  bool finished = true;
  const auto grow = [&](const Prefix& prefix, auto&& take) {
    const Index i = static_cast<Index>(prefix.y.size());
    const auto [on, off] = step_logs(chain.step[static_cast<std::size_t>(i)], scores[i], prefix.y.data(), i);
    for (const int value : {0, 1}) {
      Prefix next{prefix.log_p + (value == 1 ? on : off), prefix.y};
      if (!std::isfinite(next.log_p)) continue;
      next.y.push_back(value);
      take(std::move(next));
    }
  };
  if (search == ModeSearch::exact) {
    const auto worse = [](const Prefix& a, const Prefix& b) {
      return a.log_p != b.log_p ? a.log_p < b.log_p : a.y.size() < b.y.size();
    };
    std::priority_queue<Prefix, std::vector<Prefix>, decltype(worse)> open(worse);
    open.push({0, {}});
    int looked = 0;
    while (!open.empty()) {
      const Prefix top = open.top();
      open.pop();
      if (static_cast<Index>(top.y.size()) == m) {
        best = top.y;
        best_log = top.log_p;
        break;
      }
      if (++looked > max_nodes) {
        finished = false;
        break;
      }
      grow(top, [&](Prefix&& next) { open.push(std::move(next)); });
    }
  }
  if (best.empty()) {  // a beam of width 1 is greedy
    std::vector<Prefix> line{{0, {}}};
    const std::size_t width = search == ModeSearch::greedy ? 1 : static_cast<std::size_t>(beam);
    for (Index i = 0; i < m; ++i) {
      std::vector<Prefix> next;
      for (const Prefix& prefix : line) grow(prefix, [&](Prefix&& one) { next.push_back(std::move(one)); });
      std::stable_sort(next.begin(), next.end(), [](const Prefix& a, const Prefix& b) { return a.log_p > b.log_p; });
      if (next.size() > width) next.resize(width);
      line = std::move(next);
    }
    best = line.front().y;
    best_log = line.front().log_p;
  }
  ChainMode out;
  out.labels.resize(m);
  for (Index i = 0; i < m; ++i) out.labels[chain.order[i]] = static_cast<int>(best[static_cast<std::size_t>(i)]);
  out.probability = std::exp(best_log);
  out.finished = finished;
  return out;
}

}  // namespace granary::ensemble
