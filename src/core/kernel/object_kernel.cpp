#include "core/kernel/object_kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/fields.h"
#include "core/base/parallel.h"
#include "core/kernel/kernel_parts.h"

namespace granary {

void ObjectKernel::diagonal(const std::vector<Index>& which, VectorRef out, Monitor& monitor) const {
  MatrixXd one(1, 1);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::vector<Index> me{which[i]};
    block(me, me, one, monitor);
    out[static_cast<Index>(i)] = one(0, 0);
  }
}

namespace {

std::vector<Index> places_of(const std::vector<Index>& which, Index size) {
  std::vector<Index> at(static_cast<std::size_t>(size), -1);
  for (std::size_t k = 0; k < which.size(); ++k) {
    require(which[k] >= 0 && which[k] < size, "the table of known kernel values has places beyond the objects.");
    at[static_cast<std::size_t>(which[k])] = static_cast<Index>(k);
  }
  return at;
}

std::vector<Index> all_of(Index size) {
  std::vector<Index> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), Index(0));
  return all;
}

void require_values(ConstMatrixRef k) {
  if (!k.allFinite())
    throw InputError("a kernel value of two objects is not finite: they are too long for these parameters of the kernel.");
}

}  // namespace

ObjectSet::ObjectSet(std::shared_ptr<const ObjectKernel> kernel, bool normalised, const KnownObjectValues& known)
    : kernel_(std::move(kernel)), normalised_(normalised), diagonal_(known.diagonal) {
  const Index n = size();
  if (diagonal_.size() == 0 && normalised_) {
    Monitor silent;
    diagonal_ = object_diagonal(*kernel_, 1, silent);
  }
  require(diagonal_.size() == 0 || diagonal_.size() == n, "the table of known kernel values is for other objects.");
  if (normalised_) {
    per_length_.resize(n);
    for (Index i = 0; i < n; ++i) {
      if (!(diagonal_[i] >= 0))
        throw InputError(
            message("the kernel of object ", i + 1, " with itself is ", diagonal_[i], ", so it has no length to normalise by."));
      per_length_[i] = diagonal_[i] > 0 ? 1 / std::sqrt(diagonal_[i]) : 0;
    }
  }
  const Index rows = static_cast<Index>(known.rows.size()), columns = static_cast<Index>(known.columns.size());
  if (rows == 0 || columns == 0) return;
  require(known.values.rows() == rows && known.values.cols() == columns, "the table of known kernel values has another size.");
  row_at_ = places_of(known.rows, n);
  column_at_ = places_of(known.columns, n);
  new (&values_) MatrixView(known.values.data(), rows, columns);
}

bool ObjectSet::known(const std::vector<Index>& rows, const std::vector<Index>& columns) const {
  if (row_at_.empty()) return false;
  const auto in = [](const std::vector<Index>& at, const std::vector<Index>& which) {
    return std::all_of(which.begin(), which.end(), [&](Index i) { return at[static_cast<std::size_t>(i)] >= 0; });
  };
  return in(row_at_, rows) && in(column_at_, columns);
}

void ObjectSet::block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor& monitor) const {
  const bool straight = known(rows, columns);
  if (straight || known(columns, rows)) {
    for (Index j = 0; j < out.cols(); ++j)
      for (Index i = 0; i < out.rows(); ++i) {
        const Index a = rows[static_cast<std::size_t>(i)], b = columns[static_cast<std::size_t>(j)];
        const Index r = row_at_[static_cast<std::size_t>(straight ? a : b)];
        out(i, j) = values_(r, column_at_[static_cast<std::size_t>(straight ? b : a)]);
      }
    return;
  }
  kernel_->block(rows, columns, out, monitor);
  require_values(out);
  if (!normalised_) return;
  for (Index j = 0; j < out.cols(); ++j) {
    const double by = per_length_[columns[static_cast<std::size_t>(j)]];
    for (Index i = 0; i < out.rows(); ++i) out(i, j) *= by * per_length_[rows[static_cast<std::size_t>(i)]];
  }
}

void ObjectSet::diagonal(const std::vector<Index>& which, VectorRef out, Monitor& monitor) const {
  if (normalised_) {
    for (Index i = 0; i < out.size(); ++i) out[i] = per_length_[which[static_cast<std::size_t>(i)]] > 0 ? 1 : 0;
  } else if (diagonal_.size() > 0) {
    for (Index i = 0; i < out.size(); ++i) out[i] = diagonal_[which[static_cast<std::size_t>(i)]];
  } else {
    kernel_->diagonal(which, out, monitor);
    require_values(out);
  }
}

// ---- on several threads -----------------------------------------------------------------------------------------------------

namespace {

constexpr double task_operations = 2e7;  // about ten milliseconds

// Side of a square tile that makes one task.
Index tile_side(double operations) {
  return std::max<Index>(1, std::min<Index>(512, static_cast<Index>(std::sqrt(task_operations / std::max(1.0, operations)))));
}

std::vector<Index> slice(const std::vector<Index>& which, Index from, Index size) {
  return std::vector<Index>(which.begin() + from, which.begin() + from + size);
}

}  // namespace

