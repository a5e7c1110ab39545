// data/transform-order: a transform of tensors stands before the one that makes a tensor of the picture.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>

namespace stepzero::rules::data::transform_order {

using values::code;
using values::Kind;

namespace {

constexpr std::string_view package = "torchvision.transforms.";
// What refuses pictures, and what makes tensors of them.
constexpr std::array of_tensors = {std::string_view("Normalize"), std::string_view("RandomErasing"),
    std::string_view("LinearTransformation"), std::string_view("ConvertImageDtype")};
constexpr std::array to_tensors = {std::string_view("ToTensor"), std::string_view("PILToTensor")};

std::string_view transform_of(Value value) {
  const auto* object = value.is(Kind::instance) ? value.as<Instance>() : nullptr;
  if (!object || !object->native || object->cls || !object->native->path.starts_with(package)) return {};
  return object->native->path.substr(package.size());
}

// The places where each is made.
struct Wrong {
  Value early, late;
};
std::optional<Wrong> wrong_order(const values::ListState& list) {
  if (list.open) return std::nullopt;
  const auto is_one_of = [](const auto& names) {
    return [&](Value each) { return std::ranges::find(names, transform_of(each)) != names.end(); };
  };
  const auto late = std::ranges::find_if(list.items, is_one_of(to_tensors));
  const auto early = std::find_if(list.items.begin(), late, is_one_of(of_tensors));
  // Who makes a picture again on the way began with a tensor.
  const bool pictured = std::any_of(
      list.items.begin(), late, [](Value each) { return transform_of(each) == "ToPILImage"; });
  if (late == list.items.end() || early == late || pictured) return std::nullopt;
  return Wrong{*early, *late};
}

void check(const Record& record, Report& report) {
  Once once;
  for (const interpreter::Fact& fact : record.facts) {
    if (transform_of(fact.value) != "Compose") continue;
    const Value list = fact.value.as<Instance>()->attributes.value(syntax::Name("transforms"));
    if (!list.is(Kind::list)) continue;
    const auto wrong = wrong_order(*values::Heap::list_state(list));
    const Place place = wrong ? wrong->early.object()->born : Place{};
    if (!place || !record.in_file(place) || !once(place)) continue;
    const std::string early = code(transform_of(wrong->early)), late = code(transform_of(wrong->late));
    Finding* finding = report.add(Severity::warning, place, nullptr,
        early + " takes tensors and is given the picture itself: it raises `TypeError`. Put it after " +
            late + ".");
    if (finding) report.relate(*finding, wrong->late.object()->born, "the tensor is made here");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/transform-order",
    .severity = Severity::warning,
    .summary = "a transform of tensors comes before the one that makes a tensor",
    .why =
        "`Normalize` and `RandomErasing` work on tensors. Before `ToTensor` they are given the picture as it was read, and the first sample raises `TypeError: img should be Tensor Image`.",
    .wrong = "transform = T.Compose([\n"
             "    T.Resize(224),\n"
             "    T.Normalize(mean, std),\n"
             "    T.ToTensor(),\n"
             "])\n",
    .right = "transform = T.Compose([\n"
             "    T.Resize(224),\n"
             "    T.ToTensor(),\n"
             "    T.Normalize(mean, std),\n"
             "])\n",
    .silent =
        "Lists of which not all is known; tensors that become a picture on the way; transforms of the program's own; lists that make no tensor.",
    .fix = "None: the order of the others is the program's choice.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::transform_order
