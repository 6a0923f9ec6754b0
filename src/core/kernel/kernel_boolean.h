// Kernels of 0/1 attributes whose features are conjunctions: how many of them two rows both satisfy.
//
//   monotone   conjunctions of attributes that are 1:        sum_i g^i C(s, i),        s = x'z
//   signed     of attributes and of their negations:         sum_i g^i C(e, i),        e the number of attributes that agree
//   parity     products of attributes coded +1 and -1:       sum_i g^i P_i(n - e; n),  P_i a Krawtchouk polynomial
//
// over lengths i = min_length .. max_length (0: all). All depend on one whole number, so there is a table; it holds logarithms,
// for C(s, i) leaves the range of doubles early. Khardon and Servedio (JMLR 2005), section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/fields.h"
#include "core/base/types.h"

namespace granary {

enum class Literals { monotone, with_negations, parity };
inline Names<Literals> names(Literals) {
  return {{Literals::monotone, "monotone"}, {Literals::with_negations, "signed"}, {Literals::parity, "parity"}};
}

struct BooleanSpec {
  Literals literals = Literals::monotone;
  int min_length = 1, max_length = 2;
  double damping = 1;      // g
  bool normalize = false;  // k(x, z) / sqrt(k(x, x) k(z, z))
  bool log = false;        // the logarithm
};
template <class V>
void fields(V& v, BooleanSpec& t) {
  v("literals", t.literals);
  v("min_length", t.min_length);
  v("max_length", t.max_length);
  v("damping", t.damping);
  v("normalize", t.normalize);
  v("log", t.log);
}

// log sum_{i = a .. b} g^i C(s, i), b = 0 for all; -infinity where the sum is empty.
double log_conjunctions(double s, int a, int b, double g);

class BooleanTable {
 public:
  BooleanTable(const BooleanSpec& spec, Index attributes);
  // From the attributes both rows have, and each of them.
  double value(double both, double x, double z) const;
  double log_value(double both, double x, double z) const;  // not normalised
  const BooleanSpec& spec() const { return spec_; }

 private:
  Index at(double both, double x, double z) const;
  BooleanSpec spec_;
  Index n_;
  std::vector<double> log_, sign_, plain_;  // plain_: the values themselves, exact while they are whole and below 2^53
};

// Rows of 0/1 attributes, 64 to a word.
class BitRows {
 public:
  BitRows() = default;
  explicit BitRows(ConstMatrixRef x);  // InputError where an entry is neither 0 nor 1
  explicit BitRows(const SparseMatrix& x);
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  double count(Index i) const { return static_cast<double>(count_[static_cast<std::size_t>(i)]); }
  double both(Index i, const BitRows& other, Index j) const;
  bool test(Index i, Index column) const { return row(i)[static_cast<std::size_t>(column >> 6)] >> (column & 63) & 1; }

 private:
  void set(Index i, Index column, double value);
  const std::uint64_t* row(Index i) const { return words_.data() + static_cast<std::size_t>(i) * stride_; }
  Index rows_ = 0, columns_ = 0;
  std::size_t stride_ = 0;
  std::vector<std::uint64_t> words_;
  std::vector<int> count_;
};

MatrixXd boolean_kernel(const BooleanTable& table, const BitRows& x, const BitRows& z);

}  // namespace granary
