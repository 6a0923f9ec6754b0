#include "ensemble/nc_baseline.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/tree/grow.h"
#include "core/tree/scores.h"
#include "ensemble/nc_training.h"

namespace granary::ensemble {
namespace {

// Learns from rows drawn some number of times; answers for all rows it may learn from.
class Member {
 public:
  virtual ~Member() = default;
  virtual VectorXd learn(Index i, const VectorXd& count, Rng& rng, Monitor& monitor) = 0;
  virtual Convergence convergence() const { return {}; }
};

class NetMember : public Member {
 public:
  NetMember(NcTrainer& trainer, const NcOptions& options)
      : trainer_(trainer), options_(options), ends_(static_cast<std::size_t>(trainer.members())) {}
  VectorXd learn(Index i, const VectorXd& count, Rng&, Monitor& monitor) override {
    Convergence& end = ends_[static_cast<std::size_t>(i)];
    if (options_.optimizer == NcOptimizer::exact || options_.optimizer == NcOptimizer::sweeps) {
      const CoupledFit fit = solve_coupled(coupled_features({trainer_.features(i)}, trainer_.target(), count), {1, 0},
                                           options_.decay * static_cast<double>(trainer_.rows()), CoupledSolver::automatic,
                                           options_.tol, options_.max_iter, monitor);
      trainer_.set_linear(i, fit.weights.col(0), fit.constants[0]);
      end = fit.convergence;
    } else {
      NcTrainer::Group group = trainer_.alone(i);
      group.row_weights = count * (static_cast<double>(count.size()) / count.sum());
      end = trainer_.train(group, NcPenalty::mean, 0, monitor).convergence;
    }
    return trainer_.values(i, false);
  }
  Convergence convergence() const override {
    Convergence out;
    out.converged = true;
    out.residual = 0;
    for (const Convergence& end : ends_) {
      if (end.iterations == 0) continue;  // never trained
      if (out.converged && !end.converged) {
        out.reason = end.why();
        out.message = end.message;
      }
      out.converged = out.converged && end.converged;
      out.iterations = std::max(out.iterations, end.iterations);
      out.residual = std::max(out.residual, end.residual);
    }
    return out;
  }

 private:
  NcTrainer& trainer_;
  const NcOptions& options_;
  std::vector<Convergence> ends_;
};

class TreeMember : public Member {
 public:
  TreeMember(ConstMatrixRef x, ConstVectorRef y, const BaselineOptions& options)
      : x_(MatrixView(x.data(), x.rows(), x.cols())),
        columns_(x_, VectorXi(), options.member.threads),
        orders_(columns_),
        y_(y),
        mean_(y.mean()),
        leaves_(options.max_leaves),
        parts_(static_cast<std::size_t>(options.member.n_members)) {
    y_.array() -= mean_;
  }
  VectorXd learn(Index i, const VectorXd& count, Rng& rng, Monitor& monitor) override {
    std::vector<std::uint32_t> rows, times(static_cast<std::size_t>(count.size()), 0);
    for (Index r = 0; r < count.size(); ++r)
      if (count[r] > 0) {
        rows.push_back(static_cast<std::uint32_t>(r));
        times[static_cast<std::size_t>(r)] = static_cast<std::uint32_t>(std::max(1.0, std::round(count[r])));
      }
    SquareScore score(count, y_);
    TreeGrower<SquareScore> grower(columns_, &orders_, {leaves_, 0, 2, 1, 0, 0});
    Trees tree = grower.grow(rows, times.data(), score, rng, monitor);
    tree.value.array() += mean_;
    VectorXd out(count.size());
    for (Index r = 0; r < count.size(); ++r) out[r] = tree.value(0, tree.leaf_of(0, [&](int j) { return x_.dense()(r, j); }));
    parts_[static_cast<std::size_t>(i)] = std::move(tree);
    return out;
  }
  Trees trees(std::size_t count) {
    parts_.resize(count);
    return join(parts_);
  }

