// parallel/unused-parameters: a wrapper waits for the gradients of all parameters of its module, and the loss
// is computed without some.
#include "footprint/modules.hpp"
#include "rules/ranks/comparison.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"
#include "values/uneven.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::parallel::unused_parameters {

using values::code;

using namespace interpreter;
using footprint::Held;
using values::Kind;
using values::Known;
using values::Operation;

namespace {

constexpr std::string_view pardon = "find_unused_parameters";

// The backwards of one loop that go through a wrapper, and what has no part in any of them.
struct Unused {
  const OperationEvent* made = nullptr;     // the wrapper
  const TrainingEvent* backward = nullptr;  // the last of them
  std::vector<Held> parameters;
  bool proven = true;
  bool by_own_data = false;           // each rank decides by its own data whether they have a part
  values::Cond decided_by = nullptr;  // the condition, where that is known
};

bool is_off(const Record& record, const OperationEvent& made, std::string_view option) {
  const Value given = argument(made, option);
  return !given || given.is(Kind::none) || truth(record, given) == Answer::no;
}

// Is it a wrapper that waits for every parameter? Those that do can be told not to.
bool waits_for_all(const Record& record, const OperationEvent& made) {
  const values::Row& row = *made.row;
  if (!row.backward || row.kind != values::RowKind::class_ || !made.self.is(Kind::instance)) return false;
  if (std::ranges::none_of(row.parameters, [](const values::Name& name) { return name.text() == pardon; }))
    return false;
  return is_off(record, made, pardon) && is_off(record, made, "static_graph") &&
      !made.self.as<Instance>()->attributes.value(values::Name(values::WrapperState::static_graph));
}

// Does it keep the wrapper from reducing, so that another backward has to complete this one?
bool is_no_sync(const Around& around) {
  const auto* manager = around.manager.is(Kind::instance) ? around.manager.as<Instance>() : nullptr;
  const values::Row* row = manager && manager->native ? manager->native->row : nullptr;
  return !row || row->covers == values::Covers::no_sync;
}

// The tensors that a loss was computed from, those of its layers among them.
std::set<const values::Object*> sources_of(const values::Graph& graph) {
  std::set<const values::Object*> found;
  for (const values::Object* source : graph) {
    found.insert(source);
    if (const auto* layer = dynamic_cast<const Instance*>(source))
      for (const auto& [name, slot] : layer->attributes.entries())
        if (slot->value.is(Kind::tensor)) found.insert(slot->value.object());
  }
  return found;
}

// What a loss was computed from on some ranks, and on others not, as the data of each have it.
std::vector<const values::Uneven*> uneven_of(const values::Graph& graph) {
  std::vector<const values::Uneven*> found;
  for (const values::Object* source : graph)
    if (const auto* uneven = dynamic_cast<const values::Uneven*>(source)) found.push_back(uneven);
  return found;
}

// The parameters of the module that get no gradient from any of the losses.
std::vector<Held> without_part(
    const Record& record, const Instance& module, const std::set<const values::Object*>& used) {
  std::vector<Held> found;
  std::vector<bool> within;  // by depth: is the layer around in the graph as a whole?
  for (const footprint::Module& part : footprint::tree_of(record, module).modules) {
    within.resize(static_cast<std::size_t>(part.depth) + 1);
    within.back() = (part.depth > 0 && within[static_cast<std::size_t>(part.depth) - 1]) ||
        (part.object && used.contains(part.object));
    if (within.back()) continue;
    for (const Held& held : part.own) {
      if (!held.is_parameter || held.copies != 1 || !held.tensor || used.contains(held.tensor)) continue;
      if (held.tensor->now()->requires_grad != Known::no && held.trained != Known::no) found.push_back(held);
    }
  }
  return found;
}

// Does the backward go through the wrapper, in a loop that comes back to the forward?
bool goes_through(const TrainingEvent& each, const OperationEvent& wrapper) {
  const values::TensorState* loss = each.event->self_state();
  return each.event->row->operation == Operation::backward && loss &&
      loss->graph.contains(wrapper.self.object()) && !each.loops.empty() && repeats(*each.loops.back()) &&
      !each.in_handler;
}

std::optional<Unused> unused_of(const Record& record, const TrainingRoot& training_root,
    const TrainingEvent& wrapper, const Instance& module, const TrainingEvent* last,
    const std::set<const values::Object*>& used) {
  if (!last) return std::nullopt;
  Unused made{wrapper.event, last, without_part(record, module, used),
      last->turns.empty() && wrapper.turns.empty() && !last->in_attempt};
  for (const Held& held : made.parameters)
    made.proven = made.proven && held.tensor->now()->requires_grad == Known::yes;
  return made.parameters.empty() || by_hand(training_root, nullptr) ? std::nullopt
                                                                    : std::optional(std::move(made));
}

// The wrapper counts anew from each forward that follows a backward. Of the iterations that are run one by
// one, each has to use all by itself.
std::optional<Unused> unused_in_one(const Record& record, const TrainingRoot& training_root,
    const TrainingEvent& wrapper, const Instance& module) {
  const TrainingEvent* last = nullptr;
  std::set<const values::Object*> used;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (last && event.row->operation == Operation::parallel_forward &&
        event.self.object() == wrapper.event->self.object() && records_gradients(record, event)) {
      if (auto found = unused_of(record, training_root, wrapper, module, last, used)) return found;
      last = nullptr;
      used.clear();
    }
    if (!goes_through(each, *wrapper.event)) continue;
    last = &each;
    const auto sources = sources_of(event.self_state()->graph);
    used.insert(sources.begin(), sources.end());
  }
  return std::nullopt;
}

