baseline_classifiers <- c("majority", "knn", "naive_bayes", "kernel_naive_bayes", "direct_perceptron")
