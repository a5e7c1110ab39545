#include "rules/config/framework_batch.hpp"

#include "libraries/table/class_roles.hpp"
#include "rules/call_at.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

namespace stepzero::rules::config {

using interpreter::Fact;
using libraries::FrameworkCall;
using values::Kind;
using values::Value;

namespace {

// As lightning 2.6 and transformers 5.23 have them.
constexpr std::int64_t usual_batch = 8;  // per_device_train_batch_size

Value value_of(const Record& record, std::uint32_t chunk, syntax::Span span) {
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::expression && fact.place.chunk == chunk && fact.place.span == span)
      return fact.value;
  return {};
}
// The call that made the object.
const syntax::CallExpr* made_by(const Record& record, Value object) {
  return object.is(Kind::instance) ? call_at(record, object.object()->born) : nullptr;
}
const syntax::Expr* given(const syntax::CallExpr& call, std::string_view name, std::size_t place) {
  for (const syntax::Keyword& each : call.keywords)
    if (each.name.text() == name) return each.value;
  return place < call.arguments.size() ? call.arguments[place] : nullptr;
}
bool gives(const syntax::CallExpr& call, std::string_view name) {
  return given(call, name, call.arguments.size()) != nullptr;
}

class Trainings {
public:
  Trainings(const Record& record, std::optional<std::int64_t> launched)
      : record_(record), launched_(launched) {}

  std::optional<std::vector<FrameworkBatch>> run() {
    visit_operations(record_, [&](const OperationEvent& event) {
      if (event.row->path.ends_with(".DataLoader")) loaders_.push_back(&event);
      const FrameworkCall call = libraries::framework_call(*event.row);
      if (call == FrameworkCall::fits) fits_.push_back(&event);
      if (call == FrameworkCall::makes_trainer) trainers_.push_back(&event);
    });
    std::vector<FrameworkBatch> found;
    for (const OperationEvent* each : fits_) {
      const auto made = of_lightning(*each);
      if (!made) return std::nullopt;
      found.push_back(*made);
    }
    for (const OperationEvent* each : trainers_) {
      const auto made = of_transformers(*each);
      if (!made) return std::nullopt;
      found.push_back(*made);
    }
    return found;
  }

private:
  std::optional<std::int64_t> number(
      const syntax::CallExpr& call, Place at, std::string_view name, std::int64_t otherwise) const {
    return number_given(record_, call, at.chunk, name, otherwise);
  }

  // The loader that is handed over, or the only one that `train_dataloader` makes.
  const OperationEvent* loader_of(const OperationEvent& fit) const {
    const syntax::Expr* handed = given(*fit.expr, "train_dataloaders", 1);
    const Value object = handed ? value_of(record_, fit.place.chunk, handed->span) : Value{};
    const OperationEvent* found = nullptr;
    for (const OperationEvent* each : loaders_) {
      const syntax::FunctionStmt* function = function_around(record_, each->place);
      const bool is_meant = object.is(Kind::instance)
          ? each->self.object() == object.object() || each->result.object() == object.object()
          : function && function->name.text() == "train_dataloader";
      if (!is_meant) continue;
      if (found && !(found->place == each->place)) return nullptr;
      found = each;
    }
    return found;
  }

  std::optional<FrameworkBatch> of_lightning(const OperationEvent& fit) const {
    const syntax::CallExpr* made = fit.expr ? made_by(record_, fit.self) : nullptr;
    const OperationEvent* loader = made ? loader_of(fit) : nullptr;
    if (!loader) return std::nullopt;
    const Place at = fit.self.object()->born;
    // A sampler of the program's own deals out as it likes; another strategy may share a batch.
    for (const std::string_view name : {"use_distributed_sampler", "replace_sampler_ddp", "overfit_batches"})
      if (gives(*made, name)) return std::nullopt;
    if (const syntax::Expr* strategy = given(*made, "strategy", made->arguments.size())) {
      const Value value = value_of(record_, at.chunk, strategy->span);
      const std::string_view text = strategy->kind == syntax::ExprKind::string
          ? syntax::as<syntax::StringExpr>(*strategy).value
          : value.is(Kind::string) ? value.text()
                                   : std::string_view();
      if (!text.starts_with("ddp") && text != "fsdp" && text != "auto" && !text.starts_with("deepspeed"))
        return std::nullopt;
    }
    const auto devices = number(*made, at, "devices", 0), nodes = number(*made, at, "num_nodes", 1),
               steps = number(*made, at, "accumulate_grad_batches", 1);
    const Value sampler = argument(*loader, "batch_sampler"), own = argument(*loader, "sampler");
    const auto size = record_.number(argument(*loader, "batch_size"));
    if (!devices || *devices < 1 || !nodes || *nodes < 1 || !steps || *steps < 1 || !size || *size < 1 ||
        (sampler && !sampler.is(Kind::none)) || (own && !own.is(Kind::none)))
      return std::nullopt;
    return FrameworkBatch{loader->place, loader->calls, fit.place, *size, *steps, *devices * *nodes};
  }

  std::optional<FrameworkBatch> of_transformers(const OperationEvent& made) const {
    const syntax::Expr* handed = made.expr ? given(*made.expr, "args", 1) : nullptr;
    const Value arguments = handed ? value_of(record_, made.place.chunk, handed->span) : Value{};
    const syntax::CallExpr* call = made_by(record_, arguments);
    if (!call || !launched_ || gives(*call, "auto_find_batch_size") || gives(*call, "accelerator_config") ||
        gives(*call, "parallelism_config"))
      return std::nullopt;
    const Place at = arguments.object()->born;
    const auto size = number(*call, at, "per_device_train_batch_size", usual_batch),
               steps = number(*call, at, "gradient_accumulation_steps", 1);
    if (!size || *size < 1 || !steps || *steps < 1) return std::nullopt;
    return FrameworkBatch{at, made.calls, made.place, *size, *steps, *launched_, false};
  }

  const Record& record_;
  const std::optional<std::int64_t> launched_;
  std::vector<const OperationEvent*> loaders_, fits_, trainers_;
};

}  // namespace

std::optional<std::int64_t> number_given(const Record& record, const syntax::CallExpr& call,
    std::uint32_t chunk, std::string_view name, std::int64_t otherwise) {
  for (const syntax::Keyword& each : call.keywords) {
    if (each.name.text().empty()) return std::nullopt;  // `**options`
    if (each.name.text() != name) continue;
    if (each.value->kind == syntax::ExprKind::integer)
      return syntax::as<syntax::IntegerExpr>(*each.value).value;
    const Value value = value_of(record, chunk, each.value->span);
    return value ? record.number(value) : std::nullopt;
  }
  return otherwise;
}

std::optional<std::vector<FrameworkBatch>> framework_batches(
    const Record& record, std::optional<std::int64_t> launched) {
  return Trainings(record, launched).run();
}

}  // namespace stepzero::rules::config