// The branch by which ranks with other data come to another loss in the same backward; null: there is none.
const BranchEvent* parted_by_own_data(const Record& record, const TrainingEvent& a, const TrainingEvent& b) {
  if (!(a.event->place == b.event->place) || a.loops != b.loops) return nullptr;
  const std::size_t shorter = std::min(a.turns.size(), b.turns.size());
  for (std::size_t i = 0; i < shorter; ++i) {
    if (a.turns[i].branch != b.turns[i].branch) return nullptr;
    if (a.turns[i].yes == b.turns[i].yes) continue;
    const BranchEvent* branch = a.turns[i].branch;
    return branch && branch->condition &&
            record.symbols.sharing(branch->condition) == symbolic::Sharing::local
        ? branch
        : nullptr;
  }
  return nullptr;
}

// What each rank leaves out of all losses, or not, by its own data.
std::optional<Unused> unused_by_own_data(const Record& record, const TrainingRoot& training_root,
    const TrainingEvent& wrapper, const Instance& module) {
  const TrainingEvent* last = nullptr;
  bool any = false;
  values::Cond decided_by = nullptr;
  std::set<const values::Object*> certain;
  for (const TrainingEvent& each : training_root.all) {
    if (each.event->row->operation != Operation::backward) continue;
    const values::Graph& graph = each.event->self_state()->graph;
    const auto here = uneven_of(graph);
    if (!any && !here.empty()) decided_by = here.front()->condition;
    any = any || !here.empty();
    std::vector<const values::Graph*> instead;  // those of the losses that other ranks may have here
    for (const TrainingEvent& other : training_root.all)
      if (other.event->row->operation == Operation::backward)
        if (const BranchEvent* branch = parted_by_own_data(record, each, other)) {
          instead.push_back(&other.event->self_state()->graph);
          if (!any) decided_by = branch->condition;
          any = true;
        }
    std::vector<const values::Object*> always;
    for (const values::Object* source : graph)
      if (std::ranges::none_of(here,
              [&](const values::Uneven* one) {
                return std::ranges::find(one->sources, source) != one->sources.end();
              }) &&
          std::ranges::all_of(instead, [&](const values::Graph* other) { return other->contains(source); }))
        always.push_back(source);
    const auto sources = sources_of(values::Graph(std::move(always)));
    certain.insert(sources.begin(), sources.end());
    if (goes_through(each, *wrapper.event)) last = &each;
  }
  if (!any) return std::nullopt;
  auto made = unused_of(record, training_root, wrapper, module, last, certain);
  if (!made) return made;
  made->proven = false;
  made->by_own_data = true;
  made->decided_by = decided_by;
  return made;
}

