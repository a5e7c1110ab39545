#include "server/features/steady_hints.hpp"

#include <catch2/catch.hpp>

using namespace stepzero;
using namespace stepzero::server;

namespace {

Hint hint(std::uint32_t at, const std::string& label) { return {at, label, {}, false}; }

std::string shown(const std::vector<Hint>& hints) {
  std::string text;
  for (const Hint& each : hints) text += std::to_string(each.at) + each.label + " ";
  return text;
}

}  // namespace

TEST_CASE("what is lost while somebody types stays where it stands, until there is a pause") {
  SteadyHints steady;
  CHECK(shown(steady.with({hint(1, "a"), hint(20, "b"), hint(40, "c")}, false)) == "1a 20b 40c ");
  steady.edited({{{25, 25}, "xyz"}});
  CHECK(shown(steady.with({hint(1, "a")}, true)) == "1a 20b 43c ");
  CHECK(steady.kept());
  steady.edited({{{26, 27}, ""}});
  CHECK(shown(steady.with({hint(1, "a"), hint(42, "new")}, true)) == "1a 20b 42new ");
  CHECK(shown(steady.with({hint(1, "a"), hint(42, "new")}, false)) == "1a 42new ");
  CHECK_FALSE(steady.kept());
}

TEST_CASE("a name that is edited loses its hint; one beside which something begins does not") {
  const auto after = [](syntax::Edit edit) {
    SteadyHints steady;
    steady.with({hint(5, "a")}, false);
    steady.edited({edit});
    return shown(steady.with({}, true));
  };
  CHECK(after({{5, 5}, "s"}) == "");
  CHECK(after({{5, 5}, " "}) == "5a ");
  CHECK(after({{5, 9}, " = 3"}) == "5a ");
  CHECK(after({{4, 5}, ""}) == "");
  CHECK(after({{0, 9}, "y"}) == "");
  CHECK(after({{0, 0}, "\n"}) == "6a ");
  CHECK(after({{0, 3}, ""}) == "2a ");
}
