// The memory map: which tile lies where, when.
"use strict";

const MemoryMap = {
  HEIGHT: 120,

  draw(map) {
    if (!map) { $("map").replaceChildren(); return; }
    this.WIDTH = ($("map").clientWidth || 520) - 1;
    // Constants and views before the first tile take no room.
    const rows = map.memories.flatMap((memory) => memory.rows);
    const first = Math.min(...rows.map((row) => row.start), map.exit);
    const last = Math.max(...rows.map((row) => row.end + 1), first + 1);
    this.x = (position) => 60 + ((this.WIDTH - 70) * Math.min(Math.max(position - first, 0), last - first)) / (last - first);
    $("map").innerHTML = map.memories.map((memory) => this.memory(memory)).join("") || "No tile needs storage.";
  },

  memory(memory) {
    const top = Math.max(memory.used, 1);
    const y = (address) => 18 + (this.HEIGHT - 30) * (1 - address / top);
    const rows = memory.rows.map((row, n) => {
      const [left, right, up, down] = [this.x(row.start), this.x(row.end + 1), y(row.addr + row.bytes), y(row.addr)];
      const hue = (n * 67) % 360;
      const label = right - left > row.name.length * 7 && down - up > 11 ? `<text x="${(left + right) / 2}" y="${(up + down) / 2 + 4}" text-anchor="middle" font-size="11" fill="#1b2733">${escapeText(row.name)}</text>` : "";
      return `<g><title>${escapeText(`${row.name} ${row.type}: 0x${row.addr.toString(16)}, ${row.bytes} bytes`)}</title><rect x="${left}" y="${up}" width="${Math.max(2, right - left)}" height="${Math.max(2, down - up)}" rx="2" fill="hsl(${hue} 55% 78%)" stroke="hsl(${hue} 45% 45%)"/>${label}</g>`;
    });
    const text = (y, size, said) => `<text x="0" y="${y}" font-size="${size}" fill="currentColor">${said}</text>`;
    return `<svg width="${this.WIDTH}" height="${this.HEIGHT}" role="img" aria-label="${memory.name}, addresses over time">${text(12, 12, memory.name)}${text(this.HEIGHT - 10, 10, "0x0")}${text(30, 10, "0x" + top.toString(16))}${rows.join("")}<line class="now" x1="0" x2="0" y1="14" y2="${this.HEIGHT - 8}" stroke="#d6336c" stroke-width="2" visibility="hidden"/></svg>`;
  },

  /** The line of the current step. */
  now(step) {
    const isKnown = step && step.position !== null && step.position !== undefined;
    for (const line of document.querySelectorAll("#map .now")) {
      line.setAttribute("visibility", isKnown ? "visible" : "hidden");
      if (isKnown) for (const end of ["x1", "x2"]) line.setAttribute(end, this.x(step.position + 0.5));
    }
  },
};