std::vector<Unused> unused(const Record& record) {
  std::vector<Unused> found;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.root->truncated) continue;
    for (const TrainingEvent& wrapper : training_root.all) {
      if (!waits_for_all(record, *wrapper.event)) continue;
      const Value module = wrapper.event->self.as<Instance>()->attributes.value(values::Name("module"));
      if (!module.is(Kind::instance)) continue;
      const TrainingEvent* last = nullptr;
      std::set<const values::Object*> used;
      bool known = true, holds_back = false;
      for (const TrainingEvent& each : training_root.all) {
        if (each.event->row->operation != Operation::backward) continue;
        const values::TensorState* loss = each.event->self_state();
        known = known && loss && loss->graph_complete && !loss->unseen;
        if (!known) break;
        const auto sources = sources_of(loss->graph);
        used.insert(sources.begin(), sources.end());
        if (goes_through(each, *wrapper.event)) last = &each;
        for (const Around* around = each.event->around; around; around = around->outer)
          holds_back = holds_back || is_no_sync(*around);
      }
      if (!known || !last) continue;
      const auto& of = *module.as<Instance>();
      auto made = unused_of(record, training_root, wrapper, of, last, used);
      if (!made && !holds_back) made = unused_in_one(record, training_root, wrapper, of);
      if (!made) made = unused_by_own_data(record, training_root, wrapper, of);
      if (made) found.push_back(std::move(*made));
    }
  }
  return found;
}

// "`head.weight` and `head.bias`", "`head.weight` and 5 other parameters"
std::string names_of(const std::vector<Held>& parameters) {
  std::string text = code(parameters[0].name);
  if (parameters.size() == 2)
    text += " and " + code(parameters[1].name);
  else if (parameters.size() > 2)
    text += " and " + std::to_string(parameters.size() - 1) + " other parameters";
  return text;
}

// Where the program branches by the condition, or by a part of it.
Place decided_at(const Record& record, values::Cond condition) {
  Place found;
  if (condition)
    visit_kind(record, EventKind::branch, [&](const Event& event) {
      if (found) return;
      const values::Cond asked = static_cast<const BranchEvent&>(event).condition;
      if (asked == condition || asked == record.symbols.logical_not(condition)) found = event.place;
    });
  return found;
}

void tell_of(const Record& record, Report& report, const Unused& one, Place wrapper, const CallSite* calls,
    Place layer, Place backward, const std::string& ranks) {
  const bool several = one.parameters.size() > 1;
  const std::string part = one.by_own_data ? "Each rank decides by its own data whether " +
          names_of(one.parameters) + (several ? " have" : " has") + " a part in the loss"
                                           : (ranks.empty() ? "" : "On " + ranks + ", ") +
          names_of(one.parameters) + (several ? " have" : " has") + " no part in the loss";
  Finding* finding = report.add(one.proven ? Severity::error : Severity::warning, wrapper, calls,
      part + ": `DistributedDataParallel` waits for the gradient of every parameter, and the " +
          (one.by_own_data ? "forward after a step without it" : "next forward") + " raises " +
          "\"Expected to have finished reduction in the prior iteration\". Use " + (several ? "them" : "it") +
          ", freeze " + (several ? "them" : "it") + " before wrapping, or pass " +
          code(std::string(pardon) + "=True") + ".");
  if (!finding) return;
  if (layer) report.relate(*finding, layer, code(one.parameters[0].name) + " belongs to this layer");
  if (backward && !one.by_own_data)
    report.relate(*finding, backward, "the loss of this backward is computed without it");
  if (one.by_own_data)
    if (const Place decided = decided_at(record, one.decided_by))
      report.relate(*finding, decided, "this decides it");
  const OperationEvent& made = *one.made;
  if (!made.expr || !record.in_file(wrapper)) return;
  for (const syntax::Keyword& keyword : made.expr->keywords)
    if (keyword.name.text() == pardon) return;
  Fix fix;
  fix.title = "Let DistributedDataParallel look for unused parameters";
  const auto end = made.expr->span.end - 1;
  fix.edits.push_back({report.location({wrapper.chunk, {end, end}}), ", " + std::string(pardon) + "=True"});
  finding->fixes.push_back(std::move(fix));
}

