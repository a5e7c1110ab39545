#include "footprint/advice.hpp"

#include "footprint/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace stepzero::footprint {

namespace {

// One call of one of the modules of a stack.
struct Pass {
  std::int64_t saved = 0, input = 0, flops = 0;
};

// The modules of the tree that have the same type and stand side by side, by what holds them; each with its
// parts.
struct Stack {
  std::string path;
  std::unordered_map<const Instance*, int> of;  // a part: of which of the modules
};
std::vector<Stack> stacks_of(const Tree& tree) {
  std::vector<Stack> found;
  const auto& all = tree.modules;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<std::size_t> children;
    for (std::size_t j = i + 1; j < all.size() && all[j].depth > all[i].depth; ++j)
      if (all[j].depth == all[i].depth + 1) children.push_back(j);
    std::int64_t count = 0;
    for (const std::size_t child : children) count += all[child].copies;
    const bool equivalent = !children.empty() && count >= 2 &&
        std::ranges::all_of(
            children, [&](std::size_t child) { return all[child].type == all[children[0]].type; });
    // Of layers without parts nothing is spared that their own inputs do not cost.
    if (!equivalent || children[0] + 1 >= all.size() || all[children[0] + 1].depth <= all[children[0]].depth)
      continue;
    Stack stack{all[i].path.empty() ? "its blocks" : all[i].path, {}};
    for (std::size_t n = 0; n < children.size(); ++n)
      for (std::size_t j = children[n];
          j < all.size() && (j == children[n] || all[j].depth > all[children[n]].depth); ++j)
        stack.of.emplace(all[j].object, static_cast<int>(n));
    found.push_back(std::move(stack));
  }
  return found;
}

class Adviser {
public:
  Adviser(const Account& account, const StepAccount& step)
      : account_(account), step_(step), graph_(*step.graph) {}

  std::optional<Advice> best() {
    std::optional<Advice> found;
    const std::int64_t peak = account_.number(step_.peak.bytes);
    if (peak == 0 || step_.peak.bytes.open() || step_.peak.moment == "optimizer" ||
        std::ranges::any_of(graph_.nodes(), [](const Node& node) { return is_checkpoint(*node.made); }))
      return found;
    std::int64_t after = account_.number(step_.standing.gradients) +
        account_.number(step_.standing.temporary);
    for (const auto& [what, bytes] : step_.standing.kept) after += account_.number(bytes);
    for (const ModelAccount& model : account_.models())
      for (const Stack& stack : stacks_of(model.tree)) {
        std::int64_t saves = 0, most = 0, flops = 0;
        for (const Pass& pass : passes_of(stack)) {
          saves += pass.saved - pass.input;
          most = std::max(most, pass.saved);
          flops += pass.flops;
        }
        saves = peak - std::max(after, peak - (saves - most));
        if (saves * 10 < peak || (found && found->saves >= saves)) continue;
        found = Advice{stack.path, saves, peak,
            all_flops_ ? static_cast<double>(flops) / (3.0 * static_cast<double>(all_flops_)) : 0};
      }
    return found;
  }

private:
  std::vector<Pass> passes_of(const Stack& stack) {
    std::vector<Pass> passes;
    std::unordered_set<Storage, StorageHash> seen;
    const Instance* first = nullptr;
    int in = -1;
    all_flops_ = 0;
    symbolic::Context& s = account_.record().symbols;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (const Instance* layer = layer_of(*node.made)) {
        const auto found = stack.of.find(layer);
        if (found == stack.of.end()) {
          in = -1;
        } else if (found->second != in || layer == first) {
          in = found->second;
          first = layer;
          passes.emplace_back();
          if (!node.made->states.empty() && node.made->states[0]) {
            Bytes input;
            input.add(s, graph_.bytes(*node.made->states[0]));
            passes.back().input = account_.number(input);
          }
        }
      }
      bool unknown = false;
      Bytes flops;
      if (const Int count = forward_flops(graph_, node, unknown)) flops.add(s, count);
      all_flops_ += account_.number(flops);
      if (in >= 0) passes.back().flops += account_.number(flops);
      for (const Saved& saved : step_.savings[i].kept)
        if (!saved.held && seen.insert(saved.storage).second && in >= 0)
          passes.back().saved += account_.number(saved.bytes);
    }
    return passes;
  }

  const Account& account_;
  const StepAccount& step_;
  const Graph& graph_;
  std::int64_t all_flops_ = 0;
};

}  // namespace

std::optional<Advice> advice_of(const Account& account, const StepAccount& step) {
  return Adviser(account, step).best();
}

std::string advice_text(const Advice& advice) {
  const auto percent = std::lround(advice.more * 100);
  return "activation checkpointing of `" + advice.what + "` would save " + bytes_text(advice.saves) + " of " +
      bytes_text(advice.peak) + (percent ? " for " + std::to_string(percent) + " % more FLOPs" : "");
}

std::vector<Region> regions_of(const Account& account, const StepAccount& step) {
  std::vector<Region> found;
  const Graph& graph = *step.graph;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (!is_checkpoint(*node.made)) continue;
    Region region{&node};
    for (const Saved& saved : step.savings[i].kept)
      if (!saved.held) region.keeps += account.number(saved.bytes);
    std::unordered_set<Storage, StorageHash> seen;
    for (const Saved& saved : step.savings[i].kept) seen.insert(saved.storage);
    for (const Node& inner : graph.region(node)) {
      const Saving saving = saved_by(graph, inner, account.options().device);
      region.known = region.known && saving.known;
      ++region.operations;
      for (const Saved& saved : saving.kept)
        if (!saved.held && seen.insert(saved.storage).second) region.again += account.number(saved.bytes);
    }
    found.push_back(region);
  }
  return found;
}

}  // namespace stepzero::footprint
