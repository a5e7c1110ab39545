#include "server/command_line/write_file.hpp"

#include "folder.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using stepzero::server::replace_file;
namespace fs = std::filesystem;

TEST_CASE("a file is replaced whole and keeps its permissions") {
  const Folder folder;
  const std::string file = folder.write("a.py", "old\r\n");
  fs::permissions(file, fs::perms(0754));
  CHECK(replace_file(file, "old\r\n", "new\r\n").empty());
  CHECK(Folder::read(file) == "new\r\n");
  CHECK(fs::status(file).permissions() == fs::perms(0754));
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("a link stays a link") {
  const Folder folder;
  const std::string file = folder.write("a.py", "old");
  fs::create_symlink("a.py", folder / "link.py");
  CHECK(replace_file(folder / "link.py", "old", "new").empty());
  CHECK(fs::is_symlink(folder / "link.py"));
  CHECK(Folder::read(file) == "new");
}

TEST_CASE("what changed meanwhile is left alone") {
  const Folder folder;
  const std::string file = folder.write("a.py", "theirs");
  CHECK_FALSE(replace_file(file, "old", "new").empty());
  CHECK(Folder::read(file) == "theirs");
  CHECK_FALSE(replace_file(folder / "gone.py", "old", "new").empty());
}

TEST_CASE("a protected file is left alone") {
  if (::geteuid() == 0) return;  // nothing is protected from root
  const Folder folder;
  const std::string file = folder.write("a.py", "old");
  fs::permissions(file, fs::perms(0444));
  CHECK_FALSE(replace_file(file, "old", "new").empty());
  CHECK(Folder::read(file) == "old");
}
