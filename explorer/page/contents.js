// What tiles and global memory hold at a step, and what came out.
"use strict";

const Contents = {
  /** Whether the numbers of wide tiles are written too. */
  isWide: false,

  start() {
    $("values").addEventListener("click", () => {
      this.isWide = !this.isWide;
      $("values").setAttribute("aria-pressed", String(this.isWide));
      Program.steps();
      this.outputs(Program.ran);
    });
  },

  /** Tiles by number and core, and buffers with their elements, as they are after a step of a block. */
  at(block, count) {
    const [tiles, buffers] = [new Map(), new Map()];
    const tile = (t) => tiles.set(t.id + "@" + t.core, t);
    const store = (b) => {
      const known = buffers.get(b.id) || { ...b, values: [] };
      if (b.values) for (let n = 0; n < b.values.length; n++) known.values[b.first + n] = b.values[n];
      buffers.set(b.id, known);
    };
    block.start.forEach(tile);
    block.buffers.forEach(store);
    for (const step of block.steps.slice(0, count)) { step.changed.forEach(tile); step.stored.forEach(store); }
    return { tiles, buffers };
  },

  /** Everything at a step: the tiles of the instruction first, then global memory. */
  show(block, step) {
    if (!block) { $("tiles").replaceChildren(); $("global").replaceChildren(); return; }
    const { tiles, buffers } = this.at(block, state.step);
    const changed = new Set(step ? step.changed.map((t) => t.id + "@" + t.core) : []);
    const roles = new Map(step ? step.operands.map((o) => [o.id, o.role]) : []);
    const lives = Program.lives();
    const alive = (t) => { const life = lives.get(t.id); return !step || !life || step.position === null || (life.start <= step.position && step.position <= life.end); };
    const rank = (key, t) => (roles.has(t.id) ? 0 : changed.has(key) ? 1 : 2);
    const shown = [...tiles].filter(([, t]) => t.tile && alive(t)).sort(([a, x], [b, y]) => rank(a, x) - rank(b, y));
    $("tiles").replaceChildren(...shown.slice(0, 12).map(([key, t]) => this.tile(t, roles.get(t.id), changed.has(key))),
      ...(shown.length > 12 ? [make("p", {}, `and ${shown.length - 12} further tiles`)] : []));
    const written = new Map(step ? step.stored.map((b) => [b.id, b]) : []);
    $("global").replaceChildren(...[...buffers.values()].map((b) => this.buffer(b, written.get(b.id))));
  },

  moment() { return [Program.ran.blocks[Program.block].block, state.step]; },

  tile(t, role, isNew) {
    const { rows, cols, values, elem } = t.tile;
    const label = `%${t.name}${t.core ? "@1" : ""}`;
    const grid = this.grid(rows, cols, values, label, (r, c) => Program.origin(`${label}[${r}, ${c}]`, this.moment()));
    return make("figure", { "data-tile": t.name }, make("figcaption", {}, `${label} ${rows}×${cols} ${elem}`, role ? ` (${role})` : "", isNew ? make("b", {}, " changed") : ""), grid.element);
  },

  buffer(b, written) {
    const shape = b.shape && b.shape.reduce((n, d) => n * d, 1) === b.values.length ? b.shape : [b.values.length];
    const isNew = (n) => written && written.values && n >= written.first && n < written.first + written.values.length;
    const figure = this.array(b.name, b.elem, shape, Array.from(b.values, (v) => v ?? null), this.moment(), { isNew });
    figure.dataset.buffer = b.name;
    if (written) figure.firstChild.append(make("b", {}, " changed"));
    return figure;
  },

  /** An array in rows of its last dimension. */
  array(name, elem, shape, values, moment, options) {
    const cols = shape.length > 1 ? shape[shape.length - 1] || 1 : Math.min(values.length || 1, 32);
    const rows = Math.ceil(values.length / cols);
    const index = (n) => { const all = []; for (const d of [...shape].reverse()) { all.unshift(n % d); n = Math.floor(n / d); } return all.join(", "); };
    const at = (r, c) => `%${name}[${index(r * cols + c)}]`;
    const shown = Math.min(rows, 256);
    const grid = this.grid(shown, cols, values, "%" + name, (r, c) => Program.origin(at(r, c), moment), { ...options, at });
    return make("figure", {}, make("figcaption", {}, `%${name} ${shape.join("×")} ${elem}${rows > shown ? `, the first ${shown} rows` : ""}`), grid.element);
  },

  grid(rows, cols, values, label, click, { wrong = new Set(), isNew = () => false, at = (r, c) => `${label}[${r}, ${c}]` } = {}) {
    const numbers = values.map(Number);
    let [low, high] = [Infinity, -Infinity];
    for (const n of numbers) if (Number.isFinite(n)) { low = Math.min(low, n); high = Math.max(high, n); }
    // A canvas has a limit of its own.
    const wide = cols <= 16 || (this.isWide && cols * 52 < 16000);
    const room = Math.min(420, ($("tiles").clientWidth || 421) - 1);
    const cell = wide ? 18 : cellSize(rows, cols, room, 260, 14);
    const fill = (r, c) => {
      const n = r * cols + c;
      if (n >= values.length) return "transparent";
      if (wrong.has(n)) return "#ff8fa3";
      if (values[n] === null) return "#9a9fa5";
      const t = high > low ? (numbers[n] - low) / (high - low) : 0.5;
      return Number.isFinite(t) ? along(t) : "#e0b0ff";
    };
    const tell = (r, c) => { grid.mark([[r, c]]); const v = values[r * cols + c]; say(`${at(r, c)} = ${v === null ? "undefined" : v}`); };
    const grid = new Grid({
      rows, cols, cell, width: !wide ? cell : cols <= 16 ? Math.min(64, Math.max(30, Math.floor(room / cols))) : 52, label, fill, hover: tell,
      text: (r, c) => { const v = values[r * cols + c]; return wide && v !== undefined ? (v === null ? "?" : v.slice(0, 9)) : null; },
      click: (r, c) => { tell(r, c); click(r, c); },
    });
    const fresh = [];
    for (let n = 0; n < Math.min(values.length, 4096); n++) if (isNew(n)) fresh.push([Math.floor(n / cols), n % cols]);
    if (fresh.length && fresh.length < values.length) grid.mark(fresh, "#1660b0");
    return grid;
  },

  outputs(ran) {
    if (!ran) return;
    $("values").parentNode.hidden = !(ran.blocks || []).length;
    const compared = new Map((ran.compared || []).map((c) => [c.name, c]));
    $("outputs").replaceChildren(...(ran.outputs || []).map((o) => {
      const found = compared.get(o.name);
      const wrong = new Set(found ? found.worst.map((w) => w.index.reduce((n, i, k) => n * o.shape[k] + i, 0)) : []);
      const figure = this.array(o.name, o.elem, o.shape, o.values, undefined, { wrong });
      figure.dataset.output = o.name;
      return figure;
    }));
    $("compared").replaceChildren(...[...compared.values()].map((c) => {
      if (!c.different) return make("div", { class: "good" }, `%${c.name} is as expected (${c.elements} elements)`);
      const [worst] = c.worst;
      const go = make("button", { onclick: () => Program.origin(`%${c.name}[${worst.index.join(", ")}]`) }, "where does it come from?");
      return make("div", { class: "bad" }, `%${c.name} differs in ${c.different} of ${c.elements} elements, worst [${worst.index}]: ${worst.got} instead of ${worst.want} `, go);
    }));
  },
};
