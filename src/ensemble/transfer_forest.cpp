#include "ensemble/transfer_forest.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace granary::ensemble {
namespace {

constexpr double least_gain = 1e-12;  // below is rounding

struct Candidate {
  std::vector<int> column;
  std::vector<double> weight;
  double threshold = 0;
};

struct Node {
  int id, depth;
  std::uint32_t from, to;
  VectorXd heir;  // cases of the target in the node, or in the nearest ancestor that has some
};

struct Grown {
  TransferTrees tree;
  MatrixXd importance;
  VectorXd task_gain;
  int borrowed = 0;
};

class Grower {
 public:
  // z: columns x rows, standardised.
  Grower(const MatrixXd& z, const VectorXi& label, const std::vector<int>& task, const TransferOptions& options, const std::vector<int>& task_rows, double ridge)
      : z_(z), zt_(z.transpose()), label_(label), task_(task), options_(options), task_rows_(task_rows), ridge_(ridge) {}

  Grown grow(const std::vector<int>& count, Rng& rng, Monitor& monitor) const;

 private:
  struct Work {
    const std::vector<int>& count;
    Rng& rng;
    MixedGain gain;
    std::vector<std::uint32_t> rows;
    std::vector<double> along;
    std::vector<int> total, left;
    std::vector<std::pair<double, std::uint32_t>> order;
    double best = 0;
    Candidate found;
  };
  Candidate draw(int c, Rng& rng) const;
  void project(const Candidate& candidate, const Node& node, Work& work) const;
  bool search(const Node& node, Work& work) const;
  void try_threshold(const Candidate& candidate, double threshold, const Node& node, Work& work) const;
  void sweep(const Candidate& candidate, const Node& node, Work& work) const;
  void finish(const std::vector<Node>& leaves, const Work& work, Grown& out, Monitor& monitor) const;
  bool every_column() const { return options_.split == TransferSplit::axis && options_.cuts == 0 && options_.candidates >= z_.rows(); }

