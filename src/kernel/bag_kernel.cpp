#include "kernel/bag_kernel.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"

namespace granary::kernel {

namespace {

std::unique_ptr<BagModel> make_model(const std::vector<Bag>& bags, const BagOptions& o) {
  const bool counts = o.type == BagType::jensen_shannon || o.type == BagType::entropy || o.type == BagType::dirichlet ||
                      o.type == BagType::integral || o.type == BagType::interval ||
                      (o.type == BagType::laplace && o.family == BagFamily::multinomial);
  if (counts) return bag_counts(bags, o);
  Index columns = -1;
  for (std::size_t i = 0; i < bags.size(); ++i) {
    if (bags[i].x.rows() == 0) throw InputError(message("bag ", i + 1, " has no points."));
    if (columns < 0) columns = bags[i].x.cols();
    if (bags[i].x.cols() != columns)
      throw InputError(message("the points of all bags must have the same coordinates, but those of bag ", i + 1, " have ",
                               bags[i].x.cols(), " and not ", columns, "."));
  }
  if (o.landmarks.rows() > 0 && o.landmarks.cols() != columns && !bags.empty())
    throw InputError(
        message("the landmarks must have the ", columns, " coordinates of the points, not ", o.landmarks.cols(), "."));
  if (o.type == BagType::parzen) return bag_densities(bags, o);
  const bool through_kernel = o.kernel.has_value() && o.landmarks.rows() == 0 && o.type != BagType::laplace;
  return through_kernel ? bag_factors(bags, o) : bag_moments(bags, o);
}

}  // namespace

VectorXd shares(const Bag& bag, std::size_t place) {
  if (bag.x.size() > 0 && bag.weights.size() != bag.x.rows())
    throw InputError(message("bag ", place + 1, " has ", bag.x.rows(), " points, but ", bag.weights.size(), " weights."));
  for (Index i = 0; i < bag.weights.size(); ++i)
    if (!(bag.weights[i] >= 0) || !std::isfinite(bag.weights[i]))
      throw InputError(message("bag ", place + 1, " has the weight ", bag.weights[i], "; weights must be 0 or more."));
  const double total = bag.weights.sum();
  if (!(total > 0)) throw InputError(message("the weights of bag ", place + 1, " are all zero: it has no members."));
  return bag.weights / total;
}

BagKernel::BagKernel(const std::vector<Bag>& bags, const BagOptions& options)
    : size_(static_cast<Index>(bags.size())), normalize_(options.normalize), model_(make_model(bags, options)), self_(size_) {
  Monitor monitor;
  for (Index i = 0; i < size_; ++i) self_[i] = model_->log_value(i, i, monitor);
}

void BagKernel::block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const {
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Index a = std::min(rows[i], columns[j]), b = std::max(rows[i], columns[j]);
      double value = a == b ? self_[a] : model_->log_value(a, b, monitor);
      if (normalize_) value -= 0.5 * (self_[a] + self_[b]);
      if (value > 709 || (value < -709 && !normalize_))
        throw NumericalError(message("the kernel of bags ", a + 1, " and ", b + 1, " is exp(", value,
                                     "), beyond the range of numbers. Normalise the kernel, or raise `eta`."));
      out(static_cast<Index>(i), static_cast<Index>(j)) = std::exp(value);
      monitor.check();
    }
}

void BagKernel::diagonal(const std::vector<Index>& which, VectorRef out, Monitor& monitor) const {
  MatrixXd one(1, 1);
  for (std::size_t i = 0; i < which.size(); ++i) {
    block({which[i]}, {which[i]}, one, monitor);
    out[static_cast<Index>(i)] = one(0, 0);
  }
}

}  // namespace granary::kernel
