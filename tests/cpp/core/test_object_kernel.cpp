#include <cmath>
#include <string>

#include "core/base/errors.h"
#include "core/kernel/kernel.h"
#include "core/kernel/kernel_rows.h"
#include "core/kernel/object_kernel.h"
#include "core/random/rng.h"
#include "harness.h"

using namespace granary;

namespace {

// Words; the kernel is the number of pairs of equal letters.
class Words : public ObjectKernel {
 public:
  explicit Words(std::vector<std::string> words, double operations = 1e4) : words_(std::move(words)), operations_(operations) {}
  Index size() const override { return static_cast<Index>(words_.size()); }
  void block(const std::vector<Index>& rows, const std::vector<Index>& columns, MatrixRef out, Monitor&) const override {
    for (std::size_t j = 0; j < columns.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i)
        out(static_cast<Index>(i), static_cast<Index>(j)) = value(rows[i], columns[j]);
  }
  double operations() const override { return operations_; }
  double value(Index a, Index b) const {
    double sum = 0;
    for (const char s : words_[static_cast<std::size_t>(a)])
      for (const char t : words_[static_cast<std::size_t>(b)]) sum += s == t;
    return sum;
  }

 private:
  std::vector<std::string> words_;
  double operations_;
};

std::shared_ptr<const Words> some_words(Index n, double operations = 1e4) {
  Rng rng(5);
  std::vector<std::string> words;
  for (Index i = 0; i < n; ++i) {
    std::string word;
    for (std::uint64_t k = rng.below(6); k > 0; --k) word += static_cast<char>('a' + rng.below(4));
    words.push_back(word);
  }
  words[0] = "";
  words[1] = "abca";
  return std::make_shared<Words>(words, operations);
}

KernelSpec word_kernel(std::shared_ptr<const ObjectKernel> words, bool normalised, std::vector<Index> columns = {}) {
  KernelSpec spec;
  spec.type = "words";
  spec.variance = 2;
  spec.columns = std::move(columns);
  spec.objects = std::make_shared<ObjectSet>(std::move(words), normalised, KnownObjectValues());
  return spec;
}

MatrixXd places(const std::vector<int>& at) {
  MatrixXd x(static_cast<Index>(at.size()), 1);
  for (std::size_t i = 0; i < at.size(); ++i) x(static_cast<Index>(i), 0) = at[i] + 1;
  return x;
}

}  // namespace

TEST("a kernel over objects looks its places up, normalised or not") {
  const auto words = some_words(12);
  const MatrixXd x = places({3, 1, 0, 3}), z = places({5, 11});
  const std::vector<int> at{3, 1, 0, 3}, other{5, 11};
  for (const bool normalised : {false, true}) {
    const Kernel kernel(word_kernel(words, normalised), 1);
    const MatrixXd k = kernel.cross(x, z);
    const VectorXd d = kernel.diagonal(x);
    for (Index i = 0; i < 4; ++i) {
      const double own = words->value(at[i], at[i]);
      CHECK_NEAR(d[i], normalised ? (own > 0 ? 2.0 : 0.0) : 2 * own, 1e-14);
      for (Index j = 0; j < 2; ++j) {
        const double length = normalised ? std::sqrt(own * words->value(other[j], other[j])) : 1;
        CHECK_NEAR(k(i, j), length > 0 ? 2 * words->value(at[i], other[j]) / length : 0.0, 1e-14);
      }
    }
    CHECK_NEAR((kernel.matrix(x) - kernel.cross(x, x)).norm(), 0, 1e-14);
  }
}

