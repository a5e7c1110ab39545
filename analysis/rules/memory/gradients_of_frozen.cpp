// memory/gradients-of-frozen: the backward computes gradients of a part of the model that no optimizer has.
#include "footprint/text.hpp"
#include "rules/memory/steps.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::memory::gradients_of_frozen {

using namespace interpreter;
using footprint::Account;
using footprint::bytes_text;
using footprint::Held;
using footprint::Module;
using footprint::StepAccount;
using values::Operation;
using values::TensorState;

namespace {

constexpr std::int64_t fewest_bytes = std::int64_t{1} << 20;

bool thaws(const Record& record, const OperationEvent& event) {
  if (event.row->operation != Operation::trained_from_here || event.arguments.empty()) return false;
  const Value flag = event.arguments.back();
  return !flag.is(values::Kind::boolean) || record.symbols.decide(flag.condition()) != Answer::no;
}

// Does the file read gradients somewhere?
bool reads_gradients(const Record& record) {
  bool found = false;
  for (const ChunkOf& chunk : record.chunks) {
    if (chunk.path != record.path || !chunk.statement()) continue;
    for_each_expression(*chunk.chunk->stmt,
        [&](const syntax::Expr& expr) { found = found || is_attribute(expr, Says::gradient); });
  }
  return found;
}

// Does every training root leave gradients to its optimizers, of which all is known?
bool is_plain(const Record& record, const Account& account) {
  if (account.optimizers().empty()) return false;
  for (const footprint::Optimizer& optimizer : account.optimizers())
    if (!optimizer.complete) return false;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (by_hand(training_root, nullptr) || !trains_itself(training_root) ||
        training_root.optimizers.size() > account.optimizers().size())
      return false;
    for (const TrainingEvent& each : training_root.all)
      if (each.event->row->operation == Operation::gradient_asked || thaws(record, *each.event)) return false;
  }
  return true;
}

// A part of a model all of whose parameters get gradients that no optimizer takes; the largest such parts.
struct Untaken {
  const footprint::ModelAccount* model = nullptr;
  const Module* module = nullptr;
  std::vector<const Held*> parameters;
};
std::vector<Untaken> untaken(const Account& account, const StepAccount& step) {
  std::vector<Untaken> found;
  std::unordered_set<const values::Tensor*> taken;
  std::unordered_set<const Instance*> taken_layers;  // of tensors that PyTorch makes inside
  for (const footprint::Optimizer& optimizer : account.optimizers())
    for (const Held& held : optimizer.tensors)
      held.tensor ? (void)taken.insert(held.tensor) : (void)taken_layers.insert(held.module);
  const auto reached = account.reached(step);
  // An optimizer of nothing that the backward reaches is another mistake.
  for (const footprint::Optimizer& optimizer : account.optimizers())
    if (account.steps().size() == 1 && std::ranges::none_of(optimizer.tensors, [&](const Held& held) {
          return std::ranges::any_of(reached, [&](const Held* each) {
            return each->tensor ? each->tensor == held.tensor : each->module == held.module;
          });
        }))
      return found;
  const auto is_untaken = [&](const Held& held) {
    return reached.contains(&held) && held.tensor && !taken.contains(held.tensor) &&
        !taken_layers.contains(held.module);
  };
  for (const footprint::ModelAccount& model : account.models()) {
    const auto& modules = model.tree.modules;
    for (std::size_t i = 0; i < modules.size(); ++i) {
      std::vector<const Held*> all;
      bool whole = true;
      std::size_t end = i;
      for (; end < modules.size() && (end == i || modules[end].depth > modules[i].depth); ++end)
        for (const Held& held : modules[end].own)
          if (held.is_parameter) {
            whole = whole && is_untaken(held);
            all.push_back(&held);
          }
      if (!whole || all.empty()) continue;
      found.push_back({&model, &modules[i], std::move(all)});
      i = end - 1;
    }
  }
  return found;
}

// What is kept by operations through which no other gradient goes.
std::int64_t spared(
    const Account& account, const StepAccount& step, const std::unordered_set<const Held*>& parameters) {
  const auto& nodes = step.graph->nodes();
  std::vector<bool> needed(nodes.size(), false);
  std::unordered_set<footprint::Storage, footprint::StorageHash> kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto needs = [&](const Held* held) {
      return held && held->is_parameter && held->trained != values::Known::no && !parameters.contains(held);
    };
    for (const std::size_t from : nodes[i].from) needed[i] = needed[i] || needed[from];
    for (const auto* list : {&nodes[i].made->states, &nodes[i].made->listed})
      for (const TensorState* state : *list)
        if (state) {
          const Held* held = step.graph->held(*state);
          const bool leaf = !held && !state->made && step.graph->requires_grad(*state);
          needed[i] = needed[i] || needs(held) || leaf;
        }
    if (const Instance* layer = footprint::layer_of(*nodes[i].made))
      for (const footprint::ModelAccount& model : account.models())
        for (const Module& module : model.tree.modules)
          if (module.object == layer)
            for (const Held& held : module.own) needed[i] = needed[i] || needs(&held);
    if (needed[i])
      for (const footprint::Saved& saved : step.savings[i].kept) kept.insert(saved.storage);
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!needed[i])
      for (const footprint::Saved& saved : step.savings[i].kept)
        if (!saved.held && kept.insert(saved.storage).second) sum += account.number(saved.bytes);
  return sum;
}

