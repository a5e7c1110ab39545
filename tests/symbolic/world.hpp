// Short names for what every test of expressions says often.
#pragma once

#include "symbolic/expression.hpp"

#include <utility>

namespace stepzero::symbolic {

struct World : Context {
  Int atom(std::string name, std::optional<std::int64_t> lower = {}, std::optional<std::int64_t> upper = {}) {
    return fresh({std::move(name), lower, upper, Sharing::uniform, Role::none});
  }
  Int known_to(Sharing sharing, std::string name) {
    return fresh({std::move(name), {}, {}, sharing, Role::none});
  }
  Int c(std::int64_t value) { return constant(value); }
  Cond eq(Int a, Int b) { return compared(Compare::eq, a, b); }
  Cond ne(Int a, Int b) { return compared(Compare::ne, a, b); }
  Cond lt(Int a, Int b) { return compared(Compare::lt, a, b); }
  Cond le(Int a, Int b) { return compared(Compare::le, a, b); }
  Cond gt(Int a, Int b) { return compared(Compare::gt, a, b); }
  Cond ge(Int a, Int b) { return compared(Compare::ge, a, b); }
};

}  // namespace stepzero::symbolic
