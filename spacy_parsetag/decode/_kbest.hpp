// Lazy k-best trees over the chart (Huang and Chiang 2005, algorithm 3): an item's next best tree is looked for only when a
// larger one asks for it. After one Viterbi pass over the chart, k trees cost about O(k N log(k N)).
#pragma once

#include <unordered_map>

#include "_chart_scores.hpp"

namespace parsetag {

template <class T> class KBest : public ChartScores<MaxPlus, T> {
  public:
    using ChartScores<MaxPlus, T>::ChartScores;

    bool read(int s) {
        nodes_.clear();
        lists_.clear();
        return ChartScores<MaxPlus, T>::read(s);
    }

    // Appends the k best trees, fewer if there are fewer: their tag ids, one after another, and their scores.
    void write(int k, std::vector<int32_t> &ids, std::vector<double> &scores) {
        Node &root = node(LEFT, 0, this->n, 0);
        for (int rank = 0; rank < k && has_rank(root, rank); ++rank) {
            ids.resize(ids.size() + this->length);
            scores.push_back(root.best[rank].score);
            write_tree(root, rank, ids.data() + ids.size() - this->length);
        }
    }

  private:
    struct Label { double score; int32_t id; };
    // A tree over an item: the split point k, and the ranks of its label, its left part and its right part.
    struct Tree {
        double score;
        int k, label, left, right;
        bool operator<(const Tree &other) const { return score < other.score; }
    };
    struct Node : Item {
        bool begun = false, complete = false;  // complete: all its trees are in `best`
        std::vector<Tree> best, heap;  // best first; and the candidates for the next one
    };
    // An item's tree of a rank; `known` says whether it has been looked for.
    struct Wanted {
        Node *own;
        size_t rank;
        bool exists() const { return own->best.size() > rank; }
        bool known() const { return exists() || own->complete; }
    };

    Node &node(int side, int i, int j, int t) {
        const uint64_t wide = this->n + 1;
        const auto found = nodes_.try_emplace((((uint64_t)t * 2 + side) * wide + i) * wide + j);
        if (found.second) static_cast<Item &>(found.first->second) = {side, i, j, t};
        return found.first->second;
    }
    Node &left_of(const Node &own, int k) { return node(LEFT, own.i, k, this->chart.layout.left_plane(own.t)); }
    Node &right_of(const Node &own, int k) { return node(RIGHT, k, own.j, this->chart.layout.right_plane(own.side, own.t)); }

    // Labels of a node that splits at k, or of a leaf, best first.
    const std::vector<Label> &labels(const Node &own, int k) {
        const auto choice = this->choice(own, k);
        // Items of one class and set at one place share a list.
        std::vector<Label> &list = lists_[{choice.scores, choice.ids ? (const void *)choice.ids : choice.set}];
        if (!list.empty()) return list;
        for (int l = 0; l < choice.n; ++l)
            if (choice.has(l)) list.push_back({double(choice.scores[l]), choice.id(l)});
        std::stable_sort(list.begin(), list.end(), [](const Label &a, const Label &b) { return a.score > b.score; });
        return list;
    }

    void begin(Node &own) {
        own.begun = true;
        if (!(this->chart.inside(own) > -INF)) return;
        if (own.j == own.i + 1) {
            own.heap.push_back({this->chart.inside(own), 0, 0, 0, 0});
            return;
        }
        this->chart.split(own);
        const double weight = this->weights(this->set_of(own.i, own.j), own.i, own.j, own.t)[own.side];
        for (int k = own.i + 1; k < own.j; ++k) {
            const double score = this->chart.splits()[k - own.i - 1] + weight;
            if (score > -INF) own.heap.push_back({score, k, 0, 0, 0});
        }
        std::make_heap(own.heap.begin(), own.heap.end());
    }

    // Finds an item's tree of this rank; false if there is none, else it is in `best`. Trees can be as deep as the sentence is
    // long: items that wait for trees of their parts are on a stack of their own.
    bool has_rank(Node &item, size_t rank) {
        waiting_.push_back({&item, rank});
        while (!waiting_.empty()) {
            const Wanted wanted = waiting_.back();
            Node &own = *wanted.own;
            if (wanted.known()) {
                waiting_.pop_back();
            } else if (own.best.empty()) {
                take_next(own);
            } else {
                const Tree tree = own.best.back();
                Wanted left{nullptr, (size_t)tree.left + 1}, right{nullptr, (size_t)tree.right + 1};
                if (own.j > own.i + 1) left.own = &left_of(own, tree.k), right.own = &right_of(own, tree.k);
                if (left.own && !tree.right && !left.known()) waiting_.push_back(left);
                else if (right.own && !right.known()) waiting_.push_back(right);
                else add_next(own, tree, left, right), take_next(own);
            }
        }
        return item.best.size() > rank;
    }

    // Makes the best candidate an item's next tree.
    void take_next(Node &own) {
        if (!own.begun) begin(own);
        own.complete = own.heap.empty();
        if (own.complete) return;
        std::pop_heap(own.heap.begin(), own.heap.end());
        own.best.push_back(own.heap.back());
        own.heap.pop_back();
    }

    // The tree of a rank that an item has.
    const Tree &best(Node &own, int rank) {
        if (own.best.empty()) take_next(own);
        return own.best[rank];
    }

    // Adds the candidates that follow a tree: one of its ranks (label, left, right) goes up by 1. Each combination of
    // ranks is added only once, from the tree in which the last of its ranks above 0 is 1 less.
    void add_next(Node &own, const Tree &tree, const Wanted &left, const Wanted &right) {
        const std::vector<Label> &list = labels(own, tree.k);
        const size_t next = tree.label + 1;
        if (!tree.left && !tree.right && next < list.size()) push(own, {0, tree.k, (int)next, 0, 0}, list, left.own, right.own);
        if (!left.own) return;
        if (!tree.right && left.exists()) push(own, {0, tree.k, tree.label, tree.left + 1, 0}, list, left.own, right.own);
        if (right.exists()) push(own, {0, tree.k, tree.label, tree.left, tree.right + 1}, list, left.own, right.own);
    }

    void push(Node &own, Tree tree, const std::vector<Label> &list, Node *left, Node *right) {
        tree.score = list[tree.label].score;
        if (left) {
            const double gap = this->joint ? this->chart.gaps[this->chart.gap(own) + tree.k] : 0;
            tree.score += gap + best(*left, tree.left).score + best(*right, tree.right).score;
        }
        own.heap.push_back(tree);
        std::push_heap(own.heap.begin(), own.heap.end());
    }

    void write_tree(Node &root, int first_rank, int32_t *ids) {
        std::vector<std::pair<Node *, int>> open{{&root, first_rank}};
        while (!open.empty()) {
            const auto [own, rank] = open.back();
            open.pop_back();
            const Tree &tree = best(*own, rank);
            ids[this->place(*own, tree.k)] = labels(*own, tree.k)[tree.label].id;
            if (own->j == own->i + 1) continue;
            open.push_back({&right_of(*own, tree.k), tree.right});
            open.push_back({&left_of(*own, tree.k), tree.left});
        }
    }

    using Key = std::pair<const void *, const void *>;
    struct Hash {
        size_t operator()(const Key &key) const { return std::hash<const void *>()(key.first) * 31 + std::hash<const void *>()(key.second); }
    };
    std::unordered_map<uint64_t, Node> nodes_;
    std::vector<Wanted> waiting_;
    std::unordered_map<Key, std::vector<Label>, Hash> lists_;
};

// The k best trees of each sentence, one after another: ids and scores are appended, counts (sentences) says how many.
template <class T>
void chart_k_best(const Batch<T> &b, int k, std::vector<int32_t> &ids, std::vector<double> &scores, int64_t *counts,
                  uint8_t *status) {
    KBest<T> reader(b);
    each_sentence(b, reader, status, [&](int s) {
        const size_t before = scores.size();
        reader.write(k, ids, scores);
        counts[s] = int64_t(scores.size() - before);
    });
}

}  // namespace parsetag
