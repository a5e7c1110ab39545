#include "footprint/timeline.hpp"

#include "torch/names.hpp"

#include <algorithm>
#include <map>

namespace stepzero::footprint {

void Standing::add(symbolic::Context& s, const std::string& what, const Bytes& bytes) {
  const auto same = std::ranges::find(kept, what, &std::pair<std::string, Bytes>::first);
  if (same != kept.end()) same->second.add(s, bytes);
  else kept.push_back({what, bytes});
}

namespace {

// What hands its gradient on as it got it.
bool passes_gradient(const Made& made) {
  const std::string_view name = torch::operator_name(*made.row);
  return name == "add" || name == "positive";
}

struct Block {
  Bytes bytes;
  std::int64_t number = 0;
  std::string_view what;
  values::Place place;
  int savers = 0;            // operations that keep it until their backward
  std::size_t last_use = 0;  // the last operation of the forward that reads it
  bool held_by_name = false; // a variable of the loop has it, until the next round
  bool alive = false;
};

struct Gradient {
  Bytes bytes;
  std::int64_t number = 0;
  int users = 0;
  values::Place place;
};

class Timeline {
public:
  Timeline(const Graph& graph, const std::vector<Saving>& savings, const Standing& standing, const Options& options, const std::vector<std::size_t>& named)
      : graph_(graph), savings_(savings), standing_(standing), options_(options), named_(named), s_(graph.record().symbols) {}

  Peak run() {
    plan();
    std::int64_t base = 0;
    for (const auto& [what, bytes] : standing_.kept) base += bytes.number(s_, options_.settings);
    now_ = base;
    for (const auto& [what, bytes] : standing_.during) now_ += bytes.number(s_, options_.settings);
    for (const Storage& storage : inputs_) make(blocks_.at(storage));
    // What the names of the loop still have of the round before.
    for (auto& [storage, block] : blocks_)
      if (block.held_by_name && !block.alive) left_.add(s_, block.bytes), now_ += block.number;
    forward();
    backward();
    // The optimizer, once all gradients are there.
    const std::int64_t gradients = standing_.gradients.number(s_, options_.settings);
    if (const std::int64_t then = base + gradients + standing_.temporary.number(s_, options_.settings); then > best_) {
      peak_ = {};
      peak_.moment = "optimizer";
      part("gradients of parameters", {}, standing_.gradients);
      part("temporaries of the optimizer", {}, standing_.temporary);
      standing_parts();
    }
    return std::move(peak_);
  }

private:
  void plan() {
    const auto& nodes = graph_.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const TensorState* result : nodes[i].results) {
        if (&graph_.base(*result) != result || graph_.held(*result)) continue;
        Block& block = block_of(graph_.storage(*result));
        block.bytes = {};
        block.bytes.add(s_, graph_.bytes(*result));
        block.what = torch::operator_name(*nodes[i].made->row);
        block.place = nodes[i].made->born;
        made_[i].push_back(graph_.storage(*result));
        block.last_use = std::max(block.last_use, i);
      }
      for (const auto* list : {&nodes[i].made->states, &nodes[i].made->listed})
        for (const TensorState* state : *list)
          if (state && !graph_.held(*state))
            if (const auto found = blocks_.find(graph_.storage(*state)); found != blocks_.end()) found->second.last_use = i;
      for (const Saved& saved : savings_[i].kept) {
        if (saved.held) continue;
        const bool is_new = !blocks_.contains(saved.storage);
        Block& block = block_of(saved.storage);
        if (is_new) {
          block.bytes = saved.bytes;
          block.what = saved.what == "input" ? std::string_view("input") : torch::operator_name(*nodes[i].made->row);
          block.place = nodes[i].made->born;
          // What the operation made for itself, or what came in from outside.
          if (saved.what == "input" || saved.what == "result") inputs_.push_back(saved.storage);
          else made_[i].push_back(saved.storage);
        }
        ++block.savers;
      }
    }
    for (const std::size_t i : named_)
      for (const TensorState* result : nodes[i].results)
        if (const auto found = blocks_.find(graph_.storage(*result)); found != blocks_.end()) found->second.held_by_name = true;
    for (auto& [storage, block] : blocks_) block.number = block.bytes.number(s_, options_.settings);
  }

  Block& block_of(const Storage& storage) { return blocks_[storage]; }

  void make(Block& block) {
    if (block.alive) return;
    block.alive = true;
    now_ += block.number;
  }
  void drop(Block& block) {
    if (!block.alive || block.held_by_name) return;
    block.alive = false;
    now_ -= block.number;
  }

