// fsdp/activation-checkpointing: a sharded layer inside of a reentrant checkpoint, whose parameters are then
// gathered once more.
#include "rules/report.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "syntax/walk.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::fsdp::activation_checkpointing {

namespace {

using namespace syntax;

std::string_view first_name(const CallExpr& call) {
  const Expr* given = call.arguments.empty() ? nullptr : call.arguments[0];
  return given && given->kind == ExprKind::name ? as<NameExpr>(*given).id.text() : std::string_view();
}
bool has_policy(const CallExpr& call) {
  return std::any_of(call.keywords.begin(), call.keywords.end(),
      [](const Keyword& each) { return each.name.text() == "auto_wrap_policy"; });
}

// One function or module: what was done to a name so far, by the order of the text.
class Order {
public:
  explicit Order(Report& report) : report_(report) {}

  void see(
      const CallExpr& call, std::uint32_t chunk, const std::map<std::string_view, std::string_view>& names) {
    std::string_view called = last_name(*call.function);
    if (const auto found = names.find(called); found != names.end()) called = found->second;
    const std::string_view name = first_name(call);
    if (name.empty()) return;
    const Place place{chunk, call.span};
    if (called == "apply_activation_checkpointing") {
      checkpointed_[name] = place;
    } else if (called == "FullyShardedDataParallel" && has_policy(call)) {
      const auto before = checkpointed_.find(name);
      if (before == checkpointed_.end()) return;
      tell(before->second, place,
          "The layers of `" + std::string(name) +
              "` are put into reentrant checkpoints before they are sharded: the policy then shards inside of them, and the backward gathers the parameters of each layer once more for the recomputation. Use `CheckpointImpl.NO_REENTRANT`, or call `apply_activation_checkpointing` on the sharded model.");
      checkpointed_.erase(name);
    }
  }

private:
  void tell(Place where, Place other, std::string message) {
    if (Finding* finding = report_.add(Severity::information, where, nullptr, std::move(message)))
      report_.relate(*finding, other, "sharded here");
  }

  Report& report_;
  std::map<std::string_view, Place> checkpointed_;
};

// `from … import FullyShardedDataParallel as FSDP`
void names_of(const Stmt& stmt, std::map<std::string_view, std::string_view>& into) {
  if (stmt.kind != StmtKind::import_from) return;
  for (const Alias& alias : as<ImportFromStmt>(stmt).names)
    if (alias.path.size() == 1 && !alias.alias.text().empty())
      into[alias.alias.text()] = alias.path.front().text();
}

void check(const Record& record, Report& report) {
  std::map<std::string_view, std::string_view> names;
  bool any = false;
  for (const auto& chunk : record.chunks)
    if (chunk.path == record.path && chunk.statement())
      for_each_statement(*chunk.chunk->stmt, [&](const Stmt& stmt) {
        names_of(stmt, names);
        if (stmt.kind == StmtKind::import_from)
          for (const Alias& alias : as<ImportFromStmt>(stmt).names)
            any = any ||
                (alias.path.size() == 1 &&
                    (alias.path.front().text() == "checkpoint_wrapper" ||
                        alias.path.front().text() == "apply_activation_checkpointing"));
      });
  // The other kind of checkpoint, the default since PyTorch 2.1, gathers as often on either side:
  // PyTorch 2.13 counted 7 gathers of 3 layers and their root with it and without, and 10 with the reentrant
  // kind.
  bool is_reentrant = false;
  for (const auto& chunk : record.chunks)
    if (chunk.path == record.path && chunk.statement())
      for_each_expression(*chunk.chunk->stmt, [&](const Expr& expr) {
        is_reentrant = is_reentrant ||
            (expr.kind == ExprKind::attribute && as<AttributeExpr>(expr).attribute.text() == "REENTRANT");
      });
  if (!any || !is_reentrant) return;
  Order module(report);
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (chunk.path != record.path || !chunk.statement()) continue;
    const Stmt& stmt = *chunk.chunk->stmt;
    const bool own = stmt.kind == StmtKind::function || stmt.kind == StmtKind::class_;
    Order inner(report);
    std::vector<const CallExpr*> calls;
    for_each_expression(stmt, [&](const Expr& expr) {
      if (expr.kind == ExprKind::call) calls.push_back(&as<CallExpr>(expr));
    });
    std::stable_sort(calls.begin(), calls.end(),
        [](const CallExpr* a, const CallExpr* b) { return a->span.begin < b->span.begin; });
    for (const CallExpr* call : calls) (own ? inner : module).see(*call, i, names);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/activation-checkpointing",
    .severity = Severity::information,
    .summary = "layers are put into reentrant checkpoints before they are sharded, and gathered once more",
    .why =
        "A checkpoint runs the forward of its layer again in the backward. Where the unit of FullyShardedDataParallel lies inside of a reentrant one, that forward gathers the parameters once more, an "
        "all-gather for each layer and step: PyTorch 2.13 counted 10 for 3 layers and their root instead of 7. With the checkpoint inside of the unit, or without reentrance, which is the default of "
        "`checkpoint_wrapper`, the parameters are there already; with `fully_shard` they are on either side. PyTorch's examples wrap with `FullyShardedDataParallel` first and then call "
        "`apply_activation_checkpointing`, which goes into the units.",
    .wrong =
        "reentrant = functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT)\napply_activation_checkpointing(model, checkpoint_wrapper_fn=reentrant, check_fn=is_layer)\nmodel = FullyShardedDataParallel(model, auto_wrap_policy=policy)\n",
    .right =
        "model = FullyShardedDataParallel(model, auto_wrap_policy=policy)\napply_activation_checkpointing(model, check_fn=is_layer)\n",
    .silent =
        "Checkpoints without reentrance; `fully_shard`; modules that are named differently at the two places; other functions in between.",
    .fix = "None yet: the lines may depend on others between them.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::activation_checkpointing
