// Semantics as in the source of torch.distributed.algorithms._checkpoint.checkpoint_wrapper, PyTorch 2.13.
#include "libraries/torch/distributed/recomputing.hpp"

#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::libraries {

using values::Kind;

namespace {

constexpr std::string_view kind_of_checkpoint = "checkpoint_impl", reentrant_kind = "REENTRANT";

bool asks_for_reentrant(const syntax::Expr& expr) {
  return expr.kind == syntax::ExprKind::call &&
      std::ranges::any_of(syntax::as<syntax::CallExpr>(expr).keywords, [](const syntax::Keyword& each) {
        return each.name.text() == kind_of_checkpoint && syntax::last_name(*each.value) == reentrant_kind;
      });
}

// The layers are replaced in place by wrappers, which go by other classes: nothing is known of them from here
// on.
Value puts_checkpoints_around_layers(Call& call) {
  call.run.call(call.run.heap().unseen("wrap_layers", call.place), {{call.at(0)}, {}}, call.place);
  return Value::none();
}

}  // namespace

bool wraps_reentrantly(Value wrapper) {
  bool found = false;
  const auto look = [&](const syntax::Expr& expr) { found = found || asks_for_reentrant(expr); };
  if (wrapper.is(Kind::partial)) {
    for (const auto& [name, value] : wrapper.as<values::Partial>()->keywords)
      found = found ||
          (name.text() == kind_of_checkpoint && value.is(Kind::library) &&
              values::last_name(value.as<values::LibrarySymbol>()->path) == reentrant_kind);
  } else if (wrapper.is(Kind::function)) {
    const auto& function = *wrapper.as<values::Function>();
    if (function.lambda) syntax::for_each_expression(*function.lambda->body, look);
    if (function.stmt)
      for (const syntax::Stmt* stmt : function.stmt->body) syntax::for_each_expression(*stmt, look);
  }
  return found;
}

std::vector<Row> recomputing_rows() {
  return {row("torch.distributed.algorithms._checkpoint.checkpoint_wrapper.apply_activation_checkpointing",
      RowKind::function, "model, checkpoint_wrapper_fn=None, check_fn=None, auto_wrap_policy=None",
      puts_checkpoints_around_layers, {}, values::Operation::recomputed)};
}

}  // namespace stepzero::libraries
