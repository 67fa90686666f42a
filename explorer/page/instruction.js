// The instruction view: what goes where, both ways, and where it is legal.
"use strict";

const Instruction = {
  COLOURS: { c: "#9ecbf5", m: "#a9dfb0", s: "#f7c98b", f: "#c5cad0", u: "#e79b9b", d: "#d9d0f2" },
  answer: null,

  start(catalog) {
    const families = new Map();
    for (const one of catalog.instructions) families.set(one.family, [...(families.get(one.family) || []), one]);
    this.catalog = new Map(catalog.instructions.map((one) => [one.name, one]));
    for (const [family, all] of families) {
      $("instruction-name").append(make("optgroup", { label: family }, ...all.map((one) => make("option", {}, one.name))));
    }
    $("instruction-name").addEventListener("change", () => this.pick($("instruction-name").value));
    $("instruction-text").addEventListener("input", later(() => {
      state.instruction = $("instruction-text").value;
      this.show();
    }, 60));
  },

  pick(name) {
    const one = this.catalog.get(name);
    state.instruction = one.text;
    this.show();
    if (this.answer && !this.answer.legality.find((l) => l.profile === state.profile).ok) setProfile(one.profile);
  },

  show() {
    if (state.instruction === null) state.instruction = this.catalog.get("ttrans").text;
    if ($("instruction-text").value !== state.instruction) $("instruction-text").value = state.instruction;
    if (!attempt(() => { this.answer = Engine.call({ do: "instruction", text: state.instruction, profile: state.profile }); })) return;
    const a = this.answer;
    if (a.name && this.catalog.has(a.name)) $("instruction-name").value = a.name;
    $("instruction-about").textContent = [a.summary, a.formula].filter(Boolean).join("  ");
    $("instruction-legality").replaceChildren(...a.legality.map((one) => {
      const found = one.findings.find((f) => f.severity === "error") || one.findings[0];
      const chip = make("div", { class: "chip " + (one.ok ? "yes" : "no"), "data-profile": one.profile }, make("b", {}, one.profile), one.ok ? " legal" : "");
      if (found) chip.append(" ", make("b", {}, found.rule), ": " + found.message, found.help ? make("span", { class: "help" }, found.help) : "");
      return chip;
    }));
    $("instruction-picture").innerHTML = a.svg || "";
    this.grids = (a.operands || []).map((o, n) => this.operand(o, n));
    $("instruction-operands").replaceChildren(...this.grids.map((grid, n) => make("figure", { class: a.operands[n].is_dst ? "dst" : "src", "data-name": a.operands[n].name },
      make("figcaption", {}, a.operands[n].name + ": " + a.operands[n].type), grid.element)));
    $("instruction-element").textContent = a.operands ? "Point at an element." : "No elements move.";
    say(a.name ? a.name + (a.runs ? ", with values of a run on random data" : "") : "");
  },

  operand(o, n) {
    const shade = (r, c) => `hsl(${205 + (c * 40) / o.cols} 45% ${88 - (r * 18) / o.rows}%)`;
    const cell = cellSize(o.rows, o.cols, Math.min(430, ($("instruction-operands").clientWidth || 431) - 1), 300, 15);
    return new Grid({
      rows: o.rows, cols: o.cols, cell, edges: o.box, label: o.name,
      fill: (r, c) => {
        const code = o.cells[r * o.cols + c];
        if (code !== "k") return this.COLOURS[code];
        return o.is_dst ? null : r < o.valid[0] && c < o.valid[1] ? shade(r, c) : null;
      },
      hover: (r, c) => this.point(n, r, c),
      click: (r, c) => this.point(n, r, c),
    });
  },

  point(n, r, c) {
    attempt(() => {
      const found = Engine.call({ do: "element", text: state.instruction, profile: state.profile, operand: n, row: r, col: c });
      const marks = this.grids.map(() => []);
      for (const [operand, row, col] of [...found.sources, ...found.users]) marks[operand].push([row, col]);
      marks[n].push([r, c]);
      this.grids.forEach((grid, k) => grid.mark(marks[k], k === n ? "#1660b0" : "#d6336c"));
      const into = found.users.length ? `\ngoes into ${found.users.length} element${found.users.length === 1 ? "" : "s"}` : "";
      const value = found.after === null ? "" : `\nis ${found.after}` + (found.before !== found.after && found.before !== null ? `, was ${found.before}` : "");
      $("instruction-element").textContent = found.formula + value + into;
    });
  },

  svg() { return this.answer && this.answer.svg; },
};
