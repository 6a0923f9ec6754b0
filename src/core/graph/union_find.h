// Disjoint sets with path halving and union by size; `labels` numbers the sets 0, 1, ... by their smallest member.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

namespace granary {

class UnionFind {
 public:
  explicit UnionFind(int n) : parent_(n), size_(n, 1), sets_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  int find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  bool unite(int i, int j) {  // false when they were together already
    i = find(i);
    j = find(j);
    if (i == j) return false;
    if (size_[i] < size_[j]) std::swap(i, j);
    parent_[j] = i;
    size_[i] += size_[j];
    --sets_;
    return true;
  }

  bool connected(int i, int j) { return find(i) == find(j); }
  int sets() const { return sets_; }
  int size_of(int i) { return size_[find(i)]; }

  std::vector<int> labels() {
    std::vector<int> label_of_root(parent_.size(), -1), labels(parent_.size());
    int next = 0;
    for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
      int& label = label_of_root[find(i)];
      if (label < 0) label = next++;
      labels[i] = label;
    }
    return labels;
  }

  std::vector<std::vector<int>> members() {  // of every set, ascending, in the order of the labels
    const std::vector<int> label = labels();
    std::vector<std::vector<int>> out(sets_);
    for (int i = 0; i < static_cast<int>(label.size()); ++i) out[label[i]].push_back(i);
    return out;
  }

 private:
  std::vector<int> parent_, size_;
  int sets_;
};

}  // namespace granary
