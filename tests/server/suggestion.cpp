#include "server/configuration/suggestion.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::server;

TEST_CASE("the nearest word, if it is near") {
  const std::vector<std::string> rules = {"amp", "amp/unscaled-step", "deadlock/early-exit", "shape/matmul"};
  CHECK(nearest_word("amp/unscald-step", rules) == "amp/unscaled-step");
  CHECK(nearest_word("unscaled-step", rules) == "amp/unscaled-step");
  CHECK(nearest_word("shape/matmlu", rules) == "shape/matmul");
  CHECK(nearest_word("AMP/unscaled_step", rules) == "amp/unscaled-step");
  CHECK(nearest_word("apm", rules) == "amp");
  CHECK(nearest_word("quantum", rules).empty());
  CHECK(nearest_word("", rules).empty());
  CHECK(nearest_word(std::string(100'000, 'x'), rules).empty());
  CHECK(nearest_word("x", {}).empty());
  CHECK(did_you_mean("apm", rules) == " (did you mean \"amp\"?)");
  CHECK(did_you_mean("zzz", rules).empty());
}
