#include "footprint/footprint.hpp"

#include "footprint/account.hpp"
#include "footprint/advice.hpp"
#include "footprint/besides.hpp"
#include "footprint/gradients.hpp"
#include "footprint/order.hpp"
#include "footprint/unseen.hpp"
#include "libraries/table/names.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>

namespace stepzero::footprint {

namespace {

syntax::Span header_of(const syntax::Stmt& loop) {
  if (loop.kind == syntax::StmtKind::for_) return syntax::as<syntax::ForStmt>(loop).header;
  return loop.kind == syntax::StmtKind::while_ ? syntax::as<syntax::WhileStmt>(loop).header : loop.span;
}

// Has the optimizer parameters of the model?
bool has_some(const Tree& tree, const Optimizer& optimizer) {
  return std::ranges::any_of(optimizer.tensors, [&](const Held& held) {
    return std::ranges::any_of(tree.modules, [&](const Module& module) {
      return std::ranges::any_of(module.own, [&](const Held& own) {
        return held.tensor ? own.tensor == held.tensor : !own.tensor && own.module == held.module;
      });
    });
  });
}

class Maker {
public:
  Maker(const Record& record, const Record& displayed, const Options& options)
      : account_(record, options, &displayed), record_(record), displayed_(displayed), options_(options),
        s_(record.symbols) {}

  Footprint make() {
    for (const ModelAccount& model : account_.models())
      if (!is_empty(model)) add_model(model);
    for (const Optimizer& optimizer : account_.optimizers())
      made.optimizers.push_back({optimizer.type, where(optimizer.made->place), amount(optimizer.state),
          amount(optimizer.temporary), optimizer.known});
    for (const StepAccount& step : account_.steps())
      if (is_shown(step)) add_step(step);
    for (const interpreter::OperationEvent* event : account_.pipelines()) add_uncounted(*event);
    for (const Cache& cache : caches(account_))
      made.caches.push_back(
          {std::string(displayed_.text(cache.place)), where(displayed_, cache.place), cache.amount});
    for (const UnseenModel& each : unseen_models(account_))
      made.unseen.push_back({each.name, each.made_by, where(each.place),
          each.optimizer ? where(each.optimizer->made->place) : Where{}});
    made.open.assign(open_.begin(), open_.end());
    return std::move(made);
  }

private:
  Where where(values::Place place) const { return where(record_, place); }
  static Where where(const Record& record, values::Place place) {
    if (!place) return {};
    const auto& chunk = record.chunk(place);
    const syntax::Span span = record.span(place);
    return {chunk.path, span, chunk.module->text->position(span.begin, syntax::Encoding::codepoint).line + 1};
  }

  Amount amount(const Bytes& bytes) {
    return {bytes.number(s_, options_.settings), bytes.text(s_, options_.settings), bytes.at_least()};
  }

  // By the place where objects are made: where the file first assigns each to a name, and the place itself as
  // the displayed run has it. Made once for all models: a file may hold thousands.
  struct Named {
    values::Place at, born;
    const void* object = nullptr;
  };
  using PlaceInFile = std::tuple<std::string_view, std::uint32_t, std::uint32_t>;
  static PlaceInFile place_in_file(const Where& where) {
    return {where.path, where.span.begin, where.span.end};
  }
  const std::map<PlaceInFile, std::vector<Named>>& first_names() {
    if (first_names_) return *first_names_;
    first_names_.emplace();
    for (const interpreter::Fact& fact : displayed_.facts) {
      if (fact.role != interpreter::Fact::Role::assignment || !fact.value.is(values::Kind::instance) ||
          !displayed_.in_file(fact.place))
        continue;
      const values::Place born = fact.value.object()->born;
      if (!born) continue;
      const syntax::Span span = displayed_.span(born);
      auto& all = (*first_names_)[{displayed_.chunk(born).path, span.begin, span.end}];
      if (std::ranges::none_of(all, [&](const Named& each) { return each.object == fact.value.object(); }))
        all.push_back({fact.place, born, fact.value.object()});
    }
    return *first_names_;
  }
  // A function may make several: each has its own name if all have one.
  const Named* name_of(const ModelAccount& model) {
    const auto found = first_names().find(place_in_file(where(model.object->born)));
    if (found == first_names().end()) return nullptr;
    std::size_t all = 0, before = 0;
    for (const ModelAccount& other : account_.models())
      if (other.object->born == model.object->born) {
        ++all;
        before += other.object->attributes.birth < model.object->attributes.birth;
      }
    const std::vector<Named>& names = found->second;
    if (names.size() == 1 || all == 1) return &names.front();
    return names.size() == all ? &names[before] : nullptr;
  }