// Before anything is counted: has each model that is called an optimizer of all of it?
bool all_taken_whole(const Record& record) {
  std::unordered_set<const values::Object*> called, taken;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      if (event.row->operation == Operation::forward && event.self.is(values::Kind::instance))
        called.insert(event.self.object());
      if (event.row->operation != Operation::optimizer_made || !event.self.is(values::Kind::instance))
        continue;
      const Value given = footprint::attribute(
          record, *event.self.as<Instance>(), values::OptimizerState::parameters);
      if (given.is(values::Kind::instance))
        taken.insert(
            footprint::attribute(record, *given.as<Instance>(), values::OptimizerState::of).object());
    }
  return std::ranges::all_of(called, [&](const values::Object* model) { return taken.contains(model); });
}

void check(const Record& record, Report& report) {
  if (!has_steps(record) || all_taken_whole(record)) return;
  const Account& account = Account::of(record);
  if (!is_plain(record, account)) return;
  Once once;
  for (const StepAccount& step : account.steps()) {
    if (!step.graph->complete()) continue;
    const std::vector<Untaken> parts = untaken(account, step);
    if (!parts.empty() && reads_gradients(record)) return;
    for (const Untaken& part : parts) {
      // Of a model of which no optimizer has anything, that is another mistake; and what came in after the
      // optimizer is told elsewhere.
      const footprint::Optimizer& optimizer = account.optimizers().front();
      const bool after = record.in_file(part.module->object->born) &&
          record.span(part.module->object->born).begin > record.span(optimizer.made->place).begin;
      if (after || (part.module->path.empty() && account.models().size() == 1) ||
          !once(part.module->object->born))
        continue;
      footprint::Bytes gradients, numbers;
      for (const Held* held : part.parameters) {
        gradients.add(
            record.symbols, footprint::bytes_of(record.symbols, held->shape, held->dtype), held->copies);
        numbers.add(record.symbols, footprint::elements(record.symbols, held->shape), held->copies);
      }
      if (gradients.open()) continue;
      const std::int64_t kept = step.peak.bytes.open()
          ? 0
          : spared(account, step, {part.parameters.begin(), part.parameters.end()});
      if (std::max(account.number(gradients), kept) < fewest_bytes) continue;
      const std::string what = part.module->path.empty() ? "the `" + part.module->type + "`"
                                                         : "`" + part.module->path + "`";
      Finding* finding = report.add(Severity::information, optimizer.made->place, optimizer.made->calls,
          "No optimizer has the " + footprint::count_text(account.number(numbers)) + " parameters of " +
              what +
              ", and yet each backward computes their gradients: " + bytes_text(account.number(gradients)) +
              (kept ? ", and the forward keeps " + bytes_text(kept) + " for them" : "") +
              ". Freeze them with `requires_grad_(False)`.");
      if (!finding) continue;
      report.relate(*finding, step.backward->place, "this backward computes them");
      report.relate(*finding, part.module->object->born, "made here, and never frozen");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/gradients-of-frozen",
    .severity = Severity::information,
    .summary = "gradients of a part of the model that no optimizer trains",
    .why =
        "A part is not frozen by leaving its parameters out of the optimizer: they still require gradients, so the forward keeps its activations, the backward computes gradients for them, and "
        "with `zero_grad()` of an optimizer that does not know them these even grow from step to step. With `requires_grad_(False)` the forward keeps nothing of a part in front of "
        "everything that is trained.",
    .wrong = "backbone = torchvision.models.resnet50()\n"
             "head = nn.Linear(1000, 10)\n"
             "optimizer = torch.optim.Adam(head.parameters())\n"
             "F.cross_entropy(head(backbone(x)), y).backward()\n",
    .right = "backbone = torchvision.models.resnet50().requires_grad_(False)\n"
             "head = nn.Linear(1000, 10)\n"
             "optimizer = torch.optim.Adam(head.parameters())\n"
             "F.cross_entropy(head(backbone(x)), y).backward()\n",
    .silent =
        "Parameters that some optimizer of the program has, as those of a discriminator through which the generator is trained; programs that read or write `.grad`, or ask for gradients; frameworks; "
        "parts made or thawed after the optimizer, which loop/wrong-parameters tells; less than 1 MiB of gradients and of what is kept for them; graphs of which something is not known.",
    .fix = "None: where the part is frozen is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::gradients_of_frozen
