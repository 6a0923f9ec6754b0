// Rows of data into a partition and out of it.
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "regress/adapt_partition_fit.h"

namespace granary::regress {

RowKeys row_keys(const PartitionTree& tree, const PartitionRows& rows, Monitor& monitor) {
  const MasterTree& master = tree.master();
  RowKeys out;
  out.width = tree.planes().dimensions();
  if (master.split() == Split::nested) {
    const Eigen::MatrixXi& digits = rows.digits;
    require(digits.cols() == master.levels(), "a partition by nested factors needs the digits of all of them.");
    out.known.resize(static_cast<std::size_t>(digits.rows()));
    for (Index i = 0; i < digits.rows(); ++i) out.key.push_back(master.nested_key(digits.row(i), out.known[static_cast<std::size_t>(i)]));
    return out;
  }
  const MatrixView& values = rows.values;
  require(values.cols() == master.coordinates(), "rows must have the columns the partition was made of.");
  out.key.reserve(static_cast<std::size_t>(values.rows()));
  out.known.assign(static_cast<std::size_t>(values.rows()), master.levels());
  out.place.resize(static_cast<std::size_t>(values.rows() * out.width));
  for (Index i = 0; i < values.rows(); ++i) {
    if ((i & 16383) == 0) monitor.check();
    out.key.push_back(master.key(values.row(i)));
    if (out.width > 0) master.place(values.row(i), out.place.data() + i * out.width);
    out.outside += !master.inside(values.row(i));
  }
  return out;
}

std::unique_ptr<PartitionTree> partition_points(const PartitionRows& rows, ConstVectorRef y, const PartitionShape& shape, Monitor& monitor) {
  std::vector<Cuts> cuts;
  for (const std::vector<double>& knots : shape.knots) cuts.push_back({knots});
  MasterTree master = shape.split == Split::nested ? MasterTree(shape.bits) : MasterTree(shape.split, std::move(cuts), shape.active);
  auto tree = std::make_unique<PartitionTree>(std::move(master), shape.degree);
  const RowKeys keys = row_keys(*tree, rows, monitor);
  require(static_cast<Index>(keys.key.size()) == y.size(), "every row needs a response.");
  tree->add_points(keys.key, y, keys.place);
  return tree;
}

VectorXd column_gains(const PartitionRows& rows, ConstVectorRef y, const PartitionShape& shape) {
  const Index n = y.size();
  require(rows.values.rows() == n, "every row needs a response.");
  constexpr int bins = 8;
  const double mean = y.mean();
  VectorXd gain(static_cast<Index>(shape.active.size()));
  for (Index k = 0; k < gain.size(); ++k) {
    const int column = shape.active[static_cast<std::size_t>(k)];
    require(column >= 0 && column < rows.values.cols() && column < static_cast<int>(shape.knots.size()), "there is no such column.");
    const Cuts cuts{shape.knots[static_cast<std::size_t>(column)]};
    VectorXd sum = VectorXd::Zero(bins), count = VectorXd::Zero(bins);
    for (Index i = 0; i < n; ++i) {
      const int bin = std::min(bins - 1, static_cast<int>(bins * cuts.to_unit(rows.values(i, column))));
      sum[bin] += y[i] - mean;
      count[bin] += 1;
    }
    double between = 0;
    int used = 0;
    for (int b = 0; b < bins; ++b) {
      if (count[b] == 0) continue;
      between += sum[b] * sum[b] / count[b];
      ++used;
    }
    const double within = (y.array() - mean).square().sum() - between;
    const double df = static_cast<double>(used - 1), left = static_cast<double>(n - used);
    const double noise = left > 0 ? within / left : 0;
    gain[k] = used < 2 ? 0 : noise > 0 ? (between / noise - df) / std::sqrt(2 * df) : (between > 0 ? 1e300 : 0);
  }
  return gain;
}

int partition_insert(PartitionTree& tree, const PartitionRows& rows, ConstVectorRef y, Monitor& monitor) {
  const RowKeys keys = row_keys(tree, rows, monitor);
  require(static_cast<Index>(keys.key.size()) == y.size(), "every row needs a response.");
  for (Index i = 0; i < y.size(); ++i) tree.insert(keys.key[static_cast<std::size_t>(i)], y[i], keys.at(i));
  return keys.outside;
}

PartitionPrediction partition_predict(const PartitionTree& tree, const PartitionRows& rows, const PartitionOptions& options, Monitor& monitor) {
  const Partition partition(tree, options);
  const RowKeys keys = row_keys(tree, rows, monitor);
  const Index n = static_cast<Index>(keys.key.size());
  PartitionPrediction out;
  out.value.resize(n);
  out.node.resize(n);
  out.empty.resize(n);
  out.outside = keys.outside;
  for (Index i = 0; i < n; ++i) {
    if ((i & 4095) == 0) monitor.check();
    const Partition::Place at = partition.locate(keys.key[static_cast<std::size_t>(i)], keys.known[static_cast<std::size_t>(i)], keys.at(i));
    out.value[i] = at.value;
    out.node[i] = at.node;
    out.empty[i] = at.empty;
  }
  return out;
}

}  // namespace granary::regress
