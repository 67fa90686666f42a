// The order of pipes: a lane for each, what waits for what, and which accesses race.
"use strict";

const Timeline = {
  LEFT: 78, LANE: 26, BOX: 20, answer: null, zoom: 1, races: [],
  STYLE: `.tl { font: 11px system-ui, sans-serif; fill: #1f2328; color: #1f2328 } .tl-lane { fill: #eef1f4 } .tl-name, .tl-text { pointer-events: none }
.tl-work { fill: #b6d4f7; stroke: #2f6fb2 } .tl-unknown { fill: none; stroke: #2f6fb2; stroke-dasharray: 3 2 } .tl-path { stroke: #c02040; stroke-width: 2 }
.tl-wait { stroke: #a67c00; stroke-width: 2; stroke-dasharray: 2 3 } .tl-arrow { stroke: #6e4fa3; fill: none; stroke-width: 1.3 } .tl-head { fill: #6e4fa3 }
.tl-race { stroke: #d1242f; fill: none; stroke-width: 2.5; stroke-dasharray: 5 3 } .tl-flash { fill: #d1242f } .tl-now { stroke: #d6336c; stroke-width: 3 } .tl-tick { stroke: #c6cdd4 }
@media (prefers-color-scheme: dark) { .tl { fill: #e6edf3; color: #e6edf3 } .tl-lane { fill: #1a222b } .tl-work { fill: #1f4f86; stroke: #6cb0f5 } .tl-unknown { stroke: #6cb0f5 }
.tl-path { stroke: #ff7b8a } .tl-wait { stroke: #d8b13c } .tl-arrow { stroke: #b392f0 } .tl-head { fill: #b392f0 } .tl-race { stroke: #ff6b6b } .tl-flash { fill: #ff6b6b } .tl-tick { stroke: #3a4651 } }`,

  start() {
    $("zoom-in").addEventListener("click", () => { this.zoom = Math.min(64, this.zoom * 2); this.draw(); });
    $("zoom-out").addEventListener("click", () => { this.zoom = Math.max(1, this.zoom / 2); this.draw(); });
    $("timeline-svg").addEventListener("click", () => save(this.svg(), "timeline"));
    $("timeline").addEventListener("click", (event) => {
      const at = event.target.dataset && event.target.dataset.slice;
      if (at) this.pick(...at.split(",").map(Number));
    });
  },

  /** Asks for it anew, with the numbers that are given. */
  show(request, races) {
    this.races = races || [];
    this.answer = null;
    try {
      this.answer = request && Engine.call({ ...request, do: "timeline" });
      this.why = request ? "" : "A legal kernel has a timeline.";
    } catch (error) {
      this.why = error.message;
    }
    this.draw();
  },

  slice([process, n]) { return this.answer.processes[process].slices[n]; },

  draw() {
    const a = this.answer;
    for (const id of ["zoom-in", "zoom-out", "timeline-svg"]) $(id).hidden = !a || !a.total;
    if (!a || !a.total) { $("timeline").replaceChildren(this.why || ""); $("timeline-about").textContent = ""; return; }
    const least = a.unknown ? `at least ` : "";
    const numbers = a.values.map(([name, n]) => `%${name} = ${n}`).join(", ");
    const works = a.processes.reduce((n, p) => n + p.slices.filter((s) => s.kind !== "wait").length, 0);
    const guessed = a.unknown > works / 5;
    const unknown = a.unknown ? `; ${a.unknown} of ${works} instructions have no known cost and count as 1 cycle` + (guessed ? ", too many to say which pipe bounds the kernel" : "") : "";
    const bound = a.bound && !guessed ? `; bounded by ${a.bound[1]}, ${a.bound[2]} of them on the critical path` : "";
    $("timeline-about").textContent = `${least}${a.total} cycles, estimated${bound}${unknown}${numbers ? "; " + numbers : ""}`;
    const width = (($("timeline").clientWidth || 520) - 1) * this.zoom;
    this.x = (cycle) => this.LEFT + ((width - this.LEFT - 12) * cycle) / a.total;
    this.tops = [];
    const parts = [];
    let top = 20;
    a.processes.forEach((process) => {
      const lanes = new Map();
      if (process.name) { parts.push(`<text class="tl-name" x="0" y="${top + 11}" font-weight="bold">${process.name}</text>`); top += 16; }
      for (const pipe of process.pipes) {
        parts.push(`<rect class="tl-lane" x="${this.LEFT}" y="${top}" width="${width - this.LEFT - 8}" height="${this.LANE - 2}"/><text class="tl-name" x="4" y="${top + 16}">${pipe}</text>`);
        lanes.set(pipe, top);
        top += this.LANE;
      }
      this.tops.push(lanes);
      top += 6;
    });
    parts.push(...this.ticks(top), ...this.slices(), ...this.arrows(), ...this.raced());
    const said = ["┄ waits", "→ flag or token", "dashed frame: cost unknown", "red frame: critical path", "red dashed line: race"];
    const words = width < 460 ? said : [said.slice(0, 3).join(" · "), said.slice(3).join(" · ")];
    const legend = words.map((line, n) => `<text class="tl-name" x="${this.LEFT}" y="${top + 18 + 15 * n}">${line}</text>`).join("");
    $("timeline").innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" class="tl" width="${width}" height="${top + 10 + 15 * words.length}" viewBox="0 0 ${width} ${top + 10 + 15 * words.length}" role="img" aria-label="the pipes over time"><style>${this.STYLE}</style>
<defs><marker id="tl-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path class="tl-head" d="M0,0 L8,4 L0,8 z"/></marker></defs>${parts.join("")}${legend}</svg>`;
    this.now();
  },

  ticks(bottom) {
    const total = this.answer.total;
    let step = 1;
    for (let k = 0; total / step > 6 * this.zoom; k++) step *= [2, 2.5, 2][k % 3];
    const all = [];
    for (let t = 0; t <= total; t += step) all.push(`<line class="tl-tick" x1="${this.x(t)}" x2="${this.x(t)}" y1="16" y2="${bottom}"/><text class="tl-name" x="${this.x(t)}" y="12" text-anchor="middle">${t}</text>`);
    return all;
  },

  y(process, slice) { return this.tops[process].get(slice.pipe) + 2; },

  slices() {
    const path = new Set(this.answer.path.map(String));
    const cover = new Map();
    return this.answer.processes.flatMap((process, p) => process.slices.map((s, n) => {
      const [x, end, y] = [this.x(s.start), this.x(s.end), this.y(p, s)];
      if (s.kind === "wait") return `<line class="tl-wait" x1="${x}" x2="${end}" y1="${y + 10}" y2="${y + 10}"><title>${s.pipe} waits ${s.end - s.start} cycles for ${escapeText(s.why)}</title></line>`;
      // What is thinner than a hair stands for its neighbours.
      const lane = p + s.pipe;
      const on = path.has(`${p},${n}`);
      if (end - x < 0.4 && x - (cover.get(lane) ?? -1) < 0.4 && !on) return "";
      cover.set(lane, end);
      const about = `${s.name}, line ${s.at.line}${s.turns.length ? ", iteration " + s.turns.join(",") : ""}: cycles ${s.start} to ${s.end}${s.kind === "unknown" ? ", cost unknown" : ""}; reads ${s.bytes[0]} and writes ${s.bytes[1]} bytes`;
      const label = [`${s.name} :${s.at.line}`, s.name].find((l) => l.length * 6.2 + 4 < end - x);
      return `<rect class="tl-${s.kind}${on ? " tl-path" : ""}" data-slice="${p},${n}" x="${x}" y="${y}" width="${Math.max(0.8, end - x)}" height="${this.BOX}" rx="2"><title>${escapeText(about)}</title></rect>` +
        (label ? `<text class="tl-text" x="${(x + end) / 2}" y="${y + 14}" text-anchor="middle">${label}</text>` : "");
    }));
  },

  line(kind, from, to, title, marker) {
    const [a, b] = [this.slice(from), this.slice(to)];
    let [y1, y2] = [this.y(from[0], a), this.y(to[0], b)];
    const [x1, x2] = [this.x(kind === "race" ? (a.start + a.end) / 2 : a.end), this.x(kind === "race" ? (b.start + b.end) / 2 : b.start)];
    if (y1 < y2) y1 += this.BOX; else if (y1 > y2) y2 += this.BOX;
    const flat = y1 === y2 ? 14 : 0;
    return `<path class="tl-${kind}" d="M${x1},${y1} Q${(x1 + x2) / 2},${(y1 + y2) / 2 - flat} ${x2},${y2}"${marker}><title>${escapeText(title)}</title></path>`;
  },

  arrows() { return this.answer.arrows.slice(0, 400).map((a) => this.line("arrow", a.from, a.to, a.why, ' marker-end="url(#tl-head)"')); },

  /** The first pair of slices of each race: the finding names both places. */
  raced() {
    const find = (at) => {
      for (const [p, process] of this.answer.processes.entries()) {
        const n = process.slices.findIndex((s) => s.kind !== "wait" && s.at.start === at.start);
        if (n >= 0) return [p, n];
      }
      return null;
    };
    return this.races.flatMap((race) => {
      const ends = [race.at, ...race.labels.map((l) => l.at)].filter(Boolean).map(find).filter(Boolean);
      return ends.length > 1 ? [this.line("race", ends[1], ends[0], `${race.rule}: ${race.message}`, "")] : [];
    });
  },

  /** The step of the run that a slice is, and the other way round: the same time that this place ran. */
  pick(p, n) {
    const slice = this.slice([p, n]);
    const nth = this.answer.processes[p].slices.slice(0, n + 1).filter((s) => s.kind !== "wait" && s.at.start === slice.at.start).length;
    const step = Program.nth(this.answer.processes[p], slice.at.start, nth);
    if (step) Program.go(step);
    Program.select(slice.at);
  },

  /** Frames what the current step is. */
  now() {
    for (const rect of document.querySelectorAll("#timeline .tl-now")) rect.classList.remove("tl-now");
    const step = Program.current();
    if (!step || !this.answer) return;
    const block = Program.ran.blocks[Program.block].block;
    this.answer.processes.forEach((process, p) => {
      if (process.block !== block || (step.core && step.core !== process.core)) return;
      let left = Program.count(step);
      const n = process.slices.findIndex((s) => s.kind !== "wait" && s.at.start === step.at.start && --left === 0);
      const rect = n >= 0 && document.querySelector(`#timeline [data-slice="${p},${n}"]`);
      if (rect) rect.classList.add("tl-now");
    });
  },

  svg() { const svg = document.querySelector("#timeline svg"); return svg && svg.outerHTML; },
};

function escapeText(text) { return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;"); }
