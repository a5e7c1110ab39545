#include "server/lsp/code_actions.hpp"

#include "documents/document.hpp"
#include "server/features/fixes.hpp"
#include "server/features/suppress.hpp"

#include <charconv>
#include <set>
#include <tuple>

namespace stepzero::server {
namespace {

using Data = std::map<std::string, std::string>;

// What an action does; travels as its `data`.
struct Deed {
  enum class Kind { fix, fix_all, ignore_here, ignore_in_file };
  Kind kind = Kind::fix;
  std::size_t finding = 0;
  std::size_t fix = 0;
};

constexpr std::string_view deed_names[] = {"fix", "fix-all", "ignore-here", "ignore-in-file"};

protocol::Any data_of(const ActionSource& source, const Deed& deed) {
  return protocol::to_any(
      Data{{"uri", source.uri}, {"version", std::to_string(source.view.analysis->version)},
          {"result", source.view.result_id}, {"do", std::string(deed_names[static_cast<int>(deed.kind)])},
          {"finding", std::to_string(deed.finding)}, {"fix", std::to_string(deed.fix)}});
}

std::optional<Data> read_data(const lsp::CodeAction& action) {
  if (!action.data.present()) return std::nullopt;
  try {
    return protocol::from_any<Data>(action.data);
  } catch (const protocol::DecodeError&) {
    return std::nullopt;
  }
}

std::size_t number(const std::string& text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<Deed> read_deed(const ActionSource& source, Data data) {
  if (data["version"] != std::to_string(source.view.analysis->version) ||
      data["result"] != source.view.result_id)
    return std::nullopt;
  for (int kind = 0; kind < 4; ++kind)
    if (data["do"] == deed_names[kind])
      return Deed{static_cast<Deed::Kind>(kind), number(data["finding"]), number(data["fix"])};
  return std::nullopt;
}

// The edits of a deed; empty if it cannot be done.
std::vector<rules::TextEdit> edits_of(const ActionSource& source, const Deed& deed) {
  const Analysis& analysis = *source.view.analysis;
  const auto& findings = analysis.result.findings;
  if (deed.kind == Deed::Kind::fix_all) return fix_all(findings, analysis.path);
  if (deed.finding >= findings.size()) return {};
  const rules::Finding& finding = findings[deed.finding];
  if (deed.kind == Deed::Kind::fix)
    return deed.fix < finding.fixes.size() ? finding.fixes[deed.fix].edits : std::vector<rules::TextEdit>();
  const std::optional<syntax::Edit> edit = deed.kind == Deed::Kind::ignore_here
      ? ignore_here(*analysis.module, finding.where.span.begin, finding.rule)
      : ignore_in_file(*analysis.module, finding.rule);
  if (!edit) return {};
  return {{{analysis.path, edit->span}, edit->text}};
}

class Offer {
public:
  Offer(const ActionSource& source, const lsp::CodeActionParams& params) : source_(source), params_(params) {}

  bool wants(std::string_view kind) const { return params_.context.wants(kind); }

  void add(std::string title, std::string_view kind, const Deed& deed, bool preferred,
      std::vector<lsp::Diagnostic> diagnostics) {
    lsp::CodeAction action;
    action.title = std::move(title);
    action.kind = std::string(kind);
    action.diagnostics = std::move(diagnostics);
    action.is_preferred = preferred && source_.client_view.client.code_action_preferred;
    const std::vector<rules::TextEdit> edits = edits_of(source_, deed);
    if (edits.empty()) return;
    const lsp::ClientFlags& client = source_.client_view.client;
    if (!client.code_action_literals || (client.code_action_resolve_edit && client.code_action_data)) {
      action.data = data_of(source_, deed);
    } else {
      action.edit = workspace_edit(*source_.view.analysis, edits, source_.client_view, source_.versions);
      if (!action.edit) return;
    }
    actions_.push_back(std::move(action));
  }

  // The diagnostic that the action solves, as the client spelled it if it asked about it.
  lsp::Diagnostic diagnostic(std::size_t finding) const {
    const rules::Finding& found = source_.view.analysis->result.findings[finding];
    const lsp::Range range = source_.client_view.range(*source_.view.analysis, found.where.span);
    for (const lsp::Diagnostic& asked : params_.context.diagnostics)
      if (asked.range == range && asked.code == lsp::DiagnosticCode(std::string(found.rule))) return asked;
    for (const lsp::Diagnostic& ours : source_.view.diagnostics)
      if (ours.range == range && ours.code == lsp::DiagnosticCode(std::string(found.rule))) return ours;
    lsp::Diagnostic made = server::diagnostic(
        found, *source_.view.analysis->module->text, source_.client_view);
    made.range = range;
    return made;
  }

  std::vector<lsp::CodeAction> take() { return std::move(actions_); }

private:
  const ActionSource& source_;
  const lsp::CodeActionParams& params_;
  std::vector<lsp::CodeAction> actions_;
};

void offer_fixes(
    Offer& offer, const std::vector<rules::Finding>& findings, const std::vector<std::size_t>& near) {
  for (const bool preferred : {true, false})
    for (const std::size_t i : near)
      for (std::size_t fix = 0; fix < findings[i].fixes.size(); ++fix)
        if (findings[i].fixes[fix].preferred == preferred)
          offer.add(findings[i].fixes[fix].title, lsp::code_action_kind::quick_fix, {Deed::Kind::fix, i, fix},
              preferred, {offer.diagnostic(i)});
}

void offer_comments(Offer& offer, const ActionSource& source, const std::vector<std::size_t>& near) {
  const auto& findings = source.view.analysis->result.findings;
  const syntax::Text& text = *source.view.analysis->module->text;
  std::set<std::pair<std::string_view, std::uint32_t>> lines;
  std::set<std::string_view> rules;
  for (const std::size_t i : near) {
    const std::uint32_t line = text.position(findings[i].where.span.begin, syntax::Encoding::utf8).line;
    if (lines.emplace(findings[i].rule, line).second)
      offer.add("Ignore " + std::string(findings[i].rule) + " here", lsp::code_action_kind::quick_fix,
          {Deed::Kind::ignore_here, i, 0}, false, {offer.diagnostic(i)});
  }
  for (const std::size_t i : near)
    if (rules.insert(findings[i].rule).second)
      offer.add("Ignore " + std::string(findings[i].rule) + " in this file", lsp::code_action_kind::quick_fix,
          {Deed::Kind::ignore_in_file, i, 0}, false, {offer.diagnostic(i)});
}

}  // namespace

std::vector<lsp::CodeAction> code_actions(const ActionSource& source, const lsp::CodeActionParams& params) {
  const Analysis& analysis = *source.view.analysis;
  if (!analysis.module) return {};
  const auto& findings = analysis.result.findings;
  const syntax::Span asked = source.client_view.span(analysis, source.uri, params.range);
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const syntax::Span span = findings[i].where.span;
    if (findings[i].where.path == analysis.path && span.begin <= asked.end && asked.begin <= span.end)
      near.push_back(i);
  }
  Offer offer(source, params);
  if (offer.wants(lsp::code_action_kind::quick_fix)) offer_fixes(offer, findings, near);
  if (offer.wants(fix_all_kind))
    offer.add(
        "Fix all that stepzero can fix for certain", fix_all_kind, {Deed::Kind::fix_all, 0, 0}, false, {});
  // A comment that silences is Python's; JSON has none that every reader takes.
  const bool python = documents::language_of(analysis.path, analysis.module->text->bytes()) ==
      documents::Language::none;
  if (python && offer.wants(lsp::code_action_kind::quick_fix)) offer_comments(offer, source, near);
  return offer.take();
}

std::optional<lsp::WorkspaceEdit> resolve(const ActionSource& source, const lsp::CodeAction& action) {
  const auto data = read_data(action);
  if (!data) return std::nullopt;
  const auto deed = read_deed(source, *data);
  if (!deed) return std::nullopt;
  const std::vector<rules::TextEdit> edits = edits_of(source, *deed);
  if (edits.empty()) return std::nullopt;
  return workspace_edit(*source.view.analysis, edits, source.client_view, source.versions);
}

std::string uri_of_action(const lsp::CodeAction& action) {
  auto data = read_data(action);
  return data ? (*data)["uri"] : std::string();
}

std::vector<lsp::CommandOrCodeAction> offered(
    std::vector<lsp::CodeAction> actions, const ClientView& client_view) {
  std::vector<lsp::CommandOrCodeAction> made;
  for (lsp::CodeAction& action : actions) {
    if (client_view.client.code_action_literals)
      made.emplace_back(std::move(action));
    else
      made.emplace_back(
          lsp::Command{std::move(action.title), std::string(fix_command), {std::move(action.data)}});
  }
  return made;
}

namespace {

using Shared = std::shared_ptr<protocol::Reply<protocol::Any>>;

// A client that cannot be asked to apply an edit gets it as the command's result.
void apply(Session& session, lsp::WorkspaceEdit edit, const Shared& reply) {
  if (!session.editor.client.apply_edit) {
    (*reply)(protocol::to_any(edit));
    return;
  }
  session.editor.connection().request(lsp::method::apply_edit, {"stepzero", std::move(edit)},
      [reply](const protocol::Outcome<lsp::ApplyWorkspaceEditResult>& outcome) {
        if (outcome && outcome.result->applied)
          (*reply)(protocol::Any::parse("null"));
        else
          reply->error(protocol::error_code::request_failed,
              "the editor did not apply the fix: " +
                  (outcome ? outcome.result->failure_reason.value_or("it gave no reason")
                           : outcome.error.message));
      });
}

}  // namespace

void run_fix_command(
    Session& session, const lsp::ExecuteCommandParams& params, protocol::Reply<protocol::Any> reply) {
  lsp::CodeAction action;
  if (!params.arguments.empty()) action.data = params.arguments.front();
  const std::string uri = uri_of_action(action);
  if (uri.empty()) {
    reply.error(protocol::error_code::invalid_params,
        std::string(fix_command) + ": the argument is that of a command which textDocument/codeAction gave");
    return;
  }
  const Shared shared = std::make_shared<protocol::Reply<protocol::Any>>(std::move(reply));
  session.analyses.when_fresh(uri, true,
      [&session, uri, shared, action = std::move(action)](
          const std::shared_ptr<const View>& view, Unanswered) {
        const auto versions = session.analyses.versions();
        std::optional<lsp::WorkspaceEdit> edit;
        if (view) edit = resolve({uri, *view, *session.analyses.client_view(), versions}, action);
        if (edit)
          apply(session, std::move(*edit), shared);
        else
          shared->error(protocol::error_code::content_modified, "the document changed");
      });
}

void serve_code_actions(Session& session) {
  session.editor.connection().on(lsp::method::code_action,
      [&session](lsp::CodeActionParams params,
          protocol::Reply<std::optional<std::vector<lsp::CommandOrCodeAction>>> reply) {
        const std::string uri = params.text_document.uri;
        answer_from_view<std::vector<lsp::CommandOrCodeAction>>(session, uri, true, std::move(reply),
            [&session, params = std::move(params)](const OpenDocument&, const View& view) {
              const auto versions = session.analyses.versions();
              const auto client_view = session.analyses.client_view();
              return offered(code_actions({params.text_document.uri, view, *client_view, versions}, params),
                  *client_view);
            });
      });
  session.editor.connection().on(lsp::method::resolve_code_action,
      [&session](lsp::CodeAction action, protocol::Reply<lsp::CodeAction> reply) {
        const std::string uri = uri_of_action(action);
        if (uri.empty() || action.edit) {
          reply(action);
          return;
        }
        auto shared = std::make_shared<protocol::Reply<lsp::CodeAction>>(std::move(reply));
        session.analyses.when_fresh(uri, true,
            [&session, uri, shared, action = std::move(action)](
                const std::shared_ptr<const View>& view, Unanswered) mutable {
              const auto versions = session.analyses.versions();
              if (view)
                action.edit = resolve({uri, *view, *session.analyses.client_view(), versions}, action);
              if (action.edit)
                (*shared)(action);
              else
                shared->error(protocol::error_code::content_modified, "the document changed");
            });
      });
}

}  // namespace stepzero::server