  // A loss, an activation, a transform: a module without tensors is no model.
  bool is_empty(const ModelAccount& model) const {
    // What of a library is not seen to hold anything is a model only where something trains it.
    const auto trains = [&](const Optimizer& optimizer) { return has_some(model.tree, optimizer); };
    const bool is_idle = model.tree.modules.size() == 1 && !model.trained && !account_.steps().empty() &&
        !std::ranges::any_of(account_.optimizers(), trains);
    return (model.tree.complete || is_idle) && account_.number(model.parameters) == 0 &&
        account_.number(model.buffers) == 0 && !model.parameters.open() && !model.buffers.open();
  }

  void add_model(const ModelAccount& model) {
    const Tree& tree = model.tree;
    Model displayed;
    displayed.trained = model.trained;
    displayed.where = where(model.object->born);
    if (model.object->cls && model.object->cls->stmt)
      displayed.of_class = where({model.object->cls->chunk, model.object->cls->stmt->name_span});
    for (std::size_t i = 0; i < account_.optimizers().size(); ++i)
      if (has_some(model.tree, account_.optimizers()[i])) displayed.optimizers.push_back(i);
    if (const Named* named = name_of(model)) {
      displayed.name = std::string(displayed_.text(named->at));
      // What a package makes stands where the program gives it its name.
      if (!displayed_.in_file(named->born)) displayed.where = where(displayed_, named->at);
    }
    for (std::size_t i = 0; i < tree.modules.size(); ++i) {
      const Module& module = tree.modules[i];
      Share share{module.path,
          module.copies > 1 ? module.type + " ×" + std::to_string(module.copies) : module.type, module.depth,
          0, 0, {}, {}, {}, {}};
      Bytes parameters, buffers;
      Dtype dtype = Dtype::unknown;
      // Those inside follow it, deeper.
      for (std::size_t j = i; j < tree.modules.size() && (j == i || tree.modules[j].depth > module.depth);
          ++j)
        for (const Held& held : tree.modules[j].own) {
          const Int bytes = bytes_of(s_, held.own(), held.dtype);
          if (!held.is_parameter) {
            buffers.add(s_, bytes, held.copies);
            continue;
          }
          parameters.add(s_, bytes, held.copies);
          Bytes numbers;
          numbers.add(s_, elements(s_, held.shape), held.copies);
          share.numbers += account_.number(numbers);
          if (held.trained == values::Known::no) share.frozen += account_.number(numbers);
          if (share.dtype.empty())
            dtype = held.dtype, share.dtype = std::string(values::name(dtype));
          else if (dtype != held.dtype)
            share.dtype = "mixed";
        }
      share.parameters = amount(i == 0 ? model.parameters : parameters);
      share.buffers = amount(i == 0 ? model.buffers : buffers);
      share.where = where(module.object->born);
      for (const Tied& tied : module.tied) {
        Bytes numbers, bytes;
        numbers.add(s_, elements(s_, tied.shape));
        bytes.add(s_, bytes_of(s_, tied.shape, tied.dtype));
        share.tied += account_.number(numbers);
        share.tied_bytes += account_.number(bytes);
        share.tied_with = tied.with;
      }
      displayed.shares.push_back(std::move(share));
    }
    displayed.gradients = amount(model.gradients);
    if (model.division) {
      displayed.how = model.division->how;
      displayed.units = model.division->units;
      displayed.buckets = model.division->bucket_count;
      displayed.gathered.bytes = model.division->gathered;
      displayed.gathered.at_least = !model.division->exact;
      displayed.persistent.bytes = model.division->persistent;
      displayed.in_buckets.bytes = model.division->buckets;
    }
    made.models.push_back(std::move(displayed));
  }

  // Of the stages of a pipeline that one process has, the one that has the peak stands for all.
  std::vector<const StepAccount*> shown_with(const StepAccount& account) const {
    std::vector<const StepAccount*> all{&account};
    if (account.microbatches)
      for (const StepAccount* each : account_.stages_of(account))
        if (each && each != &account) all.push_back(each);
    return all;
  }
  bool is_shown(const StepAccount& account) const {
    return std::ranges::none_of(shown_with(account), [&](const StepAccount* other) {
      const std::int64_t more = account_.number(other->peak.bytes) - account_.number(account.peak.bytes);
      return more > 0 || (more == 0 && other < &account);
    });
  }

