#include "footprint/footprint.hpp"

#include "footprint/optimizer.hpp"
#include "footprint/timeline.hpp"
#include "torch/names.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>

namespace stepzero::footprint {

using interpreter::Block;
using interpreter::Event;
using interpreter::EventKind;
using interpreter::OperationEvent;
using values::Kind;
using values::Operation;

namespace {

void visit(const Block& block, const std::function<void(const OperationEvent&)>& each) {
  for (const Event* event : block.events) switch (event->kind) {
    case EventKind::operation: each(static_cast<const OperationEvent&>(*event)); break;
    case EventKind::branch:
      visit(static_cast<const interpreter::BranchEvent*>(event)->yes, each);
      visit(static_cast<const interpreter::BranchEvent*>(event)->no, each);
      break;
    case EventKind::loop:
      for (const Block& round : static_cast<const interpreter::LoopEvent*>(event)->rounds) visit(round, each);
      break;
    case EventKind::call: visit(static_cast<const interpreter::CallEvent*>(event)->body, each); break;
    case EventKind::attempt:
      visit(static_cast<const interpreter::AttemptEvent*>(event)->body, each);
      visit(static_cast<const interpreter::AttemptEvent*>(event)->orelse, each);
      visit(static_cast<const interpreter::AttemptEvent*>(event)->finally, each);
      break;
    default: break;
    }
}

class Maker {
public:
  Maker(const Record& record, const Record& shown, const Options& options) : record_(record), shown_(shown), options_(options), s_(record.symbols) {}

  Footprint make() {
    for (const auto* roots : {&record_.default_roots, &record_.roots}) {
      for (const auto& root : *roots)
        if (!root->function) visit(root->block, [&](const OperationEvent& event) { look(event); });
      if (!backwards_.empty()) break;
    }
    for (const OperationEvent* event : made_) optimizers_.push_back(optimizer_of(record_, *event));
    for (const OperationEvent* event : backwards_)
      for (const values::Object* source : event->self_state()->graph)
        if (const auto* module = dynamic_cast<const Instance*>(source)) values_.push_back(Value::of(Kind::instance, module));
    for (const interpreter::Fact& fact : record_.facts)
      if (fact.role == interpreter::Fact::Role::assignment || fact.role == interpreter::Fact::Role::expression) values_.push_back(fact.value);
    for (const Instance* model : models_of(record_, values_)) add_model(*model);
    for (const Optimizer& optimizer : optimizers_) made.optimizers.push_back({optimizer.type, where(optimizer.made->place), amount(optimizer.state), amount(optimizer.temporary), optimizer.known});
    for (const OperationEvent* event : backwards_) add_step(*event);
    made.open.assign(open_.begin(), open_.end());
    return std::move(made);
  }

private:
  void look(const OperationEvent& event) {
    values_.push_back(event.self);
    values_.insert(values_.end(), event.arguments.begin(), event.arguments.end());
    if (event.row->operation == Operation::optimizer_made) {
      made_.push_back(&event);
      if (event.self.is(Kind::instance))
        if (const Value given = attribute(record_, *event.self.as<Instance>(), "$parameters"); given.is(Kind::instance)) values_.push_back(attribute(record_, *given.as<Instance>(), "$of"));
    }
    if (event.row->operation != Operation::backward || !event.self_state()) return;
    // Of one line, what the last round leaves.
    const auto same = std::ranges::find_if(backwards_, [&](const OperationEvent* other) { return other->place == event.place && other->calls == event.calls; });
    if (same != backwards_.end()) *same = &event;
    else backwards_.push_back(&event);
  }

  Where where(values::Place place) const {
    if (!place) return {};
    const auto& chunk = record_.chunk(place);
    const syntax::Span span = record_.span(place);
    return {chunk.path, span, chunk.module->text->position(span.begin, syntax::Encoding::codepoint).line + 1};
  }

  Amount amount(const Bytes& bytes) {
    return {bytes.number(s_, options_.settings), bytes.text(s_, options_.settings), bytes.at_least()};
  }

