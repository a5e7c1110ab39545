#include "syntax/scope.hpp"

#include <algorithm>

namespace stepzero::syntax {
namespace {

constexpr std::size_t few = 24;

template <class Keep>
List<Name> copy(const std::vector<Name>& names, std::pmr::memory_resource& arena, Keep keep) {
  const auto count = static_cast<std::size_t>(std::count_if(names.begin(), names.end(), keep));
  if (count == 0) return {};
  Name* out = static_cast<Name*>(arena.allocate(count * sizeof(Name), alignof(Name)));
  std::copy_if(names.begin(), names.end(), out, keep);
  return {out, count};
}

}  // namespace

bool Scope::contains(const Names& names, Name name) {
  if (names.order.size() > few) return names.seen.contains(name);
  return std::find(names.order.begin(), names.order.end(), name) != names.order.end();
}

void Scope::add(Names& names, Name name) {
  if (name.empty() || contains(names, name)) return;
  names.order.push_back(name);
  if (names.order.size() == few + 1) {
    names.seen.insert(names.order.begin(), names.order.end());
  } else if (names.order.size() > few) {
    names.seen.insert(name);
  }
}

void Scope::bind(const Expr* target) {
  if (!target) return;
  switch (target->kind) {
  case ExprKind::name: bind(as<NameExpr>(*target).id); break;
  case ExprKind::starred: bind(as<StarredExpr>(*target).value); break;
  case ExprKind::tuple:
    for (const Expr* element : as<TupleExpr>(*target).elements) bind(element);
    break;
  case ExprKind::list:
    for (const Expr* element : as<ListExpr>(*target).elements) bind(element);
    break;
  case ExprKind::error:
    for (const Expr* part : as<ErrorExpr>(*target).parts) bind(part);
    break;
  default: break;
  }
}

ScopeInfo Scope::finish(std::pmr::memory_resource& arena) const {
  const auto all = [](Name) { return true; };
  const auto local = [this](Name name) { return !contains(globals_, name) && !contains(nonlocals_, name); };
  return {copy(locals_.order, arena, local), copy(globals_.order, arena, all),
      copy(nonlocals_.order, arena, all), is_generator_, returns_value_};
}

}  // namespace stepzero::syntax
