#include "server/command_line/inputs.hpp"

#include "documents/document.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/workspace/discovery.hpp"
#include "server/workspace/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace stepzero::server {
namespace {

namespace fs = std::filesystem;

// The path as the user wrote it, without needless parts: "./a//b.py" is "a/b.py".
std::string tidy(const std::string& path) {
  std::string result = fs::path(path).lexically_normal().generic_string();
  if (result.size() > 1 && result.ends_with('/')) result.pop_back();
  return result;
}

class Finder {
public:
  Finder(const std::string& stdin_filename, ConfigurationFiles& configuration)
      : inputs_(current_folder()), stdin_filename_(stdin_filename), configuration_(configuration) {}

  Inputs run(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      if (path == "-") {
        standard_input();
        continue;
      }
      const std::string normal = normal_path(path, inputs_.names.current_folder());
      std::error_code error;
      if (path.empty()) {
        inputs_.unreadable.push_back({"\"\"", "no such file or folder"});
      } else if (fs::is_directory(path, error)) {
        folder(normal, tidy(path));
      } else {
        file(normal, tidy(path));
      }
    }
    roots();
    return std::move(inputs_);
  }

private:
  void add(const std::string& path, std::string name) {
    if (!seen_.insert(path).second) return;
    inputs_.names.give(path, std::move(name));
    inputs_.files.push_back(path);
  }

  void standard_input() {
    if (!inputs_.standard_input.empty()) return;
    const std::string name = stdin_filename_.empty() ? "-" : stdin_filename_;
    ReadText read = read_standard_input();
    if (!read.text) {
      inputs_.unreadable.push_back({"standard input", read.reason});
      return;
    }
    inputs_.standard_input = normal_path(name, inputs_.names.current_folder());
    auto overlay = std::make_shared<Overlay>();
    if (is_notebook(name)) {
      ReadNotebook notebook = read_notebook(*read.text);
      if (!notebook.program) {
        inputs_.unreadable.push_back({name, notebook.reason});
        inputs_.standard_input.clear();
        return;
      }
      inputs_.standard_input_cells = std::make_shared<Cells>(std::move(notebook.program->cells));
      read.text = std::move(notebook.program->text);
    }
    (*overlay)[inputs_.standard_input] = documents::module_of(inputs_.standard_input, std::move(*read.text));
    inputs_.overlay = std::move(overlay);
    add(inputs_.standard_input, name);
  }

  void file(const std::string& path, const std::string& name) {
    if (const ReadText read = probe(path); !read.reason.empty()) {
      inputs_.unreadable.push_back({name, read.reason});
      return;
    }
    if (is_of_another_kind(path)) {
      inputs_.notes.push_back(name +
          ": not checked: stepzero reads Python, notebooks, JSON, YAML, TOML, scripts of the shell, Makefiles and Dockerfiles");
      return;
    }
    inputs_.found_documents.erase(path);
    add(path, name);
  }

  // A name that says that the file is neither a program nor a document that a rule reads. One that says
  // nothing may be Python.
  static bool is_of_another_kind(std::string_view path) {
    const std::string_view name = file_name(path);
    for (const std::string_view ending :
        {".md", ".txt", ".rst", ".ini", ".cfg", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".java", ".js",
            ".ts", ".rs", ".go", ".html", ".css", ".csv", ".xml", ".lock", ".jsonl", ".log"})
      if (name.ends_with(ending)) return true;
    return name.ends_with(".toml") && documents::language_of(path, {}) == documents::Language::none;
  }

  // The file is read by the analysis; here only what can never be read is told apart.
  static ReadText probe(const std::string& path) {
    if (file_stamp(path)) return {};
    return read_text(path);
  }