TEST("blocks on several threads have the values of one, whatever the size of a task") {
  Monitor monitor;
  for (const double operations : {1.0, 1e5, 1e9}) {
    const auto words = some_words(41, operations);
    const ObjectSet set(words, false, KnownObjectValues());
    std::vector<Index> rows(41), columns{40, 2, 2, 17};
    for (Index i = 0; i < 41; ++i) rows[static_cast<std::size_t>(i)] = i;
    const MatrixXd one = object_matrix(set, rows, 1, monitor), two = object_matrix(set, rows, 3, monitor);
    CHECK(one == two);
    CHECK(object_block(set, rows, columns, 1, monitor) == object_block(set, rows, columns, 3, monitor));
    for (Index i = 0; i < 41; ++i) CHECK(one(i, 7) == words->value(i, 7));
    CHECK((object_diagonal(*words, 2, monitor) - one.diagonal()).norm() == 0);
  }
}

TEST("values that are known are used, both ways round, and others computed") {
  const auto words = some_words(6);
  KnownObjectValues known;
  known.rows = {0, 1, 2};
  known.columns = {3, 4};
  const MatrixXd table = MatrixXd::Random(3, 2);
  new (&known.values) MatrixView(table.data(), 3, 2);
  const ObjectSet set(words, false, known);
  Monitor monitor;
  MatrixXd k(2, 1), turned(1, 2), mixed(1, 1);
  set.block({0, 2}, {4}, k, monitor);
  set.block({4}, {0, 2}, turned, monitor);
  set.block({5}, {3}, mixed, monitor);
  CHECK(k(0, 0) == table(0, 1) && k(1, 0) == table(2, 1));
  CHECK(turned(0, 0) == table(0, 1) && turned(0, 1) == table(2, 1));
  CHECK(mixed(0, 0) == words->value(5, 3));
  known.rows = {9, 1, 2};
  CHECK_THROWS(ObjectSet(words, false, known), InputError);
}

TEST("sums, products, rows and gradients in the variance go with it") {
  const auto words = some_words(20);
  KernelSpec smooth;
  smooth.type = "se";
  smooth.scales = VectorXd::Constant(1, 1.5);
  smooth.columns = {1};
  KernelSpec product;
  product.type = "product";
  product.children = {word_kernel(words, true, {0}), smooth};
  MatrixXd x(9, 2);
  Rng rng(3);
  for (Index i = 0; i < 9; ++i) {
    x(i, 0) = static_cast<double>(1 + rng.below(20));
    x(i, 1) = rng.normal();
  }
  const Kernel kernel(product, 2);
  const MatrixXd k = kernel.matrix(x);
  const MatrixXd by_hand = Kernel(product.children[0], 2).matrix(x).cwiseProduct(Kernel(smooth, 2).matrix(x));
  CHECK_NEAR((k - by_hand).norm(), 0, 1e-13);
  KernelRows rows(product, x);
  VectorXd row(9);
  rows.row(4, 0, 9, row.data());
  CHECK_NEAR((row - k.col(4)).norm(), 0, 1e-13);
  rows.swap(0, 8);
  rows.row(8, 0, 1, row.data());
  CHECK_NEAR(row[0], k(8, 0), 1e-13);
  const MatrixXd g = MatrixXd::Ones(9, 9);
  VectorXd slope = VectorXd::Zero(kernel.n_parameters());
  kernel.add_gradient(x, g, slope);
  CHECK_NEAR(slope[0], k.sum(), 1e-10);  // in the logarithm of the variance
  Monitor monitor;
  CHECK_NEAR((kernel.matrix(x, 2, monitor) - k).norm(), 0, 1e-13);
  CHECK_NEAR((kernel.cross(x, x.topRows(3), 2, monitor) - k.leftCols(3)).norm(), 0, 1e-13);
}

TEST("places that are not there, and columns that are too many, are refused") {
  const auto words = some_words(4);
  const Kernel kernel(word_kernel(words, false), 1);
  CHECK_THROWS(kernel.cross(places({4}), places({0})), InputError);
  CHECK_THROWS(kernel.cross(places({-1}), places({0})), InputError);
  CHECK_THROWS(Kernel(word_kernel(words, false), 2), InputError);
  CHECK_THROWS(Kernel(word_kernel(words, false, {0, 1}), 2), InputError);
  CHECK_THROWS(Kernel(word_kernel(words, false, {3}), 2), InputError);
}