  void add_step(const StepAccount& account) {
    const Graph& graph = *account.graph;
    Step step;
    step.where = where(account.backward->place);
    if (account.loop && account.loop->stmt)
      step.loop = where({account.loop->place.chunk, header_of(*account.loop->stmt)});
    step.complete = account.complete;
    step.operations = static_cast<std::int64_t>(graph.nodes().size());
    struct Sum {
      const Producer* of = nullptr;
      Bytes bytes;
      int count = 0;
    };
    std::unordered_set<Storage, StorageHash> seen;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> lines;
    const auto add = [&](const std::vector<Node>& nodes, const std::vector<Saving>& savings) {
      for (std::size_t i = 0; i < nodes.size(); ++i)
        for (const Saved& each : savings[i].kept) {
          if (each.held || !seen.insert(each.storage).second) continue;
          const Producer& of = *nodes[i].made;
          Sum& sum = lines[{of.born.chunk, of.born.span.begin}];
          sum.of = &of;
          sum.bytes.add(s_, each.bytes);
          ++sum.count;
        }
    };
    for (const StepAccount* each : shown_with(account)) {
      add(each->graph->nodes(), each->savings);
      add(each->beside, each->beside_savings);
      count_flops(*each, step);
    }
    if (account.microbatches) {
      const auto& in_flight = account.microbatches->in_flight;
      step.microbatches_in_flight =
          in_flight.empty() ? 1 : std::accumulate(in_flight.begin(), in_flight.end(), std::int64_t{0});
      step.microbatches = account.microbatches->all * static_cast<std::int64_t>(account.microbatches->stages);
      step.flops *= account.microbatches->all;
      step.backward_flops *= account.microbatches->all;
    }
    step.unknown.assign(account.unknown.begin(), account.unknown.end());
    add_gaps(account, step);
    const Bytes* saved = &account.saved;
    for (const StepAccount* each : shown_with(account))
      if (account_.number(each->saved) > account_.number(*saved)) saved = &each->saved;
    step.saved = amount(*saved);
    note_open(*saved);
    for (const auto& [at, line] : lines)
      step.lines.push_back({std::string(libraries::operator_name(*line.of->row)), where(line.of->born),
          amount(line.bytes), line.count});
    const auto by_size = [](const Line& a, const Line& b) { return a.amount.bytes > b.amount.bytes; };
    std::ranges::stable_sort(step.lines, by_size);
    const Peak& peak = account.peak;
    step.peak = amount(peak.bytes);
    note_open(peak.bytes);
    step.moment = peak.moment;
    step.peak_where = where(peak.place ? peak.place : account.backward->place);
    for (const Peak::Part& part : peak.parts)
      step.at_peak.push_back({part.what, where(part.place), amount(part.bytes), part.count});
    std::ranges::stable_sort(step.at_peak, by_size);
    add_open_sizes(step);
    if (const auto advice = advice_of(account_, account)) step.advice = advice_text(*advice);
    step.moved = amount(moved_in(account_, account));
    if (const auto ready = in_flight(account_, account)) {
      step.workers = ready->workers;
      step.prefetched = ready->each;
      step.pinned = ready->pinned;
      step.batch = step.in_flight = ready->batch;
      const std::int64_t batches = ready->workers * ready->each;
      step.in_flight.bytes *= batches;
      if (!step.batch.formula.empty())
        step.in_flight.formula = std::to_string(batches) + "*(" + step.batch.formula + ")";
    }
    made.steps.push_back(std::move(step));
  }

  // The step of a pipeline of which no backward is known: what stands all the while is the least.
  void add_uncounted(const interpreter::OperationEvent& event) {
    const Where at = where(event.place);
    if (std::ranges::any_of(made.steps,
            [&](const Step& step) { return step.where.path == at.path && step.where.span == at.span; }))
      return;
    Step step;
    step.where = step.peak_where = at;
    step.complete = false;
    step.saved.at_least = step.peak.at_least = step.flops_at_least = step.backward_flops_at_least = true;
    step.moment = "forward";
    for (const Model& model : made.models)
      if (!model.shares.empty())
        step.peak.bytes += model.shares.front().parameters.bytes + model.shares.front().buffers.bytes;
    for (const Stepper& optimizer : made.optimizers) step.peak.bytes += optimizer.state.bytes;
    step.gaps.push_back({uncounted_in(record_, event), at, {}});
    made.steps.push_back(std::move(step));
  }

