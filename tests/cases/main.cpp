// Each heading of tests/cases/**/*.md is a Catch2 test. With STEPZERO_WRITE_FIXES=1 in the environment the
// after-fix fences that differ are rewritten, and with STEPZERO_WRITE_REVEALS=1 silent programs get a reveal:
// read what they then say.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "judge.hpp"
#include "oracle.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>

namespace {

using namespace stepzero::cases;

struct Document {
  std::filesystem::path path;
  std::string name, text;
  std::vector<Case> cases;
};

std::size_t judged = 0;  // cases so far

class Heading : public Catch::ITestInvoker {
public:
  Heading(Case& tested, Oracle& oracle, const Document& document, const Writing& writing)
      : case_(tested), oracle_(oracle), document_(document), writing_(writing) {}
  void invoke() const override {
    ++judged;
    for (Program& program : case_.programs) {
      std::vector<std::string> complaints = judge(program, writing_);
      if (!writing_.fixes)
        for (std::string& complaint : oracle_.judge(program)) complaints.push_back(std::move(complaint));
      for (const std::string& complaint : complaints) FAIL_CHECK(document_.name + ": " + complaint);
    }
    SUCCEED();
  }

private:
  Case& case_;
  Oracle& oracle_;
  const Document& document_;
  const Writing& writing_;
};

// No outcome is recorded for a text that is gone.
class NothingStale : public Catch::ITestInvoker {
public:
  NothingStale(Oracle& oracle, std::vector<Document>& documents) : oracle_(oracle), documents_(documents) {}
  void invoke() const override {
    for (Document& document : documents_)
      for (Case& tested : document.cases)
        for (Program& program : tested.programs) oracle_.judge(program);
    for (const std::string& hash : oracle_.stale())
      FAIL_CHECK("oracle.json: " + hash + " belongs to no block: run tests/cases/oracle.py --record");
    SUCCEED();
  }

private:
  Oracle& oracle_;
  std::vector<Document>& documents_;
};

// The table of all messages says what the cases say, and nothing in it is against the style sheet in
// CONTRIBUTING.md.
class Messages : public Catch::ITestInvoker {
public:
  Messages(std::filesystem::path path, std::size_t cases, bool write)
      : path_(std::move(path)), cases_(cases), write_(write) {}
  void invoke() const override;

private:
  std::filesystem::path path_;
  std::size_t cases_;
  bool write_;
};

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Words that the style sheet has better ones for.
constexpr std::string_view avoided[] = {" behind ", "for ever ", "for ever.", "for ever,", " is to be ",
    " are to be ", " anew", "comes here", "Nobody ", " nobody ", " who else", " what else", " without a word",
    "in front of", "would meet"};

void Messages::invoke() const {
  if (judged != cases_) return;  // some of the cases only: what the others say is not known
  std::string text =
      "# Every message of every rule, as the cases have it: of those that differ only in code and numbers one. Written by\n"
      "# STEPZERO_WRITE_MESSAGES=1 test_cases; the style is that of CONTRIBUTING.md.\n";
  for (const auto& [rule, said] : messages()) {
    text += "\n" + rule + "\n";
    std::vector<std::string> lines;
    lines.reserve(said.size());
    for (const auto& [key, message] : said)
      lines.push_back("  " + key.substr(0, key.find(':')) + ": " + message + "\n");
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) text += line;
    for (const std::string& line : lines)
      for (const std::string_view word : avoided)
        if (line.find(word) != std::string::npos)
          FAIL_CHECK(rule + " says \"" + std::string(word) + "\": " + line);
  }
  if (write_)
    std::ofstream(path_, std::ios::binary) << text;
  else if (read(path_) != text)
    FAIL_CHECK(
        "messages.txt is not what the cases say: run STEPZERO_WRITE_MESSAGES=1 test_cases, and read what it then says");
  SUCCEED();
}

