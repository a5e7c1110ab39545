// Regular expressions find what Python's `re` found (record_expressions.py), or say that they do not know.
#include "libraries/python/expressions.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace stepzero;
using libraries::RegularExpression;
using nlohmann::json;
using Flags = RegularExpression::Flags;
using Place = RegularExpression::Place;

namespace {

Flags flags_of(int python) {
  Flags all = Flags::none;
  if (python & 2) all = all | Flags::ignore_case;
  if (python & 8) all = all | Flags::multi_line;
  if (python & 16) all = all | Flags::dot_all;
  return all;
}

json groups(const libraries::Match& match) {
  json made = json::array();
  for (const auto& span : match.groups) made.push_back(span ? json{span->first, span->second} : json{});
  return made;
}
// Null where it is not known.
std::optional<json> all_of(const RegularExpression& expression, const std::string& text) {
  json made = json::array();
  const bool known = expression.each(text, Place::anywhere,
      [&](const libraries::Match& match) { return made.push_back(groups(match)), true; });
  return known ? std::optional(made) : std::nullopt;
}
std::optional<json> first_of(const RegularExpression& expression, const std::string& text, Place place) {
  json made;
  const bool known = expression.each(
      text, place, [&](const libraries::Match& match) { return made = groups(match), false; });
  return known ? std::optional(made) : std::nullopt;
}

}  // namespace

TEST_CASE("Regular expressions find what Python finds") {
  std::ifstream file(STEPZERO_EXPRESSIONS);
  std::size_t answered = 0, not_known = 0, refused = 0;
  for (std::string line; std::getline(file, line);) {
    const json row = json::parse(line);
    const std::string pattern = row["pattern"], text = row["text"];
    INFO(line);
    const auto expression = RegularExpression::read(pattern, flags_of(row["flags"]));
    if (row.contains("error")) {
      ++refused;
      CHECK_FALSE(expression);
      continue;
    }
    const auto all = expression ? all_of(*expression, text) : std::nullopt;
    if (!all) {
      ++not_known;
      continue;
    }
    ++answered;
    CHECK(*all == row["all"]);
    CHECK(first_of(*expression, text, Place::at_start) == row["match"]);
    CHECK(first_of(*expression, text, Place::whole) == row["fullmatch"]);
  }
  // Of a few patterns PCRE2 means something else, and they are left alone.
  CHECK(answered > 2'300);
  CHECK(not_known < 100);
  CHECK(refused > 600);
}

TEST_CASE("A regular expression that takes too long is not known") {
  const auto expression = RegularExpression::read("(a+)+$", Flags::none);
  REQUIRE(expression);
  CHECK_FALSE(all_of(*expression, std::string(40, 'a') + "b"));
  CHECK_FALSE(all_of(*expression, "\xc3\xa4"));
  CHECK_FALSE(RegularExpression::read("\xc3\xa4", Flags::none));
}
