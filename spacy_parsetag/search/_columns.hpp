// Trees as columns: read from Penn brackets, laid out from spans, and their heads. One pass each, no object for a node.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace search {

// Distinct strings, or spaCy's keys of strings, numbered in the order in which they come: a hash table with open addressing.
template <class Key>
class Numbers {
  public:
    std::vector<Key> all;

    Numbers() : slots(1 << 14, -1) {}

    int32_t number(Key key) {
        size_t at = hash(key);
        for (int32_t found; (found = slots[at &= slots.size() - 1]) >= 0; ++at)
            if (all[found] == key) return found;
        slots[at] = static_cast<int32_t>(all.size());
        all.push_back(key);
        if (2 * all.size() > slots.size()) grow();
        return static_cast<int32_t>(all.size()) - 1;
    }

  private:
    std::vector<int32_t> slots;

    static size_t hash(uint64_t key) { return key; }  // it is a hash already
    static size_t hash(std::string_view text) {
        uint64_t h = 1469598103934665603u;  // FNV-1a
        for (unsigned char c : text) h = (h ^ c) * 1099511628211u;
        return h ^ h >> 29;
    }
    void grow() {
        slots.assign(2 * slots.size(), -1);
        for (size_t i = 0; i < all.size(); ++i) {
            size_t at = hash(all[i]);
            while (slots[at &= slots.size() - 1] >= 0) ++at;
            slots[at] = static_cast<int32_t>(i);
        }
    }
};

struct Columns {
    std::vector<int32_t> label, up, size;  // of nodes; the label of a word is ~number
    std::vector<int64_t> starts;           // the first node of each tree
    std::vector<int64_t> lines;            // its line in the text
    bool any_bare = false;                 // whether a tree had no root wrapper
    Numbers<std::string_view> labels, words;
};

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline bool is_wrapper(std::string_view label) {
    return label.empty() || label == "TOP" || label == "ROOT" || label == "VROOT" || label == "S1";
}

// Read up to `most` trees from a text in brackets; no tree may be open at the place `at`, where reading starts.
//
// Returns the place where it stopped, and sets `line` to the line there: the end of the text, the end of the last tree
// asked for, or the start of a tree that is not plain. The reader of bracket files, which knows all forms and errors,
// then reads that tree again.
inline int64_t read_brackets(std::string_view text, int64_t at, int64_t *line, int64_t most, Columns &out) {
    constexpr int64_t most_nodes = 200000;  // as the reader has it
    std::vector<int64_t> open;
    const char *p = text.data() + at, *const end = text.data() + text.size();
    auto skip = [&] {
        for (; p < end && is_space(*p); ++p)
            *line += *p == '\n' || (*p == '\r' && !(p + 1 < end && p[1] == '\n'));
    };
    auto token = [&] {
        const char *begin = p;
        while (p < end && !is_space(*p) && *p != '(' && *p != ')' && *p) ++p;
        return std::string_view(begin, p - begin);
    };
    auto add = [&](int32_t label) {
        const int64_t node = static_cast<int64_t>(out.label.size());
        out.label.push_back(label);
        out.up.push_back(open.empty() ? 0 : static_cast<int32_t>(node - open.back()));
        out.size.push_back(0);
        return node;
    };
    auto close = [&] {
        out.size[open.back()] = static_cast<int32_t>(out.label.size() - open.back()) - 1;
        open.pop_back();
    };
    while (static_cast<int64_t>(out.starts.size()) < most) {
        skip();
        if (p == end) break;
        const char *const start = p;
        const int64_t first = static_cast<int64_t>(out.label.size()), first_line = *line;
        bool is_wrapped = true, is_read = false;
        for (; p < end && !is_read; skip()) {  // it breaks off where the tree is not plain
            if (*p == ')' && !open.empty()) {
                close();
                ++p;
            } else {
                if (*p != '(' || static_cast<int64_t>(out.label.size()) - first >= most_nodes) break;
                ++p;
                skip();
                const std::string_view label = token();
                skip();
                if (open.empty()) {
                    is_wrapped = is_wrapper(label);
                    if (is_wrapped && p < end && *p == ')') {  // (TOP), which stands for a sentence without a parse
                        ++p;
                        is_read = true;
                        continue;
                    }
                    if (!is_wrapped) open.push_back(add(out.labels.number("TOP")));
                    out.any_bare |= !is_wrapped;
                } else if (is_wrapper(label)) {
                    break;
                }
                if (p == end || !*p || *p == ')') break;
                open.push_back(add(out.labels.number(label)));
                if (*p != '(') {
                    add(~out.words.number(token()));
                    skip();
                    if (is_wrapper(label) || p == end || *p != ')') break;
                    close();
                    ++p;
                }
            }
            if (!is_wrapped && open.size() == 1) close();
            is_read = open.empty();
        }
        if (!is_read) {
            for (auto *each : {&out.label, &out.up, &out.size}) each->resize(first);
            *line = first_line;
            return start - text.data();
        }
        if (static_cast<int64_t>(out.label.size()) > first) {
            out.starts.push_back(first);
            out.lines.push_back(first_line);
        }
    }
    return p - text.data();
}