  const MatrixXd& z_;
  MatrixXd zt_;  // rows x columns
  const VectorXi& label_;
  const std::vector<int>& task_;
  const TransferOptions& options_;
  const std::vector<int>& task_rows_;
  double ridge_;
};

Candidate Grower::draw(int c, Rng& rng) const {
  const auto p = static_cast<int>(z_.rows());
  if (options_.split == TransferSplit::axis) return {{every_column() ? c : static_cast<int>(rng.below(p))}, {1.0}, 0};
  Candidate out;
  out.column = rng.sample_without_replacement(p, std::min(p, options_.mtry));
  double norm = 0;
  for (std::size_t k = 0; k < out.column.size(); ++k) {
    out.weight.push_back(rng.normal());
    norm += out.weight.back() * out.weight.back();
  }
  for (double& w : out.weight) w /= std::sqrt(norm);
  return out;
}

void Grower::project(const Candidate& candidate, const Node& node, Work& work) const {
  const std::uint32_t n = node.to - node.from;
  work.along.assign(n, 0.0);
  for (std::size_t k = 0; k < candidate.column.size(); ++k) {
    const double* column = zt_.data() + candidate.column[k] * zt_.rows();
    for (std::uint32_t i = 0; i < n; ++i) work.along[i] += candidate.weight[k] * column[work.rows[node.from + i]];
  }
}

void Grower::try_threshold(const Candidate& candidate, double threshold, const Node& node, Work& work) const {
  std::fill(work.left.begin(), work.left.end(), 0);
  for (std::uint32_t i = node.from; i < node.to; ++i)
    if (work.along[i - node.from] < threshold) work.left[label_[work.rows[i]]] += work.count[work.rows[i]];
  const double value = work.gain.value(work.left);
  if (value <= work.best) return;
  work.best = value;
  work.found = candidate;
  work.found.threshold = threshold;
}

void Grower::sweep(const Candidate& candidate, const Node& node, Work& work) const {
  const std::uint32_t n = node.to - node.from;
  work.order.resize(n);
  for (std::uint32_t i = 0; i < n; ++i) work.order[i] = {work.along[i], work.rows[node.from + i]};
  std::sort(work.order.begin(), work.order.end());
  std::fill(work.left.begin(), work.left.end(), 0);
  for (std::uint32_t i = 0; i + 1 < n; ++i) {
    work.left[label_[work.order[i].second]] += work.count[work.order[i].second];
    const double here = work.order[i].first, next = work.order[i + 1].first;
    if (!(here < next)) continue;
    const double value = work.gain.value(work.left);
    if (value <= work.best + (work.found.column.empty() ? 0.0 : least_gain)) continue;
    work.best = value;
    work.found = candidate;
    const double middle = here + (next - here) / 2;
    work.found.threshold = middle > here ? middle : next;
  }
}

bool Grower::search(const Node& node, Work& work) const {
  work.best = least_gain;
  work.found.column.clear();
  std::fill(work.total.begin(), work.total.end(), 0);
  int cases = 0;
  for (std::uint32_t i = node.from; i < node.to; ++i) {
    work.total[label_[work.rows[i]]] += work.count[work.rows[i]];
    cases += work.count[work.rows[i]];
  }
  if (cases < options_.min_node || node.to - node.from < 2 || node.depth >= options_.max_depth) return false;
  work.gain.start(work.total);
  const int candidates = every_column() ? static_cast<int>(z_.rows()) : options_.candidates;
  for (int c = 0; c < candidates; ++c) {
    const Candidate candidate = draw(c, work.rng);
    project(candidate, node, work);
    if (options_.cuts == 0) {
      sweep(candidate, node, work);
      continue;
    }
    const auto [low, high] = std::minmax_element(work.along.begin(), work.along.end());
    for (int k = 0; k < options_.cuts; ++k) {
      const double u = work.rng.uniform_open();
      if (!(*low < *high)) continue;
      double threshold = *low * (1 - u) + *high * u;
      if (!(threshold > *low)) threshold = *high;
      try_threshold(candidate, std::min(threshold, *high), node, work);
    }
  }
  return !work.found.column.empty();
}

Grown Grower::grow(const std::vector<int>& count, Rng& rng, Monitor& monitor) const {
  Index largest = 0;
  for (int c : count) largest += c;
  Work work{count, rng, MixedGain(options_.gain, options_.labels, largest), {}, {}, {}, {}, {}, 0, {}};
  for (std::uint32_t i = 0; i < count.size(); ++i)
    if (count[i] > 0) work.rows.push_back(i);
  work.total.assign(work.gain.labels(), 0);
  work.left = work.total;
  const int classes = options_.labels[0], tasks = work.gain.tasks();
  Grown out;
  out.importance = MatrixXd::Zero(z_.rows(), 2);
  out.task_gain = VectorXd::Zero(tasks);
  TransferTrees& tree = out.tree;
  tree.inputs = static_cast<int>(z_.rows());
  tree.classes = classes;
  tree.start = {0};
  const auto new_node = [&] {
    tree.left.push_back(-1);
    tree.from.push_back(static_cast<int>(tree.column.size()));
    tree.length.push_back(0);
    tree.threshold.push_back(0);
    return tree.nodes() - 1;
  };
  double sources = 0;
  for (int t = 1; t < tasks; ++t) sources += task_rows_[t];
  std::vector<Node> open, leaves;
  new_node();
  open.push_back({0, 0, 0, static_cast<std::uint32_t>(work.rows.size()), VectorXd::Zero(classes)});
  while (!open.empty()) {
    monitor.check();
    Node node = std::move(open.back());
    open.pop_back();
    const bool splits = search(node, work);
    const VectorXd own = Eigen::Map<const VectorXi>(work.total.data(), classes).cast<double>();
    if (own.sum() > 0) node.heir = own;
    if (!splits) {
      leaves.push_back(std::move(node));
      continue;
    }
    project(work.found, node, work);
    std::fill(work.left.begin(), work.left.end(), 0);
    std::vector<std::uint32_t> right;
    std::uint32_t at = node.from;
    for (std::uint32_t i = node.from; i < node.to; ++i) {
      const std::uint32_t row = work.rows[i];
      if (work.along[i - node.from] < work.found.threshold) {
        work.left[label_[row]] += count[row];
        work.rows[at++] = row;
      } else {
        right.push_back(row);
      }
    }
    std::copy(right.begin(), right.end(), work.rows.begin() + at);
    work.gain.value(work.left);
    double of_sources = 0;
    for (int t = 0; t < tasks; ++t) {
      if (task_rows_[t] > 0) out.task_gain[t] += work.gain.gain(t) * work.gain.cases(t) / task_rows_[t];
      if (t > 0) of_sources += work.gain.cases(t);
    }
    for (std::size_t k = 0; k < work.found.column.size(); ++k) {
      const double share = work.found.weight[k] * work.found.weight[k];
      out.importance(work.found.column[k], 0) += share * work.gain.gain(0) * work.gain.cases(0) / task_rows_[0];
      if (sources > 0) out.importance(work.found.column[k], 1) += share * work.gain.source() * of_sources / sources;
    }
    const int left = new_node();
    new_node();
    tree.left[node.id] = left;
    tree.from[node.id] = static_cast<int>(tree.column.size());
    tree.length[node.id] = static_cast<int>(work.found.column.size());
    tree.threshold[node.id] = work.found.threshold;
    tree.column.insert(tree.column.end(), work.found.column.begin(), work.found.column.end());
    tree.weight.insert(tree.weight.end(), work.found.weight.begin(), work.found.weight.end());
    open.push_back({left + 1, node.depth + 1, at, node.to, node.heir});
    open.push_back({left, node.depth + 1, node.from, at, node.heir});
  }
  finish(leaves, work, out, monitor);
  return out;
}

// Cases of the leaves: their own, borrowed, or inherited.
void Grower::finish(const std::vector<Node>& leaves, const Work& work, Grown& out, Monitor& monitor) const {
  const int classes = options_.labels[0];
  const auto count = static_cast<Index>(leaves.size());
  MatrixXd own = MatrixXd::Zero(classes, count);
  std::vector<bool> labelled(count);
  for (Index l = 0; l < count; ++l) {
    out.tree.left[leaves[l].id] = static_cast<int>(l);
    for (std::uint32_t i = leaves[l].from; i < leaves[l].to; ++i) {
      const std::uint32_t row = work.rows[i];
      if (task_[row] == 0) own(label_[row], l) += work.count[row];
    }
    labelled[l] = own.col(l).sum() > 0;
    if (!labelled[l]) ++out.borrowed;
  }
  out.tree.cases = own;
  out.tree.lender.resize(count);
  if (out.borrowed == 0 || !options_.propagate) {
    for (Index l = 0; l < count; ++l) {
      out.tree.lender[l] = labelled[l] ? static_cast<int>(l) : -1;
      if (!labelled[l]) out.tree.cases.col(l) = leaves[l].heir;
    }
    return;
  }
  LeafDistance distance(options_.metric, ridge_, z_.rows());
  for (const Node& leaf : leaves) {
    MatrixXd rows(z_.rows(), leaf.to - leaf.from);
    VectorXd weights(leaf.to - leaf.from);
    for (std::uint32_t i = leaf.from; i < leaf.to; ++i) {
      rows.col(i - leaf.from) = z_.col(work.rows[i]);
      weights[i - leaf.from] = work.count[work.rows[i]];
    }
    distance.add(rows, weights);
  }
  out.tree.lender = nearest_labelled(distance, labelled, monitor);
  for (Index l = 0; l < count; ++l) out.tree.cases.col(l) = own.col(out.tree.lender[l]);
}

// Mean and standard deviation of a column; scale 1 where it is constant.
std::pair<double, double> place_and_scale(const Eigen::Ref<const VectorXd>& x) {
  const double most = x.cwiseAbs().maxCoeff();
  if (most == 0 || x.maxCoeff() == x.minCoeff()) return {x[0], 1};
  const VectorXd small = x / most;
  const double mean = small.mean(), sd = std::sqrt((small.array() - mean).square().sum() / static_cast<double>(std::max<Index>(1, x.size() - 1)));
  return {mean * most, sd > 0 && sd * most > 0 ? sd * most : 1};
}

// Rows drawn with replacement within each task; each row once where none are drawn.
std::vector<int> draw_counts(const std::vector<std::vector<int>>& rows_of, Index n, bool replace, Rng& rng) {
  std::vector<int> count(n, replace ? 0 : 1);
  if (replace)
    for (const auto& rows : rows_of)
      for (std::size_t k = 0; k < rows.size(); ++k) ++count[rows[rng.below(rows.size())]];
  return count;
}

}  // namespace

