// The page in a real browser, as tasks: what comes in is wrong, the cause is found by pointing, stepping and clicking, the
// text is changed where the page says, and the result is legal, equal to what is expected, and shared.
// Arguments: the page, and a folder for screenshots (optional).
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { cases } from "./cases.mjs";
import { root } from "./engine.mjs";

const require = createRequire(join(process.env.PLAYWRIGHT_DIR || process.cwd(), "package.json"));
const { chromium } = require("playwright-core");

const page_file = resolve(process.argv[2] || join(root, "crates/cli/assets/explorer.html"));
const shots = process.argv[3] && resolve(process.argv[3]);
if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true });

const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: flags });

const errors = [];
async function openPage(address = pathToFileURL(page_file).href, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) errors.push("the network is asked for " + request.url()); });
  await page.goto(address);
  await page.waitForSelector("body[data-ready=yes]", { timeout: 30000 }).catch(async () => {
    throw new Error("the page does not start: " + (await page.locator("#status").innerText()) + errors.join("; "));
  });
  return page;
}

const text = (page, id) => page.locator("#" + id).innerText();
const value = (page, id) => page.locator("#" + id).inputValue();

/** Points at an element of a grid, or clicks it. */
async function point(page, selector, row, col, click = false) {
  const canvas = page.locator(selector + " canvas").last();
  await canvas.scrollIntoViewIfNeeded();
  const { cell, width } = await canvas.evaluate((c) => ({ cell: Number(c.dataset.cell), width: Number(c.dataset.width) }));
  const position = { x: (col + 0.5) * width, y: (row + 0.5) * cell };
  await (click ? canvas.click({ position }) : canvas.hover({ position }));
}
const marks = (page, selector) => page.locator(selector + " canvas").evaluate((c) => JSON.parse(c.dataset.marks || "[]"));

/** Writes the program anew and waits until it is judged. */
async function write(page, program) {
  await page.fill("#text", program);
  await page.waitForFunction((t) => document.querySelector("#gutter").childElementCount === t.split("\n").length, program);
  await page.waitForTimeout(400);
}
async function shoot(page, name) { if (shots) await page.screenshot({ path: join(shots, name + ".png"), fullPage: true }); }

