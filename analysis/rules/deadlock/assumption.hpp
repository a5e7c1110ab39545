// What is taken for granted only where everything else has told nothing. Apart from RankTrace, as only who
// explores knows it.
#pragma once

#include "interpreter/calls/noted_at.hpp"
#include "rules/deadlock/trace.hpp"

#include <vector>

namespace stepzero::rules {

// Questions to code that is not seen have one answer for all ranks, unless they ask which rank it is; where
// there are too many ways a spread of them is followed.
inline constexpr Assumption granted_agreement = static_cast<Assumption>(
    static_cast<std::uint8_t>(Assumption::numbers) + 1);

// Nothing; but where there are too many ways, of branches on which nothing depends one side is followed, and
// what a run that was broken off came to counts.
inline constexpr Assumption granted_balance = static_cast<Assumption>(
    static_cast<std::uint8_t>(Assumption::numbers) + 2);

// The program was told its rank, where it asks for that: `args.local_rank != -1`.
inline constexpr Assumption granted_rank = static_cast<Assumption>(
    static_cast<std::uint8_t>(Assumption::numbers) + 3);
// The questions for that.
inline std::vector<values::Cond> questions_for_rank(const interpreter::Record& record) {
  std::vector<values::Cond> all;
  for (const symbolic::Role role : {symbolic::Role::rank, symbolic::Role::local_rank})
    interpreter::each_noted(record, interpreter::told(role), [&](values::Cond question) {
      if (record.symbols.form(question) != symbolic::Context::Form::constant) all.push_back(question);
    });
  return all;
}

}  // namespace stepzero::rules