// Silence proves nothing where the engine may have given up.
class NoneUnrevealed : public Catch::ITestInvoker {
public:
  explicit NoneUnrevealed(const std::vector<Document>& documents) : documents_(documents) {}
  void invoke() const override {
    for (const Document& document : documents_)
      for (const Case& tested : document.cases)
        for (const Program& program : tested.programs)
          if (is_silent_unseen(program))
            FAIL_CHECK(document.name
                << ": line " << program.line
                << ": a silent program without a reveal: mark it `silent`, and reveal a value in it");
    SUCCEED();
  }

private:
  const std::vector<Document>& documents_;
};

// Puts what silent programs could reveal after its lines of the Markdown.
void reveal(const Document& document) {
  std::map<std::uint32_t, std::string, std::greater<>> reveals;  // by line, last first
  for (const Case& tested : document.cases)
    for (const Program& program : tested.programs)
      if (const File& file = program.files.back(); !file.could_reveal.empty())
        reveals[file.places[file.could_reveal_at]] = file.could_reveal;
  std::istringstream in(document.text);
  std::string text;
  std::uint32_t number = 0;
  for (std::string line; std::getline(in, line);) {
    const auto found = reveals.find(++number);
    text += line + (found != reveals.end() ? "  # reveal: " + found->second : "") + "\n";
  }
  if (!reveals.empty()) std::ofstream(document.path, std::ios::binary) << text;
}

// Puts the texts of the after-fix fences back into the Markdown, last first.
void rewrite(const Document& document) {
  std::vector<const File*> files;
  for (const Case& tested : document.cases)
    for (const Program& program : tested.programs)
      for (const AfterFix& after : program.after)
        if (after.file.expected.empty()) files.push_back(&after.file);
  std::sort(files.begin(), files.end(), [](const File* a, const File* b) { return a->begin > b->begin; });
  std::string text = document.text;
  for (const File* file : files) {
    std::string lines = file->text;
    lines.erase(std::remove(lines.begin(), lines.end(), '\r'), lines.end());
    if (!lines.empty() && lines.back() != '\n') lines += '\n';
    text.replace(file->begin, file->end - file->begin, lines);
  }
  if (text != document.text) std::ofstream(document.path, std::ios::binary) << text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path root = STEPZERO_CASES;
  const Writing writing{
      std::getenv("STEPZERO_WRITE_FIXES") != nullptr, std::getenv("STEPZERO_WRITE_REVEALS") != nullptr};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().extension() == ".md" && entry.path().filename() != "README.md")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Document> documents;
  for (const auto& path : paths) {
    Document document{path, path.lexically_relative(root).generic_string(), read(path), {}};
    try {
      document.cases = read_markdown(document.text);
    } catch (const std::exception& error) {
      std::cerr << document.name << ": " << error.what() << "\n";
      return 2;
    }
    documents.push_back(std::move(document));
  }
  Oracle oracle((root / "oracle.json").string());
  for (Document& document : documents)
    for (Case& tested : document.cases)
      Catch::AutoReg(new Heading(tested, oracle, document, writing),
          Catch::SourceLineInfo(document.name.c_str(), tested.line), "",
          Catch::NameAndTags(document.name + ": " + tested.heading));
  std::size_t count = 0;
  for (const Document& document : documents) count += document.cases.size();
  const bool write_messages = std::getenv("STEPZERO_WRITE_MESSAGES") != nullptr;
  // NOLINTBEGIN(bugprone-unused-raii): what they do, they do in their constructors
  if (write_messages || std::getenv("STEPZERO_MESSAGES"))
    Catch::AutoReg(new Messages(root / "messages.txt", count, write_messages), CATCH_INTERNAL_LINEINFO, "",
        Catch::NameAndTags("messages.txt says what the cases say"));
  Catch::AutoReg(new NothingStale(oracle, documents), CATCH_INTERNAL_LINEINFO, "",
      Catch::NameAndTags("oracle.json holds nothing stale"));
  Catch::AutoReg(new NoneUnrevealed(documents), CATCH_INTERNAL_LINEINFO, "",
      Catch::NameAndTags("each silent program reveals a value"));
  // NOLINTEND(bugprone-unused-raii)
  const int status = Catch::Session().run(argc, argv);
  for (const Document& document : documents) {
    if (writing.fixes) rewrite(document);
    if (writing.reveals) reveal(document);
  }
  return status;
}
