// perf/list-of-arrays: a tensor is made of a list of NumPy arrays, number by number.
#include "rules/call_at.hpp"
#include "rules/imports.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::perf::list_of_arrays {

using values::code;
using values::Kind;

namespace {

// Is it certainly an array of one dimension or more? A number that was read from an array is copied as a
// number.
bool is_array(Value value) {
  const Value held = attribute(value, values::ArrayState::state);
  if (!held.is(Kind::tensor)) return false;
  const values::Shape& shape = held.as<values::Tensor>()->now()->shape;
  return shape.ndim_known && !shape.dims.empty();
}

// Does the list hold arrays alone? Of several they are all made the same way.
bool holds_arrays(Value data) {
  if (!data.is(Kind::list)) return false;
  const values::ListState& list = *values::Heap::list_state(data);
  return list.items.empty() ? is_array(list.rest)
                            : std::ranges::all_of(list.items, [](Value item) { return is_array(item); });
}

// `torch.tensor(xs)` becomes `torch.tensor(np.array(xs))`, by the name that the file gives NumPy.
std::optional<Fix> as_one_array(const Record& record, const Report& report, values::Place place) {
  const syntax::CallExpr* call = call_at(record, place);
  if (!call || call->arguments.empty() || call->arguments[0]->kind == syntax::ExprKind::starred ||
      !record.in_file(place))
    return std::nullopt;
  const std::string numpy = name_of_module(*record.chunks[place.chunk].module, {"numpy"});
  if (numpy.empty()) return std::nullopt;
  const values::Place list{place.chunk, call->arguments[0]->span};
  Fix fix;
  fix.title = "Make one array of the list first";
  fix.preferred = true;
  fix.edits.push_back({report.location(list), numpy + ".array(" + std::string(record.text(list)) + ")"});
  return fix;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Origin& each : Provenance::of(record).of_semantics(OpSemantics::built)) {
    const values::Place place = each.made->born;
    if (each.made->arguments.empty() || !holds_arrays(each.made->arguments[0]) || !once(place)) continue;
    Finding* finding = report.add(Severity::information, place, each.made->calls,
        "This makes a tensor of a list of NumPy arrays number by number, and PyTorch warns that it is extremely slow. Make one array of them first: " +
            code("np.array(…)") + ".");
    if (!finding) continue;
    if (auto fix = as_one_array(record, report, place)) finding->fixes.push_back(std::move(*fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/list-of-arrays",
    .severity = Severity::information,
    .summary = "a tensor is made of a list of NumPy arrays",
    .why =
        "PyTorch reads a list number by number, as Python objects, even where its items are arrays. One array is copied as a block of memory (measured with a list of 1000 arrays: 14 times as long).",
    .wrong = "images = [np.asarray(image) for image in samples]\n"
             "batch = torch.tensor(images)\n",
    .right = "images = [np.asarray(image) for image in samples]\n"
             "batch = torch.tensor(np.array(images))\n",
    .silent =
        "Lists of numbers and of tensors; lists of which not all is known; numbers that were read from arrays.",
    .fix = "Puts `np.array(…)` around the list, where the file imports NumPy.",
    .fix_kind = FixKind::always_right,
    .check = check,
    .local = true,
});

}  // namespace stepzero::rules::perf::list_of_arrays
