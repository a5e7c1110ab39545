#include "server/workspace/discovery.hpp"

#include "folder.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::server;

namespace {

std::vector<std::string> found(const Folder& folder, const std::string& below = {}) {
  const std::string start = below.empty() ? folder.path : folder / below;
  std::vector<std::string> names;
  for (const std::string& file : find_python_files(start).files) {
    names.push_back(file.substr(folder.path.size() + 1));
    CHECK_FALSE(is_left_out(file, start));
  }
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Python files of a folder, sorted, and nothing else") {
  const Folder folder;
  for (const char* name :
      {"b.py", "a.py", "pkg/m.py", "pkg/a.py", "stub.pyi", "notes.txt", ".hidden/x.py", "node_modules/x.py",
          "pkg/__pycache__/x.py", "venv/pyvenv.cfg", "venv/lib/x.py", "._a.py", ".git/hooks/x.py"}) {
    folder.write(name, "");
  }
  std::filesystem::create_directory(folder / "folder.py");
  CHECK(found(folder) == Names{"a.py", "b.py", "pkg/a.py", "pkg/m.py"});
  CHECK(is_left_out(folder / "venv/lib/x.py", folder.path));
  CHECK(is_left_out(folder / ".hidden/x.py", folder.path));
}

TEST_CASE("launches of an editor and of workflows are documents of the folder") {
  const Folder folder;
  for (const char* name : {"train.py", ".vscode/launch.json", ".vscode/tool.py", ".vscode/deep/launch.json",
           ".github/workflows/train.yml", ".github/workflows/help.py", ".github/scripts/run.sh",
           ".github/labels.yml", ".hidden/run.sh", "run.sh"}) {
    folder.write(name, "");
  }
  const Discovery discovery = find_python_files(
      folder.path, nullptr, NotebookFiles::left_out, Documents::included);
  CHECK(discovery.files == Names{folder / "train.py"});
  CHECK(discovery.documents ==
      Names{folder / ".github/labels.yml", folder / ".github/workflows/train.yml",
          folder / ".vscode/launch.json", folder / "run.sh"});
  for (const std::string& path : discovery.documents) CHECK_FALSE(is_left_out(path, folder.path));
  for (const char* name : {".vscode/tool.py", ".vscode/deep/launch.json", ".github/workflows/help.py",
           ".github/scripts/run.sh", ".hidden/run.sh"})
    CHECK(is_left_out(folder / name, folder.path));
}

TEST_CASE("ignore files of the folder, below it and above it") {
  const Folder folder;
  folder.write(".git/info/exclude", "secret.py\n");
  folder.write(".gitignore", "build/\n/top.py\n*_gen.py\n");
  folder.write("src/.gitignore", "!keep_gen.py\nlocal.py\n");
  for (const char* name : {"top.py", "src/top.py", "build/x.py", "src/build/x.py", "a_gen.py",
           "src/keep_gen.py", "local.py", "src/local.py", "secret.py", "src/deep/local.py"}) {
    folder.write(name, "");
  }
  CHECK(found(folder) == Names{"local.py", "src/keep_gen.py", "src/top.py"});
  CHECK(found(folder, "src") == Names{"src/keep_gen.py", "src/top.py"});
  CHECK(is_left_out(folder / "src/local.py", folder.path));
}

TEST_CASE("outside a repository nothing above the folder counts") {
  const Folder folder;
  folder.write(".gitignore", "*.py\n");
  folder.write("src/a.py", "");
  CHECK(found(folder).empty());
  CHECK(found(folder, "src") == Names{"src/a.py"});
}

TEST_CASE("links loop nowhere and count nothing twice") {
  const Folder folder;
  const Folder background;
  background.write("other.py", "");
  folder.write("pkg/a.py", "");
  std::filesystem::create_directory_symlink("..", folder / "pkg/up");
  std::filesystem::create_symlink("self.py", folder / "self.py");
  std::filesystem::create_symlink("pkg/a.py", folder / "a_link.py");
  std::filesystem::create_symlink(background / "other.py", folder / "other.py");
  std::filesystem::create_symlink("missing.py", folder / "dangling.py");
  CHECK(found(folder) == Names{"other.py", "pkg/a.py"});
}

TEST_CASE("a folder that is not there is named") {
  const Discovery discovery = find_python_files("/nowhere/at/all");
  CHECK(discovery.files.empty());
  REQUIRE(discovery.unreadable.size() == 1);
  CHECK(discovery.unreadable[0].path == "/nowhere/at/all");
}
