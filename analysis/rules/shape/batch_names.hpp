// A loop over batches around a call of a model: the loop, the names that hold its batch, and what is known of
// devices in it. Shared by the searches for batches that stay where they are.
#pragma once

#include "interpreter/record.hpp"
#include "rules/report.hpp"
#include "syntax/walk.hpp"

#include <set>
#include <string_view>

namespace stepzero::rules {

struct BatchLoop {
  const syntax::FunctionStmt* function = nullptr;
  const syntax::ForStmt* loop = nullptr;  // the innermost in it
};
BatchLoop batch_loop_around(const Record& record, Place place);

// Of a model that is not seen the call is found by its place; null where there is none.
const syntax::CallExpr* call_of(const Record& record, const OperationEvent& event);

// The names in the target of an assignment or a loop.
void add_names_of(const syntax::Expr& target, std::set<std::string_view>& names);
// Those that hold the loop's batch at some time, where `base` says of which name an expression gives a part.
std::set<std::string_view> names_of_batch(
    const syntax::ForStmt& loop, std::string_view (*base)(const syntax::Expr*));

// `x.type(Tensor)`: the old names of types say the device as well. A dtype is written `torch.float32`.
bool may_take_device(const syntax::CallExpr& call);

// Does the run find in the span, or in what is called from there, that tensors lie on two devices?
bool fails_by_device(const Record& record, std::uint32_t chunk, syntax::Span span);

}  // namespace stepzero::rules
