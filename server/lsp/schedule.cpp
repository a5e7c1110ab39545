#include "server/lsp/schedule.hpp"

#include "server/features/code_lens.hpp"
#include "server/features/schedule_json.hpp"
#include "server/lsp/code_actions.hpp"
#include "server/workspace/paths.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace stepzero::server {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_ranks = 16;

// Paths as a person reads them: from the workspace folder on.
PathName names_of(const SharedState& world) {
  return [&world](const std::string& path) {
    const std::string folder = world.folder_of(path);
    return std::string(folder.empty() ? file_name(path) : relative_to(path, folder));
  };
}

protocol::Any answer(const SharedState& world, const snapshot::Schedule& schedule, const std::string& path) {
  const PathName name = names_of(world);
  std::vector<Fold> folds;
  const std::string text = schedule_text(schedule, path, name, &folds);
  Json ranges = Json::array();  // as textDocument/foldingRange has them, which nobody asks for a text that is
                                // no document of the server
  for (const Fold& fold : folds) ranges.push_back({{"startLine", fold.first}, {"endLine", fold.last}});
  const Json made = {
      {"text", text}, {"folds", std::move(ranges)}, {"schedule", schedule_json(schedule, path, name)}};
  return protocol::Any::parse(made.dump(-1, ' ', false, Json::error_handler_t::replace));
}

struct Asked {
  std::string uri;
  int world = 0;
  std::string wrong;  // why it has no meaning
};

Asked read(const std::vector<protocol::Any>& arguments) {
  Asked asked;
  const auto refuse = [&](std::string_view why) {
    asked.wrong.append(schedule_command).append(": ").append(why);
    return asked;
  };
  if (arguments.empty() || !arguments[0].json().is_object())
    return refuse(R"(the argument is {"uri": …, "world": …})");
  const auto& json = arguments[0].json();
  const auto uri = json.find("uri");
  if (uri == json.end() || !uri->is_string()) return refuse("uri is a string");
  asked.uri = uri->get<std::string>();
  const auto world = json.find("world");
  if (world == json.end() || world->is_null()) return asked;
  if (!world->is_number_integer() || world->get<std::int64_t>() < 1 ||
      world->get<std::int64_t>() > most_ranks)
    return refuse("world is a number from 1 to " + std::to_string(most_ranks));
  asked.world = world->get<int>();
  return asked;
}

using Shared = std::shared_ptr<protocol::Reply<protocol::Any>>;

// For so many ranks the program is run on its own, on the pool.
void run(Session& session, const Asked& asked, const std::string& path, const Shared& reply) {
  // Requests do not replace each other.
  static std::uint64_t asked_so_far = 0;
  const std::string key = std::string(schedule_command) + " " + std::to_string(++asked_so_far) + " " +
      asked.uri;
  session.scheduler.request(key, Urgency::dependent,
      [reply, path, ranks = asked.world, world = session.analyses.world()](
          const std::atomic<bool>& cancelled) -> Scheduler::Finish {
        const auto schedule = schedule_of_file(*world, path, ranks, &cancelled);
        return [reply, path, world, schedule] {
          if (schedule)
            (*reply)(answer(*world, *schedule, path));
          else
            reply->error(protocol::error_code::request_failed, "there is no Python to read at " + path);
        };
      });
}

}  // namespace

void serve_code_lenses(Session& session) {
  session.editor.connection().on(lsp::method::code_lens,
      [&session](const lsp::CodeLensParams& params,
          protocol::Reply<std::optional<std::vector<lsp::CodeLens>>> reply) {
        const std::string uri = params.text_document.uri;
        answer_from_view<std::vector<lsp::CodeLens>>(
            session, uri, true, std::move(reply), [&session, uri](const OpenDocument&, const View& view) {
              const auto client_view = session.analyses.client_view();
              std::vector<lsp::CodeLens> made;
              const Analysis& analysis = *view.analysis;
              if (!analysis.module) return made;
              for (Lens& lens : code_lenses(analysis)) {
                const lsp::Location place = client_view->location(
                    analysis, *analysis.module->text, {analysis.path, lens.span});
                if (analysis.cells && place.uri != uri) continue;  // another cell's
                lsp::Command command;
                command.title = std::move(lens.title);
                // Of what is only shown the command has no name.
                if (lens.of_schedule) {
                  command.command = schedule_command;
                  command.arguments.push_back(
                      protocol::Any::made_by([&](protocol::Json& out) { out = {{"uri", uri}}; }));
                }
                made.push_back({place.range, std::move(command), {}});
              }
              return made;
            });
      });
}

void serve_commands(Session& session) {
  session.editor.connection().on(lsp::method::execute_command,
      [&session](const lsp::ExecuteCommandParams& params, protocol::Reply<protocol::Any> reply) {
        if (params.command == fix_command) {
          run_fix_command(session, params, std::move(reply));
          return;
        }
        if (params.command != schedule_command) {
          reply.error(protocol::error_code::invalid_params, "there is no command " + params.command);
          return;
        }
        const Asked asked = read(params.arguments);
        if (!asked.wrong.empty()) {
          reply.error(protocol::error_code::invalid_params, asked.wrong);
          return;
        }
        const Shared shared = std::make_shared<protocol::Reply<protocol::Any>>(std::move(reply));
        const OpenDocument* document = session.analyses.find_for(asked.uri);
        const std::string path = document ? document->path : path_for(asked.uri);
        if (!document || asked.world > 0) {
          run(session, asked, path, shared);
          return;
        }
        session.analyses.when_fresh(asked.uri, false,
            [&session, asked, path, shared](const std::shared_ptr<const View>& view, Unanswered why) {
              if (view && view->analysis->result.schedule)
                (*shared)(answer(*session.analyses.world(), *view->analysis->result.schedule, path));
              else if (why == Unanswered::stopping)
                shared->error(protocol::error_code::request_cancelled, "the server is shutting down");
              else
                shared->error(protocol::error_code::request_failed, "there is no Python to read at " + path);
            });
      });
}

}  // namespace stepzero::server
