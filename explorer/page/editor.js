// The editor: a text area over coloured text, so that undo, selection, spelling of input methods and readers of the page are
// the browser's own. Colours, marks, completion and what the caret stands on are added around it.
"use strict";

const Editor = {
  /** Longer texts are shown without colours. */
  MOST: 120_000,
  CHOICES: 12,
  DRAFT: "tessera-explorer-text",
  marks: [], choices: [], chosen: 0, isLeaving: false, isPutting: false,
  TOKEN: /(?<comment>\/\/[^\n]*)|(?<string>"(?:[^"\\\n]|\\.)*")|(?<value>%[\w.$#-]+)|(?<name>[@!#][\w.$-]+)|(?<op>\b(?:pto|arith|scf|func|memref|math|index|llvm|builtin)\.[\w.]+)|(?<number>\b(?:0x[0-9a-fA-F]+|\d+(?:x\d+)*(?:\.\d+)?(?:[eE][-+]?\d+)?)(?:x[a-z]\w*)?\b)|(?<word>\b(?:ins|outs|attributes|module|return|iter_args|to|step|else|loc)\b)/g,

  start(catalog) {
    this.names = catalog.instructions.map((one) => one.name);
    // How often the examples use an instruction, so that the usual ones come first.
    this.uses = new Map();
    for (const one of Examples.all) for (const [, name] of one.text.matchAll(/\bpto\.(\w+)/g)) this.uses.set(name, (this.uses.get(name) || 0) + 1);
    this.about = new Map(catalog.instructions.map((one) => [one.name, one]));
    const text = $("text");
    this.keep = later(() => { try { localStorage.setItem(this.DRAFT, state.text); } catch { /* Some browsers keep nothing for files. */ } }, 400);
    text.addEventListener("input", (event) => {
      this.paint();
      this.keep();
      if (this.isPutting) this.close();
      else if (event.inputType === "insertText" || (event.inputType === "deleteContentBackward" && this.choices.length)) this.complete(); else this.close();
    });
    text.addEventListener("scroll", () => this.scroll());
    text.addEventListener("keydown", (event) => this.key(event));
    for (const away of ["blur", "mousedown"]) text.addEventListener(away, () => this.close());
    document.addEventListener("selectionchange", () => { if (document.activeElement === text) this.tell(); });
    text.addEventListener("mousemove", (event) => this.hover(event));
    $("completions").addEventListener("mousedown", (event) => {
      event.preventDefault();
      const item = event.target.closest("li");
      if (item) this.accept([...$("completions").children].indexOf(item));
    });
  },

  draft() { try { return localStorage.getItem(this.DRAFT); } catch { return null; } },

  /** Replaces a part of the text so that undo brings it back. */
  replace(start, end, put) {
    const text = $("text");
    text.focus({ preventScroll: true });
    text.setSelectionRange(start, end);
    this.isPutting = true;
    const isDone = put ? document.execCommand("insertText", false, put) : start === end || document.execCommand("delete");
    if (!isDone) {
      text.setRangeText(put, start, end, "end");
      text.dispatchEvent(new InputEvent("input"));
    }
    this.isPutting = false;
  },

  /** Another program instead of this one. */
  set(program) {
    this.replace(0, $("text").value.length, program);
    $("text").setSelectionRange(0, 0);
    [$("text").scrollTop, $("text").scrollLeft] = [0, 0];
  },

  /** Marks places: those of findings that have one. Of each place the first is shown. */
  mark(findings) {
    this.marks = findings.filter((f) => f.at).map((f) => ({
      start: f.at.start, end: Math.max(f.at.end, f.at.start + 1), line: f.at.line, severity: f.severity, said: `${f.rule}: ${f.message}`,
      text: state.text.slice(f.at.start, f.at.end),
    }));
    this.paint();
    this.tell();
  },

  /** The coloured text below the text area. A mark goes away with the text that it was of. */
  paint() {
    const text = $("text").value;
    const place = $("colours");
    if (text.length > this.MOST) { place.textContent = text + "\n"; return; }
    const under = new Uint8Array(text.length + 1);
    const kinds = ["", "squiggle note", "squiggle warning", "squiggle error"];
    for (const mark of this.marks) {
      if (text.slice(mark.start, mark.end).startsWith(mark.text)) under.fill(Math.max(1, kinds.indexOf("squiggle " + mark.severity)), mark.start, Math.min(mark.end, text.length));
    }
    const parts = document.createDocumentFragment();
    const put = (start, end, kind) => {
      while (start < end) {
        let stop = start + 1;
        while (stop < end && under[stop] === under[start]) stop++;
        const name = [kind, kinds[under[start]]].filter(Boolean).join(" ");
        parts.append(name ? make("span", { class: name }, text.slice(start, stop)) : text.slice(start, stop));
        start = stop;
      }
    };
    let at = 0;
    for (const found of text.matchAll(this.TOKEN)) {
      put(at, found.index, "");
      at = found.index + found[0].length;
      put(found.index, at, "t-" + Object.entries(found.groups).find(([, value]) => value !== undefined)[0]);
    }
    put(at, text.length, "");
    parts.append("\n");
    place.replaceChildren(parts);
    this.scroll();
  },

  scroll() {
    const text = $("text");
    $("gutter").scrollTop = text.scrollTop;
    $("colours").style.transform = `translate(${-text.scrollLeft}px, ${-text.scrollTop}px)`;
    if (this.choices.length) this.place();
  },

  /** Height of a line, width of a character, and the inner edge. */
  metrics() {
    const style = getComputedStyle($("text"));
    this.brush = this.brush || document.createElement("canvas").getContext("2d");
    this.brush.font = style.font;
    return { line: parseFloat(style.lineHeight), char: this.brush.measureText("0000000000").width / 10, left: parseFloat(style.paddingLeft), top: parseFloat(style.paddingTop) };
  },

  /** What is known of a place: its findings first, then its instruction. */
  said(at) {
    const text = $("text").value;
    const found = this.marks.filter((m) => m.start <= at && at <= m.end).sort((a, b) => (a.end - a.start) - (b.end - b.start));
    if (found.length) return { kind: found[0].severity, text: found[0].said };
    const start = text.slice(0, at).search(/[\w.]*$/);
    const name = text.slice(start).match(/^pto\.([\w.]+)/);
    const one = name && this.about.get(name[1]);
    return one ? { kind: "", text: [`pto.${one.name}`, one.summary, one.formula].filter(Boolean).join("  ") } : null;
  },

  tell() {
    const text = $("text").value;
    const at = $("text").selectionStart;
    const line = text.slice(0, at).split("\n");
    const said = this.said(at);
    $("caret").className = said ? said.kind : "";
    $("caret").textContent = `${line.length}:${line[line.length - 1].length + 1}  ` + (said ? said.text : "");
  },

  hover(event) {
    const { line, char, left, top } = this.metrics();
    const lines = $("text").value.split("\n");
    const row = Math.floor((event.offsetY + $("text").scrollTop - top) / line);
    const col = Math.floor((event.offsetX + $("text").scrollLeft - left) / char);
    const isIn = lines[row] !== undefined && col >= 0 && col < lines[row].length;
    const said = isIn && this.said(lines.slice(0, row).reduce((n, l) => n + l.length + 1, 0) + col);
    $("text").title = said ? said.text : "";
  },

  key(event) {
    const text = $("text");
    const [start, end] = [text.selectionStart, text.selectionEnd];
    if (this.choices.length) {
      const turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (turn) { event.preventDefault(); this.choose((this.chosen + turn + this.choices.length) % this.choices.length); return; }
      if ((event.key === "Enter" && !event.ctrlKey && !event.metaKey) || (event.key === "Tab" && !event.shiftKey)) { event.preventDefault(); this.accept(this.chosen); return; }
      if (event.key === "Escape") { event.preventDefault(); this.close(); return; }
      if (["ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"].includes(event.key)) this.close();
    }
    if (event.key === "Escape") { this.isLeaving = true; say("Tab leaves the editor now."); return; }
    if (event.key === " " && event.ctrlKey) { event.preventDefault(); this.complete(true); }
    else if (event.key === "Tab" && !event.altKey && !event.ctrlKey && !this.isLeaving) { event.preventDefault(); this.indent(start, end, event.shiftKey); }
    else if (event.key === "/" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.comment(start, end); }
    else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const before = text.value.slice(text.value.lastIndexOf("\n", start - 1) + 1, start);
      this.replace(start, end, "\n" + before.match(/^ */)[0] + (/\{\s*$/.test(before) ? "  " : ""));
    }
    if (!["Shift", "Tab"].includes(event.key)) this.isLeaving = false;
  },

  /** Changes whole lines of a selection, and selects them again. */
  lines(start, end, change) {
    const text = $("text").value;
    const first = text.lastIndexOf("\n", start - 1) + 1;
    const next = text.indexOf("\n", end > start && text[end - 1] === "\n" ? end - 1 : end);
    const last = next < 0 ? text.length : next;
    const changed = change(text.slice(first, last).split("\n")).join("\n");
    if (changed === text.slice(first, last)) return;
    this.replace(first, last, changed);
    if (start === end) { const to = Math.max(first, start + changed.length - (last - first)); $("text").setSelectionRange(to, to); }
    else $("text").setSelectionRange(first, first + changed.length);
  },

  indent(start, end, isOut) {
    if (isOut) this.lines(start, end, (all) => all.map((line) => line.replace(/^ {1,2}/, "")));
    else if (start === end) this.replace(start, end, "  ");
    else this.lines(start, end, (all) => all.map((line) => (line ? "  " + line : line)));
  },

  comment(start, end) {
    this.lines(start, end, (all) => (all.every((line) => /^\s*(\/\/|$)/.test(line)) ? all.map((line) => line.replace(/^(\s*)\/\/ ?/, "$1")) : all.map((line) => line.replace(/^(\s*)(?=\S)/, "$1// "))));
  },

  /** Names that begin with what stands before the caret, the usual ones first; then those that contain it. */
  complete(isAsked = false) {
    const text = $("text");
    const at = text.selectionStart;
    const before = text.value.slice(0, at);
    const op = before.match(/(?:^|[^\w.!#])pto\.(\w*)$/);
    const value = before.match(/%([\w]*)$/);
    const found = op || value;
    if (!found || text.selectionEnd !== at || (!isAsked && !found[1])) { this.close(); return; }
    const typed = found[1];
    const names = op ? this.names : [...new Set([...text.value.matchAll(/%(\w+)/g)].map((m) => m[1]))].filter((name) => name !== typed);
    const rank = (name) => (name.startsWith(typed) ? 0 : 1);
    const uses = (name) => (op && this.uses.get(name)) || 0;
    this.choices = names.filter((name) => name.includes(typed)).sort((a, b) => rank(a) - rank(b) || uses(b) - uses(a) || a.length - b.length || (a < b ? -1 : 1)).slice(0, this.CHOICES);
    if (!this.choices.length || (this.choices.length === 1 && this.choices[0] === typed)) { this.close(); return; }
    this.typed = typed.length;
    const list = $("completions");
    list.replaceChildren(...this.choices.map((name, n) => make("li", { role: "option", id: "choice-" + n }, make("b", {}, name), op && this.about.get(name) ? make("small", {}, " " + this.about.get(name).summary) : "")));
    list.hidden = false;
    this.place();
    text.setAttribute("aria-expanded", "true");
    this.choose(0);
  },

  /** Puts the list below the name that is written. */
  place() {
    const text = $("text");
    const { line, char, left, top } = this.metrics();
    const all = text.value.slice(0, text.selectionStart).split("\n");
    const x = left + (all[all.length - 1].length - this.typed) * char - text.scrollLeft;
    const list = $("completions");
    list.style.left = Math.max(0, Math.min(x, text.clientWidth - Math.min(260, text.clientWidth))) + "px";
    // Where there is no room below the line, it stands above.
    const below = top + all.length * line - text.scrollTop;
    const hasRoom = below + list.offsetHeight <= text.clientHeight || below - line < list.offsetHeight;
    list.style.top = (hasRoom ? below : below - line - list.offsetHeight) + "px";
  },

  choose(n) {
    this.chosen = n;
    [...$("completions").children].forEach((item, k) => item.setAttribute("aria-selected", String(k === n)));
    $("completions").children[n].scrollIntoView({ block: "nearest" });
    $("text").setAttribute("aria-activedescendant", "choice-" + n);
  },

  accept(n) {
    const [name, at] = [this.choices[n], $("text").selectionStart];
    this.close();
    this.replace(at - this.typed, at, name);
  },

  close() {
    this.choices = [];
    $("completions").hidden = true;
    $("text").setAttribute("aria-expanded", "false");
    $("text").removeAttribute("aria-activedescendant");
  },
};