// The same place in the record of all ranks; nowhere if it is not there.
Place in_main(const Record& record, const Record& own, Place place) {
  if (!place) return {};
  const std::string_view path = own.chunks[place.chunk].path;
  const auto begin = own.span(Place{place.chunk, {}}).begin;
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i)
    if (record.chunks[i].statement() && record.chunks[i].path == path &&
        record.span(Place{i, {}}).begin == begin)
      return record.as_run({i, own.chunks[place.chunk].moves.now(place.span)});
  return {};
}

// What only some ranks leave out.
void look_at_ranks(const Record& record, Report& report) {
  constexpr int world = 2;
  if (!record.roles[static_cast<int>(symbolic::Role::rank)]) return;
  Once once;
  for (int rank = 0; rank < world; ++rank) {
    const Record* const own = report.ranks().run(rank, world);
    if (!own || own->out_of_budget || own->cancelled) continue;
    for (Unused& each : unused(*own)) {
      const Place wrapper = in_main(record, *own, each.made->place);
      if (!wrapper || !record.in_file(wrapper) || !once(wrapper)) continue;
      tell_of(record, report, each, wrapper, nullptr,
          in_main(record, *own, each.parameters[0].module ? each.parameters[0].module->born : Place{}),
          in_main(record, *own, each.backward->event->place), rank_words({rank}, world));
    }
  }
}

void check(const Record& record, Report& report) {
  bool any = false;
  visit_roots(record, [&](const Event& event) {
    any = any ||
        (event.kind == EventKind::operation &&
            waits_for_all(record, static_cast<const OperationEvent&>(event)));
  });
  if (!any) return;
  Once once;
  bool told = false;
  for (const Unused& each : unused(record)) {
    told = true;
    if (once(each.made->place))
      tell_of(record, report, each, each.made->place, each.made->calls,
          each.parameters[0].module ? each.parameters[0].module->born : Place{}, each.backward->event->place,
          "");
  }
  if (!told && may_part(record)) look_at_ranks(record, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/unused-parameters",
    .severity = Severity::error,
    .summary = "DistributedDataParallel waits for gradients that never come",
    .why =
        "DistributedDataParallel counts the parameters whose gradients have arrived, and has finished when all have. A layer that is built and not called, or whose outcome the loss leaves out, never reports: "
        "the first step ends without a word, and the second forward raises \"Expected to have finished reduction in the prior iteration before starting a new one\".",
    .wrong = "class Net(nn.Module):\n"
             "    def __init__(self):\n"
             "        super().__init__()\n"
             "        self.body, self.old_head = nn.Linear(16, 8), nn.Linear(8, 4)\n"
             "    def forward(self, x):\n"
             "        return self.body(x)\n"
             "\n"
             "model = DistributedDataParallel(Net())\n"
             "for x in loader:\n"
             "    optimizer.zero_grad()\n"
             "    model(x).mean().backward()\n"
             "    optimizer.step()\n",
    .right = "model = DistributedDataParallel(Net(), find_unused_parameters=True)\n"
             "for x in loader:\n"
             "    optimizer.zero_grad()\n"
             "    model(x).mean().backward()\n"
             "    optimizer.step()\n",
    .silent =
        "`find_unused_parameters=True` and `static_graph=True`; parameters that are frozen; layers that are used on some path, where no rank decides that by its own data; several backwards that use all of them together; losses of "
        "which it is not known what they were computed from; a single backward.",
    .fix = "Passes `find_unused_parameters=True`.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::parallel::unused_parameters
