#include "core/neighbours/n_body.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"

namespace granary {

namespace {

using body::lanes;

// What stands for all the points in the sums of one leaf.
class SourceList {
 public:
  explicit SourceList(int dim) : dim_(dim) {}
  void clear() {
    for (int j = 0; j < dim_; ++j) place_[j].clear();
    weight_.clear();
  }
  void add_cell(const SpaceTree& tree, std::size_t t) {
    for (int j = 0; j < dim_; ++j) place_[j].push_back(tree.centre[static_cast<std::size_t>(j)][t]);
    weight_.push_back(tree.count[t]);
  }
  void add_points(const SpaceTree& tree, int first, int last) {
    for (int j = 0; j < dim_; ++j) {
      const auto from = tree.place[static_cast<std::size_t>(j)].begin();
      place_[j].insert(place_[j].end(), from + first, from + last);
    }
    weight_.insert(weight_.end(), static_cast<std::size_t>(last - first), 1.0);
  }
  body::Sources padded() {
    const std::size_t size = (weight_.size() + lanes - 1) / lanes * lanes;
    for (int j = 0; j < dim_; ++j) place_[j].resize(size, 0);
    weight_.resize(size, 0);
    body::Sources out{{nullptr, nullptr, nullptr}, weight_.data(), static_cast<Index>(size)};
    for (int j = 0; j < dim_; ++j) out.place[j] = place_[j].data();
    return out;
  }

