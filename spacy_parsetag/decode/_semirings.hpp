// The semirings of the passes, over numbers in double: how two scores of alternatives make one.
#pragma once

#include <cmath>

namespace parsetag {

// Max-plus: the best tree.
struct Max {
    static double plus(double a, double b) { return b > a ? b : a; }
};

// Log-sum-exp: sums over all trees.
struct LogSum {
    static constexpr double LOWEST = -37;  // below e^-37 of the greater term the lower one changes nothing
    static double plus(double a, double b) {
        const double high = b > a ? b : a, low = b > a ? a : b;  // both may be -inf
        return low - high > LOWEST ? high + std::log1p(std::exp(low - high)) : high;
    }
};

}  // namespace parsetag
