#include "footprint/order.hpp"

#include <algorithm>

namespace stepzero::footprint {

Route route_of(const interpreter::CallSite* calls, values::Place place) {
  Route route{place};
  for (; calls; calls = calls->outer) route.push_back(calls->place);
  std::ranges::reverse(route);
  return route;
}

Route part_inside(const interpreter::LoopEvent* loop, const Route& route) {
  if (!loop || !loop->stmt) return {};
  for (auto at = route.begin(); at != route.end(); ++at)
    if (at->chunk == loop->place.chunk && loop->stmt->span.holds(at->span)) return {at, route.end()};
  return {};
}

bool before(const Route& a, const Route& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].chunk != b[i].chunk) return false;
    if (a[i].span.begin != b[i].span.begin) return a[i].span.begin < b[i].span.begin;
  }
  return false;
}

namespace {
std::uint32_t begin_in(const syntax::Block& block, syntax::Span span) {
  using syntax::StmtKind;
  for (const syntax::Stmt* stmt : block) {
    if (!stmt->span.holds(span)) continue;
    const auto first_in = [&](std::initializer_list<const syntax::Block*> parts) {
      for (const syntax::Block* part : parts)
        if (const std::uint32_t begin = begin_in(*part, span)) return begin;
      return stmt->span.begin;
    };
    switch (stmt->kind) {
    case StmtKind::with: return first_in({&syntax::as<syntax::WithStmt>(*stmt).body});
    case StmtKind::if_:
      return first_in({&syntax::as<syntax::IfStmt>(*stmt).body, &syntax::as<syntax::IfStmt>(*stmt).orelse});
    case StmtKind::try_:
      return first_in({&syntax::as<syntax::TryStmt>(*stmt).body, &syntax::as<syntax::TryStmt>(*stmt).orelse});
    default: return stmt->span.begin;
    }
  }
  return 0;
}
}  // namespace

std::uint32_t statement_of(const interpreter::LoopEvent& loop, const Route& route) {
  const syntax::Block& body = loop.stmt->kind == syntax::StmtKind::for_
      ? syntax::as<syntax::ForStmt>(*loop.stmt).body
      : syntax::as<syntax::WhileStmt>(*loop.stmt).body;
  return begin_in(body, route.front().span);
}

bool same_way(const interpreter::CallSite* a, const interpreter::CallSite* b) {
  for (; a && b && a != b; a = a->outer, b = b->outer)
    if (!(a->place == b->place)) return false;
  return a == b;
}

}  // namespace stepzero::footprint