 private:
  int dim_;
  std::vector<double> place_[3], weight_;
};

// A box around some points: squared distance of a place from it.
struct Box {
  double low[3], high[3];
  template <int dim>
  double away(const double* y) const {
    double s = 0;
    for (int j = 0; j < dim; ++j) {
      const double by = std::max(std::max(low[j] - y[j], y[j] - high[j]), 0.0);
      s += by * by;
    }
    return s;
  }
};

template <int dim>
// a cell is taken where factor side^2 < distance^2
void gather(const SpaceTree& tree, const Box& box, double factor, SourceList& list) {
  list.clear();
  const auto m = static_cast<int>(tree.nodes());
  for (int t = 0; t < m;) {
    const auto at = static_cast<std::size_t>(t);
    double y[dim];
    for (int j = 0; j < dim; ++j) y[j] = tree.centre[static_cast<std::size_t>(j)][at];
    if (tree.side[at] == 0 || factor * tree.side[at] * tree.side[at] < box.away<dim>(y)) {
      list.add_cell(tree, at);
      t = tree.next[at];
    } else {
      if (tree.is_leaf(t)) list.add_points(tree, tree.first[at], tree.last[at]);
      ++t;
    }
  }
}

void gather(const SpaceTree& tree, const Box& box, double factor, SourceList& list) {
  if (tree.dim() == 1) gather<1>(tree, box, factor, list);
  if (tree.dim() == 2) gather<2>(tree, box, factor, list);
  if (tree.dim() == 3) gather<3>(tree, box, factor, list);
}

Box box_of(const SpaceTree& tree, int first, int last) {
  Box box{};
  for (int j = 0; j < tree.dim(); ++j) {
    const auto from = tree.place[static_cast<std::size_t>(j)].begin();
    const auto [low, high] = std::minmax_element(from + first, from + last);
    box.low[j] = *low;
    box.high[j] = *high;
  }
  return box;
}

// 1 / theta^2, times the dimensions where the size of a cell is its diagonal; infinite for theta = 0.
double criterion(const SpaceTree& tree, const BodyOptions& options) {
  return (options.cell == CellSize::diagonal ? tree.dim() : 1) / (options.theta * options.theta);
}

void sums_at(const SpaceTree& tree, BodyKernel kernel, const body::Sources& from, const double* point, double* out,
             std::vector<double>& work) {
  if (kernel == BodyKernel::student) {
    body::student_sums(tree.dim(), from, point, out);
  } else {
    work.resize(static_cast<std::size_t>(from.size));
    body::gaussian_sums(tree.dim(), from, point, out, work.data());
  }
}

void point_at(const SpaceTree& tree, int i, double* point) {
  for (int j = 0; j < tree.dim(); ++j) point[j] = tree.place[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
}

// A kernel of distance 0 is 1: what a point does to itself is taken off its mass.
void keep(const SpaceTree& tree, int i, const double* sums, BodySums& out) {
  const Index to = tree.order[static_cast<std::size_t>(i)];
  for (int j = 0; j < tree.dim(); ++j) out.force(j, to) = sums[j];
  out.mass[to] = sums[tree.dim()] - 1;
}

void all_points(const SpaceTree& tree, SourceList& list) {
  list.clear();
  list.add_points(tree, 0, static_cast<int>(tree.size()));
}

void exact(const SpaceTree& tree, const BodyOptions& options, BodySums& out, Monitor& monitor) {
  constexpr int block = 64;
  SourceList list(tree.dim());
  all_points(tree, list);
  const body::Sources from = list.padded();
  const auto n = static_cast<int>(tree.size());
  parallel_for((n + block - 1) / block, options.threads, monitor, [&](Index task) {
    std::vector<double> work;
    for (int i = static_cast<int>(task) * block; i < std::min(n, (static_cast<int>(task) + 1) * block); ++i) {
      double point[3], sums[4];
      point_at(tree, i, point);
      sums_at(tree, options.kernel, from, point, sums, work);
      keep(tree, i, sums, out);
    }
  });
}

void barnes_hut(const SpaceTree& tree, const BodyOptions& options, BodySums& out, Monitor& monitor) {
  constexpr std::size_t leaves_per_task = 32;
  constexpr int most = 64;  // a leaf of points that cannot be told apart may be large
  const double factor = criterion(tree, options);
  const std::size_t leaves = tree.leaves.size();
  parallel_for(static_cast<Index>((leaves + leaves_per_task - 1) / leaves_per_task), options.threads, monitor, [&](Index task) {
    SourceList list(tree.dim());
    std::vector<double> work;
    const auto from = static_cast<std::size_t>(task) * leaves_per_task;
    for (std::size_t l = from; l < std::min(leaves, from + leaves_per_task); ++l) {
      const auto leaf = static_cast<std::size_t>(tree.leaves[l]);
      for (int first = tree.first[leaf]; first < tree.last[leaf]; first += most) {
        const int last = std::min(first + most, tree.last[leaf]);
        gather(tree, box_of(tree, first, last), factor, list);
        const body::Sources sources = list.padded();
        for (int i = first; i < last; ++i) {
          double point[3], sums[4];
          point_at(tree, i, point);
          sums_at(tree, options.kernel, sources, point, sums, work);
          keep(tree, i, sums, out);
        }
      }
    }
  });
}

// ---- pairs of cells
// ---------------------------------------------------------------------------------------------------------------------------------

class DualTree {
 public:
  DualTree(const SpaceTree& tree, const BodyOptions& options)
      : tree_(tree),
        kernel_(options.kernel),
        factor_(criterion(tree, options)),
        gathered_(MatrixXd::Zero(tree.dim() + 1, tree.nodes())),
        sums_(MatrixXd::Zero(tree.dim() + 1, tree.size())) {}

  void run(int threads, BodySums& out, Monitor& monitor) {
    // Pairs whose first cell is large are split here; what is left belongs to cells that have no point in common, and each is a
    // task.
    const double small = tree_.side[0] / 16;
    std::vector<std::pair<int, int>> open{{0, 0}}, left;
    while (!open.empty()) {
      const auto [a, b] = open.back();
      open.pop_back();
      if (tree_.side[static_cast<std::size_t>(a)] <= small || tree_.is_leaf(a)) {
        left.emplace_back(a, b);
      } else {
        meet(a, b, open);
      }
    }
    std::sort(left.begin(), left.end());
    std::vector<std::size_t> start;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (i == 0 || left[i].first != left[i - 1].first) start.push_back(i);
    start.push_back(left.size());
    parallel_for(static_cast<Index>(start.size()) - 1, threads, monitor, [&](Index task) {
      for (std::size_t i = start[static_cast<std::size_t>(task)]; i < start[static_cast<std::size_t>(task) + 1]; ++i) {
        std::vector<std::pair<int, int>> mine{left[i]};
        while (!mine.empty()) {
          const auto [a, b] = mine.back();
          mine.pop_back();
          meet(a, b, mine);
        }
      }
    });
    hand_down(out);
  }

 private:
  // What cell b does to cell a: all at once, point by point, or later, through the pairs of smaller cells that are added to
  // `open`.
  void meet(int a, int b, std::vector<std::pair<int, int>>& open) {
    const auto ta = static_cast<std::size_t>(a), tb = static_cast<std::size_t>(b);
    const int dim = tree_.dim();
    double by[3], s = 0;
    for (int j = 0; j < dim; ++j) {
      by[j] = tree_.centre[static_cast<std::size_t>(j)][ta] - tree_.centre[static_cast<std::size_t>(j)][tb];
      s += by[j] * by[j];
    }
    const double widest = std::max(tree_.side[ta], tree_.side[tb]);
    if (factor_ * widest * widest < s || widest == 0) {
      const double k = kernel_ == BodyKernel::student ? 1 / (1 + s) : std::exp(-s),
                   f = kernel_ == BodyKernel::student ? k * k : k;
      for (int j = 0; j < dim; ++j) gathered_(j, a) += tree_.count[tb] * f * by[j];
      gathered_(dim, a) += tree_.count[tb] * k;
      return;
    }
    const bool leaf_a = tree_.is_leaf(a), leaf_b = tree_.is_leaf(b);
    if (leaf_a && leaf_b) {
      point_by_point(ta, tb);
      return;
    }
    // The wider is split, both if they are equally wide: so b meets a as a meets b.
    const bool split_a = !leaf_a && (leaf_b || tree_.side[ta] >= tree_.side[tb]),
               split_b = !leaf_b && (leaf_a || tree_.side[tb] >= tree_.side[ta]);
    int of_a[8], of_b[8];
    const int many_a = parts(a, split_a, of_a), many_b = parts(b, split_b, of_b);
    for (int c = 0; c < many_a; ++c)
      for (int e = 0; e < many_b; ++e) open.emplace_back(of_a[c], of_b[e]);
  }

  int parts(int t, bool split, int* out) const {  // the children, or the cell itself
    out[0] = t;
    if (!split) return 1;
    int many = 0;
    for (int c = t + 1; c < tree_.next[static_cast<std::size_t>(t)]; c = tree_.next[static_cast<std::size_t>(c)]) out[many++] = c;
    return many;
  }

  void point_by_point(std::size_t a, std::size_t b) {
    const int dim = tree_.dim();
    for (int i = tree_.first[a]; i < tree_.last[a]; ++i) {
      for (int l = tree_.first[b]; l < tree_.last[b]; ++l) {
        double by[3], s = 0;
        for (int j = 0; j < dim; ++j) {
          const std::vector<double>& place = tree_.place[static_cast<std::size_t>(j)];
          by[j] = place[static_cast<std::size_t>(i)] - place[static_cast<std::size_t>(l)];
          s += by[j] * by[j];
        }
        const double k = kernel_ == BodyKernel::student ? 1 / (1 + s) : std::exp(-s),
                     f = kernel_ == BodyKernel::student ? k * k : k;
        for (int j = 0; j < dim; ++j) sums_(j, i) += f * by[j];
        sums_(dim, i) += k;
      }
    }
  }

  void hand_down(BodySums& out) {
    const auto m = static_cast<int>(tree_.nodes());
    for (int t = 0; t < m; ++t) {
      if (tree_.is_leaf(t)) {
        for (int i = tree_.first[static_cast<std::size_t>(t)]; i < tree_.last[static_cast<std::size_t>(t)]; ++i) {
          sums_.col(i) += gathered_.col(t);
          keep(tree_, i, sums_.col(i).data(), out);
        }
      } else {
        for (int c = t + 1; c < tree_.next[static_cast<std::size_t>(t)]; c = tree_.next[static_cast<std::size_t>(c)])
          gathered_.col(c) += gathered_.col(t);
      }
    }
  }

  const SpaceTree& tree_;
  BodyKernel kernel_;
  double factor_;
  MatrixXd gathered_, sums_;  // forces and mass: of nodes, and of points in the order of the tree
};

}  // namespace

void body_sums(const SpaceTree& tree, const BodyOptions& options, BodySums& out, Monitor& monitor) {
  out.force.resize(tree.dim(), tree.size());
  out.mass.resize(tree.size());
  if (options.method == BodyMethod::exact || options.theta == 0) return exact(tree, options, out, monitor);
  if (options.method == BodyMethod::barnes_hut) return barnes_hut(tree, options, out, monitor);
  DualTree(tree, options).run(options.threads, out, monitor);
}

double body_sums_at(const SpaceTree& tree, const BodyOptions& options, const double* point, double* force) {
  SourceList list(tree.dim());
  Box box{};
  for (int j = 0; j < tree.dim(); ++j) box.low[j] = box.high[j] = point[j];
  if (options.theta > 0) {
    gather(tree, box, criterion(tree, options), list);
  } else {
    all_points(tree, list);
  }
  std::vector<double> work;
  double sums[4];
  sums_at(tree, options.kernel, list.padded(), point, sums, work);
  std::copy(sums, sums + tree.dim(), force);
  return sums[tree.dim()];
}

}  // namespace granary
