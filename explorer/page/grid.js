// A grid of elements on a canvas: drawn once, marked often, used by mouse and keyboard.
"use strict";

class Grid {
  /**
   * rows, cols, cell: sizes; fill(r, c): colour; text(r, c): what is written in a cell, where cells are wide enough;
   * edges: [rows, cols] of a box; hover(r, c), click(r, c): what happens; label: for readers of the page.
   */
  constructor(options) {
    Object.assign(this, { width: options.cell, edges: [0, 0], hover() {}, click() {}, leave() {} }, options);
    this.base = make("canvas", { tabindex: 0, role: "grid", "aria-label": this.label });
    this.marks = [];
    this.at = [0, 0];
    this.element = this.base;
    Object.assign(this.base.dataset, { rows: this.rows, cols: this.cols, cell: this.cell, width: this.width });
    this.base.addEventListener("mousemove", (event) => this.point(event, this.hover));
    this.base.addEventListener("click", (event) => this.point(event, this.click));
    this.base.addEventListener("mouseleave", () => this.leave());
    this.base.addEventListener("keydown", (event) => this.key(event));
    this.draw();
  }

  point(event, then) {
    const [r, c] = [Math.floor(event.offsetY / this.cell), Math.floor(event.offsetX / this.width)];
    if (r < 0 || c < 0 || r >= this.rows || c >= this.cols) return;
    if (then === this.hover && this.at[0] === r && this.at[1] === c && this.marks.length) return;
    this.at = [r, c];
    then.call(this, r, c);
  }

  key(event) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (step) {
      this.at = [Math.min(Math.max(this.at[0] + step[0], 0), this.rows - 1), Math.min(Math.max(this.at[1] + step[1], 0), this.cols - 1)];
      this.hover(...this.at);
    } else if (event.key === "Enter" || event.key === " ") this.click(...this.at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  draw() {
    const scale = window.devicePixelRatio || 1;
    const [w, h] = [this.cols * this.width + 1, this.rows * this.cell + 1];
    this.picture = make("canvas");
    for (const canvas of [this.base, this.picture]) {
      [canvas.width, canvas.height] = [Math.ceil(w * scale), Math.ceil(h * scale)];
      [canvas.style.width, canvas.style.height] = [w + "px", h + "px"];
    }
    const paint = this.picture.getContext("2d");
    paint.scale(scale, scale);
    paint.font = Math.min(11, this.cell * 0.62) + "px ui-monospace, monospace";
    paint.textAlign = "center";
    paint.textBaseline = "middle";
    for (let r = 0; r < this.rows; r++) {
      for (let c = 0; c < this.cols; c++) {
        const fill = this.fill(r, c);
        if (fill) { paint.fillStyle = fill; paint.fillRect(c * this.width, r * this.cell, this.width - 0.5, this.cell - 0.5); }
        const text = this.text && this.text(r, c);
        if (text !== undefined && text !== null && text !== false) {
          paint.fillStyle = fill ? "#1b2733" : getComputedStyle(document.body).color;
          paint.fillText(text, (c + 0.5) * this.width, (r + 0.5) * this.cell, this.width - 2);
        }
      }
    }
    paint.strokeStyle = getComputedStyle(document.body).color;
    paint.lineWidth = 1;
    paint.strokeRect(0.5, 0.5, w - 1, h - 1);
    paint.beginPath();
    const [ir, ic] = this.edges;
    for (let r = ir; ir > 1 && r < this.rows; r += ir) { paint.moveTo(0, r * this.cell); paint.lineTo(w, r * this.cell); }
    for (let c = ic; ic > 1 && c < this.cols; c += ic) { paint.moveTo(c * this.width, 0); paint.lineTo(c * this.width, h); }
    paint.stroke();
    this.mark(this.marks);
  }

  /** Frames elements: a list of [row, column]; more than a few are tinted. */
  mark(list, colour = "#d6336c") {
    this.marks = list;
    this.base.dataset.marks = JSON.stringify(list.slice(0, 64));
    const scale = window.devicePixelRatio || 1;
    const paint = this.base.getContext("2d");
    paint.setTransform(1, 0, 0, 1, 0, 0);
    paint.clearRect(0, 0, this.base.width, this.base.height);
    paint.drawImage(this.picture, 0, 0);
    paint.scale(scale, scale);
    paint.strokeStyle = colour;
    paint.lineWidth = list.length > 200 ? 1 : 2;
    for (const [r, c] of list) paint.strokeRect(c * this.width + 0.5, r * this.cell + 0.5, this.width - 1, this.cell - 1);
  }
}

/** A colour along memory, as pictures have it. */
function along(t) {
  const stops = [[255, 244, 214], [191, 227, 201], [143, 189, 238]];
  const [a, b, at] = t < 0.5 ? [stops[0], stops[1], t * 2] : [stops[1], stops[2], t * 2 - 1];
  return `rgb(${a.map((v, n) => Math.round(v + (b[n] - v) * at)).join(",")})`;
}

/** A cell size with which a grid is seen at once. */
function cellSize(rows, cols, width = 620, height = 460, most = 26) {
  return Math.max(4, Math.min(most, Math.floor(width / cols), Math.floor(height / rows)));
}
