// Beam search: the h best tag sequences at each step, whatever their stack (paper section 5.2).
//
// A sequence in the beam has a state of the lattice, and two classes of tag may follow it. For each class there is a
// list of candidates, read best first and only as far as needed; a heap over the lists gives the h best candidates. If
// tags are independent, all sequences share one list per class and position. As sequences are sorted, a sequence then
// joins the heap for a class only when the best candidate of the sequence before it that the class can continue has
// been taken. In a linear chain each sequence has its own lists, and all of them are in the heap from the beginning.
#pragma once

#include <vector>

#include "_lattice.hpp"
#include "_simd.hpp"

namespace parsetag {

template <class T> class BeamSearch {
  public:
    // lookahead: keep only sequences from whose state the end can be reached in the tags that are left.
    BeamSearch(const Batch<T> &batch, int beam, bool lookahead)
        : b(batch), beam_(beam), lookahead_(lookahead), shared_(!batch.pairs), reach_(batch.lattice, batch.longest(), batch.bound) {}

    // FOUND, NOT_FINITE, NO_TREE if there is none, or BEAM_EMPTY if sequences fell out of the beam and none left is a tree.
    uint8_t search(const T *scores, int length, int32_t *ids, double *total) {
        T check = 0;
        greatest(scores, (std::ptrdiff_t)length * b.n_tags, check);
        if (std::isnan(check)) return NOT_FINITE;
        bool dropped = false;
        sequences_.assign(1, {0, b.lattice.start_stack, b.lattice.start_state, -1, -1});
        steps_.clear();
        std::vector<size_t> first_step(length);
        for (int p = 0; p < length; ++p) {
            first_step[p] = steps_.size();
            scores_ = scores + (size_t)p * b.n_tags;
            start_ = p || shared_ ? nullptr : b.start;
            end_ = p < length - 1 || shared_ ? nullptr : b.end;
            left_ = length - p - 1;
            dropped |= advance();
        }
        for (size_t i = 0; i < sequences_.size(); ++i) {  // best first
            const Sequence &best = sequences_[i];
            if (best.state != b.lattice.end_state || best.stack != b.lattice.end_stack) continue;
            *total = best.score;
            for (int p = length - 1; p >= 0; --p) {
                const Step &step = steps_[first_step[p] + i];
                ids[p] = step.tag;
                i = step.parent;
            }
            return FOUND;
        }
        return dropped ? BEAM_EMPTY : NO_TREE;
    }

  private:
    struct Sequence {
        double score;
        int stack, state, tag;
        int next;  // the next sequence of its state, -1 for none
    };
    struct Step {
        int32_t parent, tag;
    };
    struct Candidate {
        double score;
        int list, rank;  // list 4 i + k: sequence i goes on with the k-th class that leaves its state
        bool operator<(const Candidate &other) const {
            return score < other.score || (score == other.score && list > other.list);
        }
    };
    struct List {
        std::vector<T> rest;      // scores not read yet; what was read is -inf
        std::vector<double> scores;  // those read, best first
        std::vector<int> tags;
        bool filled = false;
    };

    int class_of(int list) const { return b.lattice.out_of[sequences_[list >> 2].state][list & 3]; }

    bool may_follow(const Sequence &sequence, int k) const {
        const int c = b.lattice.out_of[sequence.state][k], size = sequence.stack + b.lattice.delta[c];
        return sequence.stack >= b.lattice.need[c] && (b.bound < 0 || size <= b.bound) &&
               (!lookahead_ || reach_.leads_to_end(left_, b.lattice.target[c], size));
    }

    // Pushes the candidate of a list at a rank onto the heap, if there is one; ranks come in order.
    void push(int which, int rank) {
        const Sequence &sequence = sequences_[which >> 2];
        const int c = class_of(which), n = b.count(c);
        List &list = lists_[shared_ ? c : which];
        if (!list.filled) {
            list.filled = true;
            list.scores.clear();
            list.tags.clear();
            list.rest.assign(scores_ + b.offsets[c], scores_ + b.offsets[c] + n);
            for (const T *more : {sequence.tag < 0 || shared_ ? nullptr : b.pairs + (size_t)sequence.tag * b.n_tags, start_, end_})
                for (int i = 0; more && i < n; ++i) list.rest[i] += more[b.offsets[c] + i];
        }
        if (rank >= (int)list.scores.size()) {
            T ignored = 0;
            const T top = greatest(list.rest.data(), n, ignored);
            if (!(top > T(-INF))) return;
            int i = 0;
            while (list.rest[i] != top) ++i;
            list.rest[i] = T(-INF);
            list.scores.push_back(top);
            list.tags.push_back(b.offsets[c] + i);
        }
        heap_.push_back({sequence.score + list.scores[rank], which, rank});
        std::push_heap(heap_.begin(), heap_.end());
    }

    // The sequences one tag longer; whether any fell out.
    bool advance() {
        const int n = (int)sequences_.size();
        if ((int)lists_.size() < (shared_ ? 4 : 4 * n)) lists_.resize(shared_ ? 4 : 4 * n);
        for (List &list : lists_) list.filled = false;
        int heads[2] = {-1, -1};
        for (int i = n - 1; i >= 0; --i) {
            sequences_[i].next = heads[sequences_[i].state];
            heads[sequences_[i].state] = i;
        }
        heap_.clear();
        for (int g = 0; g < 2; ++g)
            for (int k = 0; k < b.lattice.n_out_of[g]; ++k)
                for (int i = heads[g]; i >= 0; i = sequences_[i].next)
                    if (may_follow(sequences_[i], k)) {
                        push(4 * i + k, 0);
                        if (shared_) break;
                    }
        longer_.clear();
        while (!heap_.empty() && (int)longer_.size() < beam_) {
            std::pop_heap(heap_.begin(), heap_.end());
            const Candidate best = heap_.back();
            heap_.pop_back();
            const int c = class_of(best.list), i = best.list >> 2, k = best.list & 3;
            const int tag = lists_[shared_ ? c : best.list].tags[best.rank];
            longer_.push_back({best.score, sequences_[i].stack + b.lattice.delta[c], b.lattice.target[c], tag, -1});
            steps_.push_back({i, tag});
            push(best.list, best.rank + 1);
            if (shared_ && best.rank == 0) {
                int next = sequences_[i].next;
                while (next >= 0 && !may_follow(sequences_[next], k)) next = sequences_[next].next;
                if (next >= 0) push(4 * next + k, 0);
            }
        }
        std::swap(sequences_, longer_);
        return !heap_.empty();
    }

    const Batch<T> &b;
    const int beam_;
    const bool lookahead_, shared_;
    const Reach reach_;
    const T *scores_ = nullptr, *start_ = nullptr, *end_ = nullptr;
    int left_ = 0;  // tags to come after this one
    std::vector<Sequence> sequences_, longer_;
    std::vector<Step> steps_;
    std::vector<List> lists_;
    std::vector<Candidate> heap_;
};

// Searches the sentences whose status is BEAM_EMPTY.
template <class T>
void beam_search(const Batch<T> &b, int beam, bool lookahead, int32_t *ids, double *totals, uint8_t *status) {
    if (!b.longest()) return;
    BeamSearch<T> search(b, beam, lookahead);
    for (int s = 0; s < b.n_sentences; ++s)
        if (b.n_words[s] > 0 && status[s] == BEAM_EMPTY)
            status[s] = search.search(b.scores + b.starts[s] * b.n_tags, 2 * b.n_words[s] - 1, ids + b.starts[s], totals + s);
}

}  // namespace parsetag
