// data/shared-transform: parts of one data set share its transform, so that setting it for one part sets it
// for the others. Which parts are of one whole is read from the run; the assignment from the text, as a store
// into an attribute is no event of the record, and one for this rule alone would be recorded at each store.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace stepzero::rules::data::shared_transform {

using values::code;

using namespace interpreter;
using values::Kind;

namespace {

constexpr std::string_view part_class = "torch.utils.data.Subset";

// The data set that an object is a part of; null if it is no part.
const Object* whole_of(Value value) {
  const auto* part = value.is(Kind::instance) ? value.as<Instance>() : nullptr;
  if (!part || !part->native || part->native->path != part_class) return nullptr;
  return part->attributes.value(syntax::Name("dataset")).object();
}

// Two parts of each data set, where the program has made as many.
std::map<const Object*, std::set<const Object*>> parts_of_wholes(const Record& record) {
  std::map<const Object*, std::set<const Object*>> found;
  for (const Fact& fact : record.facts)
    if (const Object* whole = whole_of(fact.value)) found[whole].insert(fact.value.object());
  return found;
}

// `part.dataset.transform = …`: the part; null if the target is something else.
const syntax::Expr* part_written(const syntax::Expr& target) {
  if (target.kind != syntax::ExprKind::attribute) return nullptr;
  const auto& attribute = syntax::as<syntax::AttributeExpr>(target);
  if (attribute.object->kind != syntax::ExprKind::attribute) return nullptr;
  const auto& inner = syntax::as<syntax::AttributeExpr>(*attribute.object);
  return says(inner.attribute.text(), Says::of_loader) ? inner.object : nullptr;
}

void check(const Record& record, Report& report) {
  const auto parts = parts_of_wholes(record);
  const bool any = std::ranges::any_of(parts, [](const auto& each) { return each.second.size() > 1; });
  if (!any) return;
  std::map<std::array<std::uint32_t, 3>, Value> values;
  for (const Fact& fact : record.facts)
    if (fact.role == Fact::Role::expression && whole_of(fact.value))
      values[{fact.place.chunk, fact.place.span.begin, fact.place.span.end}] = fact.value;
  Once once;
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const syntax::Stmt* root = record.chunks[i].path == record.path ? record.chunks[i].statement() : nullptr;
    if (!root) continue;
    for_each_statement(*root, [&](const syntax::Stmt& stmt) {
      if (stmt.kind != syntax::StmtKind::assign) return;
      for (const syntax::Expr* target : syntax::as<syntax::AssignStmt>(stmt).targets) {
        const syntax::Expr* part = part_written(*target);
        const auto value = part ? values.find({i, part->span.begin, part->span.end}) : values.end();
        if (value == values.end()) continue;
        const auto all = parts.find(whole_of(value->second));
        if (all == parts.end() || all->second.size() < 2 || !once({i, target->span})) continue;
        const auto& attribute = syntax::as<syntax::AttributeExpr>(*target);
        const std::string name(record.text({i, part->span}));
        Finding* finding = report.add(Severity::warning, {i, target->span}, nullptr,
            code(name + ".dataset") + " is the data set of the other parts, too: they all get this " +
                code(attribute.attribute.text()) +
                ". Give each part a data set of its own, with its own transform.");
        if (finding && value->second.as<Instance>()->born)
          report.relate(*finding, value->second.as<Instance>()->born, "the parts are made here");
      }
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/shared-transform",
    .severity = Severity::warning,
    .summary = "a transform that is set for one part of a data set is set for all of its parts",
    .why =
        "`random_split` and `Subset` keep indices, and all parts share one data set. `val.dataset.transform = …` is written into that data set: the training images lose their augmentation, too, or the validation images get it, whichever comes last.",
    .wrong = "train, val = random_split(dataset, [0.9, 0.1])\n"
             "val.dataset.transform = plain\n",
    .right = "train, val = random_split(range(len(dataset)), [0.9, 0.1])\n"
             "train = Subset(ImageFolder(root, transform=augmented), train.indices)\n"
             "val = Subset(ImageFolder(root, transform=plain), val.indices)\n",
    .silent =
        "Parts of data sets of their own, also of a copy (`copy.copy(dataset)`); a data set of which one part alone is used.",
    .fix = "None: a second data set has to be made.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::shared_transform