// Lay out sentences as columns: a root over the constituents, a tag over each word. `spans` are start, end and label of
// each constituent, over the words of its sentence and in pre-order. A sentence has 1 + constituents + 2 x words nodes.
//
// Returns the first sentence whose constituents are not in pre-order, lie outside it or cross; -1 if there is none.
inline int64_t lay_out(int64_t n_sentences, const int64_t *n_words, const int64_t *n_spans, const int32_t *roots,
                       const int32_t *words, const int32_t *tags, const int32_t *starts, const int32_t *ends,
                       const int32_t *labels, int32_t *label, int32_t *up, int32_t *size) {
    std::vector<std::pair<int32_t, int64_t>> open;  // the end and the node of each open constituent
    int64_t node = 0, word = 0, span = 0;
    for (int64_t s = 0; s < n_sentences; ++s) {
        const int64_t last_span = span + n_spans[s];
        auto add = [&](int32_t name, int32_t end) {
            label[node] = name;
            up[node] = open.empty() ? 0 : static_cast<int32_t>(node - open.back().second);
            open.emplace_back(end, node++);
        };
        auto close = [&] {
            size[open.back().second] = static_cast<int32_t>(node - open.back().second) - 1;
            open.pop_back();
        };
        add(roots[s], static_cast<int32_t>(n_words[s]));
        for (int32_t i = 0; i < n_words[s]; ++i, ++word) {
            for (; span < last_span && starts[span] == i; ++span) add(labels[span], ends[span]);
            add(tags[word], i + 1);
            add(words[word], i + 1);
            while (!open.empty() && open.back().first == i + 1) close();
        }
        if (span < last_span || !open.empty()) return s;  // what is empty, crosses or ends outside was never closed
    }
    return -1;
}

// Tell whether columns are trees, one after another from the first node to the last; numbers from a disk may be anything.
inline bool are_trees(const int32_t *label, const int32_t *up, const int32_t *size, int64_t n_nodes, int64_t n_strings,
                      const int64_t *starts, int64_t n_trees) {
    int64_t tree = 0, open = -1;  // the lowest node that is not complete; those above are its parents
    auto last = [&](int64_t x) { return x + size[x]; };
    for (int64_t x = 0; x < n_nodes; ++x) {
        const bool is_root = open < 0;
        if (label[x] < 0 || label[x] >= n_strings || size[x] < is_root || last(x) >= n_nodes) return false;
        if (is_root ? up[x] || tree == n_trees || starts[tree++] != x
                    : up[x] != x - open || last(x) > last(open))
            return false;
        open = x;
        while (open >= 0 && last(open) == x) open = up[open] ? open - up[open] : -1;
    }
    return tree == n_trees;  // the last node of all ends whatever is open
}

// Find the head child of each node, as its distance from the node: 0 at words. A rule ranks the kinds of children, the
// best lowest; of several children of one rank, the last is taken if the rank is odd, otherwise the first. `n` is the
// number of kinds, `kind` the kind of each string; `mark` is 1 for conjunctions, 2 for punctuation. If a conjunction
// stands right before the head, the conjunct before the conjunction is taken (Collins 1999, appendix A).
inline void find_heads(const int32_t *label, const int32_t *size, int64_t n_nodes, const int32_t *kind, const int32_t *rank,
                       const uint8_t *mark, int32_t n, int32_t *head) {
    std::vector<int64_t> children;
    for (int64_t x = 0; x < n_nodes; ++x) {
        head[x] = size[x] > 0;
        if (!size[x] || x + 1 + size[x + 1] == x + size[x]) continue;  // a word, or a node with one child
        const int32_t *ranks = rank + static_cast<int64_t>(kind[label[x]]) * n;
        int32_t best = INT32_MAX;
        size_t place = 0;
        children.clear();
        for (int64_t y = x + 1; y <= x + size[x]; y += size[y] + 1) {
            const int32_t found = ranks[kind[label[y]]];
            if (found < best || (found == best && found % 2)) {
                best = found;
                place = children.size();
            }
            children.push_back(y);
        }
        const auto mark_of = [&](size_t i) { return mark[kind[label[children[i]]]]; };
        if (place >= 2 && mark_of(place - 1) & 1) {
            size_t before = place - 2;
            while (before > 0 && mark_of(before) & 2) --before;
            if (!(mark_of(before) & 2)) place = before;
        }
        head[x] = static_cast<int32_t>(children[place] - x);
    }
}

}  // namespace search
