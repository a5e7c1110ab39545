// The item in the status bar. It is shown beside Python, and whenever something is wrong.
import * as vscode from "vscode";

export type State = "starting" | "ready" | "analyzing" | "failed" | "off";

// An analysis that is done before this is not mentioned: the item would only flicker.
const patience = 400;

const look: Record<State, { icon: string; says: string }> = {
  starting: { icon: "$(loading~spin)", says: "The language server is starting." },
  ready: { icon: "$(check)", says: "Everything open is analyzed." },
  analyzing: { icon: "$(loading~spin)", says: "Analyzing…" },
  failed: { icon: "$(error)", says: "The language server is not running." },
  off: { icon: "$(circle-slash)", says: "Switched off by stepzero.enable." },
};

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("stepzero.status", vscode.StatusBarAlignment.Right, 90);
  private readonly watch = vscode.window.onDidChangeActiveTextEditor(() => this.show());
  private readonly waiting = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private state: State = "starting";
  private reason = "";

  constructor() {
    this.item.name = "stepzero";
    this.item.command = "stepzero.showLog";
    this.show();
  }

  set(state: State, reason = ""): void {
    this.state = state;
    this.reason = reason;
    this.waiting.clear();
    this.settle();
  }

  // The text of a document went to the server as this version, and its answer is still to come.
  asked(uri: string, version: number): void {
    this.waiting.set(uri, version);
    this.settle();
  }

  answered(uri: string, version: number): void {
    if ((this.waiting.get(uri) ?? Infinity) <= version) this.waiting.delete(uri);
    this.settle();
  }

  private settle(): void {
    if (this.state === "ready" || this.state === "analyzing") {
      if (this.waiting.size === 0) {
        clearTimeout(this.timer);
        this.timer = undefined;
        this.state = "ready";
      } else if (this.timer === undefined && this.state === "ready") {
        this.timer = setTimeout(() => {
          this.timer = undefined;
          this.state = this.waiting.size > 0 ? "analyzing" : "ready";
          this.show();
        }, patience);
      }
    } else {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    this.show();
  }

  private show(): void {
    const { icon, says } = look[this.state];
    this.item.text = `${icon} stepzero`;
    this.item.tooltip = `stepzero: ${this.reason || says}\nClick to see the log.`;
    const failed = this.state === "failed";
    this.item.backgroundColor = failed ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    const python = vscode.window.activeTextEditor?.document.languageId === "python";
    if (python || failed) this.item.show();
    else this.item.hide();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.watch.dispose();
    this.item.dispose();
  }
}
