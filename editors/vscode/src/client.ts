// The language server as this window runs it: one at a time, started again when it ends by itself.
import * as vscode from "vscode";
import {
  CloseAction,
  type CloseHandlerResult,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Message,
  type MessageSignature,
  State as ClientState,
} from "vscode-languageclient/node";
import { findProgram, type Program } from "./program";
import { Restarts } from "./restarts";
import { settingsFor } from "./settings";
import type { Status } from "./status";

// What fails because the server ended is not told one request at a time: the status and one message say it.
class QuietClient extends LanguageClient {
  override handleFailedRequest<T>(type: MessageSignature, token: vscode.CancellationToken | undefined, error: unknown, value: T): T {
    return super.handleFailedRequest(type, token, error, value, false);
  }
}

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private program: Program | undefined;
  private readonly restarts = new Restarts();
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly status: Status,
    private readonly analyzed: () => void,
    private readonly showSchedule: (uri: string) => Promise<void>,
  ) {}

  get running(): LanguageClient | undefined {
    return this.client?.state === ClientState.Running ? this.client : undefined;
  }

  get executable(): Program {
    return (this.program ??= findProgram(this.context));
  }

  // Starts and stops follow each other, however fast they are asked for.
  start(): Promise<void> {
    this.queue = this.queue.then(() => this.startNow()).catch((error) => this.failed(String(error)));
    return this.queue;
  }

  stop(): Promise<void> {
    this.queue = this.queue.then(() => this.stopNow()).catch((error) => this.log.error(String(error)));
    return this.queue;
  }

  restart(): Promise<void> {
    this.restarts.forget();
    void this.stop();
    return this.start();
  }

  private async startNow(): Promise<void> {
    if (this.client) return;
    if (!vscode.workspace.getConfiguration("stepzero").get("enable", true)) {
      this.status.set("off");
      return;
    }
    this.program = findProgram(this.context);
    if (this.program.problem) return this.failed(this.program.problem);
    this.status.set("starting");
    this.log.info(`starting ${this.program.path}`);
    const client = new QuietClient("stepzero", "stepzero", { command: this.program.path, args: ["lsp"] }, this.options());
    linkRules(client.protocol2CodeConverter);
    client.onDidChangeState(({ newState }) => {
      if (this.client === client && newState === ClientState.Running) this.status.set("ready");
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      this.failed(`It could not be started: ${error instanceof Error ? error.message : error}`);
    }
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop(2000).catch(() => undefined);
    await client?.dispose().catch(() => undefined);
  }

  private failed(reason: string): void {
    this.status.set("failed", reason);
    this.log.error(reason);
    const again = "Restart";
    const settings = "Open Settings";
    const log = "Show Log";
    void vscode.window.showErrorMessage(`stepzero: ${reason}`, again, settings, log).then((choice) => {
      if (choice === again) void this.restart();
      if (choice === log) this.log.show();
      if (choice === settings) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "stepzero.server.path");
      }
    });
  }

  private async closed(): Promise<CloseHandlerResult> {
    const wait = this.restarts.next();
    if (wait === undefined) {
      this.client = undefined;
      this.failed("The language server ended four times within three minutes. Its log says why; Restart tries again.");
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    const reason = wait ? `It ended unexpectedly and is started again in ${wait / 1000} s.` : "It ended unexpectedly and is started again.";
    this.status.set(wait ? "failed" : "starting", reason);
    this.log.warn(reason);
    const client = this.client;
    await new Promise((resolve) => setTimeout(resolve, wait));
    // The user may have been faster, or the program may be gone.
    if (!client || this.client !== client) return { action: CloseAction.DoNotRestart, handled: true };
    const { problem } = findProgram(this.context);
    if (problem) {
      this.client = undefined;
      this.failed(problem);
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    return { action: CloseAction.Restart, handled: true };
  }

  private options(): LanguageClientOptions {
    const asked = (document: vscode.TextDocument) => this.status.asked(document.uri.toString(), document.version);
    const answered = (uri: vscode.Uri) => {
      this.status.answered(uri.toString(), Infinity);
      this.analyzed();
    };
    return {
      documentSelector: [{ scheme: "file", language: "python" }, { scheme: "untitled", language: "python" },
        { scheme: "vscode-notebook-cell", language: "python" },
        ...["json", "jsonc", "yaml", "shellscript", "makefile", "dockerfile"].map((language) => ({ scheme: "file", language }))],
      outputChannel: this.log,
      traceOutputChannel: this.log,
      progressOnInitialization: false,
      initializationOptions: settingsFor(undefined),
      errorHandler: {
        error: (error: Error, _message: Message | undefined, count: number | undefined) => {
          this.log.error(`the connection: ${error.message}`);
          return { action: (count ?? 0) <= 3 ? ErrorAction.Continue : ErrorAction.Shutdown, handled: true };
        },
        closed: () => this.closed(),
      },
      initializationFailedHandler: () => false,
      middleware: {
        didOpen: (document, next) => {
          asked(document);
          return next(document);
        },
        didChange: (event, next) => {
          asked(event.document);
          return next(event);
        },
        didClose: (document, next) => {
          this.status.answered(document.uri.toString(), Infinity);
          return next(document);
        },
        handleDiagnostics: (uri, diagnostics, next) => {
          answered(uri);
          next(uri, diagnostics);
        },
        provideDiagnostics: async (document, previous, token, next) => {
          const report = await next(document, previous, token);
          answered(document instanceof vscode.Uri ? document : document.uri);
          return report;
        },
        // A code lens asks for the schedule: it is shown here, and not only computed.
        executeCommand: (command, words, next) => {
          const [asked] = words as { uri?: string }[];
          return command === "stepzero.schedule" && asked?.uri ? this.showSchedule(asked.uri) : next(command, words);
        },
        workspace: {
          configuration: (params) =>
            params.items.map(({ section, scopeUri }) =>
              section === "stepzero" ? settingsFor(scopeUri ? vscode.Uri.parse(scopeUri) : undefined) : null,
            ),
        },
      },
    };
  }

  dispose(): void {
    void this.stop();
  }
}

// The link of a problem opens the page of its rule here, rendered, and not the file of the page. Every way that problems
// take passes this converter; the middleware cannot change what the workspace is told.
function linkRules(converter: LanguageClient["protocol2CodeConverter"]): void {
  const convert = converter.asDiagnostics.bind(converter);
  converter.asDiagnostics = async (diagnostics, token) => {
    const converted = await convert(diagnostics, token);
    for (const diagnostic of converted) link(diagnostic);
    return converted;
  };
}

function link(diagnostic: vscode.Diagnostic): void {
  const { code } = diagnostic;
  const rule = typeof code === "object" ? code.value : code;
  if (typeof rule !== "string" || !rule.includes("/")) return;
  const target = vscode.Uri.parse(`command:stepzero.explainRule?${encodeURIComponent(JSON.stringify([rule]))}`);
  diagnostic.code = { value: rule, target };
}
