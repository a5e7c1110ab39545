#include "server/lsp/hover.hpp"

#include "server/features/hover.hpp"
#include "server/features/inlay_hints.hpp"

namespace stepzero::server {

void serve_hover(Session& session) {
  session.editor.connection().on(lsp::method::hover, [&session](
                                                         const lsp::HoverParams& params,
                                                         protocol::Reply<std::optional<lsp::Hover>> reply) {
    answer_from_view<lsp::Hover>(
        session, params.text_document.uri, true, std::move(reply),
        [&session, uri = params.text_document.uri, at = params.position](const OpenDocument&,
                                                                        const View& view) -> std::optional<lsp::Hover> {
          const auto outlook = session.analyses.outlook();
          const Analysis& analysis = *view.analysis;
          if (!analysis.module) return std::nullopt;
          const Markup markup = outlook->client.hover_markdown ? Markup::markdown : Markup::plain;
          const auto found =
              hover(analysis, outlook->offset(analysis, uri, at), markup,
                    [&](const rules::Location& where, std::uint32_t line) {
                      if (analysis.cells && where.path == analysis.path) return std::string();
                      const std::string file = outlook->uri(where.path);
                      return file.starts_with("file:") ? file + "#L" + std::to_string(line) : std::string();
                    },
                    outlook->client.code_description && !outlook->pages->empty());
          if (!found) return std::nullopt;
          const auto kind =
              markup == Markup::markdown ? lsp::MarkupKind::markdown : lsp::MarkupKind::plaintext;
          return lsp::Hover{{kind, found->text}, outlook->range(analysis, found->span)};
        });
  });
}

void serve_inlay_hints(Session& session) {
  session.editor.connection().on(
      lsp::method::inlay_hint, [&session](const lsp::InlayHintParams& params,
                                          protocol::Reply<std::optional<std::vector<lsp::InlayHint>>> reply) {
        answer_from_view<std::vector<lsp::InlayHint>>(
            session, params.text_document.uri, true, std::move(reply),
            [&session, uri = params.text_document.uri, range = params.range](const OpenDocument&, const View& view) {
              const auto outlook = session.analyses.outlook();
              std::vector<lsp::InlayHint> made;
              if (!view.analysis->module) return made;
              const Analysis& analysis = *view.analysis;
              for (Hint& hint : inlay_hints(analysis.result.facts, outlook->span(analysis, uri, range),
                                            analysis.settings.inlay_hints)) {
                lsp::InlayHint& out = made.emplace_back();
                out.position = outlook->range(analysis, {hint.at, hint.at}).start;
                out.label = std::move(hint.label);
                out.kind = lsp::InlayHintKind::type;
                if (!hint.whole.empty()) out.tooltip = std::move(hint.whole);
              }
              return made;
            });
      });
}

} // namespace stepzero::server
