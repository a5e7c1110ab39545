// Switches stepzero on in a window: the server, the item in the status bar, the commands and their pages.
import * as path from "node:path";
import * as vscode from "vscode";
import { Server } from "./client";
import { RulePages, ruleScheme, Schedule, Schedules, scheduleScheme } from "./pages";
import { run, runOn } from "./program";
import { Report } from "./report";
import { Status } from "./status";

let server: Server | undefined;

interface Rule {
  id: string;
  severity: string;
  summary: string;
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("stepzero", { log: true });
  const status = new Status();
  const schedules = new Schedules((uri) => scheduleOf(uri));
  const running = new Server(context, log, status, () => schedules.refresh(), (uri) => schedules.show(vscode.Uri.parse(uri)));
  server = running;
  const report = new Report((document) => reportOf(running, document));
  context.subscriptions.push(log, status, schedules, report, running);

  const explain = (rule: string) => run(running.executable, "explain", rule);
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(ruleScheme, new RulePages(explain)),
    vscode.workspace.registerTextDocumentContentProvider(scheduleScheme, schedules),
    vscode.languages.registerDocumentLinkProvider({ scheme: scheduleScheme }, schedules),
    vscode.languages.registerFoldingRangeProvider({ scheme: scheduleScheme }, schedules),
  );

  const command = (name: string, action: (...words: never[]) => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(`stepzero.${name}`, action));
  command("restartServer", () => running.restart());
  command("showLog", () => log.show());
  command("fixAll", () =>
    vscode.commands.executeCommand("editor.action.sourceAction", { kind: "source.fixAll.stepzero", apply: "first" }));
  command("explainRule", async (rule?: string) => {
    const chosen = rule ?? ruleAtCursor() ?? (await chooseRule(running));
    if (chosen) await RulePages.show(chosen);
  });
  command("showSchedule", async () => {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId === "python") await schedules.show(document.uri);
    else void vscode.window.showInformationMessage("stepzero: open a Python file to see its schedule.");
  });
  command("showReport", async () => {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.languageId === "python") await report.show(document);
    else void vscode.window.showInformationMessage("stepzero: open a Python file to see its report.");
  });
  command("openExample", () => openExample(context));

  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("stepzero.server.path") || event.affectsConfiguration("stepzero.enable")) {
        void running.restart();
      }
    }),
    // A path that the workspace sets counts from now on.
    vscode.workspace.onDidGrantWorkspaceTrust(() => void running.restart()),
  );
  await running.start();
}

export function deactivate(): Promise<void> | undefined {
  return server?.stop();
}

async function scheduleOf(uri: string): Promise<Schedule> {
  const client = server?.running;
  if (!client) return { text: "The language server is not running." };
  try {
    const answer = await client.sendRequest<Schedule | null>("workspace/executeCommand", {
      command: "stepzero.schedule",
      arguments: [{ uri }],
    });
    return answer?.text ? answer : { text: "Nothing in this file communicates." };
  } catch (error) {
    return { text: `There is no schedule: ${error instanceof Error ? error.message : error}` };
  }
}

// The text as it stands, saved or not, in the place of its file.
function reportOf(running: Server, document: vscode.TextDocument): Promise<string> {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath;
  const name = folder ? path.relative(folder, document.uri.fsPath) : document.uri.fsPath;
  return runOn(document.getText(), folder, running.executable, "report", "-", "--stdin-filename", name);
}

function ruleAtCursor(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return undefined;
  for (const diagnostic of vscode.languages.getDiagnostics(editor.document.uri)) {
    if (diagnostic.source !== "stepzero" || !diagnostic.range.contains(editor.selection.active)) continue;
    const { code } = diagnostic;
    return String(typeof code === "object" ? code.value : code);
  }
  return undefined;
}

async function chooseRule(running: Server): Promise<string | undefined> {
  const { rules } = JSON.parse(await run(running.executable, "rules", "--format", "json")) as { rules: Rule[] };
  const items = rules.map(({ id, severity, summary }) => ({ label: id, description: severity, detail: summary }));
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "A rule", matchOnDetail: true });
  return chosen?.label;
}

// A copy of the walkthrough's script that may be edited and thrown away.
async function openExample(context: vscode.ExtensionContext): Promise<void> {
  const source = vscode.Uri.joinPath(context.extensionUri, "walkthrough", "train_ddp.py");
  const content = new TextDecoder().decode(await vscode.workspace.fs.readFile(source));
  const document = await vscode.workspace.openTextDocument({ language: "python", content });
  const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
  const at = document.positionAt(Math.max(0, content.indexOf("dist.broadcast(")));
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenter);
}
