#include "snapshot/facts.hpp"

#include "snapshot/display_value.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

namespace stepzero::snapshot {

using interpreter::Record;

namespace {

bool takes_hint(interpreter::Fact::Role role) {
  using enum interpreter::Fact::Role;
  return role == assignment || role == attribute || role == parameter;
}

// Where the dimensions of shapes came from, told once for each.
class Origins {
public:
  explicit Origins(const Record& record) : record_(record) {}

  std::shared_ptr<const std::vector<rules::Related>> of(const values::Shape& shape) {
    std::vector<std::pair<const values::Origin*, symbolic::Int>> key;
    for (const values::Dim& dim : shape.dims)
      if (dim.origin && dim.origin->place && dim.size) key.push_back({dim.origin, dim.size});
    if (key.empty()) return nullptr;
    auto& told = told_[key];
    if (!told) {
      auto made = std::make_shared<std::vector<rules::Related>>();
      for (const auto& [origin, size] : key)
        made->push_back({{record_.chunk(origin->place).path, record_.span(origin->place)},
            record_.symbols.text(size) + ": " + std::string(origin->what)});
      told = std::move(made);
    }
    return told;
  }

private:
  const Record& record_;
  std::map<std::vector<std::pair<const values::Origin*, symbolic::Int>>,
      std::shared_ptr<const std::vector<rules::Related>>>
      told_;
};

}  // namespace

void collect_facts(const Record& record, std::vector<Fact>& facts) {
  Origins origins(record);
  using Role = interpreter::Fact::Role;
  // A place that was reached more than once keeps what is the same each time; one that has more than these in
  // turn keeps nothing.
  constexpr std::size_t most_seen = 64;
  // What the program itself calls is run on symbols, too, where it is to be shown: that only gives names, and
  // what no call of it shows.
  constexpr std::size_t program = 1;
  std::unordered_set<const syntax::FunctionStmt*> called;
  std::unordered_set<const syntax::ClassStmt*> constructed;
  for (const interpreter::Fact& fact : record.facts) {
    if (fact.root != program || !fact.function || !fact.function->stmt) continue;
    called.insert(fact.function->stmt);
    if (fact.function->owner && fact.function->name.text() == "__init__")
      constructed.insert(fact.function->owner->stmt);
  }
  const auto extra = [&](std::size_t root) {
    if (root <= program || root > record.roots.size()) return false;
    const interpreter::Root& run = *record.roots[root - 1];
    if (run.function) return called.contains(run.function->stmt);
    return run.owner && constructed.contains(run.owner->stmt);
  };
  std::vector<bool> is_extra(record.roots.size() + 1);
  for (std::size_t root = 0; root < is_extra.size(); ++root) is_extra[root] = extra(root);
  struct Raw {
    syntax::Span span;
    const interpreter::Fact* fact;
  };
  std::vector<Raw> raw;
  raw.reserve(record.facts.size());
  for (const interpreter::Fact& fact : record.facts)
    if (record.in_file(fact.place)) raw.push_back({record.span(fact.place), &fact});
  std::stable_sort(raw.begin(), raw.end(), [](const Raw& a, const Raw& b) {
    return std::tie(a.span.begin, a.span.end) < std::tie(b.span.begin, b.span.end);
  });
  for (std::size_t i = 0; i < raw.size();) {
    std::size_t next = i;
    std::optional<Fact> made;
    std::vector<Seen> seen;
    const Raw* last = nullptr;
    for (; next < raw.size() && raw[next].span == raw[i].span; ++next) {
      const interpreter::Fact& fact = *raw[next].fact;
      const bool is_place = fact.role != Role::expression;
      if (!made) {
        made.emplace();
        made->span = raw[i].span;
      }
      made->is_place = made->is_place || is_place;
      made->is_assignment = made->is_assignment || takes_hint(fact.role);
      const std::size_t root = fact.root;
      const bool general = fact.general;
      if (last && last->fact->value == fact.value && last->fact->tensor == fact.tensor &&
          last->fact->general == general && last->fact->root == root)
        continue;
      last = &raw[next];
      DisplayValue displayed = show(record, fact.value, fact.tensor);
      std::string text = displayed.short_text() + " " + displayed.device;
      const auto known = [&, in = root, is_general = general](const Seen& other) {
        return other.general == is_general && other.root == in && other.text == text;
      };
      if (std::any_of(seen.begin(), seen.end(), known)) continue;
      if (seen.size() == most_seen) {
        seen.clear();
        break;
      }
      const bool rooted = root > 0 && root <= record.roots.size();
      seen.push_back({std::move(displayed), std::move(text), general, root,
          rooted ? record.roots[root - 1]->owner : nullptr});
      if (!made->origins && fact.tensor) made->origins = origins.of(fact.tensor->shape);
    }
    while (next < raw.size() && raw[next].span == raw[i].span) ++next;
    const auto only_names = [&](const Seen& each) {
      return each.root < is_extra.size() && is_extra[each.root];
    };
    if (!std::all_of(seen.begin(), seen.end(), only_names))
      std::erase_if(seen, [&](const Seen& each) { return only_names(each) && !each.general; });
    if (auto value = common_value(std::move(seen))) {
      made->value = std::move(*value);
      if (made->value.kind != "tensor") made->origins.reset();
      if (made->is_place) made->name = std::string(record.text(raw[i].fact->place));
      facts.push_back(std::move(*made));
    }
    i = next;
  }
}

}  // namespace stepzero::snapshot
