# Fernandez-Delgado, Cernadas, Barro and Amorim (JMLR 15, 2014). The 121 data sets and the authors' table of accuracies are not in the package: what is printed is
# listed. What can be checked is what the drawn data sets allow, and the order of the classifiers on them.

printed <- c(parRF_t = 32.9, rf_t = 33.1, svm_C = 36.8, svmPoly_t = 38.0, rforest_R = 39.4, elm_kernel_m = 39.6, "C5.0_t" = 42.9, avNNet_t = 44.1, ZeroR = 154.6)
for (name in names(printed)) claim(sprintf("Table 3: mean rank of %s", name), printed[[name]], NA, 0, "the accuracies are not in the package")
for (name in c("parRF_t", "svm_C", "elm_kernel_m")) {
  claim(sprintf("Table 5: PAMA of %s", name), c(parRF_t = 9.9, svm_C = 10.7, elm_kernel_m = 13.2)[[name]], NA, 0, "the accuracies are not in the package")
}

set.seed(1)
n <- if (extended) 7400 else 2000
two <- sim_benchmark("twonorm", n)
claim("twonorm: accuracy of the best rule", 97.725, 100 * mean((rowSums(two[1:20]) > 0) == (two$class == "1")), 1.2, "reference: pnorm(2)")
ring <- sim_benchmark("ringnorm", n)
best <- -20 * log(2) - rowSums(ring[1:20]^2) / 8 + rowSums((ring[1:20] - 1 / sqrt(20))^2) / 2 > 0
claim("ringnorm: error of the best rule", 1.3, 100 * mean(best != (ring$class == "1")), 1, "reference: Breiman (1998)")

runs <- if (extended) 400 else 150
sets <- list(iris = iris, twonorm = sim_benchmark("twonorm", runs), ringnorm = sim_benchmark("ringnorm", runs), waveform = sim_benchmark("waveform", runs),
             led = sim_benchmark("led", runs), tictactoe = sim_benchmark("tictactoe", runs), balance = sim_benchmark("balance", runs), monks = sim_benchmark("monks1", runs))
results <- benchmark_classifiers(sets, list("majority", "knn", "naive_bayes", "pnn", elm = "elm", kernel = cv_learner("kernel_elm", gamma = 2^seq(-12, 4, 4)),
                                            forest = cv_learner("forest", n_trees = 200), svm = cv_learner("svm", cost = 10)))
comparison <- compare_methods(results)
order <- comparison$table$method
claim("Section 3.1: forests, Gaussian machines and kernel machines lead, the largest class is last", TRUE,
      order[length(order)] == "majority" && any(c("forest", "svm", "kernel") %in% order[1:2]), 0,
      paste("on eight data sets that are drawn or in R; the order here:", paste(order, collapse = ", ")))
claim("Friedman's test finds differences", TRUE, comparison$friedman$p.value[1] < 0.05, 0, sprintf("p = %.2g", comparison$friedman$p.value[1]))