  static std::string gap_text(const Gap& gap) {
    const std::string name = gap.at ? values::code(libraries::operator_name(*gap.at->row)) : "";
    switch (gap.what) {
    case Gap::What::origin:
    case Gap::What::operand: return gap.at ? "what " + name + " is given" : "how the loss is computed";
    case Gap::What::history: return "what the result of " + name + " comes from";
    case Gap::What::kept_gradient:
      return "what the gradient of " + name + " keeps, which has a history of its own";
    case Gap::What::length: return "what comes after the first 200000 operations";
    }
    return "";
  }
  void add_gaps(const StepAccount& account, Step& step) {
    std::vector<Gap> gaps = account.graph->gaps();
    gaps.insert(gaps.end(), account.graph->gaps_beside().begin(), account.graph->gaps_beside().end());
    for (const Gap& gap : gaps) {
      Line line{gap_text(gap), where(gap.at ? gap.at->born : account.backward->place), {}};
      const auto same = std::ranges::find_if(step.gaps, [&](const Line& other) {
        return other.what == line.what && other.where.path == line.where.path &&
            other.where.line == line.where.line;
      });
      if (same == step.gaps.end()) step.gaps.push_back(std::move(line));
    }
    if (account.microbatches && !account.microbatches->known)
      step.gaps.push_back({unknown_turns(*account.microbatches), where(account.backward->place), {}});
  }

  // Of a bound that nothing else explains: of which tensors it is not known how large they are.
  static void add_open_sizes(Step& step) {
    if (!step.gaps.empty() || !step.unknown.empty()) return;
    for (const Line& line : step.lines)
      if (line.amount.at_least)
        step.gaps.push_back({"all that " + values::code(line.what) + " keeps", line.where, {}});
    if (!step.gaps.empty()) return;
    for (const Line& line : step.at_peak)
      if (line.amount.at_least) step.gaps.push_back({"all of the " + line.what, line.where, {}});
  }

  // Of a checkpointed region, until all is there again that its backward needs: the last operation that keeps
  // what it is given need not run.
  Int flops_again(const Graph& graph, const std::vector<Node>& region) const {
    std::size_t end = region.size();
    while (end > 0 && saved_by(graph, region[end - 1], options_.device).kept.empty()) --end;
    Int sum = s_.constant(0);
    for (std::size_t i = 0; i + 1 < end; ++i) {
      bool unknown = false;
      if (const Int flops = forward_flops(graph, region[i], unknown)) sum = s_.add(sum, flops);
    }
    return sum;
  }

  // A layer that multiplies, of a model that the step goes through in other layers: its result may be
  // computed and thrown away, which nothing after the loss tells.
  bool leaves_layers_out(const std::unordered_set<const void*>& seen) const {
    constexpr std::string_view multiply[] = {"Linear", "Bilinear", "Conv1d", "Conv2d", "Conv3d",
        "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LSTM", "GRU", "RNN", "MultiheadAttention"};
    const auto multiplies = [&](const Module& module) {
      const auto* native = module.object ? module.object->native : nullptr;
      return native && native->path.starts_with("torch.nn.") &&
          std::ranges::find(multiply, native->path.substr(native->path.rfind('.') + 1)) != std::end(multiply);
    };
    return std::ranges::any_of(account_.models(), [&](const ModelAccount& model) {
      bool any = false, left = false;
      int inside = -1;  // depth of the layer around that was seen
      for (const Module& module : model.tree.modules) {
        if (inside >= 0 && module.depth <= inside) inside = -1;
        if (inside >= 0) continue;
        const bool is_called = seen.contains(module.object);
        if (is_called) inside = module.depth;
        const bool is_seen = is_called ||
            std::ranges::any_of(module.own, [&](const Held& held) { return seen.contains(&held); });
        any = any || is_seen;
        left = left || (!is_seen && multiplies(module));
      }
      return any && left;
    });
  }

  // Does the operation run in the loop of the step?
  static bool runs_in(const StepAccount& step, const Producer& made) {
    return !step.loop || !step.loop->stmt || !part_inside(step.loop, route_of(made.calls, made.born)).empty();
  }

