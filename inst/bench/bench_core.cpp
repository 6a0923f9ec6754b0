// The parts of the core that the estimators lean on.
#include <benchmark/benchmark.h>

#include "core/base/monitor.h"
#include "core/base/parallel.h"
#include "core/random/rng.h"
#include "core/linalg/spd_inverse.h"
#include "core/base/types.h"
#include "graph/sim_ggm.h"

namespace {

using namespace granary;

MatrixXd normals(Index rows, Index columns) {
  Rng rng(1);
  MatrixXd m(rows, columns);
  for (Index j = 0; j < columns; ++j) m.col(j) = rng.normals(rows);
  return m;
}

void flops(benchmark::State& state, double per_call) {
  state.counters["flops"] = benchmark::Counter(per_call * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

// The yardstick for everything dense below.
void matrix_product(benchmark::State& state) {
  const Index p = state.range(0);
  const MatrixXd a = normals(p, p), b = normals(p, p);
  MatrixXd c(p, p);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::DoNotOptimize(c.data());
  }
  flops(state, 2.0 * p * p * p);
}
BENCHMARK(matrix_product)->Arg(100)->Arg(500)->Arg(1000)->Unit(benchmark::kMillisecond);

SparseMatrix upper_triangle(const SparseMatrix& x) { return x.triangularView<Eigen::Upper>(); }

void inverse_of(benchmark::State& state, const SparseMatrix& upper) {
  SpdInverse factor;
  MatrixXd w;
  for (auto _ : state) {
    factor.factorise(upper);
    factor.inverse(w);
    benchmark::DoNotOptimize(w.data());
  }
}

void spd_inverse_chain(benchmark::State& state) {
  Rng rng(1);
  graph::SimGgmOptions options;
  options.p = static_cast<int>(state.range(0));
  inverse_of(state, upper_triangle(graph::sim_ggm_precision(options, rng)));
}
BENCHMARK(spd_inverse_chain)->Arg(500)->Arg(1000)->Unit(benchmark::kMillisecond);

void spd_inverse_dense(benchmark::State& state) {
  const Index p = state.range(0);
  const MatrixXd a = normals(p, p);
  const MatrixXd x = a * a.transpose() + MatrixXd::Identity(p, p) * static_cast<double>(p);
  inverse_of(state, upper_triangle(x.sparseView()));
  flops(state, 1.0 * p * p * p);
}
BENCHMARK(spd_inverse_dense)->Arg(100)->Arg(500)->Arg(1000)->Unit(benchmark::kMillisecond);

void rng_bits(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(rng());
}
BENCHMARK(rng_bits);

void rng_normal(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(rng.normal());
}
BENCHMARK(rng_normal);

void rng_gamma(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(rng.gamma(2.5));
}
BENCHMARK(rng_gamma);

// What a loop over 1000 empty tasks costs: one thread, and two.
void parallel_for_overhead(benchmark::State& state) {
  Monitor monitor;
  std::vector<double> out(1000, 0.0);
  for (auto _ : state) {
    parallel_for(1000, static_cast<int>(state.range(0)), monitor, [&](Index i) { out[i] += 1; });
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(parallel_for_overhead)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
