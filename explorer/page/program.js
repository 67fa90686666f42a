// The program view: text, findings, a run step by step, origins, order of pipes, a second program.
"use strict";

const Program = {
  checked: null, ran: null, block: 0,

  start() {
    $("text").addEventListener("input", () => { state.text = $("text").value; this.ran = null; this.soon(); });
    $("text").addEventListener("scroll", () => { $("gutter").scrollTop = $("text").scrollTop; });
    $("text").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); this.run(); }
    });
    this.soon = later(() => this.show(), 150);
    for (const id of ["other", "expected"]) $(id).addEventListener("input", () => { state[id] = $(id).value; });
    $("blocks").addEventListener("input", () => { state.blocks = Number($("blocks").value) || 1; });
    $("run").addEventListener("click", () => this.run());
    $("step").addEventListener("input", () => this.go(Number($("step").value)));
    const moves = { first: () => 0, back: () => state.step - 1, next: () => state.step + 1, last: () => Infinity };
    for (const [id, to] of Object.entries(moves)) $(id).addEventListener("click", () => this.go(to()));
    $("equiv").addEventListener("click", () => this.equiv());
  },

  /** Checks the text and shows what was found. */
  show() {
    for (const id of ["text", "other", "expected"]) if ($(id).value !== state[id]) $(id).value = state[id];
    $("blocks").value = state.blocks;
    if (state.other) $("compare").open = true;
    if (!attempt(() => { this.checked = Engine.call({ do: "check", text: state.text, profile: state.profile }); })) return;
    const a = this.checked;
    const errors = a.findings.filter((f) => f.severity === "error").length;
    $("verdict").textContent = errors ? `${errors} error${errors > 1 ? "s" : ""}` : `legal on ${a.profile}`;
    $("verdict").className = errors ? "bad" : "good";
    this.list($("findings"), a.findings);
    this.gutter();
    const cell = (rule) => make("td", { class: rule ? "no" : "yes" }, rule || "✓");
    $("portability").replaceChildren(make("table", {}, make("tr", {}, make("th", {}, "line"), make("th", {}, ""), ...a.profiles.map((p) => make("th", {}, p))),
      ...a.portability.map((row) => make("tr", {}, make("td", {}, String(row.at.line)), make("td", {}, row.name), ...row.refused.map(cell)))));
    this.arguments(a.arguments || []);
    const races = a.races;
    $("races-verdict").textContent = races ? races.verdict : "";
    $("races-verdict").className = races && races.verdict === "races" ? "bad" : "good";
    this.list($("races"), races ? races.findings : []);
    this.map();
    this.steps();
    say(a.no_kernel || "");
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
    const height = parseFloat(getComputedStyle($("text")).lineHeight);
    $("text").scrollTop = Math.max(0, (at.line - 5) * height);
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
      const input = make("input", { value: state.inputs[a.name] || "", placeholder: a.kind === "scalar" ? "number" : "random, iota, 1 2 3 …", "data-name": a.name, spellcheck: "false" });
      input.addEventListener("input", () => { state.inputs[a.name] = input.value; });
      return make("label", { title: [a.kind, a.elem, (a.shape || []).join("×")].filter(Boolean).join(" ") }, "%" + a.name, input);
    }));
  },

  /** What the boxes of arguments say. */
  given() {
    const [inputs, set] = [{}, {}];
    for (const argument of this.checked.arguments || []) {
      const text = (state.inputs[argument.name] || "").trim();
      if (!text) continue;
      const numbers = text.split(/[\s,]+/).map(Number);
      if (argument.kind === "scalar") set[argument.name] = Number(text);
      else if (numbers.every((n) => !Number.isNaN(n))) inputs[argument.name] = { values: numbers };
      else inputs[argument.name] = { fill: text };
    }
    return { inputs, set };
  },

  wanted() {
    const expect = {};
    for (const line of state.expected.split("\n").filter((l) => l.trim())) {
      const [name, numbers] = line.includes(":") ? line.split(":") : ["", line];
      const outputs = (this.ran && this.ran.outputs) || [];
      const bare = name.trim().replace("%", "") || (outputs[0] && outputs[0].name) || "dst";
      expect[bare] = numbers.trim().split(/[\s,]+/).map(Number);
    }
    return expect;
  },

  run() {
    if (!this.checked) return;
    const request = { do: "run", text: state.text, profile: state.profile, blocks: state.blocks, ...this.given(), expect: this.wanted() };
    if (!attempt(() => { this.ran = Engine.call(request); })) return;
    this.list($("findings"), this.ran.findings);
    this.block = Math.max(0, (this.ran.blocks || []).length - 1);
    this.go(Infinity);
    const compared = this.ran.compared || [];
    $("compared").replaceChildren(...compared.map((c) => make("span", { class: c.different ? "bad" : "good" }, c.different
      ? `%${c.name} differs in ${c.different} of ${c.elements} elements, worst [${c.worst[0].index}]: ${c.worst[0].got} instead of ${c.worst[0].want}`
      : `%${c.name} is as expected (${c.elements} elements)`)));
    this.outputs();
    const stopped = this.ran.findings.find((f) => f.severity === "error");
    say(stopped ? "Stopped: " + stopped.message : "Ran " + this.all().length + " instructions.");
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
    $("step-name").textContent = all.length ? `${state.step} of ${all.length}` + (step ? `: ${step.op}${step.core ? " on " + step.core : ""}, line ${step.at.line}` : ": start") : "not run";
    this.gutter();
    this.tiles(step);
    this.now();
  },

  /** The tiles at a step, those of the instruction first. */
  tiles(step) {
    const place = $("tiles");
    if (!this.ran || !this.ran.blocks || !this.ran.blocks.length) { place.replaceChildren(); return; }
    const tiles = new Map();
    const block = this.ran.blocks[this.block];
    const put = (t) => tiles.set(t.id + "@" + t.core, t);
    block.start.forEach(put);
    this.all().slice(0, state.step).forEach((s) => s.changed.forEach(put));
    const changed = new Set(step ? step.changed.map((t) => t.id + "@" + t.core) : []);
    const roles = new Map(step ? step.operands.map((o) => [o.id, o.role]) : []);
    const lives = this.lives();
    const alive = (t) => { const life = lives.get(t.id); return !step || !life || step.position === null || (life.start <= step.position && step.position <= life.end); };
    const rank = (key, t) => (roles.has(t.id) ? 0 : changed.has(key) ? 1 : 2);
    const shown = [...tiles].filter(([, t]) => t.tile && alive(t)).sort(([a, x], [b, y]) => rank(a, x) - rank(b, y)).slice(0, 12);
    place.replaceChildren(...shown.map(([key, t]) => this.tile(t, roles.get(t.id), changed.has(key))));
  },

  lives() {
    const lives = new Map();
    for (const memory of (this.checked && this.checked.map && this.checked.map.memories) || []) for (const row of memory.rows) lives.set(row.id, row);
    return lives;
  },

  tile(t, role, isNew) {
    const { rows, cols, values, elem } = t.tile;
    const label = `%${t.name}${t.core ? "@1" : ""}`;
    const grid = this.values(rows, cols, values, label, (r, c) => this.origin(`${label}[${r}, ${c}]`), isNew);
    return make("figure", { "data-tile": t.name }, make("figcaption", {}, `${label} ${rows}×${cols} ${elem}`, role ? ` (${role})` : "", isNew ? make("b", {}, " changed") : ""), grid.element);
  },

  values(rows, cols, values, label, click, isNew, wrong = new Set()) {
    const numbers = values.map(Number);
    const finite = numbers.filter(Number.isFinite);
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    const wide = cols <= 16;
    const cell = wide ? 18 : cellSize(rows, cols, 420, 260, 14);
    const fill = (r, c) => {
      const n = r * cols + c;
      if (wrong.has(n)) return "#ff8fa3";
      if (values[n] === null) return "#9a9fa5";
      const t = high > low ? (numbers[n] - low) / (high - low) : 0.5;
      return Number.isFinite(t) ? along(t) : "#e0b0ff";
    };
    const tell = (r, c) => { grid.mark([[r, c]]); const v = values[r * cols + c]; say(`${label}[${r}, ${c}] = ${v === null ? "undefined" : v}`); };
    const grid = new Grid({
      rows, cols, cell, width: wide ? Math.min(64, Math.max(30, Math.floor(420 / cols))) : cell, label, fill, hover: tell,
      text: (r, c) => (wide ? (values[r * cols + c] === null ? "?" : values[r * cols + c].slice(0, 9)) : null),
      click: (r, c) => { tell(r, c); click(r, c); },
    });
    return grid;
  },

  outputs() {
    const compared = new Map((this.ran.compared || []).map((c) => [c.name, c]));
    $("outputs").replaceChildren(...(this.ran.outputs || []).map((o) => {
      const cols = o.shape[o.shape.length - 1] || 1;
      const rows = Math.min(256, Math.ceil(o.values.length / cols));
      const found = compared.get(o.name);
      const wrong = new Set(found ? found.worst.map((w) => w.index.reduce((n, i, k) => n * o.shape[k] + i, 0)) : []);
      const name = (r, c) => (o.shape.length === 2 ? `%${o.name}[${r}, ${c}]` : `%${o.name}[${r * cols + c}]`);
      const grid = this.values(rows, cols, o.values, "%" + o.name, (r, c) => this.origin(name(r, c)), false, wrong);
      return make("figure", { "data-output": o.name }, make("figcaption", {}, `%${o.name} ${o.shape.join("×")} ${o.elem}`), grid.element);
    }));
  },

  origin(target) {
    attempt(() => {
      const way = Engine.call({ do: "origin", text: state.text, profile: state.profile, target, set: this.given().set });
      const hop = (h) => make("li", { onclick: () => this.select(h.at), tabindex: 0, style: `margin-left:${h.depth}em` },
        [h.at ? `line ${h.at.line}` : "", h.op || "", h.how, h.detail || "", h.from ? "from " + h.from : "", h.to ? "to " + h.to : "", ...h.loops].filter(Boolean).join(" "));
      $("origin").replaceChildren(make("h2", {}, "Where " + way.target + " comes from"), way.formula ? make("p", { class: "code" }, way.formula) : "",
        make("ol", {}, ...way.hops.map(hop)), way.is_cut ? "… and further." : "");
    });
  },

  map() {
    const map = this.checked && this.checked.map;
    if (!map) { $("map").replaceChildren(); return; }
    const [width, height] = [520, 120];
    const x = (position) => 60 + ((width - 70) * position) / (map.exit + 1);
    const parts = map.memories.map((memory) => {
      const top = Math.max(memory.used, 1);
      const y = (address) => 18 + (height - 30) * (1 - address / top);
      const rows = memory.rows.map((row, n) => {
        const [left, right, up, down] = [x(row.start), x(row.end + 1), y(row.addr + row.bytes), y(row.addr)];
        return `<g><title>${row.name} ${row.type.replaceAll("<", "&lt;")}: 0x${row.addr.toString(16)}, ${row.bytes} bytes</title><rect x="${left}" y="${up}" width="${Math.max(2, right - left)}" height="${Math.max(2, down - up)}" rx="2" fill="hsl(${(n * 67) % 360} 55% 78%)" stroke="hsl(${(n * 67) % 360} 45% 45%)"/>${right - left > 34 && down - up > 11 ? `<text x="${(left + right) / 2}" y="${(up + down) / 2 + 4}" text-anchor="middle" font-size="11" fill="#1b2733">${row.name}</text>` : ""}</g>`;
      });
      return `<svg width="${width}" height="${height}" role="img"><text x="0" y="12" font-size="12" fill="currentColor">${memory.name}</text><text x="0" y="${height - 10}" font-size="10" fill="currentColor">0x0</text><text x="0" y="30" font-size="10" fill="currentColor">0x${top.toString(16)}</text>${rows.join("")}<line class="now" x1="0" x2="0" y1="14" y2="${height - 8}" stroke="#d6336c" stroke-width="2" visibility="hidden"/></svg>`;
    });
    $("map").innerHTML = parts.join("") || "No tile needs storage.";
    this.mapX = x;
    this.now();
  },

  /** The line of the current step in the memory map. */
  now() {
    const step = this.current();
    for (const line of document.querySelectorAll("#map .now")) {
      const isKnown = step && step.position !== null && step.position !== undefined;
      line.setAttribute("visibility", isKnown ? "visible" : "hidden");
      if (isKnown) for (const end of ["x1", "x2"]) line.setAttribute(end, this.mapX(step.position + 0.5));
    }
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
