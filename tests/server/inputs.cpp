#include "server/command_line/inputs.hpp"

#include "folder.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::server;

namespace {

Inputs inputs_of(const std::vector<std::string>& paths) {
  ConfigurationFiles configuration;
  return find_inputs(paths, "", configuration);
}

}  // namespace

TEST_CASE("files are named as they were asked for, and checked once") {
  const Folder folder;
  const std::string a = folder.write("a.py", "");
  const std::string b = folder.write("pkg/b.py", "");
  const Inputs inputs = inputs_of({b, folder / "./pkg//", folder.path, folder / "pkg/../a.py"});
  CHECK(inputs.files == std::vector<std::string>{b, a});
  CHECK(inputs.names.displayed(b) == b);
  CHECK(inputs.unreadable.empty());
}

TEST_CASE("what cannot be read is named") {
  const Folder folder;
  const Inputs inputs = inputs_of({folder / "none.py", "", "/dev/null", folder.path});
  CHECK(inputs.files.empty());
  REQUIRE(inputs.unreadable.size() == 3);
  CHECK(inputs.unreadable[0].name == folder / "none.py");
  CHECK(inputs.notes == std::vector<std::string>{"no Python files in " + folder.path});
}

TEST_CASE("excluded files are checked only when they are named") {
  const Folder folder;
  folder.write("stepzero.toml", "exclude = [\"build/\"]\n");
  const std::string built = folder.write("build/x.py", "");
  const std::string kept = folder.write("kept.py", "");
  CHECK(inputs_of({folder.path}).files == std::vector<std::string>{kept});
  CHECK(inputs_of({built}).files == std::vector<std::string>{built});
  CHECK(inputs_of({folder / "build"}).notes ==
      std::vector<std::string>{
          "all Python files in " + (folder / "build") + " are excluded by the settings"});
}

TEST_CASE("imports start from the project") {
  const Folder folder;
  folder.write("pyproject.toml", "");
  const Inputs inputs = inputs_of({folder.write("deep/er/a.py", "")});
  CHECK(inputs.workspace_folders.front() == folder.path);
}

TEST_CASE("other files are named relative to the current folder") {
  const Names names("/project");
  CHECK(names.displayed("/project/a/b.py") == "a/b.py");
  CHECK(names.displayed("/elsewhere/other.py") == "/elsewhere/other.py");
}
