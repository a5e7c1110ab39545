#include "server/workspace/files.hpp"

#include "folder.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace stepzero;
using namespace stepzero::server;

TEST_CASE("a module is kept until its file changes") {
  const Folder folder;
  const std::string file = folder.write("a.py", "x = 1\n");
  ModuleCache cache;
  const auto first = cache.module(file);
  REQUIRE(first);
  CHECK(first->text->bytes() == "x = 1\n");
  CHECK(cache.module(file) == first);
  folder.write("a.py", "x = 12\n");
  CHECK(cache.module(file)->text->bytes() == "x = 12\n");
  std::filesystem::remove(file);
  CHECK_FALSE(cache.module(file));
}

TEST_CASE("what is no text has no module") {
  const Folder folder;
  ModuleCache cache;
  CHECK_FALSE(cache.module(folder.write("nul.py", std::string("x = 1\n\0", 7))));
  CHECK_FALSE(cache.module(folder.path));
  CHECK_FALSE(cache.module(folder / "none.py"));
  CHECK_FALSE(cache.module("/dev/zero"));
  CHECK(cache.module(folder.write("late.py", std::string(9000, '#') + std::string(1, '\0'))));
  CHECK(cache.module(folder.write("broken.py", "x = '\xFF\xC3'\n")));
  CHECK(cache.module(folder.write("empty.py", "")));
}

TEST_CASE("the cache holds what was used last") {
  const Folder folder;
  ModuleCache cache(20'000);
  const std::string text(6'000, '#');
  const auto first = cache.module(folder.write("0.py", text));
  const auto second = cache.module(folder.write("1.py", text));
  CHECK(cache.module(folder / "0.py") == first);
  cache.module(folder.write("2.py", text));
  CHECK(cache.module(folder / "0.py") == first);
  cache.module(folder.write("3.py", text));
  CHECK(cache.module(folder / "1.py") != second);
}

TEST_CASE("an open document stands before its file") {
  const Folder folder;
  const std::string file = folder.write("a.py", "x = 1\n");
  auto overlay = std::make_shared<Overlay>();
  (*overlay)[file] = syntax::parse("x = 2\n");
  (*overlay)[folder / "unsaved.py"] = syntax::parse("y = 3\n");
  const FileSources sources(std::make_shared<ModuleCache>(), {folder.path}, overlay);
  CHECK(sources.module(file)->text->bytes() == "x = 2\n");
  CHECK(sources.is_file(folder / "unsaved.py"));
  CHECK_FALSE(sources.is_file(folder.path));
  CHECK(sources.is_folder(folder.path));
  CHECK(sources.roots() == std::vector<std::string>{folder.path});
}

TEST_CASE("a run sees one moment") {
  const Folder folder;
  const std::string file = folder.write("a.py", "x = 1\n");
  const FileSources sources(std::make_shared<ModuleCache>(), {});
  const auto module = sources.module(file);
  CHECK_FALSE(sources.is_file(folder / "b.py"));
  folder.write("a.py", "x = 1234\n");
  folder.write("b.py", "");
  CHECK(sources.module(file) == module);
  CHECK_FALSE(sources.is_file(folder / "b.py"));
}

TEST_CASE("many threads ask one cache") {
  const Folder folder;
  std::vector<std::string> files;
  files.reserve(20);
  for (int i = 0; i < 20; ++i)
    files.push_back(folder.write(std::to_string(i) + ".py", std::string(500, '#')));
  ModuleCache cache(5'000);
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        for (const std::string& file : files) cache.module(file);
      }
    });
  }
  threads.clear();
  CHECK(cache.module(files[0])->text->size() == 500);
}
