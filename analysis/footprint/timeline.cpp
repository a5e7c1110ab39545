#include "footprint/timeline.hpp"

#include "libraries/table/names.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace stepzero::footprint {

void StandingMemory::add(symbolic::Context& s, const std::string& what, const Bytes& bytes) {
  const auto same = std::ranges::find(kept, what, &std::pair<std::string, Bytes>::first);
  if (same != kept.end())
    same->second.add(s, bytes);
  else
    kept.push_back({what, bytes});
}

namespace {

constexpr const char* of_leaves = "gradients of tensors that are no parameters";
constexpr const char* of_copies = "gradients of tensors that only the optimizer has";

// What hands its gradient on as it got it.
bool passes_gradient(const Producer& made) {
  const std::string_view name = libraries::operator_name(*made.row);
  return name == "add" || name == "positive";
}

struct StorageLife {
  Bytes bytes;
  std::int64_t number = 0;
  std::string what;
  values::Place place;
  int savers = 0;             // operations that keep it until their backward
  std::size_t last_use = 0;   // the last operation of the forward that reads it
  bool held_by_name = false;  // a variable of the loop has it, until the next iteration
  bool alive = false;
  bool left = false;  // that of the iteration before is there still
};

struct Gradient {
  Bytes bytes;
  std::int64_t number = 0;
  int users = 0;
  values::Place place;
};

class Timeline {
public:
  Timeline(const Graph& graph, const std::vector<TimedNode>& timed, const StandingMemory& standing,
      const Options& options)
      : graph_(graph), timed_(timed), standing_(standing), options_(options), s_(graph.record().symbols) {}

  Peak run() {
    plan();
    std::int64_t base = 0;
    for (const auto& [what, bytes] : standing_.kept) base += number(bytes);
    now_ = base;
    for (const auto& [what, bytes] : standing_.during) now_ += number(bytes);
    now_ += number(standing_.gradients_before);
    if (keeps_leaves()) now_ += leaves_left_ = number_of_leaves();
    if (standing_.copy_gradients_stay) now_ += number(standing_.copy_gradients);
    for (const Storage& storage : inputs_) make(blocks_.at(storage));
    // What the names of the loop still have of the iteration before.
    for (StorageLife* block : in_order_)
      if ((block->held_by_name || (standing_.graph_stays && block->savers > 0)) && !block->alive)
        block->left = true, now_ += block->number;
    forward();
    now_ += number(standing_.gradients_kept) - number(standing_.gradients_before);
    in_backward_ = true;
    backward();
    // The optimizer, once all gradients are there. What has a name is there still.
    Bytes named, waiting;
    for (const StorageLife* block : in_order_)
      if (block->alive) (block->savers > 0 ? waiting : named).add(s_, block->bytes);
    const Bytes& leaves = leaf_gradients_;
    if (const std::int64_t then = base + number(named) + number(waiting) + number(standing_.gradients) +
            number(leaves) + number(standing_.copy_gradients) + number(standing_.temporary);
        then > best_) {
      peak_ = {};
      peak_.moment = "optimizer";
      part("gradients of parameters", {}, standing_.gradients);
      part(of_leaves, {}, leaves);
      part(of_copies, {}, standing_.copy_gradients);
      part("temporaries of the optimizer", {}, standing_.temporary);
      part("kept for a later backward", {}, waiting);
      part("batches and results with names", {}, named);
      standing_parts();
    }
    return std::move(peak_);
  }

private:
  std::int64_t number(const Bytes& bytes) const { return bytes.number(s_, options_.settings); }

  void plan() {
    const auto& nodes = graph_.nodes();
    // Of what was there before the step only what the step reads is there still.
    std::unordered_set<Storage, StorageHash> read;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (timed_[i].is_new)
        for (const auto* list : {&nodes[i].made->states, &nodes[i].made->listed})
          for (const TensorState* state : *list)
            if (state) read.insert(graph_.storage(*state));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const TensorState* result : nodes[i].results) {
        if (&graph_.base(*result) != result || graph_.held(*result) || is_on_cpu(*result)) continue;
        if (!timed_[i].is_new && !read.contains(graph_.storage(*result))) continue;
        StorageLife& block = block_of(graph_.storage(*result));
        block.bytes = {};
        block.bytes.add(s_, graph_.bytes(*result));
        block.what = libraries::operator_name(*nodes[i].made->row);
        block.place = nodes[i].made->born;
        if (timed_[i].is_new)
          made_[i].push_back(graph_.storage(*result));
        else
          inputs_.push_back(graph_.storage(*result)), block.held_by_name = true;
        block.last_use = std::max(block.last_use, i);
      }
      for (const auto* list : {&nodes[i].made->states, &nodes[i].made->listed})
        for (const TensorState* state : *list)
          if (state && !graph_.held(*state))
            if (const auto found = blocks_.find(graph_.storage(*state)); found != blocks_.end())
              found->second.last_use = i;
      for (const Saved& saved : timed_[i].saving.kept) {
        if (saved.held) continue;
        const bool is_new = !blocks_.contains(saved.storage);
        StorageLife& block = block_of(saved.storage);
        if (is_new) {
          block.bytes = saved.bytes;
          block.what = name_of(saved, *nodes[i].made);
          block.place = nodes[i].made->born;
          // What the operation made for itself, or what came in from outside and has a name there.
          if (saved.what == "input" || saved.what == "result")
            inputs_.push_back(saved.storage), block.held_by_name = true;
          else
            made_[i].push_back(saved.storage);
        }
        ++block.savers;
      }
    }
    for (const auto& [saved, made] : standing_.beside) {
      add_beside(saved, *made);
      ++blocks_.at(saved.storage).savers;
    }
    for (const auto& [saved, made] : standing_.named) {
      add_beside(saved, *made);
      blocks_.at(saved.storage).held_by_name = true;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (timed_[i].is_named)
        for (const TensorState* result : nodes[i].results)
          if (const auto found = blocks_.find(graph_.storage(*result)); found != blocks_.end())
            found->second.held_by_name = true;
    for (StorageLife* block : in_order_) block->number = number(block->bytes);
  }

