// The report of a file as a panel beside it, from the text as it stands: a click on a bar selects its line, and the bar of the line
// that the cursor is in is marked.
import { resolve } from "node:path";
import * as vscode from "vscode";

interface Place {
  path: string;
  line: number;
}

export class Report implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private document: vscode.TextDocument | undefined;
  private timer: NodeJS.Timeout | undefined;
  private asked = 0;
  private readonly listening: vscode.Disposable[];

  constructor(private readonly make: (document: vscode.TextDocument) => Promise<string>) {
    this.listening = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document === this.document) this.later();
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.follow(textEditor)),
    ];
  }

  async show(document: vscode.TextDocument): Promise<void> {
    this.document = document;
    if (!this.panel) {
      this.panel = vscode.window.createWebviewPanel("stepzero.report", "", { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
        { enableScripts: true, localResourceRoots: [] });
      this.panel.onDidDispose(() => (this.panel = undefined));
      this.panel.webview.onDidReceiveMessage((place: Place) => this.go(place));
    } else {
      this.panel.reveal(undefined, true);
    }
    this.panel.title = `Report of ${document.uri.path.split("/").pop()}`;
    await this.draw();
  }

  // Not at every key: the page is made anew when there is a pause.
  private later(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.draw(), 800);
  }

  private async draw(): Promise<void> {
    const { document } = this;
    if (!this.panel || !document) return;
    const asked = ++this.asked;
    let page: string;
    try {
      page = await this.make(document);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      page = `<p>There is no report: ${why.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)}</p>`;
    }
    // The newest text's counts.
    if (asked === this.asked && this.panel) this.panel.webview.html = page;
  }

  private async go({ path: named, line }: Place): Promise<void> {
    // Files besides this one are named as from the workspace folder.
    const folder = this.document && vscode.workspace.getWorkspaceFolder(this.document.uri)?.uri.fsPath;
    const path = folder ? resolve(folder, named) : named;
    const open = this.document && (this.document.uri.fsPath === path || this.document.isUntitled) ? this.document : vscode.Uri.file(path);
    try {
      const document = open instanceof vscode.Uri ? await vscode.workspace.openTextDocument(open) : open;
      const shown = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
      const { range } = document.lineAt(Math.min(Math.max(line - 1, 0), document.lineCount - 1));
      await vscode.window.showTextDocument(document, {
        viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
        selection: new vscode.Range(range.start.translate(0, document.lineAt(range.start.line).firstNonWhitespaceCharacterIndex), range.end),
      });
    } catch (error) {
      void vscode.window.showInformationMessage(`stepzero: ${path} cannot be opened: ${error instanceof Error ? error.message : error}`);
    }
  }

  private follow(editor: vscode.TextEditor): void {
    if (!this.panel?.visible || editor.document !== this.document) return;
    void this.panel.webview.postMessage({ line: editor.selection.active.line + 1 });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    for (const each of this.listening) each.dispose();
  }
}