  void add_model(const Instance& model) {
    trees_.push_back(std::make_unique<Tree>(tree_of(record_, model)));
    const Tree& tree = *trees_.back();
    for (const Module& module : tree.modules)
      for (const Held& held : module.own)
        if (held.tensor) held_.emplace(identity(held.tensor->now()), &held);
    Model shown;
    shown.where = where(model.born);
    for (const interpreter::Fact& fact : shown_.facts) {
      if (fact.role != interpreter::Fact::Role::assignment || !fact.value.is(Kind::instance) || !shown.name.empty() || !shown_.in_file(fact.place)) continue;
      const values::Place born = fact.value.object()->born;
      if (born && shown_.chunk(born).path == shown.where.path && shown_.span(born) == shown.where.span) shown.name = std::string(shown_.text(fact.place));
    }
    Bytes gradients;
    for (std::size_t i = 0; i < tree.modules.size(); ++i) {
      const Module& module = tree.modules[i];
      Share share{module.path, module.copies > 1 ? module.type + " ×" + std::to_string(module.copies) : module.type, module.depth, 0, 0, {}, {}, {}};
      Bytes parameters, buffers;
      Dtype dtype = Dtype::unknown;
      // Those inside stand behind it, deeper.
      for (std::size_t j = i; j < tree.modules.size() && (j == i || tree.modules[j].depth > module.depth); ++j)
        for (const Held& held : tree.modules[j].own) {
          const Int bytes = bytes_of(s_, held.shape, held.dtype), count = elements(s_, held.shape);
          if (!held.is_parameter) {
            buffers.add(s_, bytes, held.copies);
            continue;
          }
          parameters.add(s_, bytes, held.copies);
          Bytes numbers;
          numbers.add(s_, count, held.copies);
          share.numbers += numbers.number(s_, options_.settings);
          if (held.trained == values::Known::no) share.frozen += numbers.number(s_, options_.settings);
          else if (i == 0) gradients.add(s_, bytes, held.copies);
          if (share.dtype.empty()) dtype = held.dtype, share.dtype = std::string(values::name(dtype));
          else if (dtype != held.dtype) share.dtype = "mixed";
        }
      if (i == 0 && !tree.complete) parameters.miss(), buffers.miss(), gradients.miss();
      if (i == 0) model_parameters_.push_back(parameters), model_buffers_.push_back(buffers), model_gradients_.push_back(gradients);
      share.parameters = amount(parameters);
      share.buffers = amount(buffers);
      shown.shares.push_back(std::move(share));
    }
    shown.gradients = amount(gradients);
    made.models.push_back(std::move(shown));
  }

  void add_step(const OperationEvent& backward) {
    const Graph graph(record_, *backward.self_state(), held_, options_.device);
    Step step;
    step.where = where(backward.place);
    step.complete = graph.complete();
    step.operations = static_cast<std::int64_t>(graph.nodes().size());
    std::unordered_set<Storage, StorageHash> seen;
    Bytes saved, inputs;
    struct Sum {
      Bytes bytes;
      int count = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<const Made*, Sum>> lines;
    std::set<std::string> unknown;
    std::vector<Saving> savings;
    for (const Node& node : graph.nodes()) {
      Saving saving = saved_by(graph, node, options_.device);
      if (!saving.known) unknown.insert(std::string(node.made->row->path)), step.complete = false;
      for (const Saved& each : saving.kept) {
        if (each.held || !seen.insert(each.storage).second) continue;
        saved.add(s_, each.bytes);
        auto& [of, sum] = lines[{node.made->born.chunk, node.made->born.span.begin}];
        of = node.made;
        sum.bytes.add(s_, each.bytes);
        ++sum.count;
      }
      savings.push_back(std::move(saving));
    }
    count_flops(backward, step);
    if (!step.complete) saved.miss();
    step.unknown.assign(unknown.begin(), unknown.end());
    step.saved = amount(saved);
    note_open(saved);
    for (const auto& [at, line] : lines) step.lines.push_back({std::string(torch::operator_name(*line.first->row)), where(line.first->born), amount(line.second.bytes), line.second.count});
    std::ranges::stable_sort(step.lines, [](const Line& a, const Line& b) { return a.amount.bytes > b.amount.bytes; });
    // Which of the models does it train?
    for (const Node& node : graph.nodes())
      if (const Instance* layer = layer_of(*node.made))
        for (std::size_t i = 0; i < trees_.size(); ++i)
          if (!made.models[i].trained && std::ranges::any_of(trees_[i]->modules, [&](const Module& module) { return module.object == layer; })) made.models[i].trained = true;
    for (const auto& [id, held] : held_)
      for (std::size_t i = 0; i < trees_.size(); ++i)
        if (!made.models[i].trained && !trees_[i]->modules.empty() && uses(graph, held) && std::ranges::any_of(trees_[i]->modules, [&](const Module& module) { return module.object == held->module; }))
          made.models[i].trained = true;
    Standing standing;
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      standing.add(s_, "parameters", model_parameters_[i]);
      standing.add(s_, "buffers", model_buffers_[i]);
      if (made.models[i].trained) standing.gradients.add(s_, model_gradients_[i]);
    }
    for (const Optimizer& optimizer : optimizers_) {
      standing.add(s_, "state of " + optimizer.type, optimizer.state);
      standing.temporary.add(s_, optimizer.temporary);
    }
    const Peak peak = peak_of(graph, savings, standing, options_, named_nodes(graph, step.where));
    step.peak = amount(peak.bytes);
    if (!step.complete) step.peak.at_least = true;
    step.moment = peak.moment;
    step.peak_where = where(peak.place ? peak.place : backward.place);
    for (const Peak::Part& part : peak.parts) step.at_peak.push_back({part.what, where(part.place), amount(part.bytes), part.count});
    std::ranges::stable_sort(step.at_peak, [](const Line& a, const Line& b) { return a.amount.bytes > b.amount.bytes; });
    made.steps.push_back(std::move(step));
  }

