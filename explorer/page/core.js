// The engine and what views share: requests, the status line, the state that a link holds.
"use strict";

const $ = (id) => document.getElementById(id);

/** A new element with attributes and children. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function say(text) { $("status").textContent = text; }

const Engine = {
  module: null,
  instance: null,
  async load() {
    const packed = Uint8Array.from(atob($("wasm").textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    this.module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    await this.start();
  },
  async start() { this.instance = null; this.instance = await WebAssembly.instantiate(this.module, {}); },
  /** Asks, and gives the answer; a request that cannot be answered throws its sentence. */
  call(request) {
    if (!this.instance) throw new Error("The engine starts anew; try again in a moment.");
    const { memory, tessera_alloc, tessera_free, tessera_call } = this.instance.exports;
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    let answer;
    try {
      const at = tessera_alloc(bytes.length);
      new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
      const packed = BigInt.asUintN(64, tessera_call(at, bytes.length));
      const [start, length] = [Number(packed & 0xffffffffn), Number(packed >> 32n)];
      answer = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, start, length)));
      tessera_free(start, length);
      tessera_free(at, bytes.length);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError || error instanceof RangeError)) throw error;
      this.start();
      throw new Error("This was too much for the page: " + error.message + ". Try a smaller program.");
    }
    if (answer.error) throw new Error(answer.error);
    return answer;
  },
};

/** Everything that a link holds. */
const state = {
  tab: "program", profile: "a5", type: null, view: "logical", instruction: null,
  text: null, other: "", inputs: {}, expected: "", blocks: 1, step: 0, ran: false,
};

async function squeeze(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unsqueeze(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

async function link() { return location.href.split("#")[0] + "#s=" + (await squeeze(JSON.stringify(state))); }

/** Reads the state of a link; anything else in it is ignored. */
async function readLink() {
  const packed = location.hash.match(/^#s=(.+)$/);
  if (!packed) return false;
  try {
    const found = JSON.parse(await unsqueeze(packed[1]));
    for (const key of Object.keys(state)) if (key in found) state[key] = found[key];
    return true;
  } catch {
    say("This link cannot be read; it may have been cut off.");
    return false;
  }
}

/** Puts text on the clipboard, or shows it where there is none. */
async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(what + " copied.");
  } catch {
    window.prompt(what, text);
  }
}

/** Gives a picture to the reader as a file. */
function save(svg, name) {
  const anchor = make("a", { href: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), download: name + ".svg" });
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}

/** Waits until the hand rests. */
function later(work, delay = 120) {
  let timer = 0;
  const start = () => { clearTimeout(timer); timer = setTimeout(work, delay); };
  return Object.assign(start, { cancel() { clearTimeout(timer); } });
}

/** Runs work; what it throws is said. */
function attempt(work) {
  try { work(); return true; } catch (error) { say(error.message); return false; }
}
