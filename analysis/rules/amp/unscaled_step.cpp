// amp/unscaled-step: optimizer.step() on gradients that still carry the GradScaler's scale.
#include "rules/list.hpp"
#include "rules/report.hpp"
#include "rules/source.hpp"
#include "rules/walk.hpp"

#include <map>
#include <set>

namespace stepzero::rules {

using namespace interpreter;
using values::Instance;
using values::Kind;
using values::Operation;

namespace {

bool is_part_of(const values::Object* part, Value whole, int depth = 0) {
  if (depth > 8) return false;
  if (whole.is(Kind::list)) {
    for (const Value& item : values::Heap::list_state(whole)->items)
      if (is_part_of(part, item, depth + 1)) return true;
    return false;
  }
  if (whole.object() == part && !whole.is(Kind::integer) && !whole.is(Kind::boolean)) return true;
  if (!whole.is(Kind::instance)) return false;
  for (const auto& [name, slot] : whole.as<Instance>()->attributes.entries())
    if ((slot->value.is(Kind::instance) || slot->value.is(Kind::list) || slot->value.is(Kind::tensor)) && is_part_of(part, slot->value, depth + 1))
      return true;
  return false;
}

// The module whose parameters the optimizer steps; absent if not known.
Value module_of(Value optimizer) {
  if (!optimizer.is(Kind::instance)) return {};
  const values::Slot* parameters = optimizer.as<Instance>()->attributes.find(syntax::Name("$parameters"));
  if (!parameters || !parameters->value.is(Kind::instance)) return {};
  const values::Slot* of = parameters->value.as<Instance>()->attributes.find(syntax::Name("$of"));
  return of ? of->value : Value{};
}

struct Seen {
  int reached = 0, wrong = 0;
  const OperationEvent* scale = nullptr;
  const OperationEvent* backward = nullptr;
  const Instance* scaler = nullptr;
  bool has_update = false;
};

class Check {
public:
  Check(const Record& record, Report& report) : record_(record), report_(report) {}

  void run() {
    for (const auto& root : record_.roots) look_at(*root);
    for (const auto& [step, seen] : steps_) tell(*step, seen);
  }

private:
  void look_at(const Root& root) {
    bool scales = false;
    std::set<const values::Object*> optimizers;
    visit(root.block, [&](const Event& event) {
      if (event.kind != EventKind::operation) return;
      const auto& operation = static_cast<const OperationEvent&>(event);
      scales = scales || operation.row->operation == Operation::scale;
      if (operation.row->operation == Operation::optimizer_step) optimizers.insert(operation.self.object());
      if (operation.row->operation == Operation::scaler_step && !operation.arguments.empty()) optimizers.insert(operation.arguments[0].object());
    });
    if (!scales) return;
    one_optimizer_ = optimizers.size() == 1;
    Walk walk;
    walk.wanted = [](const OperationEvent& event) {
      switch (event.row->operation) {
      case Operation::backward:
      case Operation::optimizer_step:
      case Operation::zero_grad:
      case Operation::scale:
      case Operation::unscale:
      case Operation::scaler_step:
      case Operation::scaler_update: return true;
      default: return false;
      }
    };
    std::map<const OperationEvent*, Seen> here;
    if (!explore(record_, root.block, {{0, 1}}, walk, [&](const Run& run) { follow(run[0], here); })) return;
    for (const auto& [event, seen] : here)
      if (seen.wrong > 0) {
        auto [it, inserted] = steps_.try_emplace(event, seen);
        if (!inserted && it->second.reached == it->second.wrong) it->second = seen;
      }
  }