TransferResult transfer_forest(ConstMatrixRef x, const VectorXi& label, const TransferOptions& options, Rng& rng, Monitor& monitor) {
  const Index n = x.rows(), p = x.cols();
  const auto tasks = static_cast<int>(options.labels.size());
  if (label.size() != n || n == 0 || p == 0) throw InputError("Each row needs a label.");
  TransferTrees frame;
  frame.center = VectorXd::Zero(p);
  frame.scale = VectorXd::Ones(p);
  if (options.standardize)
    for (Index j = 0; j < p; ++j) std::tie(frame.center[j], frame.scale[j]) = place_and_scale(x.col(j));
  const MatrixXd z = standardized(x, frame);
  double variance = 0;
  for (Index j = 0; j < p; ++j) variance += (z.row(j).array() - z.row(j).mean()).square().mean() / static_cast<double>(p);
  if (!std::isfinite(variance)) throw InputError("The squares of `x` are too large for numbers: use standardize = TRUE.");
  const double ridge = variance > 0 ? options.ridge * variance : 1;

  std::vector<int> task(n), first(1, 0), task_rows(tasks, 0);
  for (int t = 0; t < tasks; ++t) first.push_back(first.back() + options.labels[t]);
  std::vector<std::vector<int>> rows_of(tasks);
  std::vector<int> total(first.back(), 0);
  for (Index i = 0; i < n; ++i) {
    task[i] = static_cast<int>(std::upper_bound(first.begin(), first.end(), label[i]) - first.begin()) - 1;
    if (label[i] < 0 || task[i] >= tasks) throw InputError(message("the label of row ", i + 1, " belongs to no task."));
    ++task_rows[task[i]];
    ++total[label[i]];
    rows_of[task[i]].push_back(static_cast<int>(i));
  }
  if (task_rows[0] == 0) throw InputError("The target has no cases.");

  const Grower grower(z, label, task, options, task_rows, ridge);
  std::vector<Grown> grown(options.n_trees);
  std::vector<std::vector<int>> counts(options.n_trees);
  std::atomic<int> done{0};
  parallel_for(options.n_trees, options.threads, monitor, [&](Index t) {
    Rng own = rng.stream(static_cast<std::uint64_t>(t));
    counts[t] = draw_counts(rows_of, n, options.replace, own);
    grown[t] = grower.grow(counts[t], own, monitor);
    monitor.progress(static_cast<double>(++done) / options.n_trees);
  });

  TransferResult out;
  std::vector<TransferTrees> parts;
  out.importance = MatrixXd::Zero(p, 2);
  out.task_gain = VectorXd::Zero(tasks);
  double borrowed = 0;
  for (Grown& g : grown) {
    out.importance += g.importance / options.n_trees;
    out.task_gain += g.task_gain / options.n_trees;
    borrowed += g.borrowed;
    g.tree.center = frame.center;
    g.tree.scale = frame.scale;
    parts.push_back(std::move(g.tree));
  }
  out.trees = join(parts);
  out.borrowed = borrowed / static_cast<double>(out.trees.cases.cols());
  MixedGain whole(options.gain, options.labels, n);
  whole.start(total);
  out.task_whole = VectorXd(tasks);
  for (int t = 0; t < tasks; ++t) out.task_whole[t] = whole.whole(t);
  if (options.replace) {
    out.out_of_bag = MatrixXd::Zero(task_rows[0], options.labels[0]);
    for (int k = 0; k < task_rows[0]; ++k) {
      const int row = rows_of[0][k];
      int seen = 0;
      for (int t = 0; t < options.n_trees; ++t) {
        if (counts[t][row] > 0) continue;
        out.out_of_bag.row(k) += leaf_shares(out.trees, out.trees.leaf(t, z.col(row).data()), options.smooth).transpose();
        ++seen;
      }
      out.out_of_bag.row(k) /= seen;  // 0 / 0: never out of bag
    }
  }
  return out;
}

}  // namespace granary::ensemble
