#include "rules/fact_index.hpp"

#include <memory>
#include <typeindex>

namespace stepzero::rules {

using values::Kind;

const FactIndex& FactIndex::of(const interpreter::Record& record) {
  auto& known = record.derived[std::type_index(typeid(FactIndex))];
  if (!known) {
    auto made = std::make_shared<FactIndex>();
    for (const interpreter::Fact& fact : record.facts) {
      if (fact.value.is(Kind::dict))
        (fact.place == fact.value.object()->born ? made->displays : made->dictionaries).push_back(&fact);
      else if (fact.value.is(Kind::boolean) || fact.value.is(Kind::choice))
        made->conditions.push_back(&fact);
      else if (!fact.tensor && fact.value.is(Kind::unknown) && fact.value.as<values::Unknown>()->is_gradient)
        made->gradients.push_back(&fact);
    }
    known = std::move(made);
  }
  return *static_cast<const FactIndex*>(known.get());
}

}  // namespace stepzero::rules
