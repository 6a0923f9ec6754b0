#include "regress/adapt_partition_keys.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::regress {

namespace {
constexpr int key_bits = 62;     // so that prefixes fit with room to spare
constexpr int double_bits = 52;  // a coordinate in [0, 1] has no more
}  // namespace

double Cuts::to_unit(double x) const {
  if (!(x > knots.front())) return 0;
  if (x >= knots.back()) return 1;
  const std::size_t k = static_cast<std::size_t>(std::upper_bound(knots.begin(), knots.end(), x) - knots.begin()) - 1;
  const double within = (x - knots[k]) / (knots[k + 1] - knots[k]);
  return (static_cast<double>(k) + within) / static_cast<double>(knots.size() - 1);
}

double Cuts::from_unit(double u) const {
  const double place = u * static_cast<double>(knots.size() - 1);
  const std::size_t k = std::min(static_cast<std::size_t>(place), knots.size() - 2);
  const double within = place - static_cast<double>(k);
  return within == 1 ? knots[k + 1] : knots[k] + within * (knots[k + 1] - knots[k]);
}

MasterTree::MasterTree(Split split, std::vector<Cuts> cuts, std::vector<int> active)
    : split_(split), cuts_(std::move(cuts)), active_(std::move(active)) {
  const int d = static_cast<int>(active_.size());
  if (d > key_bits) throw InputError(message("At most ", key_bits, " columns can be split, but `x` has ", d, "."));
  std::vector<int> bits;
  if (d > 0 && split == Split::cube) bits.assign(std::min(key_bits / d, double_bits), d);
  if (d > 0 && split == Split::cyclic) bits.assign(std::min(key_bits, d * double_bits), 1);
  set_levels(bits);
}

MasterTree::MasterTree(std::vector<int> nested_bits) : split_(Split::nested) {
  int total = 0;
  for (int b : nested_bits) total += b;
  if (total > key_bits) throw InputError("The nested factors have too many levels: their codes need more than 62 bits.");
  set_levels(nested_bits);
}

void MasterTree::set_levels(const std::vector<int>& bits) {
  bits_ = bits;
  shift_.assign(bits.size(), 0);
  for (std::size_t j = bits.size(); j-- > 1;) shift_[j - 1] = shift_[j] + bits[j];
}

int MasterTree::precision(std::size_t k) const {
  if (split_ == Split::cube) return levels();
  const int d = static_cast<int>(active_.size());
  return (levels() - static_cast<int>(k) + d - 1) / d;
}

Key MasterTree::key(Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>> x) const {
  const std::size_t d = active_.size();
  if (d == 0) return 0;
  Key out = 0;
  const int deepest = levels();
  for (std::size_t k = 0; k < d; ++k) {
    const int bits = precision(k);
    const double cells = std::ldexp(1.0, bits);
    const double at = std::floor(cuts_[active_[k]].to_unit(x[active_[k]]) * cells);
    const Key place = static_cast<Key>(std::min(at, cells - 1));
    for (int b = 0; b < bits; ++b) {  // bit b from the left decides at its level
      const Key bit = (place >> (bits - 1 - b)) & 1;
      const int level = split_ == Split::cube ? b : b * static_cast<int>(d) + static_cast<int>(k);
      if (level < deepest) out |= bit << (shift_[level] + (split_ == Split::cube ? static_cast<int>(k) : 0));
    }
  }
  return out;
}

void MasterTree::place(Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>> x, double* out) const {
  for (Index k = 0; k < dimensions(); ++k) out[k] = std::min(1.0, std::max(0.0, (x[active_[k]] - end(k)) / width(k)));
}

bool MasterTree::inside(Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>> x) const {
  for (int k : active_) {
    if (!cuts_[k].contains(x[k])) return false;
  }
  return true;
}

Key MasterTree::nested_key(const Eigen::Ref<const Eigen::RowVectorXi, 0, Eigen::InnerStride<>>& digits, int& known) const {
  Key out = 0;
  known = 0;
  while (known < levels() && digits[known] >= 0) {
    out |= static_cast<Key>(digits[known]) << shift_[known];
    ++known;
  }
  return out;
}

void MasterTree::bounds(Key prefix, int level, Eigen::RowVectorXd& lower, Eigen::RowVectorXd& upper) const {
  const Index d = coordinates();
  lower.resize(d);
  upper.resize(d);
  for (Index k = 0; k < d; ++k) {
    lower[k] = cuts_[k].knots.front();
    upper[k] = cuts_[k].knots.back();
  }
  const std::size_t active = active_.size();
  if (active == 0 || level == 0) return;
  const Key key = prefix << shift_[level - 1];
  for (std::size_t k = 0; k < active; ++k) {
    Key place = 0;
    int bits = 0;
    for (int j = 0; j < level; ++j) {
      if (split_ == Split::cyclic && static_cast<std::size_t>(j) % active != k) continue;
      const int digits = digit(key, j);
      place = 2 * place + static_cast<Key>(split_ == Split::cube ? (digits >> k) & 1 : digits);
      ++bits;
    }
    const double cells = std::ldexp(1.0, bits);
    lower[active_[k]] = cuts_[active_[k]].from_unit(static_cast<double>(place) / cells);
    upper[active_[k]] = cuts_[active_[k]].from_unit(static_cast<double>(place + 1) / cells);
  }
}

}  // namespace granary::regress