  // The operations whose results have names where the backward is called: they outlive the step.
  std::vector<std::size_t> named_nodes(const Graph& graph, const Where& backward) const {
    std::vector<std::size_t> found;
    for (const interpreter::Fact& fact : shown_.facts) {
      if (fact.role != interpreter::Fact::Role::assignment || !fact.tensor || !fact.tensor->made) continue;
      const auto& chunk = shown_.chunk(fact.place);
      const syntax::Span around{chunk.offset + chunk.chunk->stmt->span.begin, chunk.offset + chunk.chunk->stmt->span.end};
      const Made& there = *fact.tensor->made;
      if (chunk.path != backward.path || !around.holds(backward.span) || !there.born) continue;
      for (std::size_t i = graph.nodes().size(); i-- > 0;) {
        const Made& node = *graph.nodes()[i].made;
        if (node.row != there.row || record_.chunk(node.born).path != shown_.chunk(there.born).path || record_.span(node.born) != shown_.span(there.born)) continue;
        found.push_back(i);
        break;
      }
    }
    return found;
  }

  void count_flops(const OperationEvent& backward, Step& step) {
    const Graph all(record_, *backward.self_state(), held_, options_.device, true);
    const auto count = [&](const auto& self, const std::vector<Node>& nodes) -> void {
      for (const Node& node : nodes) {
        bool unknown = false;
        Bytes sum;
        if (const Int flops = forward_flops(all, node, unknown)) sum.add(s_, flops);
        step.flops += sum.number(s_, options_.settings);
        if (!sum.open_names(s_, options_.settings).empty() || unknown) step.flops_at_least = true;
        if (is_checkpoint(*node.made)) self(self, all.region(node));
      }
    };
    count(count, all.nodes());
  }

  bool uses(const Graph& graph, const Held* held) const {
    return held->tensor && std::ranges::any_of(graph.nodes(), [&](const Node& node) {
      return std::ranges::any_of(node.made->states, [&](const TensorState* state) { return state && identity(state) == identity(held->tensor->now()); });
    });
  }

  void note_open(const Bytes& bytes) {
    for (const std::string& name : bytes.open_names(s_, options_.settings)) open_.insert(name);
    for (const std::string& name : bytes.open_names(s_, {}))
      if (std::ranges::any_of(options_.settings, [&](const Setting& each) { return each.name == name; }) && std::ranges::find(made.settled, name) == made.settled.end()) made.settled.push_back(name);
  }

  const Record& record_;
  const Record& shown_;
  const Options& options_;
  symbolic::Context& s_;
  std::vector<const OperationEvent*> made_, backwards_;
  std::vector<Value> values_;  // that the run came across
  std::vector<Optimizer> optimizers_;
  std::vector<std::unique_ptr<Tree>> trees_;
  std::vector<Bytes> model_parameters_, model_buffers_, model_gradients_;
  std::unordered_map<const void*, const Held*> held_;
  std::set<std::string> open_;
  Footprint made;
};

} // namespace

Footprint footprint_of(const Record& record, const Record& shown, const Options& options) {
  Footprint made = Maker(record, shown, options).make();
  // A file that only defines, or makes a model and does nothing with it.
  if (!made.steps.empty()) return made;
  Footprint other = Maker(shown, shown, options).make();
  return other.models.empty() && other.steps.empty() ? made : other;
}

} // namespace stepzero::footprint