MatrixXd object_block(const ObjectSet& objects, const std::vector<Index>& rows, const std::vector<Index>& columns, int threads,
                      Monitor& monitor) {
  MatrixXd out(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  if (out.size() == 0) return out;
  const Index side = tile_side(objects.kernel().operations());
  const Index down = (out.rows() + side - 1) / side, across = (out.cols() + side - 1) / side;
  parallel_for(down * across, objects.kernel().reentrant() ? threads : 1, monitor, [&](Index task) {
    const Index i = task % down * side, j = task / down * side;
    const Index height = std::min(side, out.rows() - i), width = std::min(side, out.cols() - j);
    objects.block(slice(rows, i, height), slice(columns, j, width), out.block(i, j, height, width), monitor);
  });
  return out;
}

MatrixXd object_matrix(const ObjectSet& objects, const std::vector<Index>& which, int threads, Monitor& monitor) {
  const Index n = static_cast<Index>(which.size());
  MatrixXd out(n, n);
  if (n == 0) return out;
  const Index side = tile_side(objects.kernel().operations()), tiles = (n + side - 1) / side;
  const Index count = tiles * (tiles + 1) / 2;
  parallel_for(count, objects.kernel().reentrant() ? threads : 1, monitor, [&](Index task) {
    Index column = 0, row = task;  // the task-th tile on or below the diagonal
    while (row >= tiles - column) row -= tiles - column++;
    row += column;
    const Index i = row * side, j = column * side, height = std::min(side, n - i), width = std::min(side, n - j);
    MatrixXd tile(height, width);
    objects.block(slice(which, i, height), slice(which, j, width), tile, monitor);
    if (row == column) tile = (0.5 * (tile + tile.transpose())).eval();  // rounding apart, it is symmetric
    out.block(i, j, height, width) = tile;
    if (row != column) out.block(j, i, width, height) = tile.transpose();
  });
  return out;
}

VectorXd object_diagonal(const ObjectKernel& kernel, int threads, Monitor& monitor) {
  const Index n = kernel.size();
  VectorXd out(n);
  const std::vector<Index> all = all_of(n);
  const Index length =
      std::max<Index>(1, std::min<Index>(1024, static_cast<Index>(task_operations / std::max(1.0, kernel.operations()))));
  parallel_for((n + length - 1) / length, kernel.reentrant() ? threads : 1, monitor, [&](Index task) {
    const Index from = task * length, size = std::min(length, n - from);
    kernel.diagonal(slice(all, from, size), out.segment(from, size), monitor);
  });
  require_values(out);
  return out;
}

// ---- as a part of a kernel --------------------------------------------------------------------------------------------------

namespace kernel_detail {
namespace {

class ObjectPart : public Part {
 public:
  ObjectPart(const KernelSpec& spec, Index dimension)
      : type_(spec.type),
        objects_(spec.objects),
        column_(spec.columns.empty() ? 0 : spec.columns[0]),
        variance_(spec.variance),
        learn_(spec.learn_variance) {
    require_positive(variance_, type_, "variance");
    if (spec.columns.size() > 1 || (spec.columns.empty() && dimension > 1))
      throw InputError(message("a ", type_, " kernel looks at one column of objects: name it in `columns`."));
    if (column_ < 0 || column_ >= dimension)
      throw InputError(message("a ", type_, " kernel looks at column ", column_ + 1, ", but the inputs have ", dimension, "."));
  }
  std::unique_ptr<Part> clone() const override { return std::make_unique<ObjectPart>(*this); }
  Index count() const override { return learn_; }
  void get(double* p) const override {
    if (learn_) *p = std::log(variance_);
  }
  void set(const double* p) override {
    if (learn_) variance_ = std::exp(*p);
  }
  void names(std::vector<std::string>& out) const override {
    if (learn_) out.push_back(type_ + ".variance");
  }
  bool stationary() const override { return false; }
  bool differentiable() const override { return false; }
  bool reentrant() const override { return objects_->size() == 0 || objects_->kernel().reentrant(); }
  double operations() const override { return objects_->size() > 0 ? objects_->kernel().operations() : 1; }
  void value(ConstMatrixRef x, ConstMatrixRef z, Same, MatrixRef k) const override {
    Monitor silent;
    objects_->block(places(x), places(z), k, silent);
    k *= variance_;
  }
  void diagonal(ConstMatrixRef x, bool, VectorRef k) const override {
    Monitor silent;
    objects_->diagonal(places(x), k, silent);
    k *= variance_;
  }
  void backward(ConstMatrixRef x, ConstMatrixRef z, Same same, ConstMatrixRef g, double* p, MatrixRef* dx,
                MatrixRef* dz) const override {
    if (dx || dz) refuse();
    if (!learn_) return;
    MatrixXd k(g.rows(), g.cols());
    value(x, z, same, k);
    *p += k.cwiseProduct(g).sum();
  }
  void backward_diagonal(ConstMatrixRef x, bool with_white, ConstVectorRef g, double* p, MatrixRef* dx) const override {
    if (dx) refuse();
    if (!learn_) return;
    VectorXd k(g.size());
    diagonal(x, with_white, k);
    *p += k.dot(g);
  }

 private:
  [[noreturn]] static void refuse() {
    throw InputError("this needs the derivative of the kernel in its inputs, which a kernel over objects does not have.");
  }
  std::vector<Index> places(ConstMatrixRef x) const {
    std::vector<Index> at(static_cast<std::size_t>(x.rows()));
    for (Index i = 0; i < x.rows(); ++i) {
      const double place = x(i, column_);
      if (!(place >= 1 && place <= static_cast<double>(objects_->size())))
        throw InputError(message("row ", i + 1, " of the inputs has no object for the ", type_, " kernel."));
      at[static_cast<std::size_t>(i)] = static_cast<Index>(place) - 1;  // numbered from 1, as R does
    }
    return at;
  }

  std::string type_;
  std::shared_ptr<const ObjectSet> objects_;
  Index column_;
  double variance_;
  bool learn_;
};

}  // namespace

std::unique_ptr<Part> make_object(const KernelSpec& spec, Index dimension) {
  return std::make_unique<ObjectPart>(spec, dimension);
}

}  // namespace kernel_detail
}  // namespace granary