const tasks = {
  async "a wrong layout is found by pointing, and its type is put right"() {
    const page = await openPage();
    await page.click("#tab-layout");
    await page.fill("#type", "vec, 33x32xf16, blayout=col_major, slayout=row_major");
    await page.waitForFunction(() => document.querySelector("#layout-grid canvas")?.dataset.rows === "33");
    await point(page, "#layout-grid", 0, 16);
    // The second column of boxes starts 33 rows later, not 32: the tile is one row too high.
    assert.match(await text(page, "layout-element"), /528 elements/);
    assert.match(await text(page, "layout-element"), /box\s+\(0, 1\)/);
    await page.fill("#type", "vec, 32x32xf16, blayout=col_major, slayout=row_major, valid=30x32");
    await page.waitForFunction(() => document.querySelector("#layout-grid canvas")?.dataset.rows === "32");
    await point(page, "#layout-grid", 0, 16);
    assert.match(await text(page, "layout-element"), /512 elements/);
    await point(page, "#layout-grid", 31, 3);
    assert.match(await text(page, "layout-element"), /padding/);
    await page.selectOption("#profile", "a2a3");
    await page.selectOption("#layout-view", "bank");
    await point(page, "#layout-grid", 1, 2);
    assert.match(await text(page, "layout-element"), /group 2/);
    await page.selectOption("#layout-view", "memory");
    await point(page, "#layout-grid", 16, 0);
    assert.match(await text(page, "layout-element"), /row 16, column 0/);
    await shoot(page, "layout");
    await page.fill("#type", "vec, 128x128xf32");
    await page.selectOption("#layout-view", "logical");
    await page.waitForFunction(() => document.querySelector("#layout-grid canvas")?.dataset.rows === "128");
    const spent = await page.evaluate(() => { const start = performance.now(); Layout.draw(); return performance.now() - start; });
    assert.ok(spent < 1000, `a tile of 128 × 128 takes ${spent} ms`);
    await page.fill("#type", "vec, 8x4xf32");
    await page.waitForSelector("#layout-fault:not([hidden])");
    assert.match(await text(page, "layout-fault"), /tile-align/);
  },

  async "an instruction that is legal nowhere becomes legal as the page says, and shows what moves"() {
    const page = await openPage();
    await page.click("#tab-instruction");
    await page.selectOption("#instruction-name", "ttrans");
    await page.fill("#instruction-text", "%d = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<16x16xf16>");
    await page.waitForSelector("#instruction-legality .chip.no[data-profile=a5]");
    assert.match(await text(page, "instruction-legality"), /ttrans-/);
    await page.fill("#instruction-text", "%d = pto.ttrans %s : !pto.tile<8x16xf32> -> !pto.tile<16x8xf32>");
    await page.waitForSelector("#instruction-legality .chip.yes[data-profile=a5]");
    assert.equal(await page.locator("#instruction-legality .chip.yes").count(), 3);
    await point(page, "#instruction-operands .dst", 3, 5);
    assert.match(await text(page, "instruction-element"), /dst\[3, 5\] = src\[5, 3\]/);
    assert.deepEqual(await marks(page, "#instruction-operands .src"), [[5, 3]]);
    await point(page, "#instruction-operands .src", 2, 9);
    assert.deepEqual(await marks(page, "#instruction-operands .dst"), [[9, 2]]);
    // By keyboard too.
    await page.focus("#instruction-operands .src canvas");
    await page.keyboard.press("ArrowDown");
    assert.deepEqual(await marks(page, "#instruction-operands .dst"), [[9, 3]]);
    await shoot(page, "instruction");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#svg-export")]);
    assert.equal(download.suggestedFilename(), "instruction.svg");
    for (const name of ["tmatmul", "trowsum", "tgather", "tload"]) {
      await page.selectOption("#instruction-name", name);
      await page.waitForFunction((n) => document.querySelector("#instruction-name").value === n, name);
      await point(page, "#instruction-operands .dst", 0, 0);
      assert.match(await text(page, "instruction-element"), / = /);
    }
  },

  async "a kernel with a wrong number is put right, equals what is expected, and is shared"() {
    const page = await openPage();
    const wrong = "%x = pto.tadd %a, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n%d = pto.tsub %x, %b : (!pto.tile<8x8xf32>, !pto.tile<8x8xf32>) -> !pto.tile<8x8xf32>\n";
    await write(page, wrong);
    assert.match(await text(page, "verdict"), /legal/);
    await page.fill("#inputs input[data-name=a]", "iota");
    await page.fill("#inputs input[data-name=b]", "ones");
    const expected = "%d: " + [...Array(64).keys()].map((n) => n + 2).join(" ");
    await page.fill("#expected", expected);
    await page.click("#run");
    assert.match(await text(page, "compared"), /differs in 64 of 64 elements, worst/);
    // Back to the first step: that one is right, so the second is not.
    await page.click("#back");
    assert.match(await text(page, "step-name"), /1 of 2: tadd, line 1/);
    await point(page, "#tiles [data-tile=x]", 0, 5);
    assert.match(await text(page, "status"), /%x\[0, 5\] = 6/);
    await page.click("#next");
    await point(page, "#outputs [data-output=d]", 0, 5, true);
    const origin = await text(page, "origin");
    assert.match(origin, /%a\[0, 5\]/);
    assert.match(origin, /line 2.*tsub/);
    await page.locator("#origin li", { hasText: "tsub" }).first().click();
    const selected = await page.evaluate(() => { const t = document.querySelector("#text"); return t.value.slice(t.selectionStart, t.selectionEnd); });
    assert.match(selected, /tsub/);
    await shoot(page, "program");
    await write(page, wrong.replace("tsub", "tadd"));
    await page.click("#run");
    assert.match(await text(page, "compared"), /as expected \(64 elements\)/);
    await page.click("#share");
    await page.waitForFunction(() => location.hash.startsWith("#s="));
    const address = page.url();
    assert.match(address, /#s=/);
    const again = await openPage(address);
    assert.equal(await value(again, "text"), wrong.replace("tsub", "tadd"));
    await again.click("#run");
    assert.match(await text(again, "compared"), /as expected/);
    // Steps by keyboard: Home is the start, where nothing is computed yet.
    await again.evaluate(() => document.activeElement.blur());
    await again.keyboard.press("Home");
    assert.match(await text(again, "step-name"), /start/);
    await point(again, "#tiles [data-tile=x]", 0, 0);
    assert.match(await text(again, "status"), /undefined/);
  },

  async "a kernel with a race is found, and put right where the page says"() {
    const page = await openPage();
    const kernel = `func.func @k(%src: memref<16x32xf16>, %dst: memref<16x32xf16>) attributes {pto.sync = "manual"} {
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf16>
  %b = pto.alloc_tile : !pto.tile_buf<vec, 16x32xf16>
  pto.tload ins(%src : memref<16x32xf16>) outs(%a : !pto.tile_buf<vec, 16x32xf16>)
  pto.tabs ins(%a : !pto.tile_buf<vec, 16x32xf16>) outs(%b : !pto.tile_buf<vec, 16x32xf16>)
  pto.tstore ins(%b : !pto.tile_buf<vec, 16x32xf16>) outs(%dst : memref<16x32xf16>)
  return
}
`;
    await write(page, kernel);
    assert.match(await text(page, "verdict"), /legal/);
    assert.equal(await text(page, "races-verdict"), "races");
    const first = page.locator("#races li").first();
    assert.match(await first.innerText(), /race/);
    await first.click();
    const selected = await page.evaluate(() => { const t = document.querySelector("#text"); return t.value.slice(t.selectionStart, t.selectionEnd); });
    assert.match(selected, /tabs|tload|tstore/);
    assert.equal(await page.locator("#text").evaluate((t) => t.scrollLeft), 0, "the start of the line is seen");
    // The timeline shows each race between the two that it is of, and nothing waits yet.
    await page.waitForSelector("#timeline svg");
    assert.equal(await page.locator("#timeline .tl-race").count(), await page.locator("#races li").count());
    assert.equal(await page.locator("#timeline .tl-arrow").count(), 0);
    await page.locator("#timeline [data-slice]", { hasText: "tabs, line 5" }).click();
    assert.match(await page.evaluate(() => { const t = document.querySelector("#text"); return t.value.slice(t.selectionStart, t.selectionEnd); }), /^pto\.tabs/);
    await shoot(page, "race");
    // Each finding names the flags and where they go.
    const lines = kernel.split("\n");
    for (const found of (await page.locator("#races li").allInnerTexts()).reverse()) {
      const [, set, after, wait, before] = found.match(/add (pto\.set_flag\[[^\]]+\]) after (\d+):\d+ and (pto\.wait_flag\[[^\]]+\]) before (\d+):\d+/);
      lines.splice(Number(before) - 1, 0, "  " + wait);
      lines.splice(Number(after), 0, "  " + set);
    }
    await write(page, lines.join("\n"));
    assert.equal(await text(page, "races-verdict"), "race-free");
    await page.click("#run");
    assert.match(await text(page, "status"), /Ran 3 instructions/);
    assert.ok((await page.locator("#map svg").count()) > 0);
    // With the flags everything waits for its data: an arrow for each, and no race.
    await page.waitForFunction(() => document.querySelectorAll("#timeline .tl-arrow").length === 2);
    assert.equal(await page.locator("#timeline .tl-race").count(), 0);
    assert.match(await text(page, "timeline-about"), /cycles, estimated/);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#timeline-svg")]);
    assert.equal(download.suggestedFilename(), "timeline.svg");
    await shoot(page, "race-free");
    await page.selectOption("#profile", "cpu");
    await page.waitForFunction(() => /no costs/.test(document.querySelector("#timeline").textContent));
  },

  async "a loop is stepped through: global memory, tiles, origins and the memory map are those of the step"() {
    const page = await openPage();
    const kernel = `func.func @k(%src: memref<8x16xf32>, %dst: memref<8x16xf32>, %n: index) {
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  pto.tload ins(%src : memref<8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  scf.for %i = %c0 to %n step %c1 {
    pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x16xf32>, !pto.tile_buf<vec, 8x16xf32>) outs(%t : !pto.tile_buf<vec, 8x16xf32>)
  }
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x16xf32>) outs(%dst : memref<8x16xf32>)
  return
}
`;
    await write(page, kernel);
    await page.fill("#inputs input[data-name=src]", "iota");
    await page.fill("#inputs input[data-name=n]", "3");
    await page.waitForFunction(() => /%n = 3/.test(document.querySelector("#timeline-about").textContent));
    assert.equal(await page.locator("#timeline .tl-work, #timeline .tl-unknown").count(), 5);
    await page.click("#run");
    assert.match(await text(page, "step-name"), /5 of 5: tstore/);
    assert.match(await page.locator("#global [data-buffer=dst] figcaption").innerText(), /8×16 f32 changed/);
    await point(page, "#global [data-buffer=dst]", 0, 5);
    assert.match(await text(page, "status"), /%dst\[0, 5\] = 40/);
    // One step back nothing is stored yet, and the tile is what it will be.
    await page.click("#back");
    assert.equal(await page.locator("#global [data-buffer=dst]").count(), 0);
    await point(page, "#tiles [data-tile=t]", 0, 5);
    assert.match(await text(page, "status"), /%t\[0, 5\] = 40/);
    const line = () => page.locator("#map .now").first().getAttribute("x1");
    const later = await line();
    // After the first round: twice the input, and that is its origin at this moment.
    await page.click("#first");
    await page.click("#next");
    await page.click("#next");
    assert.match(await text(page, "step-name"), /2 of 5: tadd, line 7/);
    assert.ok(Number(await line()) <= Number(later), "the map goes with the steps");
    await point(page, "#tiles [data-tile=t]", 0, 5, true);
    assert.match(await text(page, "status"), /%t\[0, 5\] = 10/);
    assert.match(await text(page, "origin"), /after step 2/);
    assert.match(await text(page, "origin"), /%src\[0, 5\] \+ %src\[0, 5\]/);
    assert.match(await page.locator("#timeline .tl-now title").textContent(), /tadd, line 7, iteration 0/);
    // A slice of the timeline is a step.
    await page.locator("#timeline [data-slice]", { hasText: "iteration 2" }).click();
    assert.match(await text(page, "step-name"), /4 of 5/);
    await shoot(page, "steps");
    await page.click("#share");
    await page.waitForFunction(() => location.hash.startsWith("#s="));
    const again = await openPage(page.url());
    assert.match(await text(again, "step-name"), /4 of 5/);
  },

  async "what must come out is dropped as a file, and the worst element is found"() {
    const page = await openPage();
    const sample = cases("cases", "legal").find((c) => c.name === "001-tmov_fp-a2a3-dps");
    const { program, command } = sample;
    await page.selectOption("#profile", "a2a3");
    await write(page, program);
    for (const [, name, of] of command.matchAll(/--in (\S+?)=in_(\S+)\.npy/g)) {
      const file = { name: `in_${of}.npy`, mimeType: "application/octet-stream", buffer: sample.in[of] };
      await page.locator(`#inputs label:has([data-name=${name}]) input[type=file]`).setInputFiles(file);
      await page.waitForFunction((n) => document.querySelector(`[data-name=${n}]`).value.startsWith("npy:"), name);
    }
    const [, out] = command.match(/--out (\S+?)=/);
    const expected = sample.expected[out];
    const drop = (bytes) => page.evaluate(([name, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(content)], name));
      document.querySelector("#expected").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
    }, [`expected_${out}.npy`, [...bytes]]);
    await drop(expected);
    await page.waitForFunction((n) => document.querySelector("#expected").value.startsWith(`%${n}: npy:`), out);
    await page.click("#run");
    assert.match(await text(page, "compared"), /is as expected/);
    // One wrong byte: the element is named, and where it comes from.
    const wrong = Buffer.from(expected);
    wrong[wrong.length - 1] ^= 1;
    await drop(wrong);
    await page.waitForTimeout(200);
    await page.click("#run");
    assert.match(await text(page, "compared"), /differs in 1 of \d+ elements, worst/);
    await page.click("#compared button");
    assert.match(await text(page, "origin"), /tmov/);
    await shoot(page, "expected");
  },

  async "a kernel with a wrong layout is legal again after the change that the page names"() {
    const page = await openPage();
    await page.selectOption("#profile", "a2a3");
    const kernel = (cols) => `%t = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x${cols}xf32>\n`;
    await write(page, kernel(4));
    assert.match(await text(page, "verdict"), /error/);
    const finding = page.locator("#findings li.error").first();
    assert.match(await finding.innerText(), /help:/);
    await finding.click();
    const place = await page.evaluate(() => document.querySelector("#text").selectionStart);
    assert.ok(place > 0 || (await finding.innerText()).startsWith("1:1"));
    await write(page, kernel(16));
    assert.match(await text(page, "verdict"), /legal on a2a3/);
    assert.equal(await page.locator("#portability td.no").count(), 0);
  },

  async "two programs are equal for all inputs, or differ where the page says"() {
    const page = await openPage();
    const one = "%d = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n";
    await write(page, one);
    await page.click("#compare summary");
    await page.fill("#other", "%t = pto.ttrans %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n%u = pto.ttrans %t : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n%d = pto.ttrans %u : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n");
    await page.click("#equiv");
    assert.match(await text(page, "equiv-answer"), /Equal for all inputs/);
    await page.fill("#other", "%d = pto.tmov %s : !pto.tile<16x16xf32> -> !pto.tile<16x16xf32>\n");
    await page.click("#equiv");
    assert.match(await text(page, "equiv-answer"), /Different in 240 elements/);
  },

  async "a first visit: every example opens, and the first one runs"() {
    const page = await openPage();
    assert.match(await text(page, "program"), /Write a kernel or open an example/);
    assert.equal(await value(page, "example"), "first/axpy.pto");
    await page.click("#run");
    assert.match(await text(page, "status"), /Ran 5 instructions/);
    await page.click("#values");
    assert.ok(await page.locator("#outputs canvas").evaluate((c) => Number(c.dataset.width)) > 40, "values can be read");
    assert.ok((await page.locator("#example optgroup").count()) >= 5);
    const wanted = { "first/mistake.pto": [/error/, /^$/], "first/race.pto": [/legal/, /^races$/], "softmax.pto": [/legal on a5/, /race-free/], "sync/race.pto": [/legal/, /^races$/], "cores_deadlock.pto": [/legal/, /^races$/] };
    for (const file of await page.locator("#example option").evaluateAll((all) => all.map((o) => o.value).filter(Boolean))) {
      await page.selectOption("#example", file);
      await page.waitForFunction((f) => document.querySelector("#example").value === f, file);
      const [verdict, races] = wanted[file] || [/legal on/, /race-free|undecided/];
      assert.match(await text(page, "verdict"), verdict, file);
      assert.match(await text(page, "races-verdict"), races, file);
      if (verdict.source.includes("error")) continue;
      await page.click("#run");
      assert.match(await text(page, "status"), file.includes("deadlock") ? /Stopped: .*deadlock|Stopped: .*wait/i : /Ran \d+ instructions/, file);
    }
    // An element of the softmax says where it comes from.
    await page.selectOption("#example", "softmax.pto");
    await page.click("#run");
    await point(page, "#outputs [data-output=y]", 4, 7, true);
    assert.match(await text(page, "origin"), /Where %y\[4, 7\] comes from/);
    assert.match(await text(page, "origin"), /exp/);
    await shoot(page, "softmax");
  },

  async "the editor: tab, indentation, comments, completion, undo, marks, and a text that stays"() {
    const page = await openPage();
    const first = await value(page, "text");
    const selection = () => page.evaluate(() => { const t = document.querySelector("#text"); return [t.selectionStart, t.selectionEnd]; });
    await page.click("#text");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("func.func @k() {\n%a = pto.tm");
    assert.equal(await value(page, "text"), "func.func @k() {\n  %a = pto.tm");
    // The usual name that begins with it is first; Tab takes it.
    assert.equal(await page.locator("#completions li").first().locator("b").innerText(), "tmov");
    assert.equal(await page.locator("#text").getAttribute("aria-activedescendant"), "choice-0");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Tab");
    assert.equal(await value(page, "text"), "func.func @k() {\n  %a = pto.tmov");
    assert.ok(await page.locator("#completions").isHidden());
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Tab");
    assert.equal(await value(page, "text"), "  func.func @k() {\n    %a = pto.tmov");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Control+/");
    assert.equal(await value(page, "text"), "// func.func @k() {\n  // %a = pto.tmov");
    await page.keyboard.press("Control+/");
    assert.equal(await value(page, "text"), "func.func @k() {\n  %a = pto.tmov");
    assert.deepEqual(await selection(), [0, (await value(page, "text")).length]);
    // On the last line that is seen the list stands above it, whole.
    await page.keyboard.press("Control+End");
    await page.keyboard.type("\n".repeat(30) + "pto.t");
    const [list, area] = await page.evaluate(() => ["#completions", ".area"].map((s) => document.querySelector(s).getBoundingClientRect()).map((b) => [b.top, b.bottom]));
    assert.ok(list[0] >= area[0] && list[1] <= area[1] && list[1] > list[0], `the list ${list} is in the editor ${area}`);
    await page.keyboard.press("Escape");
    // Everything can be taken back.
    for (let n = 0; n < 120 && (await value(page, "text")) !== first; n++) await page.keyboard.press("Control+Z");
    assert.equal(await value(page, "text"), first);
    // Escape, then Tab leaves the editor.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.notEqual(await page.evaluate(() => document.activeElement.id), "text");
    assert.equal(await value(page, "text"), first);
    // What the page has is coloured, and a finding is underlined where it is, and said at the caret.
    await page.selectOption("#example", "first/mistake.pto");
    await page.waitForSelector("#colours .squiggle.error");
    assert.ok((await page.locator("#colours .t-op").count()) > 4);
    assert.equal(await page.locator("#colours").evaluate((c) => c.textContent), (await value(page, "text")) + "\n");
    await page.locator("#findings li").first().click();
    assert.match(await text(page, "caret"), /^\d+:\d+\s+[\w-]+: /);
    assert.match(await text(page, "timeline"), /A legal kernel/);
    await shoot(page, "editor");
    // Colours lie under the letters, wherever the text is scrolled to.
    const places = await page.evaluate(() => {
      const t = document.querySelector("#text");
      t.scrollTop = 40;
      t.dispatchEvent(new Event("scroll"));
      const style = (e) => { const s = getComputedStyle(e); return [s.font, s.lineHeight, s.paddingTop, s.paddingLeft, s.tabSize].join(); };
      const box = document.querySelector("#colours").getBoundingClientRect();
      const inner = t.getBoundingClientRect();
      return { same: style(t) === style(document.querySelector("#colours")), gap: [inner.top - t.scrollTop - box.top, inner.left - t.scrollLeft - box.left] };
    });
    assert.ok(places.same, "one font");
    assert.deepEqual(places.gap.map(Math.round), [0, 0]);
    // An example in place of a text is taken back with undo.
    const mistake = await value(page, "text");
    await write(page, mistake + "// mine\n");
    await page.selectOption("#example", "gelu.pto");
    assert.match(await text(page, "status"), /Ctrl\+Z/);
    await page.focus("#text");
    await page.keyboard.press("Control+Z");
    assert.equal(await value(page, "text"), mistake + "// mine\n");
    // The text is there at the next visit, where no link says otherwise.
    await page.waitForTimeout(600);
    await page.reload();
    await page.waitForSelector("body[data-ready=yes]");
    assert.equal(await value(page, "text"), mistake + "// mine\n");
  },

  async "everything fits a phone and a wide screen, and has a name"() {
    for (const [width, height] of [[360, 740], [390, 844], [1400, 900]]) {
      const page = await openPage(undefined, { viewport: { width, height } });
      for (const tab of ["layout", "instruction", "program"]) {
        await page.click("#tab-" + tab);
        if (tab === "program") {
          await page.selectOption("#example", "softmax.pto");
          await page.click("#run");
          await page.waitForTimeout(500);
        }
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${tab} is ${wide} pixels wide at ${width}`);
        await shoot(page, `${tab}-${width}`);
        const nameless = await page.locator(`#${tab} :is(button, select, input:not([hidden]), textarea, canvas)`).evaluateAll((all) => all
          .filter((e) => !(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length && e.labels[0].innerText.trim()))).map((e) => e.outerHTML.slice(0, 90)));
        assert.deepEqual(nameless, [], `without a name at ${width}`);
      }
      if (width < 860) {
        const [editor, results] = await page.evaluate(() => [".editor", ".results"].map((s) => document.querySelector(s).getBoundingClientRect()).map((b) => [b.left, b.top, b.width]));
        assert.ok(editor[2] > width - 40 && results[2] > width - 40 && results[1] > editor[1], "one column");
      }
    }
  },

  async "the six layouts are in a menu, each with a sentence"() {
    const page = await openPage();
    await page.click("#tab-layout");
    for (const [name, words] of [["ND", /Row after row/], ["DN", /Column after column/], ["NZ", /column of boxes/], ["ZN", /row of boxes/], ["ZZ", /row of boxes/], ["NN", /column of boxes/]]) {
      await page.selectOption("#layout-preset", name);
      assert.match(await text(page, "status"), new RegExp(` ${name} on a5`));
      assert.match(await text(page, "layout-about"), words);
    }
    await page.click("#letters summary");
    assert.match(await text(page, "letters"), /which box/);
  },

  async "copies run elsewhere, the page fits 1024 pixels, and the dark is readable"() {
    const page = await openPage(undefined, { viewport: { width: 1024, height: 768 }, colorScheme: "dark", permissions: ["clipboard-read", "clipboard-write"] });
    const copied = async (format) => {
      await page.evaluate(() => { window.prompt = (_, shown) => { window.shown = shown; }; navigator.clipboard.writeText = async (shown) => { window.shown = shown; }; });
      await page.selectOption("#copy-as", format);
      await page.waitForFunction(() => window.shown);
      return page.evaluate(() => { const shown = window.shown; window.shown = null; return shown; });
    };
    assert.match(await copied("command"), /tessera run kernel.pto --profile a5 --in/);
    assert.match(await copied("rust"), /Program::parse/);
    assert.match(await copied("python"), /import tessera/);
    assert.match(await copied("cpp"), /#include/);
    assert.match(await copied("pto"), /tadd/);
    for (const tab of ["layout", "instruction", "program"]) {
      await page.click("#tab-" + tab);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= 1024, `${tab} is ${wide} pixels wide`);
      await shoot(page, "dark-" + tab);
    }
    const [ink, paper] = await page.evaluate(() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor].map((c) => c.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)); });
    assert.ok(ink - paper > 400, "dark ink on dark paper");
    await page.keyboard.press("Alt+2");
    assert.equal(await page.locator("#tab-instruction").getAttribute("aria-selected"), "true");
    const cut = await openPage(pathToFileURL(page_file).href + "#s=nonsense");
    assert.match(await text(cut, "status"), /cannot be read|^$/);
  },
};

let failed = 0;
const only = process.argv[4];
for (const [name, task] of Object.entries(tasks).filter(([name]) => !only || name.includes(only))) {
  try {
    await task();
    assert.deepEqual(errors.splice(0), [], "the page reports errors");
    console.log("ok      " + name);
  } catch (error) {
    failed += 1;
    for (const said of errors.splice(0)) console.error("the page says: " + said);
    console.error("FAILED  " + name + "\n" + error.stack);
  }
}
await browser.close();
console.log(failed ? `${failed} tasks failed` : "all tasks done");
process.exit(failed ? 1 : 0);
