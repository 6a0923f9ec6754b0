// Student's t law, with the normal for infinite degrees of freedom.
#pragma once

namespace granary {

double student_t_cdf(double t, double df);
double student_t_quantile(double p, double df);

}  // namespace granary
