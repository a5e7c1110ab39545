// Read-only pages: what a rule means, and who communicates what.
import * as vscode from "vscode";

export const ruleScheme = "stepzero-rule";
export const scheduleScheme = "stepzero-schedule";
const scheduleLanguage = "stepzero-schedule";

export class RulePages implements vscode.TextDocumentContentProvider {
  constructor(private readonly explain: (rule: string) => Promise<string>) {}

  provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    return this.explain(ruleOf(uri));
  }

  static async show(rule: string): Promise<void> {
    const page = vscode.Uri.from({ scheme: ruleScheme, path: `/${rule}.md` });
    await vscode.commands.executeCommand("markdown.showPreviewToSide", page);
  }
}

function ruleOf(page: vscode.Uri): string {
  return page.path.replace(/^\//, "").replace(/\.md$/, "");
}

// Lines are counted from 0.
export interface Schedule {
  text: string;
  folds?: { startLine: number; endLine: number }[];
}

// The schedule of a document, beside it; made anew whenever the document was analyzed again.
export class Schedules
  implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.FoldingRangeProvider, vscode.Disposable
{
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly last = new Map<string, Schedule>(); // by page
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly ask: (uri: string) => Promise<Schedule>) {}

  async provideTextDocumentContent(page: vscode.Uri): Promise<string> {
    const schedule = await this.ask(page.query);
    this.last.set(page.toString(), schedule);
    return schedule.text;
  }

  // Parts, loops, rounds and choices.
  provideFoldingRanges(page: vscode.TextDocument): vscode.FoldingRange[] {
    const folds = this.last.get(page.uri.toString())?.folds ?? [];
    return folds.map((fold) => new vscode.FoldingRange(fold.startLine, fold.endLine));
  }

  // Each line of the file that the schedule names leads there.
  provideDocumentLinks(page: vscode.TextDocument): vscode.DocumentLink[] {
    const file = vscode.Uri.parse(page.uri.query);
    if (file.scheme !== "file") return [];
    const links: vscode.DocumentLink[] = [];
    for (const named of page.getText().matchAll(/(?<=^ *)\d+(?=  )|(?<=\(line )\d+(?=\))/gm)) {
      const range = new vscode.Range(page.positionAt(named.index), page.positionAt(named.index + named[0].length));
      links.push(new vscode.DocumentLink(range, file.with({ fragment: `L${named[0]}` })));
    }
    return links;
  }

  static pageOf(uri: vscode.Uri): vscode.Uri {
    const name = uri.path.split("/").pop() ?? "";
    return vscode.Uri.from({ scheme: scheduleScheme, path: `/Schedule of ${name}`, query: uri.toString() });
  }

  async show(uri: vscode.Uri): Promise<void> {
    const page = Schedules.pageOf(uri);
    this.changed.fire(page);
    let document = await vscode.workspace.openTextDocument(page);
    // Its name ends like that of the file, and so its language would.
    if (document.languageId !== scheduleLanguage) document = await vscode.languages.setTextDocumentLanguage(document, scheduleLanguage);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
  }

  refresh(): void {
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      for (const { document } of vscode.window.visibleTextEditors) {
        if (document.uri.scheme === scheduleScheme) this.changed.fire(document.uri);
      }
    }, 200);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
