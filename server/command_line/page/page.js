// Draws the page from its data, in the words of words.js, which stands before it. Lanes draw the rows in view only, so that ten thousand steps scroll as smoothly as ten.
const data = JSON.parse(document.getElementById("data").textContent);
const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : null;

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {}))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
function draw(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes ?? {})) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
// The pieces of a message, what stands between backticks as code.
const prose = (text) => text.split(/`([^`]+)`/).map((piece, i) => (i % 2 ? el("code", {}, piece) : piece));

// Where something stands; in an editor it leads there.
function place(path, line, text = `${path}:${line}`, file = path) {
  if (!editor) return el("span", { class: "place mono" }, text);
  const button = el("button", { class: "place mono", type: "button" }, text);
  button.addEventListener("click", () => editor.postMessage({ path: file, line }));
  return button;
}

// ------------------------------------------------------------ theme

const theme = document.getElementById("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
const remembered = { get: () => { try { return localStorage.getItem("stepzero-theme") ?? ""; } catch { return ""; } },
                     set: (value) => { try { localStorage.setItem("stepzero-theme", value); } catch { /* a page without storage */ } } };
// An editor says by the classes of the body what its theme is.
const dark = () => (editor ? /vscode-(dark|high-contrast(?!-light))/.test(document.body.className) : system.matches);
function paint() {
  document.documentElement.dataset.theme = theme.value || (dark() ? "dark" : "light");
}
if (editor) new MutationObserver(paint).observe(document.body, { attributes: true, attributeFilter: ["class"] });
theme.value = remembered.get();
theme.addEventListener("change", () => { remembered.set(theme.value); paint(); });
system.addEventListener("change", paint);
paint();
let chosenTheme = "";
addEventListener("beforeprint", () => { chosenTheme = theme.value; document.documentElement.dataset.theme = "light"; });
addEventListener("afterprint", () => { theme.value = chosenTheme; paint(); });

// ------------------------------------------------------------ findings

function code(frame) {
  if (!frame) return null;
  const width = String(frame.first + frame.lines.length).length;
  const pre = el("pre", { class: "code" });
  frame.lines.forEach((text, i) => {
    const line = frame.first + i;
    pre.append(el("span", { class: "n" }, String(line).padStart(width) + "  "));
    const points = Array.from(text);
    const marked = line >= frame.begin.line && line <= frame.end.line;
    const from = marked ? (line === frame.begin.line ? frame.begin.column - 1 : points.length - text.trimStart().length) : points.length;
    const to = marked ? (line === frame.end.line ? frame.end.column - 1 : points.length) : points.length;
    pre.append(points.slice(0, from).join(""));
    if (to > from) pre.append(el("mark", {}, points.slice(from, to).join("")));
    pre.append(points.slice(Math.max(from, to)).join("") + "\n");
  });
  return pre;
}


function article(finding) {
  const evidence = el("ol", { class: "evidence", "aria-label": "Evidence" });
  for (const related of finding.related)
    evidence.append(el("li", {}, ...prose(related.message), " ", place(related.path, related.range.start.line, where(related), related.file), code(related.code)));
  const fixes = finding.fixes.map((fix) => el("p", { class: "fix" }, el("strong", {}, fix.preferred ? "Fix: " : "Possible fix: "), ...prose(fix.title)));
  return el("article", { class: finding.severity, "data-severity": finding.severity },
    el("h3", {}, el("span", { class: `badge ${finding.severity}` }, finding.severity), ...prose(finding.message)),
    el("div", {}, el("code", {}, finding.rule), " · ", place(finding.path, finding.range.start.line, where(finding), finding.file)),
    code(finding.code), finding.related.length ? evidence : null, ...fixes);
}

function showFindings() {
  const list = document.getElementById("finding-list");
  const filters = document.getElementById("filters");
  if (!data.diagnostics.length) {
    list.append(el("p", {}, `Nothing was found in ${plural(data.files, "file")}.`));
    return;
  }
  for (const severity of severities) {
    const found = data.diagnostics.filter((each) => each.severity === severity);
    if (!found.length) continue;
    const button = el("button", { type: "button", "aria-pressed": "true" }, severity === "information" ? `${found.length} information` : plural(found.length, severity));
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      for (const each of list.querySelectorAll(`article[data-severity=${severity}]`)) each.hidden = !shown;
    });
    filters.append(button);
    list.append(...found.map(article));
  }
}

// ------------------------------------------------------------ lanes

const rowHeight = 38;
const gutter = 290;
const shorten = (text, room) => (text.length <= room ? text : room < 2 ? "" : `${text.slice(0, room - 1)}…`);

const hasHang = (node) => node.kind === "hang" || node.kind === "unanswered" || Boolean(node.problem) || (node.steps ?? []).some(hasHang);


class Lanes {
  constructor(part, world, title, file) {
    this.world = world;
    this.file = file;
    this.folded = new Set();
    this.foldAll(part.steps);
    this.steps = part.steps;
    this.chosen = 0;
    this.id = `lanes-${Lanes.count = (Lanes.count ?? 0) + 1}`;
    this.ranks = el("div", { class: "ranks", "aria-hidden": "true" }, el("span", { class: "gutter" }, "line"));
    this.rowsBox = el("div", { class: "rows", role: "presentation" });
    this.box = el("div", { class: "lanes", role: "tree", tabindex: "0", "aria-label": `${title}, ${plural(world, "rank")}` }, this.ranks, this.rowsBox);
    this.details = el("div", { class: "details", role: "status", "aria-live": "polite" }, el("p", { class: "none" }, "Point at a step, or choose one, to see its shape, line and callers."));
    this.element = el("div", {}, this.box, this.details);
    this.box.addEventListener("scroll", () => this.later());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.rowsBox.addEventListener("click", (event) => this.click(event));
    this.rowsBox.addEventListener("mouseover", (event) => {
      const row = event.target.closest?.(".row");
      if (row) this.tell(this.rows[Number(row.dataset.at)]);
    });
    this.flatten();
    Lanes.all.push(this);
  }

  // The step of a line of the file comes into sight; nothing where none stands there.
  follow(line) {
    const at = this.rows.findIndex(({ node }) => [node, ...(node.calls ?? []), ...(node.waiting ?? [])].some((each) => each.line === line && !each.path));
    this.box.classList.toggle("followed", at >= 0);
    if (at < 0) return;
    this.box.scrollIntoView({ block: "nearest" });
    this.choose(at);
  }

  // What is the same over and over is folded; what hangs is in sight.
  foldAll(nodes) {
    for (const node of nodes) {
      if (!node.steps) continue;
      if ((node.kind === "loop" || node.kind === "unreached" || node.kind === "round") && !hasHang(node)) this.folded.add(node);
      this.foldAll(node.steps);
    }
  }

  flatten() {
    this.rows = [];
    const add = (nodes, depth, unreached, stuck) => {
      for (const node of nodes) {
        this.rows.push({ node, depth, unreached: unreached || node.kind === "unreached" });
        if (node.steps && !this.folded.has(node)) add(node.steps, depth + 1, unreached || node.kind === "unreached", stuck);
      }
    };
    add(this.steps, 0, false);
  }

  attach() {
    const measure = () => {
      const room = this.box.clientWidth - gutter;
      this.lane = Math.max(92, Math.min(220, Math.floor(room / this.world)));
      this.width = gutter + this.lane * this.world;
      this.ranks.replaceChildren(this.ranks.firstChild);
      this.ranks.firstChild.style.width = `${gutter}px`;
      for (let rank = 0; rank < this.world; ++rank) {
        const head = el("span", {}, `rank ${rank}`);
        head.style.width = `${this.lane}px`;
        this.ranks.append(head);
      }
      this.render();
    };
    new ResizeObserver(measure).observe(this.box);
    measure();
    addEventListener("beforeprint", () => this.render(true));
    addEventListener("afterprint", () => this.render());
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.render(); });
  }

  render(all = false) {
    const most = 3000; // rows on paper
    const head = this.ranks.offsetHeight;
    const first = all ? 0 : Math.max(0, Math.floor((this.box.scrollTop - head) / rowHeight) - 8);
    const last = all ? Math.min(this.rows.length, most) : Math.min(this.rows.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / rowHeight) + 8);
    this.rowsBox.style.height = `${(all ? last : this.rows.length) * rowHeight}px`;
    this.rowsBox.style.width = `${this.width}px`;
    const svg = draw("svg", { width: this.width, height: (last - first) * rowHeight, role: "presentation" });
    svg.style.top = `${first * rowHeight}px`;
    for (let rank = 0; rank < this.world; ++rank) {
      const x = this.center(rank);
      svg.append(draw("line", { class: "lane", x1: x, x2: x, y1: 0, y2: (last - first) * rowHeight }));
    }
    for (let at = first; at < last; ++at) svg.append(this.row(at, (at - first) * rowHeight));
    this.rowsBox.replaceChildren(svg);
    this.box.setAttribute("aria-activedescendant", `${this.id}-${this.chosen}`);
  }

  center(rank) { return gutter + this.lane * rank + this.lane / 2; }

  row(at, y) {
    const { node, depth, unreached } = this.rows[at];
    const group = draw("g", {
      id: `${this.id}-${at}`, class: `row ${node.kind === "hang" || node.kind === "unanswered" ? "hang" : ""} ${unreached ? "unreached" : ""} ${at === this.chosen ? "chosen" : ""}`,
      role: "treeitem", "aria-level": depth + 1, "aria-posinset": at + 1, "aria-setsize": this.rows.length, "aria-selected": at === this.chosen,
      "aria-expanded": node.steps ? !this.folded.has(node) : undefined, "aria-label": describe(node), "data-at": at, transform: `translate(0 ${y})`,
    });
    group.append(draw("title", {}, describe(node)));
    // The lanes stay in sight behind a row.
    group.append(draw("rect", { class: "back", x: 0, y: 1, width: node.kind === "hang" || node.kind === "unanswered" ? this.width : gutter - 8, height: rowHeight - 2, rx: 4 }));
    for (let i = 0; i < depth; ++i) group.append(draw("line", { class: "nest", x1: 52 + i * 14, x2: 52 + i * 14, y1: 0, y2: rowHeight }));
    const x = 58 + depth * 14;
    const room = Math.floor((gutter - x - 12) / 6.6);
    const line = node.line ?? node.calls?.[0]?.line ?? node.waiting?.[0]?.line;
    if (line) group.append(draw("text", { class: "mono soft", x: 40, y: 24, "text-anchor": "end" }, String(line)));
    if (node.steps) {
      const folded = this.folded.has(node);
      group.append(draw("path", { class: "fold", d: folded ? `M${x - 3} 14l7 5-7 5z` : `M${x - 5} 16h10l-5 7z` }));
      group.append(draw("text", { x: x + 10, y: 24 }, shorten(blocks[node.kind](node) + (folded ? ` · ${plural(stepsIn(node), "step")} folded` : ""), room + Math.floor(this.lane / 6.6))));
    } else if (node.kind === "step") {
      group.append(draw("text", { class: node.problem ? "bad" : "", x, y: 24 }, shorten(node.problem || [...new Set(node.calls.map((call) => call.name))].join(" | "), room)));
      this.calls(group, node);
    } else {
      group.append(draw("text", { class: "bad", x, y: 24 }, shorten(node.kind === "hang" ? (node.certain ? "hangs here" : "may hang here") : "nobody answers here", room)));
      this.stuck(group, node);
    }
    return group;
  }


  calls(group, node) {
    const sends = node.calls.filter((call) => call.kind === "send");
    const receives = node.calls.filter((call) => call.kind === "receive");
    for (const call of node.calls) {
      if (call.kind === "collective") this.bar(group, call, node.problem ? "wrong" : "");
      if (call.kind === "wait") this.bar(group, call, "wait", call.ranks);
    }
    for (const call of sends)
      for (const rank of call.ranks) this.arrow(group, rank, call.peer, call, receives.some((other) => other.ranks.includes(call.peer) && other.peer === rank));
    for (const call of receives)
      for (const rank of call.ranks)
        if (!sends.some((other) => other.ranks.includes(call.peer) && other.peer === rank)) this.arrow(group, call.peer, rank, call, false);
  }

  // Over the lanes of who takes part; thin over those in between that do not.
  bar(group, call, kind) {
    const ranks = call.ranks;
    const from = this.center(ranks[0]), to = this.center(ranks[ranks.length - 1]);
    if (ranks.length > 1) group.append(draw("line", { class: `link ${kind}`, x1: from, x2: to, y1: 19, y2: 19 }));
    let begin = 0;
    let widest = [0, 0];
    for (let i = 1; i <= ranks.length; ++i) {
      if (i < ranks.length && ranks[i] === ranks[i - 1] + 1) continue;
      const x = gutter + this.lane * ranks[begin] + 8, width = this.lane * (i - begin) - 16;
      group.append(draw("rect", { class: `bar ${kind}`, x, y: 7, width, height: rowHeight - 14, rx: 5 }));
      if (width > widest[1]) widest = [x, width];
      begin = i;
    }
    const text = shorten(callText(call), Math.floor((widest[1] - 8) / 7));
    group.append(draw("text", { class: "on", x: widest[0] + widest[1] / 2, y: 23, "text-anchor": "middle" }, text));
  }

  arrow(group, from, to, call, answered) {
    const a = this.center(from), b = this.center(to), side = Math.sign(b - a) || 1, y = 22;
    group.append(draw("line", { class: "send", x1: a, x2: b - side * 8, y1: y, y2: y, "stroke-dasharray": answered ? undefined : "5 4" }));
    group.append(draw("path", { class: "head", d: `M${b} ${y}l${-side * 10} -5v10z` }));
    group.append(draw("circle", { class: "head", cx: a, cy: y, r: 3.5 }));
    group.append(draw("text", { class: "sent mono", x: (a + b) / 2, y: 14, "text-anchor": "middle" }, shorten(shapeText(call) || call.name, Math.floor(Math.abs(b - a) / 6.6))));
  }

  stuck(group, node) {
    for (const call of node.waiting) {
      const missing = waitsFor(call, node.waiting);
      for (const rank of call.ranks) {
        const x = gutter + this.lane * rank + 6;
        group.append(draw("rect", { class: "bar stuck", x, y: 4, width: this.lane - 12, height: rowHeight - 8, rx: 5 }));
        const room = Math.floor((this.lane - 20) / 7.2);
        group.append(draw("text", { class: "on", x: this.center(rank), y: 17, "text-anchor": "middle" }, shorten(call.name, room)));
        group.append(draw("text", { class: "on", x: this.center(rank), y: 30, "text-anchor": "middle" }, shorten(missing.length ? `waits for ${missing.join(", ")}` : "waits", room)));
      }
    }
    for (const rank of node.ended)
      group.append(draw("text", { class: "soft", x: this.center(rank), y: 23, "text-anchor": "middle" }, "ended"));
  }

  tell(row) {
    const { node } = row;
    const lines = [];
    if (node.steps) lines.push(el("p", {}, describe(node), node.line ? " · " : "", node.line ? this.placeOf(node) : null));
    else if (node.kind !== "step") lines.push(el("p", {}, el("strong", {}, describe(node))));
    if (node.problem) lines.push(el("p", {}, el("strong", {}, node.problem)));
    for (const call of node.calls ?? node.waiting ?? []) {
      const line = el("p", {}, el("strong", {}, ranksText(call.ranks)), ` ${callText(call)}`);
      if (call.group && call.group.length < this.world) line.append(` among ${ranksText(call.group)}`);
      if (call.line) line.append(" · ", this.placeOf(call));
      for (const caller of call.callers ?? []) {
        line.append(` · in ${caller.function}`);
        if (caller.called) line.append(", called at ", this.placeOf(caller.called));
      }
      lines.push(line);
    }
    if (node.unknown) lines.push(el("p", {}, `It is not known whether ${ranksText(node.unknown)} ${node.unknown.length === 1 ? "takes" : "take"} part.`));
    this.details.replaceChildren(...lines);
  }
  placeOf(spot) { return place(spot.path ?? this.file.path, spot.line, undefined, spot.file ?? (spot.path ? undefined : this.file.file)); }

  choose(at) {
    this.chosen = Math.max(0, Math.min(this.rows.length - 1, at));
    const top = this.chosen * rowHeight, head = this.ranks.offsetHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    if (top + rowHeight + head > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + rowHeight + head - this.box.clientHeight;
    this.render();
    this.tell(this.rows[this.chosen]);
  }
  fold(node, folded) {
    if (folded) this.folded.add(node);
    else this.folded.delete(node);
    this.flatten();
    this.choose(this.rows.findIndex((row) => row.node === node));
  }

  click(event) {
    const row = event.target.closest?.(".row");
    if (!row) return;
    const { node } = this.rows[Number(row.dataset.at)];
    if (node.steps) this.fold(node, !this.folded.has(node));
    else this.choose(Number(row.dataset.at));
    const spot = node.calls?.[0] ?? node.waiting?.[0] ?? node;
    if (editor && spot.line) editor.postMessage({ path: spot.path ?? this.file.file, line: spot.line });
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / rowHeight) - 2);
    const { node, depth } = this.rows[this.chosen];
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.choose(this.chosen + moves[event.key]);
    else if (event.key === "Home") this.choose(0);
    else if (event.key === "End") this.choose(this.rows.length - 1);
    else if (event.key === "ArrowRight" && node.steps && this.folded.has(node)) this.fold(node, false);
    else if (event.key === "ArrowRight" && node.steps) this.choose(this.chosen + 1);
    else if (event.key === "ArrowLeft" && node.steps && !this.folded.has(node)) this.fold(node, true);
    else if (event.key === "ArrowLeft") {
      let up = this.chosen;
      while (up > 0 && this.rows[up].depth >= depth) --up;
      this.choose(up);
    } else if ((event.key === "Enter" || event.key === " ") && node.steps) this.fold(node, !this.folded.has(node));
    else if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
  }
}

Lanes.all = [];

function showSchedules() {
  const files = data.schedules.filter((file) => file.schedules.length);
  if (!files.length) return;
  document.getElementById("communication").hidden = false;
  for (const file of files)
    for (const part of file.schedules) {
      const title = `${file.path}${part.function ? `: ${part.function}` : ", as it runs"}`;
      const heading = el("h3", {}, title + " ", el("span", { class: "type" }, `· ${plural(file.world, "rank")}`));
      if (part.hangs) heading.append(" ", el("span", { class: "badge error" }, "hangs"));
      if (!part.complete) heading.append(" ", el("span", { class: "badge hint" }, "not all of it"));
      const lanes = new Lanes(part, file.world, title, file);
      document.getElementById("schedules").append(heading, lanes.element);
      lanes.attach();
    }
}

// ------------------------------------------------------------ models

const models = new Map(data.models.map((model) => [model.name, model]));


function layerItem(layer, model, depth) {
  const used = (model.flow ?? []).find((node) => node.kind === "layer" && node.label === layer.name);
  const into = used?.from.map((from) => model.flow[from].shape).find(Boolean);
  const shapes = used && (into || used.shape) ? ` ${into || "?"} → ${used.shape || "?"}` : "";
  const words = layerWords(layer);
  const line = [el("span", { class: "mono" }, words.name), words.repeated, el("strong", {}, words.type),
    words.arguments ? el("span", { class: "type mono" }, words.arguments) : "", shapes ? el("span", { class: "type mono" }, shapes) : ""];
  if (words.count) line.push(el("span", { class: "count" }, words.count));
  const parts = [...(layer.parts ?? [])];
  const other = models.get(layer.type);
  if (!parts.length && other && depth < 6) parts.push(...other.layers);
  if (!parts.length) return el("li", {}, ...line);
  return el("li", {}, el("details", { open: depth < 1 }, el("summary", {}, ...line), el("ul", {}, ...parts.map((each) => layerItem(each, other ?? model, depth + 1)))));
}

// Values go down; each line says what shape goes along it. What is used further down goes around on the left.
function flowPicture(model) {
  const nodes = model.flow, step = 58, high = 30, top = 10;
  const tracks = [];
  const arcs = [];
  nodes.forEach((node, to) => {
    for (const from of node.from) {
      if (from === to - 1) continue;
      let track = 0;
      while ((tracks[track] ?? []).some(([a, b]) => from < b && a < to)) ++track;
      (tracks[track] ??= []).push([from, to]);
      arcs.push([from, to, track]);
    }
  });
  const left = 20 + tracks.length * 12;
  const label = (node) => (node.kind === "layer" ? `${node.label}` : node.label);
  const type = (node) => (node.kind === "layer" ? model.layers.find((layer) => layer.name === node.label)?.type : undefined);
  const width = (node) => Math.max(90, 22 + 7.2 * (label(node).length + (type(node) ? type(node).length + 2 : 0)));
  const wide = Math.max(...nodes.map((node) => Math.max(width(node), 40 + 7 * node.shape.length)), 240);
  const svg = draw("svg", { width: left + wide + 20, height: top + nodes.length * step, role: "img", "aria-label": `How values go through ${model.name}.forward: ${plural(nodes.length, "step")}` });
  for (let i = 0; i < nodes.length; ++i) {
    if (!nodes[i].loop || nodes[i - 1]?.loop === nodes[i].loop) continue;
    let end = i;
    while (nodes[end + 1]?.loop === nodes[i].loop) ++end;
    svg.append(draw("rect", { class: "loop", x: left - 8, y: top + i * step - 6, width: wide + 20, height: (end - i) * step + high + 12, rx: 8 }));
    svg.append(draw("text", { class: "soft", x: left + wide + 8, y: top + i * step + 8, "text-anchor": "end" }, nodes[i].loop));
  }
  const tip = (x, y) => draw("path", { class: "tip", d: `M${x} ${y}l-4 -8h8z` });
  const side = (x, y) => draw("path", { class: "tip", d: `M${x} ${y}l-8 -4v8z` });
  nodes.forEach((node, i) => {
    const y = top + i * step;
    for (const from of node.from)
      if (from === i - 1) svg.append(draw("line", { class: "edge", x1: left + 24, x2: left + 24, y1: y - step + high, y2: y - 6 }), tip(left + 24, y));
    const title = `${node.text}${node.shape ? ` → ${node.shape}` : ""} (line ${node.line})`;
    const group = draw("g", { class: "node" }, draw("title", {}, title), draw("rect", { class: `box ${node.kind}`, x: left, y, width: width(node), height: high, rx: 7 }),
      draw("text", { x: left + 11, y: y + 20 }, label(node), type(node) ? draw("tspan", { class: "soft" }, `  ${type(node)}`) : ""));
    if (editor) { group.style.cursor = "pointer"; group.addEventListener("click", () => editor.postMessage({ path: model.file, line: node.line })); }
    svg.append(group);
    if (node.shape && nodes.some((other) => other.from.includes(i))) svg.append(draw("text", { class: "shape mono", x: left + 36, y: y + high + 18 }, node.shape));
    else if (node.shape) svg.append(draw("text", { class: "shape mono", x: left + width(node) + 10, y: y + 20 }, node.shape));
  });
  for (const [from, to, track] of arcs) {
    const x = left - 14 - track * 12, y1 = top + from * step + high / 2 + 6, y2 = top + to * step + high / 2 - 4;
    svg.append(draw("path", { class: "edge", d: `M${left} ${y1}H${x + 6}Q${x} ${y1} ${x} ${y1 + 6}V${y2 - 6}Q${x} ${y2} ${x + 6} ${y2}H${left - 6}` }, draw("title", {}, nodes[from].shape || nodes[from].text)), side(left, y2));
  }
  const list = el("ol", {}, ...nodes.map((node) => el("li", {}, el("code", {}, node.text), flowWords(node))));
  return el("div", {}, el("div", { class: "flow" }, svg), el("details", { class: "text-form" }, el("summary", {}, "The same as a list"), list));
}

function showModels() {
  if (!data.models.length) return;
  document.getElementById("models").hidden = false;
  for (const model of data.models) {
    const heading = el("h3", {}, `${model.name} `, place(model.path, model.line, undefined, model.file));
    if (model.parameters !== undefined) heading.append(el("span", { class: "type" }, ` · ${numbers(model.parameters)}`));
    const tree = el("div", {}, el("h4", {}, "Layers"), model.layers.length ? el("ul", { class: "tree" }, ...model.layers.map((layer) => layerItem(layer, model, 0))) : el("p", { class: "hint" }, "It makes none."));
    const flow = el("div", {}, el("h4", {}, "Forward"), model.flow.length ? flowPicture(model) : el("p", { class: "hint" }, "Nothing is known of it."));
    document.getElementById("model-list").append(el("div", { class: "model" }, heading, tree, flow));
  }
}

// ------------------------------------------------------------

// An editor makes the page anew after each pause: it stays where it was, and its lanes follow the cursor.
if (editor) {
  const state = editor.getState() ?? {};
  requestAnimationFrame(() => scrollTo(0, state.top ?? 0));
  addEventListener("scroll", () => editor.setState({ top: scrollY }));
  addEventListener("message", ({ data: { line } }) => { for (const lanes of Lanes.all) lanes.follow(line); });
}

document.getElementById("summary").textContent = summaryText(data);
document.title = `stepzero: ${data.paths.join(", ")}`;
showFindings();
showSchedules();
showModels();
for (const section of document.querySelectorAll("main > section:not([hidden])"))
  document.getElementById("sections").append(el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
