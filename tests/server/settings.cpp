#include "server/configuration/settings.hpp"

#include <catch2/catch.hpp>

using namespace stepzero;
using namespace stepzero::server;

namespace {

rules::Finding finding(std::string_view rule, rules::Severity severity) {
  rules::Finding result;
  result.rule = rule;
  result.severity = severity;
  return result;
}

}  // namespace

TEST_CASE("rules are chosen by name and family") {
  Settings settings;
  CHECK(settings.wants("amp/unscaled-step"));
  settings.select = {"amp", "shape/matmul"};
  CHECK(settings.wants("amp/unscaled-step"));
  CHECK(settings.wants("shape/matmul"));
  CHECK_FALSE(settings.wants("shape/reshape"));
  CHECK_FALSE(settings.wants("amplifier/x"));
  settings.ignore = {"amp/unscaled-step"};
  CHECK_FALSE(settings.wants("amp/unscaled-step"));
}

TEST_CASE("severities are overridden, the nearer name first, then filtered") {
  Settings settings;
  settings.severity = {{"amp", rules::Severity::hint}, {"amp/unscaled-step", rules::Severity::warning}};
  settings.min_severity = rules::Severity::information;
  std::vector<rules::Finding> findings = {finding("amp/unscaled-step", rules::Severity::error),
      finding("amp/double-unscale", rules::Severity::error), finding("shape/matmul", rules::Severity::error)};
  settings.apply(findings);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].severity == rules::Severity::warning);
  CHECK(findings[1].rule == "shape/matmul");
}

TEST_CASE("later layers override earlier ones key by key") {
  Layer file;
  file.select = {{"amp"}};
  file.ignore = {{"loop"}};
  file.severity = {{"amp/a", rules::Severity::hint}, {"perf", std::nullopt}};
  file.inlay_hints = InlayHints::off;
  Layer editor;
  editor.ignore = std::vector<std::string>();
  editor.severity = {{"amp/a", rules::Severity::error}};
  const Settings settings = merge({&file, &editor});
  CHECK(settings.select == std::vector<std::string>{"amp"});
  CHECK(settings.ignore == std::vector<std::string>{"perf"});
  CHECK(settings.severity.at("amp/a") == rules::Severity::error);
  CHECK(settings.inlay_hints == InlayHints::off);
  CHECK(settings.fail_on == rules::Severity::error);
}

TEST_CASE("a family that is off keeps the rules with a severity of their own") {
  Layer layer;
  layer.severity = {{"stepzero", std::nullopt}, {"stepzero/configuration", rules::Severity::error}};
  CHECK(merge({&layer}).wants("stepzero/configuration"));
  layer.severity.erase("stepzero/configuration");
  CHECK_FALSE(merge({&layer}).wants("stepzero/configuration"));
}

TEST_CASE("excluded files") {
  Settings settings;
  CHECK_FALSE(settings.excludes("a.py"));
  settings.exclude = {"build/", "/top.py"};
  CHECK(settings.excludes("x/build/a.py"));
  CHECK(settings.excludes("top.py"));
  CHECK_FALSE(settings.excludes("x/top.py"));
}