  void folder(const std::string& path, const std::string& name) {
    inputs_.workspace_folders.push_back(path);
    const Discovery found = find_python_files(path, nullptr, NotebookFiles::included, Documents::included);
    const auto displayed = [&](const std::string& file) {
      const std::string_view relative = relative_to(file, path);
      if (name == ".") return std::string(relative);
      return relative.empty() ? name : join(name, relative);
    };
    for (const auto& unreadable : found.unreadable) {
      const std::string label = displayed(unreadable.path);
      inputs_.unreadable.push_back({label.empty() ? name : label, unreadable.reason});
    }
    std::size_t excluded = 0;
    const auto is_excluded = [&](const std::string& file) {
      const auto settings = configuration_.nearest(file);
      return settings->layer.exclude &&
          merge({&settings->layer}).excludes(relative_to(file, settings->folder));
    };
    // Generated data in a folder is no reason to fail a check that nobody asked to read it; a file that is
    // named is.
    const auto is_passed_over = [&](const std::string& file) {
      const bool is_too_large = file_stamp(file).value_or(FileStamp{}).size > largest_file;
      if (is_too_large) inputs_.notes.push_back(displayed(file) + ": not checked: larger than 50 MiB");
      return is_too_large;
    };
    for (const std::string& python : found.files) {
      if (is_excluded(python))
        ++excluded;
      else if (!is_passed_over(python))
        add(python, displayed(python));
    }
    for (const std::string& document : found.documents) {
      if (seen_.contains(document) || is_excluded(document) || is_passed_over(document)) continue;
      inputs_.found_documents.insert(document);
      add(document, displayed(document));
    }
    if (found.files.empty() && found.unreadable.empty()) {
      inputs_.notes.push_back("no Python files in " + name);
    } else if (excluded != 0 && excluded == found.files.size()) {
      inputs_.notes.push_back("all Python files in " + name + " are excluded by the settings");
    }
  }

  // Imports start from the folders given, from the projects that the files lie in, and from the current
  // folder.
  void roots() {
    std::set<std::string> projects;
    for (const std::string& file : inputs_.files) projects.insert(project_of(parent_folder(file)));
    projects.erase("");
    const std::string& current = inputs_.names.current_folder();
    const auto in_current = [&](const std::string& file) { return is_inside(file, current); };
    if (std::any_of(inputs_.files.begin(), inputs_.files.end(), in_current)) projects.insert(current);
    std::vector<std::string>& folders = inputs_.workspace_folders;
    for (const std::string& project : projects) {
      if (std::find(folders.begin(), folders.end(), project) == folders.end()) folders.push_back(project);
    }
  }

  // The nearest folder upwards that looks like a project; empty if there is none.
  const std::string& project_of(const std::string& folder) {
    if (const auto known = projects_.find(folder); known != projects_.end()) return known->second;
    std::string result;
    std::error_code error;
    for (const char* sign : {".git", "pyproject.toml", "stepzero.toml", "setup.py", "setup.cfg"}) {
      if (fs::exists(join(folder, sign), error)) result = folder;
    }
    if (result.empty() && folder != "/") result = project_of(parent_folder(folder));
    return projects_[folder] = result;
  }

  Inputs inputs_;
  const std::string& stdin_filename_;
  ConfigurationFiles& configuration_;
  std::set<std::string> seen_;
  std::map<std::string, std::string> projects_;
};

}  // namespace

std::string Names::displayed(const std::string& path) const {
  if (const auto given = given_.find(path); given != given_.end()) return given->second;
  return is_inside(path, current_folder_) ? std::string(relative_to(path, current_folder_)) : path;
}

Inputs find_inputs(const std::vector<std::string>& paths, const std::string& stdin_filename,
    ConfigurationFiles& configuration) {
  return Finder(stdin_filename, configuration).run(paths);
}

int say_unreadable(const Inputs& inputs) {
  for (const std::string& note : inputs.notes) say(note);
  for (const Unreadable& unreadable : inputs.unreadable) say(unreadable.name + ": " + unreadable.reason);
  return inputs.unreadable.empty() ? exit_status::success : exit_status::trouble;
}

}  // namespace stepzero::server