  void forward() {
    const auto& nodes = graph_.nodes();
    std::map<std::size_t, std::vector<Block*>> ends;
    for (auto& [storage, block] : blocks_)
      if (!block.savers) ends[block.last_use].push_back(&block);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const Storage& storage : made_[i]) make(blocks_.at(storage));
      look("forward", nodes[i].made->born);
      for (Block* block : ends[i]) drop(*block);
    }
    // The names of the loop have new tensors now.
    now_ -= left_.number(s_, options_.settings);
    left_ = {};
  }

  void backward() {
    const auto& nodes = graph_.nodes();
    if (nodes.empty()) return;
    std::vector<int> of(nodes.size(), -1);   // the gradient of each operation's result
    of.back() = gradient(nodes.size() - 1);
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Node& node = nodes[i];
      if (of[i] >= 0) {
        const bool passes = passes_gradient(*node.made) || (!node.results.empty() && shares_memory(graph_.record(), *node.made, node.results[0]) && node.made->row->variant == values::Variant::plain);
        for (const std::size_t from : node.from) {
          if (of[from] >= 0) continue;
          if (passes && gradients_[static_cast<std::size_t>(of[i])].number == result_bytes(from)) {
            of[from] = of[i];
            ++gradients_[static_cast<std::size_t>(of[i])].users;
          } else {
            of[from] = gradient(from);
          }
        }
      }
      own_gradients(node);
      if (is_checkpoint(*node.made)) recompute(i);
      look("backward", node.made->born);
      now_ -= again_.number(s_, options_.settings);
      again_ = {};
      for (const Saved& saved : savings_[i].kept)
        if (!saved.held)
          if (Block& block = blocks_.at(saved.storage); --block.savers == 0) drop(block);
      if (of[i] >= 0)
        if (Gradient& done = gradients_[static_cast<std::size_t>(of[i])]; --done.users == 0) now_ -= done.number;
    }
  }

  // A checkpointed region runs again, and keeps what it would have kept.
  void recompute(std::size_t i) {
    std::unordered_set<Storage, StorageHash> seen;
    for (const Saved& saved : savings_[i].kept) seen.insert(saved.storage);
    for (const Node& inner : graph_.region(graph_.nodes()[i])) {
      own_gradients(inner);
      for (const Saved& saved : saved_by(graph_, inner, options_.device).kept)
        if (!saved.held && seen.insert(saved.storage).second) again_.add(s_, saved.bytes);
    }
    now_ += again_.number(s_, options_.settings);
  }

  std::int64_t result_bytes(std::size_t i) {
    Bytes bytes;
    for (const TensorState* result : graph_.nodes()[i].results) bytes.add(s_, graph_.bytes(*result));
    return bytes.number(s_, options_.settings);
  }
  int gradient(std::size_t i) {
    Gradient made;
    for (const TensorState* result : graph_.nodes()[i].results) made.bytes.add(s_, graph_.bytes(*result));
    made.number = made.bytes.number(s_, options_.settings);
    made.users = 1;
    made.place = graph_.nodes()[i].made->born;
    now_ += made.number;
    gradients_.push_back(std::move(made));
    return static_cast<int>(gradients_.size()) - 1;
  }

  // Of the parameters that the operation uses, where no other did.
  void own_gradients(const Node& node) {
    const auto add = [&](const Held* held, const TensorState& state) {
      if (!held || !held->is_parameter || held->trained == values::Known::no || done_[held]++ >= held->copies) return;
      Bytes bytes;
      bytes.add(s_, bytes_of(s_, held->local ? *held->local : state.shape, state.dtype));
      now_ += bytes.number(s_, options_.settings);
      parameter_gradients_.add(s_, bytes);
    };
    for (const TensorState* state : node.made->states)
      if (state) add(graph_.held(*state), graph_.base(*state));
    if (const Instance* layer = layer_of(*node.made))
      for (const auto& [name, slot] : layer->attributes.entries())
        if (slot->value.is(values::Kind::tensor)) {
          const TensorState& now = *slot->value.as<values::Tensor>()->now();
          add(graph_.held(now), now);
        }
  }

  void look(std::string_view moment, values::Place place) {
    if (now_ <= best_) return;
    best_ = now_;
    peak_ = {};
    peak_.moment = std::string(moment);
    peak_.place = place;
    standing_parts();
    for (const auto& [what, bytes] : standing_.during) part(what, {}, bytes);
    std::map<std::pair<std::uint32_t, std::uint32_t>, Peak::Part> lines;
    for (const auto& [storage, block] : blocks_) {
      if (!block.alive) continue;
      Peak::Part& line = lines[{block.place.chunk, block.place.span.begin}];
      if (line.what.empty()) line = {std::string(block.what), block.place, {}, 0};
      line.bytes.add(s_, block.bytes);
      ++line.count;
    }
    for (auto& [at, line] : lines) part(std::move(line.what), line.place, line.bytes, line.count);
    Bytes flowing;
    for (const Gradient& gradient : gradients_)
      if (gradient.users > 0) flowing.add(s_, gradient.bytes);
    part("gradients on their way", place, flowing);
    part("computed again", place, again_);
    part("gradients of parameters", {}, parameter_gradients_);
    part("results of the step before", {}, left_);
  }

  void standing_parts() {
    for (const auto& [what, bytes] : standing_.kept) part(what, {}, bytes);
  }
  void part(std::string what, values::Place place, const Bytes& bytes, int count = 1) {
    if (bytes.number(s_, options_.settings) == 0 && !bytes.open()) return;
    peak_.bytes.add(s_, bytes);
    peak_.parts.push_back({std::move(what), place, bytes, count});
  }

  const Graph& graph_;
  const std::vector<Saving>& savings_;
  const Standing& standing_;
  const Options& options_;
  const std::vector<std::size_t>& named_;
  symbolic::Context& s_;
  std::unordered_map<Storage, Block, StorageHash> blocks_;
  std::unordered_map<std::size_t, std::vector<Storage>> made_;  // by the operation that makes them
  std::vector<Storage> inputs_;
  std::vector<Gradient> gradients_;
  std::unordered_map<const Held*, std::int64_t> done_;
  Bytes parameter_gradients_, left_;
  Bytes again_;  // of the checkpointed region whose backward runs
  std::int64_t now_ = 0, best_ = 0;
  Peak peak_;
};

} // namespace

Peak peak_of(const Graph& graph, const std::vector<Saving>& savings, const Standing& standing, const Options& options, const std::vector<std::size_t>& named) {
  return Timeline(graph, savings, standing, options, named).run();
}

} // namespace stepzero::footprint
