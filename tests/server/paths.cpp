#include "server/workspace/paths.hpp"

#include "folder.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::server;

TEST_CASE("normal paths") {
  CHECK(normal_path("a/b.py", "/w") == "/w/a/b.py");
  CHECK(normal_path("./a//b.py", "/w") == "/w/a/b.py");
  CHECK(normal_path("../b.py", "/w/x") == "/w/b.py");
  CHECK(normal_path("../../../b.py", "/w") == "/b.py");
  CHECK(normal_path("/a/./b/", "/w") == "/a/b");
  CHECK(normal_path(".", "/") == "/");
  CHECK(normal_path("", "/w") == "/w");
}

TEST_CASE("being inside a folder goes by whole names") {
  CHECK(is_inside("/a/b", "/a"));
  CHECK(is_inside("/a", "/a"));
  CHECK(is_inside("/a", "/"));
  CHECK_FALSE(is_inside("/ab", "/a"));
  CHECK(relative_to("/a/b/c", "/a") == "b/c");
  CHECK(relative_to("/a", "/") == "a");
  CHECK(parent_folder("/a") == "/");
  CHECK(join("/", "a") == "/a");
  CHECK(file_name("/a/b.py") == "b.py");
}

TEST_CASE("imports start from the workspace, its src, the file's folder and the top of its package") {
  const Folder folder;
  folder.write("src/pkg/__init__.py", "");
  folder.write("src/pkg/inner/__init__.py", "");
  const std::string file = folder.write("src/pkg/inner/model.py", "");
  CHECK(package_top(file) == folder / "src");
  CHECK(import_roots({folder.path}, file) ==
      std::vector<std::string>{folder.path, folder / "src", folder / "src/pkg/inner"});
  CHECK(import_roots({}, folder / "script.py") == std::vector<std::string>{folder.path});
}
