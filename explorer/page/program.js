// The program view: text, findings, a run step by step, origins, order of pipes, a second program.
"use strict";

const Program = {
  checked: null, ran: null, block: 0,

  start() {
    $("text").addEventListener("input", () => { state.text = $("text").value; this.forget(); this.soon(); });
    $("text").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.run(); }
    });
    this.soon = later(() => this.show(), 150);
    for (const id of ["other", "expected"]) $(id).addEventListener("input", () => { state[id] = $(id).value; });
    $("blocks").addEventListener("input", () => { state.blocks = Number($("blocks").value) || 1; this.timeline(); });
    $("run").addEventListener("click", () => this.run());
    $("step").addEventListener("input", () => this.go(Number($("step").value)));
    const moves = { first: () => 0, back: () => state.step - 1, next: () => state.step + 1, last: () => Infinity };
    for (const [id, to] of Object.entries(moves)) $(id).addEventListener("click", () => this.go(to()));
    $("equiv").addEventListener("click", () => this.equiv());
    $("block").addEventListener("change", () => { this.block = Number($("block").value); this.go(Infinity); });
    $("expected").parentNode.append(...this.droppable($("expected"), (text, name) => this.expect(text, name)));
    this.timeline = later(() => {
      const isLegal = this.checked && this.checked.arguments;
      Timeline.show(isLegal && this.request(), isLegal ? this.checked.races.findings : []);
    }, 200);
    Timeline.start();
    Contents.start();
  },

  /** What ran was another program. */
  forget() {
    this.ran = null;
    state.ran = false;
    $("values").parentNode.hidden = true;
    for (const id of ["outputs", "compared", "origin", "printed"]) $(id).replaceChildren();
  },

  /** Checks the text and shows what was found. */
  show() {
    // A link that was made after a run opens at its step.
    const step = state.step;
    for (const id of ["text", "other", "expected"]) if ($(id).value !== state[id]) $(id).value = state[id];
    if (document.activeElement !== $("text")) $("text").setSelectionRange(0, 0);
    $("blocks").value = state.blocks;
    if (state.other) $("compare").open = true;
    if (!attempt(() => { this.checked = Engine.call({ do: "check", text: state.text, profile: state.profile }); })) return;
    const a = this.checked;
    const errors = a.findings.filter((f) => f.severity === "error").length;
    $("verdict").textContent = errors ? `${errors} error${errors > 1 ? "s" : ""} on ${a.profile}` : `legal on ${a.profile}`;
    $("verdict").className = errors ? "bad" : "good";
    this.list($("findings"), a.findings);
    this.gutter();
    Editor.mark([...a.findings, ...(a.races ? a.races.findings : [])]);
    const cell = (rule) => make("td", { class: rule ? "no" : "yes" }, rule || "✓");
    $("portability").replaceChildren(make("table", {}, make("tr", {}, make("th", {}, "line"), make("th", {}, ""), ...a.profiles.map((p) => make("th", {}, p))),
      ...a.portability.map((row) => make("tr", {}, make("td", {}, String(row.at.line)), make("td", {}, row.name), ...row.refused.map(cell)))));
    this.arguments(a.arguments || []);
    const races = a.races;
    $("races-verdict").textContent = races ? races.verdict : "";
    $("races-verdict").className = races ? { races: "bad", undecided: "maybe" }[races.verdict] || "good" : "";
    $("example").value = (Examples.all.find((one) => one.text === state.text) || { file: "" }).file;
    this.list($("races"), races ? races.findings : []);
    MemoryMap.draw(a.map);
    if (a.arguments) this.timeline(); else { this.timeline.cancel(); Timeline.show(null, []); }
    this.steps();
    if (a.no_kernel || !this.ran) say(a.no_kernel || "");
    if (state.ran && !this.ran && this.run()) this.go(step);
  },

  list(place, findings) {
    place.replaceChildren(...findings.map((f) => make("li", {
      class: f.severity, tabindex: 0, onclick: () => this.select(f.at), onkeydown: (event) => { if (event.key === "Enter") this.select(f.at); },
    }, f.at ? `${f.at.line}:${f.at.column} ` : "", make("b", {}, f.rule), " " + f.message, ...f.notes.map((note) => make("div", {}, note)),
    f.help ? make("span", { class: "help" }, "help: " + f.help) : "")));
  },

  /** Selects a place of the text, so that it can be changed there. */
  select(at) {
    if (!at) return;
    $("text").focus();
    $("text").setSelectionRange(at.start, at.end);
    Editor.tell();
    const { line, char } = Editor.metrics();
    $("text").scrollTop = Math.max(0, (at.line - 5) * line);
    // The start of a long place is what must be seen.
    const left = at.column * char;
    $("text").scrollLeft = left < $("text").clientWidth - 80 ? 0 : left - 40;
  },

  gutter() {
    const worst = new Map();
    const findings = [...(this.checked ? this.checked.findings : []), ...(this.checked && this.checked.races ? this.checked.races.findings : [])];
    for (const f of findings) if (f.at && worst.get(f.at.line) !== "error") worst.set(f.at.line, f.severity);
    const step = this.current();
    const lines = state.text.split("\n").map((_, n) => {
      const line = n + 1;
      return make("div", { class: [worst.get(line), step && step.at.line === line ? "now" : ""].filter(Boolean).join(" ") }, String(line));
    });
    $("gutter").replaceChildren(...lines);
    $("gutter").scrollTop = $("text").scrollTop;
  },

  arguments(all) {
    const known = $("inputs").dataset.names;
    const names = JSON.stringify(all);
    if (known === names) return;
    $("inputs").dataset.names = names;
    $("inputs").replaceChildren(...all.map((a) => {
      const input = make("input", { value: state.inputs[a.name] || "", placeholder: a.kind === "scalar" ? "number" : "random", title: a.kind === "scalar" ? "a number" : "random, iota, ones, zeros, numbers such as 1 2 3, or a .npy file", "aria-label": "%" + a.name, "data-name": a.name, spellcheck: "false" });
      const put = (text) => { state.inputs[a.name] = input.value = text; this.timeline(); };
      input.addEventListener("input", () => put(input.value));
      const label = make("label", { title: [a.kind, a.elem, (a.shape || []).join("×")].filter(Boolean).join(" ") }, "%" + a.name, input);
      if (a.kind !== "scalar") label.append(...this.droppable(label, put));
      return label;
    }));
  },

  /** The program with what the boxes of arguments say. */
  request() {
    const given = {};
    for (const { name } of this.checked.arguments || []) if ((state.inputs[name] || "").trim()) given[name] = state.inputs[name];
    return { text: state.text, profile: state.profile, blocks: state.blocks, given };
  },

  run() {
    if (!this.checked || !attempt(() => { this.ran = Engine.call({ ...this.request(), do: "run", expect: state.expected }); })) return false;
    state.ran = true;
    this.list($("findings"), this.ran.findings);
    const blocks = this.ran.blocks || [];
    this.block = Math.max(0, blocks.length - 1);
    $("block").replaceChildren(...blocks.map((b, n) => make("option", { value: n, selected: n === this.block }, String(b.block))));
    $("block").parentNode.hidden = blocks.length < 2;
    this.go(Infinity);
    Contents.outputs(this.ran);
    $("printed").textContent = (this.ran.printed || []).map((p) => p.text ?? `%${p.name}: ${p.tile.values.join(" ")}`).join("\n");
    if (window.innerWidth <= 860) document.querySelector(".results").scrollIntoView({ behavior: "smooth" });
    const stopped = this.ran.findings.find((f) => f.severity === "error");
    say(stopped ? "Stopped: " + stopped.message : "Ran " + this.all().length + " instructions.");
    return true;
  },

  /** An array of a file: what an argument holds, or what an output must be. */
  async take(file, put) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    put("npy:" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join(""));
    say(`${file.name}: ${bytes.length} bytes`);
  },

  /** A place where files can be dropped, and a button for those who cannot. */
  droppable(place, put) {
    const picker = make("input", { type: "file", accept: ".npy", hidden: true, onchange: () => { if (picker.files[0]) this.take(picker.files[0], (text) => put(text, picker.files[0].name)); } });
    place.addEventListener("dragover", (event) => event.preventDefault());
    place.addEventListener("drop", (event) => {
      event.preventDefault();
      for (const file of event.dataTransfer.files) this.take(file, (text) => put(text, file.name));
    });
    return [picker, make("button", { title: "take the contents of a .npy file", onclick: (event) => { event.preventDefault(); picker.click(); } }, ".npy…")];
  },

  /** What a file says an output must be; its name ends with the output's, else it is the first one's. */
  expect(text, file) {
    const names = (this.checked && this.checked.outputs) || [];
    const name = names.filter((n) => file.replace(/\.npy$/, "").endsWith(n)).sort((a, b) => b.length - a.length)[0] || names[0] || "dst";
    const others = state.expected.split("\n").filter((line) => line.trim() && line.split(":")[0].trim() !== "%" + name);
    state.expected = [...others, `%${name}: ${text}`].join("\n");
    $("expected").value = state.expected;
  },

  all() { const blocks = this.ran && this.ran.blocks; return blocks && blocks.length ? blocks[this.block].steps : []; },
  current() { return this.all()[state.step - 1]; },

  /** Goes to a step: 0 is before the first one. */
  go(step) {
    state.step = Math.max(0, Math.min(step, this.all().length));
    this.steps();
  },

  steps() {
    const all = this.all();
    state.step = Math.min(state.step, all.length);
    $("step").max = all.length;
    $("step").value = state.step;
    const step = this.current();
    $("step-name").textContent = all.length ? `${state.step} of ${all.length}` + (step ? `: ${step.op}${step.core ? " on " + step.core : ""}, line ${step.at.line}` : ": start") : "not run yet";
    this.gutter();
    Contents.show(this.ran && this.ran.blocks && this.ran.blocks[this.block], step);
    MemoryMap.now(step);
    Timeline.now();
  },

  /** How often the place of the current step has run, on its core, up to it. */
  count(step) { return this.all().slice(0, state.step).filter((s) => s.at.start === step.at.start && s.core === step.core).length; },

  /** The number of the step that runs a place for the n-th time. */
  nth(process, start, nth) {
    if (!this.ran || !this.ran.blocks || this.ran.blocks[this.block].block !== process.block) return 0;
    return this.all().findIndex((s) => s.at.start === start && (!s.core || s.core === process.core) && --nth === 0) + 1;
  },

  lives() {
    const lives = new Map();
    for (const memory of (this.checked && this.checked.map && this.checked.map.memories) || []) for (const row of memory.rows) lives.set(row.id, row);
    return lives;
  },

  origin(target, moment) {
    attempt(() => {
      const way = Engine.call({ ...this.request(), do: "origin", target, moment });
      const when = moment && moment[1] < this.all().length ? ` after step ${moment[1]}` : "";
      const hop = (h) => make("li", { onclick: () => this.select(h.at), tabindex: 0, style: `margin-left:${h.depth}em` },
        [h.at ? `line ${h.at.line}` : "", h.op || "", h.how, h.detail || "", h.from ? "from " + h.from : "", h.to ? "to " + h.to : "", ...h.loops].filter(Boolean).join(" "));
      $("origin").replaceChildren(make("h2", {}, `Where ${way.target} comes from${when}`), way.formula ? make("p", { class: "code" }, way.formula) : "",
        make("ol", {}, ...way.hops.map(hop)), way.is_cut ? "… and further." : "");
    });
  },

  equiv() {
    attempt(() => {
      const found = Engine.call({ do: "equiv", a: state.text, b: state.other, profile: state.profile });
      const place = $("equiv-answer");
      place.className = found.answer === "equal" ? "good" : "bad";
      if (found.answer === "equal") place.replaceChildren(`Equal for all inputs: ${found.elements} elements of ${found.outputs} output${found.outputs > 1 ? "s" : ""}.`);
      else if (found.answer === "undecided") place.replaceChildren("Undecided: " + found.why);
      else {
        const line = (d) => make("li", { onclick: () => this.origin(d.at[0]) }, `${d.at[0]} is ${d.is[0]}, and ${d.at[1]} is ${d.is[1]}`,
          d.witness ? `; with ${d.witness.inputs.map(([k, v]) => k + " = " + v).join(", ")}: ${d.witness.values[0]} and ${d.witness.values[1]}` : "");
        place.replaceChildren(`Different in ${found.elements} elements:`, make("ul", {}, ...found.first.slice(0, 8).map(line)));
      }
    });
  },

  svg() { return this.checked && this.checked.map && this.checked.map.svg; },
};