  // One possible run of one process.
  void follow(const std::vector<Step>& steps, std::map<const OperationEvent*, Seen>& seen) {
    const OperationEvent* backward = nullptr;  // that left scaled gradients
    std::map<const Instance*, const OperationEvent*> scales;
    std::set<const values::Object*> unscaled, updated;
    for (const Step& step : steps) {
      const OperationEvent& event = *step.event;
      switch (event.row->operation) {
      case Operation::scale:
        if (event.self.is(Kind::instance)) scales[event.self.as<Instance>()] = &event;
        break;
      case Operation::backward: {
        const values::TensorState* loss = event.self_state();
        if (loss && loss->scaled_by) backward = &event;
        break;
      }
      case Operation::unscale:
        if (!event.arguments.empty()) unscaled.insert(event.arguments[0].object());
        break;
      case Operation::zero_grad:
        backward = nullptr;
        break;
      case Operation::scaler_update:
        unscaled.clear();
        for (auto& [other, entry] : seen)
          if (entry.scaler && event.self.object() == entry.scaler) entry.has_update = true;
        break;
      case Operation::scaler_step:
        // The same optimizer may be stepped both ways; after this its gradients are spent.
        if (!event.arguments.empty()) unscaled.insert(event.arguments[0].object());
        break;
      case Operation::optimizer_step: {
        Seen& entry = seen[&event];
        ++entry.reached;
        if (!backward || unscaled.contains(event.self.object()) || !steps_its_parameters(*backward, event)) break;
        if (only_while_disabled(step, *backward->self_state()->scaled_by)) break;
        ++entry.wrong;
        entry.backward = backward;
        entry.scaler = backward->self_state()->scaled_by;
        entry.scale = scales.contains(entry.scaler) ? scales[entry.scaler] : nullptr;
        break;
      }
      default: break;
      }
    }
  }

  // Does the backward reach parameters of the optimizer? Known from the modules that the loss came through, or because there
  // is no other optimizer.
  bool steps_its_parameters(const OperationEvent& backward, const OperationEvent& step) const {
    const Value module = module_of(step.self);
    const values::TensorState* loss = backward.self_state();
    if (module && loss && !loss->graph.empty()) {
      for (const values::Object* source : loss->graph)
        if (is_part_of(source, module)) return true;
      if (loss->graph_complete) return false;
    }
    return one_optimizer_;
  }

  // Under which condition the scaler scales; null: always.
  Cond enabled(const Instance& scaler) const {
    if (const values::Slot* slot = scaler.attributes.find(syntax::Name("$enabled")); slot && slot->value.is(Kind::boolean))
      return slot->value.condition();
    if (!scaler.symbolic) return nullptr;
    // It was made elsewhere.
    const std::string name = std::string(scaler.name) + ".is_enabled()";
    if (const auto it = record_.conditions.find(name); it != record_.conditions.end()) return it->second;
    return record_.symbols.opaque(name, symbolic::Sharing::uniform);
  }
  // `if scaler.is_enabled(): scaler.step(optimizer) else: optimizer.step()`
  bool only_while_disabled(const Step& step, const Instance& scaler) const {
    Cond all = enabled(scaler);
    if (!all) return false;
    for (const Turn& turn : step.turns)
      all = record_.symbols.logical_and(all, turn.yes ? turn.branch->condition : record_.symbols.logical_not(turn.branch->condition));
    return record_.symbols.decide(all) == symbolic::Answer::no;
  }