  void count_flops(const StepAccount& account, Step& step) {
    const interpreter::OperationEvent& backward = *account.backward;
    const Graph all(record_, *backward.self_state(), account_.held(), options_.device, true);
    if (!all.complete()) step.flops_at_least = step.backward_flops_at_least = true;
    const auto number = [&](Int flops, bool& at_least) -> std::int64_t {
      Bytes sum;
      if (flops) sum.add(s_, flops);
      if (!sum.open_names(s_, options_.settings).empty()) at_least = true;
      return sum.number(s_, options_.settings);
    };
    // A gradient that goes nowhere costs nothing: of what leads to an index, to what was detached. Of that,
    // what ran for an earlier backward, or in front of the loop, is not this step's.
    std::unordered_set<const Producer*> passed, elsewhere;
    for (const StepAccount& each : account_.steps())
      for (const Node& node : each.graph->nodes())
        (each.backward == &backward ? passed : elsewhere).insert(node.made);
    const auto is_of_step = [&](const Node& node) {
      return node.inside_checkpoint || passed.contains(node.made) ||
          (!elsewhere.contains(node.made) && runs_in(account, *node.made));
    };
    std::unordered_set<const void*> seen;  // layers, and what models hold
    const auto count = [&](const auto& self, const std::vector<Node>& nodes) -> void {
      for (const Node& node : nodes) {
        seen.insert(layer_of(*node.made));
        for (const auto* list : {&node.made->states, &node.made->listed})
          for (const TensorState* state : *list)
            if (state) seen.insert(all.held(*state));
        if (!is_of_step(node)) continue;
        // A call that is no operator may multiply, too.
        bool unknown = !node.made->row->op && account.unknown.contains(std::string(node.made->row->path));
        const Int flops = forward_flops(all, node, unknown);
        step.flops += number(flops, step.flops_at_least);
        step.flops_at_least = step.flops_at_least || unknown;
        if (node.inside_checkpoint || passed.contains(node.made))
          step.backward_flops += number(
              backward_flops(all, node, flops, unknown), step.backward_flops_at_least);
        step.backward_flops_at_least = step.backward_flops_at_least || unknown;
        if (!is_checkpoint(*node.made)) continue;
        const std::vector<Node> region = all.region(node);
        self(self, region);
        step.backward_flops += number(flops_again(all, region), step.backward_flops_at_least);
        step.backward_flops_at_least = true;
      }
    };
    count(count, all.nodes());
    // Of a gradient that was asked for, what ran in front of it: its own operations need not read all of
    // that.
    std::unordered_set<const Producer*> counted;
    for (const Node& node : all.nodes()) counted.insert(node.made);
    for (const TensorState* outputs : asked_of(all)) {
      const Graph front(record_, *outputs, account_.held(), options_.device, true);
      for (const Node& node : front.nodes()) {
        if (!counted.insert(node.made).second || !is_of_step(node)) continue;
        bool unknown = false;
        step.flops += number(forward_flops(front, node, unknown), step.flops_at_least);
        step.flops_at_least = step.flops_at_least || unknown;
      }
    }
    if (leaves_layers_out(seen)) step.flops_at_least = true;
  }

  // What the gradients of the graph were asked of.
  std::vector<const TensorState*> asked_of(const Graph& graph) const {
    std::vector<const TensorState*> all;
    for (const Node& node : graph.nodes())
      for (const auto* list : {&node.made->states, &node.made->listed})
        for (const TensorState* state : *list)
          if (state && is_asked_gradient(*state))
            if (const TensorState* outputs = only_tensor(record_, argument(*state->made, "outputs"));
                outputs && std::ranges::find(all, outputs) == all.end())
              all.push_back(outputs);
    return all;
  }

  void note_open(const Bytes& bytes) {
    for (const std::string& name : bytes.open_names(s_, options_.settings)) open_.insert(name);
    for (const std::string& name : bytes.open_names(s_, {}))
      if (std::ranges::any_of(options_.settings, [&](const Setting& each) { return each.name == name; }) &&
          std::ranges::find(made.decided_by_settings, name) == made.decided_by_settings.end())
        made.decided_by_settings.push_back(name);
  }

  const Account account_;
  const Record& record_;
  const Record& displayed_;
  const Options& options_;
  symbolic::Context& s_;
  std::set<std::string> open_;
  std::optional<std::map<PlaceInFile, std::vector<Named>>> first_names_;
  Footprint made;
};

}  // namespace

Footprint footprint_of(const Record& record, const Record& displayed, const Options& options) {
  Footprint made = Maker(record, displayed, options).make();
  // A file that only defines, or makes a model and does nothing with it.
  if (!made.steps.empty()) return made;
  Footprint other = Maker(displayed, displayed, options).make();
  // What it makes as it runs is known better than what it might make.
  if (!made.models.empty() && other.steps.empty()) return made;
  return other.models.empty() && other.steps.empty() && other.unseen.empty() && other.caches.empty() ? made
                                                                                                     : other;
}

}  // namespace stepzero::footprint
