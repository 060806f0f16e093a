// The walk forward and backward over the tags of a sentence, and the states on the way, with checkpointing.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace parsetag {

// Numbers that begin at a cache line, not initialized.
template <class Real> class Buffer {
  public:
    explicit Buffer(size_t n = 0) : memory_(new char[n * sizeof(Real) + 64]) {}
    Real *data() const { return (Real *)(((uintptr_t)memory_.get() + 63) & ~(uintptr_t)63); }
    Real &operator[](size_t i) { return data()[i]; }

  private:
    std::unique_ptr<char[]> memory_;
};

// The states of a sentence, one block of numbers after each tag. Where all blocks would take more than `budget` bytes,
// checkpointing: about every sqrt(length)-th block stays, and the stretches between them are run again on the way back.
template <class Real> class Tape {
  public:
    Tape(int longest, size_t block, size_t budget) : block_(block), longest_(std::max(1, longest)) {
        if (double(longest_ + 1) * block * sizeof(Real) > double(budget)) longest_ = (int)std::ceil(std::sqrt(longest_));
        kept_ = Buffer<Real>((longest_ + 1) * block);
        marks_ = Buffer<Real>(longest_ < longest ? (longest / longest_ + 1) * block : 0);
    }

    // Runs the model over a sentence of `length` tags; returns the last block.
    template <class Model> const Real *forward(Model &model, int length) {
        stretch_ = std::min(longest_, length);
        model.start(kept_.data());
        for (int first = 0; first < length; first += stretch_) {
            if (first) {
                std::copy_n(block(stretch_), block_, block(0));
                std::copy_n(block(0), block_, mark(first));
            }
            run(model, first, std::min(length, first + stretch_));
        }
        return block((length - 1) % stretch_ + 1);
    }

    // After `forward`: hands each step to the model again, the last one first.
    template <class Model> void backward(Model &model, int length) {
        for (int first = (length - 1) / stretch_ * stretch_; first >= 0; first -= stretch_) {
            const int last = std::min(length, first + stretch_);
            if (last < length) {
                if (first) std::copy_n(mark(first), block_, block(0));
                else model.start(block(0));
                run(model, first, last);
            }
            for (int p = last - 1; p >= first; --p) model.back(p, block(p - first), block(p - first + 1));
        }
    }

  private:
    template <class Model> void run(Model &model, int first, int last) {
        for (int p = first; p < last; ++p) model.step(p, block(p - first), block(p - first + 1));
    }
    Real *block(int i) { return kept_.data() + (size_t)i * block_; }
    Real *mark(int first) { return marks_.data() + (size_t)(first / stretch_) * block_; }

    size_t block_;
    int longest_, stretch_ = 1;
    Buffer<Real> kept_, marks_;
};

}  // namespace parsetag