  void tell(const OperationEvent& step, const Seen& seen) {
    if (!told_.insert({step.place.chunk, step.place.span.begin}).second) return;
    Severity severity = Severity::error;
    std::string condition;
    if (const Cond scales = enabled(*seen.scaler)) {
      const auto answer = record_.symbols.decide(scales);
      if (answer == symbolic::Answer::no) return;
      if (answer == symbolic::Answer::unknown) {
        severity = Severity::warning;
        const std::string text = record_.symbols.text(scales);
        condition = text.empty() ? " whenever the scaler is enabled" : " whenever " + text;
      }
    }
    if (seen.wrong < seen.reached) {
      // On some paths the gradients are not scaled: whether those are taken together with this step is not known.
      return;
    }
    const std::string optimizer = object_text(step);
    const std::string scaler = seen.scale ? object_text(*seen.scale) : "scaler";
    Finding* finding = report_.add(severity, step.place, step.calls,
                                   optimizer + ".step() uses gradients that are still multiplied by the loss scale (65,536 at first)" + condition +
                                       ": step through the scaler, which unscales them and skips steps with inf or nan: " + scaler + ".step(" + optimizer + ").");
    if (!finding) return;
    report_.relate(*finding, seen.backward->place, "the backward of the scaled loss leaves scaled gradients");
    if (seen.scale) report_.relate(*finding, seen.scale->place, "the loss is scaled here");
    add_fix(*finding, step, seen, optimizer, scaler);
  }

  // The text in front of `.step(…)`.
  std::string object_text(const OperationEvent& event) const {
    if (!event.expr || event.expr->function->kind != syntax::ExprKind::attribute) return "the optimizer";
    const auto& object = *syntax::as<syntax::AttributeExpr>(*event.expr->function).object;
    return std::string(record_.text({event.place.chunk, object.span}));
  }

  void add_fix(Finding& finding, const OperationEvent& step, const Seen& seen, const std::string& optimizer, const std::string& scaler) const {
    if (!seen.scale || !step.expr || seen.scale->calls != step.calls || !record_.in_file(step.place)) return;
    const SourceLines source(record_, step.place.chunk);
    const auto path = enclosing(*record_.chunk(step.place).chunk->stmt, step.expr->span);
    if (path.empty() || path.back().stmt->kind != syntax::StmtKind::expression || syntax::as<syntax::ExpressionStmt>(*path.back().stmt).value != step.expr) return;
    std::string text = scaler + ".step(" + optimizer;
    for (const syntax::Expr* argument : step.expr->arguments) text += ", " + std::string(source.text(*argument));
    for (const syntax::Keyword& keyword : step.expr->keywords) text += ", " + std::string(source.text(keyword.span));
    text += ")";
    Fix fix;
    fix.title = "Step through the scaler: " + scaler + ".step(" + optimizer + ")";
    if (!seen.has_update) {
      if (!source.own_line(*path.back().stmt)) return;
      text += source.line_ending() + source.indentation(*path.back().stmt) + scaler + ".update()";
      fix.title += " and " + scaler + ".update()";
    }
    fix.preferred = true;
    fix.edits.push_back({report_.location(step.place), text});
    finding.fixes.push_back(std::move(fix));
  }

  const Record& record_;
  Report& report_;
  bool one_optimizer_ = false;
  std::map<const OperationEvent*, Seen> steps_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> told_;
};

void check(const Record& record, Report& report) { Check(record, report).run(); }

} // namespace

constexpr Rule unscaled_step = complete({
    .id = "amp/unscaled-step",
    .severity = Severity::error,
    .summary = "optimizer.step() on gradients that carry the GradScaler's scale",
    .why = "`scaler.scale(loss).backward()` leaves gradients that are multiplied by the loss scale, 65,536 at first. A plain "
           "`optimizer.step()` takes them as they are: with SGD the weights are gone after one step; Adam hides it for a while "
           "but still applies inf and nan, because only `scaler.step(optimizer)` unscales and skips bad steps.",
    .wrong = "scaler.scale(loss).backward()\n"
             "optimizer.step()\n",
    .right = "scaler.scale(loss).backward()\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .silent = "A scaler made with `enabled=False`; an optimizer whose parameters the scaled loss does not reach; gradients that "
              "were unscaled by hand with `scaler.unscale_(optimizer)`; `if scaler: scaler.step(opt) else: opt.step()`. When it is "
              "not known whether the scaler is enabled, the finding is a warning that names the condition.",
    .fix = "Replaces the call by `scaler.step(optimizer)` and adds `scaler.update()` where there is none.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

} // namespace stepzero::rules
