// The graphical lasso on the graphs of the QUIC paper (n = p / 2), one thread: the solver alone, without R and without sampling.
#include <benchmark/benchmark.h>

#include "core/linalg/moments.h"
#include "core/random/rng.h"
#include "graph/glasso.h"
#include "graph/sim_ggm.h"

namespace {

using namespace granary;
using namespace granary::graph;

MatrixXd covariance_of(GgmType type, int p) {
  Rng rng(1);
  SimGgmOptions options;
  options.type = type;
  options.p = p;
  const MatrixXd x = sample_from_precision(sim_ggm_precision(options, rng), p / 2, rng);
  return sample_covariance(x);
}

void run(benchmark::State& state, const MatrixXd& s, double lambda, const GlassoOptions& options) {
  Monitor monitor;
  double edges = 0, steps = 0;
  for (auto _ : state) {
    const GlassoResult fit = glasso(s, Penalty::scalar(lambda), options, monitor);
    edges = static_cast<double>(fit.state.upper.nonZeros() - s.rows());
    steps = fit.convergence.iterations;
  }
  state.counters["edges"] = edges;
  state.counters["steps"] = steps;
}

void bcd_chain(benchmark::State& state) {
  const int p = static_cast<int>(state.range(0));
  run(state, covariance_of(GgmType::chain, p), 0.4, {});
}
BENCHMARK(bcd_chain)->Arg(250)->Arg(500)->Arg(1000)->Unit(benchmark::kMillisecond);

// The second argument is 100 lambda: a sparse and a dense solution.
void bcd_random(benchmark::State& state) {
  const int p = static_cast<int>(state.range(0));
  run(state, covariance_of(GgmType::random, p), 0.01 * static_cast<double>(state.range(1)), {});
}
BENCHMARK(bcd_random)->Args({250, 24})->Args({500, 17})->Args({1000, 12})->Args({500, 10})->Unit(benchmark::kMillisecond);

// Many components: eight equal blocks, on one and on two threads.
void bcd_block(benchmark::State& state) {
  Rng rng(1);
  SimGgmOptions graph;
  graph.type = GgmType::block;
  graph.p = 1200;
  const MatrixXd x = sample_from_precision(sim_ggm_precision(graph, rng), 10000, rng);
  const MatrixXd s = sample_covariance(x);
  GlassoOptions options;
  options.threads = static_cast<int>(state.range(0));
  run(state, s, 0.1, options);
}
BENCHMARK(bcd_block)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
