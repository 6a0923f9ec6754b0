# Kernels as users of kernel machines name them: "rbf" with a gamma, "polynomial" with degree and coef0, beside the kernel language.

machine_kernels <- c("rbf", "linear", "polynomial", "sigmoid", "laplace", "precomputed")

# A kernel over `d` columns from a name with its usual parameters, a kernel object, text of the kernel language or a function. `gamma = NULL` is 1/d.
#   rbf exp(-gamma |x - z|^2), laplace exp(-gamma |x - z|), polynomial (gamma x'z + coef0)^degree, sigmoid tanh(gamma x'z + coef0), linear x'z
# NULL for "precomputed": then `x` is the kernel matrix itself.
machine_kernel <- function(kernel, d, gamma = NULL, degree = 3, coef0 = 0, arg = "kernel") {
  named <- is.character(kernel) && length(kernel) == 1L && kernel %in% machine_kernels
  if (!named) {
    if (is.character(kernel) && length(kernel) == 1L && grepl("^[a-z0-9]+$", kernel) && !kernel %in% kernel_names) {
      abort_input(sprintf("`%s` must be one of %s, text of the kernel language such as \"se + bias\", a kernel object or a function, but it is \"%s\".",
                          arg, paste0("\"", machine_kernels, "\"", collapse = ", "), kernel), arg)
    }
    if (!is.null(gamma)) warn_input("`gamma` is for kernels given by name: the kernel object has its own parameters.")
    return(prepare_kernel(kernel, d, arg))
  }
  gamma <- if (is.null(gamma)) 1 / d else check_number(gamma, "gamma", lower = 0, strict_lower = TRUE)
  chosen <- switch(
    kernel,
    rbf = k_rbf(gamma), linear = k_linear(), polynomial = k_polynomial(check_count(degree, "degree", upper = 100), gamma, check_number(coef0, "coef0")),
    sigmoid = k_sigmoid(gamma, check_number(coef0, "coef0")), laplace = k_matern(0.5, lengthscale = 1 / gamma), precomputed = NULL
  )
  if (is.null(chosen)) NULL else prepare_kernel(chosen, d, arg)
}
