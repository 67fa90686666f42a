// The layout view: where the elements of a tile lie.
"use strict";

const Layout = {
  /** Bytes of a block, and banks of a2a3's UB (docs/spec-notes.md). */
  BLOCK: 32, GROUPS: 16, BANK: 65536,
  answer: null,

  /** The words of a tile type for each layout; the sentences are the engine's. */
  ORDERS: {
    ND: "blayout=row_major, slayout=none_box", DN: "blayout=col_major, slayout=none_box", NZ: "blayout=col_major, slayout=row_major",
    ZN: "blayout=row_major, slayout=col_major", ZZ: "blayout=row_major, slayout=row_major", NN: "blayout=col_major, slayout=col_major",
  },

  start(catalog) {
    $("layout-preset").append(...catalog.layouts.map((one) => make("option", { value: one.name }, `${one.name}: ${one.about}`)));
    $("layout-preset").addEventListener("change", () => {
      const orders = this.ORDERS[$("layout-preset").value];
      if (!orders) return;
      const rest = (state.type || $("type").value).split(",").map((part) => part.trim()).filter((part) => !/^[bs]layout\s*=/.test(part));
      state.type = [...rest, orders].join(", ");
      this.show();
    });
    $("type").addEventListener("input", later(() => { state.type = $("type").value; this.show(); }));
    $("layout-view").addEventListener("change", () => { state.view = $("layout-view").value; this.draw(); });
  },

  show() {
    if (state.type === null) state.type = $("type").value;
    if ($("type").value !== state.type) $("type").value = state.type;
    // The banks of other profiles are not known.
    const banks = $("layout-view").querySelector("[value=bank]");
    banks.hidden = banks.disabled = state.profile !== "a2a3";
    if (banks.disabled && state.view === "bank") state.view = "logical";
    $("layout-view").value = state.view;
    const fault = $("layout-fault");
    fault.hidden = true;
    try {
      this.answer = Engine.call({ do: "layout", type: state.type, profile: state.profile });
    } catch (error) {
      fault.replaceChildren(error.message);
      fault.className = "finding error";
      fault.hidden = false;
      return;
    }
    const { fault: found, legend } = this.answer;
    if (found) {
      fault.replaceChildren(make("b", {}, found.rule), " " + found.message, found.help ? make("span", { class: "help" }, found.help) : "");
      fault.className = "finding " + found.severity;
      fault.hidden = false;
    }
    $("layout-preset").value = this.answer.layout;
    $("layout-about").textContent = `${this.answer.layout}: ${this.answer.about}`;
    $("layout-legend").replaceChildren(...legend.flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)]));
    this.draw();
  },

  draw() {
    const a = this.answer;
    if (!a) return;
    this.byOffset = new Map(a.offsets.map((offset, n) => [offset, n]));
    this.last = Math.max(1, ...a.offsets);
    const per = Math.max(1, Math.floor((this.BLOCK * 8) / a.bits));
    const valid = (n) => Math.floor(n / a.cols) < a.valid[0] && n % a.cols < a.valid[1];
    const colour = (n) => (valid(n) ? along(a.offsets[n] / this.last) : null);
    const views = {
      logical: { rows: a.rows, cols: a.cols, edges: a.box, of: (r, c) => r * a.cols + c, write: (n) => a.offsets[n] },
      memory: {
        rows: Math.ceil((this.last + 1) / per), cols: per, edges: [0, 0], of: (r, c) => this.byOffset.get(r * per + c),
        write: (n) => Math.floor(n / a.cols) + "," + (n % a.cols),
      },
      bank: {
        rows: Math.ceil((this.last + 1) / per / this.GROUPS), cols: this.GROUPS, edges: [0, 0],
        of: (r, c) => this.byOffset.get((r * this.GROUPS + c) * per), write: (n) => Math.floor(n / a.cols) + "," + (n % a.cols),
      },
    };
    const view = views[state.view];
    const cell = cellSize(view.rows, view.cols, Math.min(680, ($("layout-grid").clientWidth || 681) - 1), 900);
    this.grid = new Grid({
      rows: view.rows, cols: view.cols, cell: state.view === "logical" ? cell : Math.min(cell, 22),
      width: state.view === "logical" ? cell : Math.max(cell, view.cols > 16 ? 24 : 40), edges: view.edges,
      label: a.title + ", " + state.view + " view",
      fill: (r, c) => { const n = view.of(r, c); return n === undefined ? "transparent" : colour(n); },
      text: (r, c) => {
        const n = view.of(r, c);
        return n !== undefined && (state.view !== "logical" || cell >= 18) ? view.write(n) : null;
      },
      hover: (r, c) => { this.grid.mark([[r, c]]); this.tell(view.of(r, c)); },
    });
    $("layout-grid").replaceChildren(this.grid.element);
    this.tell(0);
    say(a.title);
  },

  tell(n) {
    const a = this.answer;
    if (n === undefined) return;
    const [r, c, offset] = [Math.floor(n / a.cols), n % a.cols, a.offsets[n]];
    const address = (offset * a.bits) / 8;
    const block = Math.floor(address / this.BLOCK);
    const [ir, ic] = a.box;
    const facts = [
      ["element", `row ${r}, column ${c}`], ["offset", `${offset} elements`],
      ["address", `0x${Math.floor(address).toString(16)} (${address} bytes) in ${a.memory}`],
      ["box", ir * ic > 1 ? `(${Math.floor(r / ir)}, ${Math.floor(c / ic)}) of ${ir}×${ic}` : "none"],
      ["in the box", ir * ic > 1 ? `row ${r % ir}, column ${c % ic}` : "–"],
      ["32-byte block", `${block}, byte ${address % this.BLOCK}`],
    ];
    if (a.is_ub && state.profile === "a2a3") {
      const group = block % this.GROUPS;
      facts.push(["UB bank", `${group + this.GROUPS * Math.floor(address / this.BANK)}, group ${group}`]);
    }
    facts.push(["valid", r < a.valid[0] && c < a.valid[1] ? "valid" : "padding"]);
    $("layout-element").replaceChildren(...facts.flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)]));
  },

  svg() { return this.answer && this.answer.svg; },
};