 private:
  Design x_;
  TreeColumns columns_;
  TreeOrders orders_;
  VectorXd y_;
  double mean_;
  int leaves_;
  std::vector<Trees> parts_;
};

VectorXd draw_counts(const VectorXd& p, Rng& rng) {
  const Index n = p.size();
  std::vector<double> cumulative(static_cast<std::size_t>(n));
  std::partial_sum(p.data(), p.data() + n, cumulative.begin());
  VectorXd out = VectorXd::Zero(n);
  for (Index k = 0; k < n; ++k) {
    const auto at =
        std::upper_bound(cumulative.begin(), cumulative.end(), rng.uniform() * cumulative.back()) - cumulative.begin();
    out[std::min<Index>(n - 1, at)] += 1;
  }
  return out;
}

double shaped(double loss, BoostLoss how) {
  return how == BoostLoss::linear ? loss : how == BoostLoss::square ? loss * loss : 1 - std::exp(-loss);
}

// The rounds of AdaBoost.R2; returns how many members stand.
Index boost_r2(Member& member, const VectorXd& t, const VectorXd& start, const BaselineOptions& options, Rng& rng,
               BaselineResult& out, Monitor& monitor) {
  VectorXd p = start / start.sum();
  std::vector<double> vote;
  const Index rounds = options.member.n_members;
  for (Index i = 0; i < rounds; ++i) {
    monitor.progress(static_cast<double>(i) / static_cast<double>(rounds));
    Rng own = rng.stream(static_cast<std::uint64_t>(i));
    const VectorXd off = (member.learn(i, draw_counts(p, own), own, monitor) - t).cwiseAbs();
    double most = 0;
    for (Index r = 0; r < t.size(); ++r)
      if (p[r] > 0) most = std::max(most, off[r]);
    if (!(most > 1e-12 * std::max(t.cwiseAbs().maxCoeff(), 1e-300))) {  // right everywhere: it stands alone
      out.end = BaselineEnd::perfect;
      out.losses.push_back(0);
      vote.push_back(vote.empty() ? 1 : 2 * std::accumulate(vote.begin(), vote.end(), 0.0));
      break;
    }
    VectorXd loss(t.size());
    for (Index r = 0; r < t.size(); ++r) loss[r] = shaped(std::min(1.0, off[r] / most), options.loss);
    const double mean = p.dot(loss);
    if (mean >= 0.5) {
      out.end = BaselineEnd::weak;
      if (vote.empty()) {  // the first is kept, so that there is something to predict with
        out.losses.push_back(mean);
        vote.push_back(1);
      }
      break;
    }
    out.losses.push_back(mean);
    const double log_beta = std::log(mean) - std::log1p(-mean);
    vote.push_back(-log_beta);
    p = (p.array() * ((1 - loss.array()) * log_beta).exp()).matrix();
    p /= p.sum();
  }
  out.vote = Eigen::Map<const VectorXd>(vote.data(), static_cast<Index>(vote.size()));
  return out.vote.size();
}

Index bag(Member& member, const VectorXd& start, const BaselineOptions& options, Rng& rng, BaselineResult& out,
          Monitor& monitor) {
  const Index count = options.member.n_members;
  parallel_for(count, options.member.threads, monitor, [&](Index i) {
    Rng own = rng.stream(static_cast<std::uint64_t>(i));
    member.learn(i, draw_counts(start, own), own, monitor);
  });
  out.vote = VectorXd::Constant(count, 1.0 / static_cast<double>(count));
  return count;
}

}  // namespace

BaselineResult nc_baseline(ConstMatrixRef x, ConstVectorRef y, ConstVectorRef weights, const BaselineOptions& options, Rng& rng,
                           Monitor& monitor) {
  Stopwatch watch;
  BaselineResult out;
  if (y.size() != x.rows() || y.size() == 0) throw InputError("`y` needs one value per row.");
  if (options.member.n_members < 1) throw InputError("an ensemble needs members.");
  Rng draws = rng.stream(1u << 30);
  const auto run = [&](Member& member, const VectorXd& t, const VectorXd& start) {
    return options.method == BaselineMethod::boosting ? boost_r2(member, t, start, options, draws, out, monitor)
                                                      : bag(member, start, options, draws, out, monitor);
  };
  if (options.trees) {
    if (weights.size() > 0 && (weights.size() != y.size() || (weights.array() < 0).any() || !(weights.sum() > 0)))
      throw InputError("`weights` needs one number per row, none negative, not all 0.");
    TreeMember member(x, y, options);
    const VectorXd t = y;
    const Index stand = run(member, t, weights.size() > 0 ? VectorXd(weights) : VectorXd::Ones(y.size()));
    out.trees = member.trees(static_cast<std::size_t>(stand));
    out.members = tree_members(x, out.trees, options.member.threads, monitor);
    out.convergence.converged = true;
    out.convergence.iterations = static_cast<int>(stand);
  } else {
    NcTrainer trainer(x, y, weights, options.member, options.member.n_members, rng);
    NetMember member(trainer, options.member);
    const Index stand = run(member, trainer.target(), trainer.row_weights());
    out.model = trainer.model();
    out.model.weights = MatrixXd(out.model.weights.leftCols(stand));
    out.model.fixed = MatrixXd(out.model.fixed.leftCols(stand));
    out.members = nc_members(x, out.model, monitor);
    out.held = trainer.held();
    out.too_few = trainer.too_few();
    out.convergence = member.convergence();
  }
  out.convergence.seconds = watch.seconds();
  return out;
}

MatrixXd tree_members(ConstMatrixRef x, const Trees& trees, int threads, Monitor& monitor) {
  if (x.cols() != trees.inputs) throw InputError(message("new rows need ", trees.inputs, " columns, not ", x.cols(), "."));
  MatrixXd out(x.rows(), trees.size());
  TreeWalker(trees).walk(Design(MatrixView(x.data(), x.rows(), x.cols())), 0, trees.size(), threads, monitor,
                         [&](int tree, Index row, int leaf) { out(row, tree) = trees.value(0, leaf); });
  return out;
}

VectorXd weighted_medians(ConstMatrixRef members, ConstVectorRef vote) {
  if (vote.size() != members.cols() || vote.size() == 0) throw InputError("votes need one number per member.");
  VectorXd out(members.rows());
  const double half = vote.sum() / 2;
  std::vector<Index> order(static_cast<std::size_t>(vote.size()));
  for (Index row = 0; row < out.size(); ++row) {
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      return members(row, a) < members(row, b) || (members(row, a) == members(row, b) && a < b);
    });
    double sum = 0;
    for (Index i : order) {
      sum += vote[i];
      out[row] = members(row, i);
      if (sum >= half * (1 - 1e-12)) break;
    }
  }
  return out;
}

}  // namespace granary::ensemble
