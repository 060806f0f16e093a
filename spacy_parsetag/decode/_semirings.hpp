// The semirings of the passes, over numbers in double: how two scores of alternatives make one.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace parsetag {

const double INF = std::numeric_limits<double>::infinity();

// Max-plus: the best tree.
struct MaxPlus {
    static double plus(double a, double b) { return b > a ? b : a; }
};

// Log-sum-exp: sums over all trees.
struct LogSum {
    static constexpr double LOWEST = -37;  // below e^-37 of the greater term the lower one changes nothing
    static double plus(double a, double b) {
        const double high = b > a ? b : a, low = b > a ? a : b;  // both may be -inf
        return low - high > LOWEST ? high + std::log1p(std::exp(low - high)) : high;
    }
    // The log of the sum of exp(value(0)) to exp(value(n - 1)); -infinity if all values are.
    template <class Value> static double sum(int n, Value value) {
        double top = -INF, total = 0;
        for (int i = 0; i < n; ++i) top = std::max<double>(top, value(i));
        for (int i = 0; i < n && std::isfinite(top); ++i) total += std::exp(value(i) - top);
        return top + std::log(total);
    }
};

// The part of their scores that all trees share. Sums leave it out, so that great scores leave precision for the
// differences. It is held in two numbers, so that small terms are not lost when great ones of opposite sign cancel.
struct Shift {
    double high = 0, low = 0, size = 0;  // size: of all that was added, whatever its sign
    void add(double x) {
        const double sum = high + x, part = sum - high;
        low += (high - (sum - part)) + (x - part);
        high = sum;
        size += std::abs(x);
    }
    double plus(double x) const {
        Shift all = *this;
        all.add(x);
        return all.high + all.low;
    }
};

}  // namespace parsetag
