// Puts the page together: its files, the WebAssembly, compressed, as text, and the digest of the sources of both.
import { readFileSync, writeFileSync, mkdirSync } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [sources, wasm, out] = process.argv.slice(2);
const page = join(dirname(fileURLToPath(import.meta.url)), "page");
const read = (name) => readFileSync(join(page, name), "utf8");
const scripts = ["core.js", "grid.js", "layout.js", "instruction.js", "contents.js", "map.js", "timeline.js", "editor.js", "examples.js", "program.js", "main.js"].map(read);
// One strict script; the same words at the start of each file are for reading it alone.
const script = '"use strict";\n' + scripts.map((text) => text.replace('"use strict";\n', "")).join("\n");
const packed = gzipSync(readFileSync(wasm), { level: 9 }).toString("base64");
// Only this script runs, whatever a program, a link or a file says; pictures have styles of their own.
const digest = createHash("sha256").update(script).digest("base64");
const POLICY = `default-src 'none'; script-src 'sha256-${digest}' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'`;
// The examples of the menu, each with its text.
const examples = [];
let group = "";
for (const line of readFileSync(join(page, "../examples.txt"), "utf8").split("\n").filter((l) => l && !l.startsWith("#"))) {
  if (line.startsWith("== ")) { group = line.slice(3); continue; }
  const [file, ...name] = line.split(" ");
  examples.push({ group, file, name: name.join(" "), text: readFileSync(join(page, "../../examples", file), "utf8") });
}
const EXAMPLES = JSON.stringify(examples).replaceAll("<", "\\u003c");
const parts = { POLICY, STYLE: read("style.css"), SCRIPT: script, WASM: packed, SOURCES: sources, EXAMPLES };
const html = read("index.html").replace(/\/\*(POLICY|STYLE|SCRIPT|WASM|SOURCES|EXAMPLES)\*\//g, (_, name) => parts[name]);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, html);
console.log(`${out}: ${html.length} bytes, of which ${packed.length} are WebAssembly`);
