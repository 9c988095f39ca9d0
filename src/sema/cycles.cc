// Strongly connected groups, and one shortest cycle through the first node of each.
#include "sema/cycles.h"

#include <algorithm>

namespace axon::sema {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// Tarjan's algorithm with an explicit stack.
class Groups {
 public:
  explicit Groups(const std::vector<CycleNode>& nodes)
      : nodes_(nodes),
        index_(nodes.size(), kNone),
        low_(nodes.size()),
        group_(nodes.size(), kNone) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (index_[i] == kNone) run(i);
    }
  }
  size_t group(size_t node) const { return group_[node]; }
  size_t size_of(size_t group) const { return sizes_[group]; }

 private:
  struct Frame {
    size_t node;
    size_t edge;
  };

  void open(size_t node, std::vector<Frame>& frames) {
    index_[node] = low_[node] = next_++;
    open_.push_back(node);
    frames.push_back({node, 0});
  }

  void run(size_t start) {
    std::vector<Frame> frames;
    open(start, frames);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      size_t node = frame.node;
      if (frame.edge < nodes_[node].edges.size()) {
        size_t to = nodes_[node].edges[frame.edge++].to;
        if (index_[to] == kNone) {
          open(to, frames);
        } else if (group_[to] == kNone) {
          low_[node] = std::min(low_[node], index_[to]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) {
        size_t parent = frames.back().node;
        low_[parent] = std::min(low_[parent], low_[node]);
      }
      if (low_[node] == index_[node]) close(node);
    }
  }

  void close(size_t node) {
    size_t size = 0;
    while (true) {
      size_t member = open_.back();
      open_.pop_back();
      group_[member] = sizes_.size();
      ++size;
      if (member == node) break;
    }
    sizes_.push_back(size);
  }

  const std::vector<CycleNode>& nodes_;
  std::vector<size_t> index_, low_, group_, open_, sizes_;
  size_t next_ = 0;
};

// Breadth-first: the shortest way from `start` back to itself inside its group.
Cycle shortest(const std::vector<CycleNode>& nodes, const Groups& groups, size_t start) {
  std::vector<size_t> from(nodes.size(), kNone);
  std::vector<size_t> queue = {start};
  size_t last = kNone;
  for (size_t head = 0; head < queue.size() && last == kNone; ++head) {
    for (const CycleEdge& edge : nodes[queue[head]].edges) {
      if (groups.group(edge.to) != groups.group(start)) continue;
      if (edge.to == start) {
        last = queue[head];
        break;
      }
      if (from[edge.to] != kNone) continue;
      from[edge.to] = queue[head];
      queue.push_back(edge.to);
    }
  }
  Cycle out;
  for (size_t at = last; at != start; at = from[at]) out.nodes.push_back(at);
  out.nodes.push_back(start);
  std::reverse(out.nodes.begin(), out.nodes.end());
  size_t second = out.nodes.size() > 1 ? out.nodes[1] : start;
  for (const CycleEdge& edge : nodes[start].edges) {
    if (edge.to != second) continue;
    out.span = edge.span;
    break;
  }
  return out;
}

}  // namespace

std::vector<Cycle> find_cycles(const std::vector<CycleNode>& nodes) {
  Groups groups(nodes);
  std::vector<Cycle> out;
  std::vector<bool> done(nodes.size(), false);
  for (size_t i = 0; i < nodes.size(); ++i) {
    size_t group = groups.group(i);
    if (done[group]) continue;
    bool self = std::any_of(nodes[i].edges.begin(), nodes[i].edges.end(),
                            [&](const CycleEdge& edge) { return edge.to == i; });
    if (groups.size_of(group) < 2 && !self) continue;
    done[group] = true;
    out.push_back(shortest(nodes, groups, i));
  }
  return out;
}

}  // namespace axon::sema