  static std::string name_of(const Saved& saved, const Producer& made) {
    const std::string name(libraries::operator_name(*made.row));
    return saved.what == "input" ? "input of " + name : name;
  }
  // What the step itself makes is there when it does.
  void add_beside(const Saved& saved, const Producer& made) {
    StorageLife& block = block_of(saved.storage);
    if (block.place) return;
    block.bytes = saved.bytes;
    block.what = name_of(saved, made);
    block.place = made.born;
    block.held_by_name = true;
    inputs_.push_back(saved.storage);
  }

  // On the CPU, while the step runs on a GPU.
  bool is_on_cpu(const TensorState& state) const {
    return options_.device == Device::cuda && state.device && state.device->text == "cpu";
  }

  StorageLife& block_of(const Storage& storage) {
    const auto [at, is_new] = blocks_.try_emplace(storage);
    if (is_new) in_order_.push_back(&at->second);
    return at->second;
  }

  // Where the loss has a name, the tensors with which its history begins have their gradients as long.
  bool keeps_leaves() const { return !timed_.empty() && timed_.back().is_named; }
  std::int64_t number_of_leaves() {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i)
      if (timed_[i].has_gradient && timed_[i].is_new && begins_history(graph_.nodes()[i]))
        all += result_bytes(i);
    return all;
  }

  void make(StorageLife& block) {
    if (block.alive) return;
    block.alive = true;
    now_ += block.number;
  }
  void drop(StorageLife& block) {
    if (!block.alive || block.held_by_name) return;
    block.alive = false;
    now_ -= block.number;
  }

  void forward() {
    const auto& nodes = graph_.nodes();
    std::map<std::size_t, std::vector<StorageLife*>> ends;
    for (StorageLife* block : in_order_)
      if (!block->savers) ends[block->last_use].push_back(block);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const Storage& storage : made_[i]) make(blocks_.at(storage));
      look("forward", nodes[i].made->born);
      for (StorageLife* block : ends[i]) drop(*block);
      // A name that has a new tensor lets the old one go; a graph that was kept goes with the loss.
      if (standing_.graph_stays) continue;
      for (const Storage& storage : made_[i])
        if (StorageLife& block = blocks_.at(storage); block.left) block.left = false, now_ -= block.number;
    }
    for (StorageLife* block : in_order_)
      if (block->left) block->left = false, now_ -= block->number;
    now_ -= std::exchange(leaves_left_, 0);
  }

  void backward() {
    const auto& nodes = graph_.nodes();
    if (nodes.empty()) return;
    std::vector<int> of(nodes.size(), -1);  // the gradient of each operation's result
    of.back() = gradient(nodes.size() - 1);
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const Node& node = nodes[i];
      if (!timed_[i].has_gradient) continue;
      if (of[i] >= 0) {
        const bool passes = passes_gradient(*node.made) ||
            (!node.results.empty() && graph_.gradient(*node.results[0])) ||
            (!node.results.empty() &&
                shares_memory(graph_.record(), *node.made, node.results[0], graph_.device()) &&
                !is_in_place(graph_.record(), *node.made));
        for (const std::size_t from : node.from) {
          if (of[from] >= 0 || !timed_[from].has_gradient) continue;
          if (passes && gradients_[static_cast<std::size_t>(of[i])].number == result_bytes(from)) {
            of[from] = of[i];
            ++gradients_[static_cast<std::size_t>(of[i])].users;
          } else {
            of[from] = gradient(from);
          }
        }
      }
      own_gradients(node);
      temporary_.add(s_, temporaries_of_backward(graph_, node, options_.device));
      if (is_checkpoint(*node.made)) recompute(i);
      now_ += number(temporary_) + accumulated_;
      look("backward", node.made->born);
      now_ -= number(again_) + number(temporary_) + accumulated_;
      again_ = {};
      temporary_ = {};
      accumulated_ = 0;
      for (const Saved& saved : timed_[i].saving.kept)
        if (!saved.held && !standing_.graph_stays)
          if (StorageLife& block = blocks_.at(saved.storage); --block.savers == 0) drop(block);
      if (of[i] < 0) continue;
      Gradient& done = gradients_[static_cast<std::size_t>(of[i])];
      if (--done.users > 0) continue;
      if (keeps_leaves() && begins_history(node))
        leaf_gradients_.add(s_, done.bytes);
      else
        now_ -= done.number;
    }
  }

  // A checkpointed region runs again, and keeps what it would have kept.
  void recompute(std::size_t i) {
    std::unordered_set<Storage, StorageHash> seen;
    for (const Saved& saved : timed_[i].saving.kept) seen.insert(saved.storage);
    std::int64_t most_accumulated = 0;
    for (const Node& inner : graph_.region(graph_.nodes()[i])) {
      own_gradients(inner);
      most_accumulated = std::max(most_accumulated, std::exchange(accumulated_, 0));
      for (const Saved& saved : saved_by(graph_, inner, options_.device).kept)
        if (!saved.held && seen.insert(saved.storage).second) again_.add(s_, saved.bytes);
    }
    now_ += number(again_);
    accumulated_ = most_accumulated;
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
      if (!held || !held->is_parameter || held->trained == values::Known::no) return;
      Bytes bytes;
      const Int whole = bytes_of(s_, held->local ? *held->local : state.shape, state.dtype);
      bytes.add(s_, whole ? s_.floordiv(whole, s_.constant(standing_.gradient_parts)) : whole);
      // One that is there already gets this one added, which is let go then.
      // Those of several uses are summed up to a new one first.
      const bool is_summed = done_[held]++ >= held->copies;
      if (is_summed || (standing_.accumulates && standing_.accumulates(*held))) {
        accumulated_ += number(bytes) * (is_summed ? 2 : 1);
      } else {
        now_ += number(bytes);
        parameter_gradients_.add(s_, bytes);
      }
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
    for (const StorageLife* block : in_order_) {
      if (!block->alive) continue;
      Peak::Part& line = lines[{block->place.chunk, block->place.span.begin}];
      if (line.what.empty()) line = {std::string(block->what), block->place, {}, 0};
      line.bytes.add(s_, block->bytes);
      ++line.count;
    }
    for (auto& [at, line] : lines) part(std::move(line.what), line.place, line.bytes, line.count);
    Bytes flowing;
    for (const Gradient& gradient : gradients_)
      if (gradient.users > 0) flowing.add(s_, gradient.bytes);
    part("gradients on their way", place, flowing);
    part("computed again", place, again_);
    part("temporaries of the backward", place, temporary_);
    Bytes accumulated;
    accumulated.add(accumulated_);
    part("gradients that are accumulated", place, accumulated);
    Bytes gradients = in_backward_ ? standing_.gradients_kept : standing_.gradients_before;
    gradients.add(s_, parameter_gradients_);
    part("gradients of parameters", {}, gradients);
    Bytes of_tensors = leaf_gradients_;
    of_tensors.add(leaves_left_);
    part(of_leaves, {}, of_tensors);
    if (standing_.copy_gradients_stay) part(of_copies, {}, standing_.copy_gradients);
    Bytes left;
    for (const StorageLife* block : in_order_)
      if (block->left) left.add(s_, block->bytes);
    part("results of the step before", {}, left);
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
  const std::vector<TimedNode>& timed_;
  const StandingMemory& standing_;
  const Options& options_;
  symbolic::Context& s_;
  std::unordered_map<Storage, StorageLife, StorageHash> blocks_;
  std::vector<StorageLife*> in_order_;  // of these, as the step comes to them: the same in every run
  std::unordered_map<std::size_t, std::vector<Storage>> made_;  // by the operation that makes them
  std::vector<Storage> inputs_;
  std::vector<Gradient> gradients_;
  std::unordered_map<const Held*, std::int64_t> done_;
  Bytes parameter_gradients_;
  Bytes leaf_gradients_;
  std::int64_t leaves_left_ = 0;  // by the iteration before
  Bytes again_;                   // of the checkpointed region whose backward runs
  Bytes temporary_;               // of the operation whose backward runs
  std::int64_t accumulated_ = 0;  // gradients of its parameters that are added to others
  std::int64_t now_ = 0, best_ = 0;
  bool in_backward_ = false;
  Peak peak_;
};

}  // namespace

Peak peak_of(const Graph& graph, const std::vector<TimedNode>& timed, const StandingMemory& standing,
    const Options& options) {
  return Timeline(graph, timed, standing, options).run();
}

}  // namespace stepzero::footprint
