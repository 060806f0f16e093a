// Lazy k-best trees over the chart (Huang and Chiang 2005, algorithm 3): an item's next best tree is looked for only when a
// larger one asks for it. After one Viterbi pass over the chart, k trees cost about O(k N log(k N)).
#pragma once

#include <unordered_map>

#include "_chart.hpp"

namespace parsetag {

template <class T> class KBest : public Chart<Max, T> {
  public:
    using Chart<Max, T>::Chart;

    bool read(int s) {
        items_.clear();
        labels_.clear();
        return Chart<Max, T>::read(s);
    }

    // Appends the k best trees, fewer if there are fewer: their tag ids, one after another, and their scores.
    void write(int k, std::vector<int32_t> &ids, std::vector<double> &scores) {
        const int length = 2 * this->layout_.n - 1;
        Item &root = item(LEFT, 0, this->layout_.n, 0);
        for (int rank = 0; rank < k && has_rank(root, rank); ++rank) {
            ids.resize(ids.size() + length);
            scores.push_back(root.best[rank].score);
            write_tree(root, rank, ids.data() + ids.size() - length);
        }
    }

  private:
    struct Label { double score; int32_t id; };
    // A tree over an item: where it splits, and the ranks of its label and of its two parts among theirs.
    struct Tree {
        double score;
        int k, label, left, right;
        bool operator<(const Tree &other) const { return score < other.score; }
    };
    struct Item {
        int side, i, j, t;
        bool begun = false;
        std::vector<Tree> best, heap;  // best first; and the candidates for the next one
    };

    Item &item(int side, int i, int j, int t) {
        const uint64_t wide = this->layout_.n + 1;
        const auto found = items_.try_emplace((((uint64_t)t * 2 + side) * wide + i) * wide + j);
        Item &own = found.first->second;
        if (found.second) own.side = side, own.i = i, own.j = j, own.t = t;
        return own;
    }
    Item &left_of(const Item &own, int k) { return item(LEFT, own.i, k, this->layout_.left_plane(own.t)); }
    Item &right_of(const Item &own, int k) { return item(RIGHT, k, own.j, this->layout_.right_plane(own.side, own.t)); }

    // Labels of a node that splits at k, or of a leaf, best first.
    const std::vector<Label> &labels(const Item &own, int k) {
        const Layout &layout = this->layout_;
        const bool leaf = own.j == own.i + 1, spans = this->joint_ && !leaf;
        const int set = this->set_of(own.i, own.j), c = own.side + (leaf ? 0 : 2);
        const int p = leaf ? this->joint_ ? 2 * own.i : layout.leaf(own.i, own.t) : layout.node(own.i, k, own.j, own.t);
        const uint64_t place = spans ? this->span_of(own.i, own.j) : (uint64_t)set * (2 * layout.n - 1) + p;
        std::vector<Label> &list = labels_[(place * 4 + c) * 2 + spans];
        if (!list.empty()) return list;
        if (spans) {
            const T *scores = this->own_spans_ + place * this->spans_.n_labels, *mask = this->mask(set, own.side);
            for (int l = 0; l < this->spans_.n_labels; ++l)
                if (mask[l] > -INF) list.push_back({double(scores[l]), this->spans_.ids[own.side * this->spans_.n_labels + l]});
        } else {
            const T *scores = this->scores_ + (size_t)p * this->b.n_tags;
            for (int id = this->b.offsets[c]; id < this->b.offsets[c + 1]; ++id)
                if (this->has(set, id)) list.push_back({double(scores[id]), id});
        }
        std::stable_sort(list.begin(), list.end(), [](const Label &a, const Label &b) { return a.score > b.score; });
        return list;
    }

    void begin(Item &own) {
        own.begun = true;
        const int i = own.i, j = own.j, set = this->set_of(i, j);
        if (!(this->inside(own.side, i, j, own.t) > -INF)) return;
        if (j == i + 1) {
            own.heap.push_back({this->inside(own.side, i, j, own.t), 0, 0, 0, 0});
            return;
        }
        this->splits(set, own.side, i, j, own.t);
        const double node = this->node(set, own.side, i, j, own.t);
        for (int k = i + 1; k < j; ++k)
            if (this->x_[k - i - 1] + node > -INF) own.heap.push_back({this->x_[k - i - 1] + node, k, 0, 0, 0});
        std::make_heap(own.heap.begin(), own.heap.end());
    }

    // Whether an item has a tree of this rank, which is then in `best`.
    bool has_rank(Item &own, size_t rank) {
        if (!own.begun) begin(own);
        while (own.best.size() <= rank) {
            if (!own.best.empty()) add_next(own, own.best.back());
            if (own.heap.empty()) return false;
            std::pop_heap(own.heap.begin(), own.heap.end());
            own.best.push_back(own.heap.back());
            own.heap.pop_back();
        }
        return true;
    }

    // The candidates after a tree. Each combination of ranks comes once: from the one in which its last rank above 0 is less.
    void add_next(Item &own, const Tree tree) {
        const bool leaf = own.j == own.i + 1;
        if (!tree.left && !tree.right) {
            const std::vector<Label> &list = labels(own, tree.k);
            const size_t next = tree.label + 1;
            if (next < list.size()) push(own, {0, tree.k, (int)next, 0, 0}, list);
        }
        if (leaf) return;
        if (!tree.right && has_rank(left_of(own, tree.k), tree.left + 1))
            push(own, {0, tree.k, tree.label, tree.left + 1, 0}, labels(own, tree.k));
        if (has_rank(right_of(own, tree.k), tree.right + 1))
            push(own, {0, tree.k, tree.label, tree.left, tree.right + 1}, labels(own, tree.k));
    }

    void push(Item &own, Tree tree, const std::vector<Label> &list) {
        tree.score = list[tree.label].score;
        if (own.j > own.i + 1) {
            Item &left = left_of(own, tree.k), &right = right_of(own, tree.k);
            has_rank(left, tree.left);
            has_rank(right, tree.right);
            tree.score += (this->joint_ ? this->gap(0, own.side)[tree.k] : 0) + left.best[tree.left].score + right.best[tree.right].score;
        }
        own.heap.push_back(tree);
        std::push_heap(own.heap.begin(), own.heap.end());
    }

    void write_tree(Item &own, int rank, int32_t *ids) {
        const Tree tree = own.best[rank];
        const bool leaf = own.j == own.i + 1;
        const int p = leaf ? this->layout_.leaf(own.i, own.t) : this->layout_.node(own.i, tree.k, own.j, own.t);
        ids[p] = labels(own, tree.k)[tree.label].id;
        if (leaf) return;
        Item &left = left_of(own, tree.k), &right = right_of(own, tree.k);
        has_rank(left, tree.left);
        has_rank(right, tree.right);
        write_tree(left, tree.left, ids);
        write_tree(right, tree.right, ids);
    }

    std::unordered_map<uint64_t, Item> items_;
    std::unordered_map<uint64_t, std::vector<Label>> labels_;
};

// The k best trees of each sentence, one after another: ids and scores are appended, counts (sentences) says how many.
template <class T>
void chart_k_best(const Batch<T> &b, const Spans<T> &spans, const LabelSets &sets, const ChartOptions &options, int k,
                  std::vector<int32_t> &ids, std::vector<double> &scores, int64_t *counts, uint8_t *status) {
    KBest<T> chart(b, spans, sets, options);
    for (int s = 0; s < b.n_sentences; ++s) {
        if (b.n_words[s] < 1) continue;
        status[s] = NOT_FINITE;
        if (!chart.read(s)) continue;
        status[s] = chart.total() > -INF ? FOUND : NO_TREE;
        const size_t before = scores.size();
        if (status[s] == FOUND) chart.write(k, ids, scores);
        counts[s] = int64_t(scores.size() - before);
    }
}

}  // namespace parsetag
