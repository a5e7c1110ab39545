// URIs: what they name in the file system, and that paths survive the way there and back.
#include "protocol/uri.hpp"

#include <catch2/catch.hpp>

using namespace stepzero::protocol;
using Path = std::optional<std::string>;

TEST_CASE("file URIs of any spelling name their path") {
  CHECK(path_of("file:///a/b.py") == Path("/a/b.py"));
  CHECK(path_of("file:/a/b.py") == Path("/a/b.py"));
  CHECK(path_of("FILE:///a/b.py") == Path("/a/b.py"));
  CHECK(path_of("file://localhost/a") == Path("/a"));
  CHECK(path_of("file:///a%20b/%C3%A4.py") == Path("/a b/ä.py"));
  CHECK(path_of("file:///a%2fb%25.py") == Path("/a/b%.py"));
  CHECK(path_of("file:///%F0%9F%99%82") == Path("/🙂"));
  CHECK(path_of("file:///%ff") == Path("/\xff"));
  CHECK(path_of("file:///c%3A/x.py") == Path("/c:/x.py"));
  CHECK(path_of("file:///a.py?q#f") == Path("/a.py"));
  CHECK(path_of("file:///100%") == Path("/100%"));
  CHECK(path_of("file:///%zz%4") == Path("/%zz%4"));
}

TEST_CASE("what names no local file has no path") {
  for (const char* uri : {"", "/a/b.py", "a.py", "untitled:Untitled-1", "http://a/b", "file://host/a",
           "file:a.py", "file://", "file:///a%00b", ":", "1a:b", "vscode-notebook-cell:/a.ipynb#x"})
    CHECK_FALSE(path_of(uri));
}

TEST_CASE("every path goes to a URI and back") {
  std::string bytes = "/";
  for (int byte = 1; byte < 256; ++byte) bytes += static_cast<char>(byte);
  for (const std::string& path : {std::string("/"), std::string("/a b/ä?#%.py"), std::string("//a"), bytes}) {
    const std::string uri = uri_of(path);
    CHECK(path_of(uri) == Path(path));
    CHECK(uri.find_first_of(" ?#") == std::string::npos);
  }
  CHECK(uri_of("/a b/x-1_2.~py") == "file:///a%20b/x-1_2.~py");
}

TEST_CASE("documents without a file and cells of notebooks are known by their scheme") {
  CHECK(is_untitled("untitled:Untitled-1"));
  CHECK_FALSE(is_untitled("untitled"));
  CHECK(is_notebook_cell("vscode-notebook-cell:/a/b%20c.ipynb#W2sZmlsZQ%3D%3D"));
  CHECK(notebook_path_of("vscode-notebook-cell:/a/b%20c.ipynb#W2sZmlsZQ%3D%3D") == Path("/a/b c.ipynb"));
  CHECK_FALSE(notebook_path_of("file:///a/b.ipynb"));
}

TEST_CASE("spellings of one file are one document, other URIs are what they say") {
  CHECK(same_document("file:///c%3A/x.py", "file:///c:/x.py"));
  CHECK(same_document("untitled:1", "untitled:1"));
  CHECK_FALSE(same_document("untitled:a", "untitled:%61"));
  CHECK_FALSE(same_document("file:///a", "file:///b"));
  const auto parts = split_uri("a+b://host:1/p/q?x=1#f#g");
  REQUIRE(parts);
  CHECK(parts->scheme == "a+b");
  CHECK(parts->authority == "host:1");
  CHECK(parts->path == "/p/q");
  CHECK(parts->query == "x=1");
  CHECK(parts->fragment == "f#g");
}
