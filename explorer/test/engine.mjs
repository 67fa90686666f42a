// The engine of a page, without the page.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

export const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** A function that answers requests with the WebAssembly of a page. */
export function engine(page = join(root, "crates/cli/assets/explorer.html")) {
  const packed = readFileSync(page, "utf8").match(/id="wasm">([^<]+)</)[1];
  const module = new WebAssembly.Module(gunzipSync(Buffer.from(packed, "base64")));
  const { memory, tessera_alloc, tessera_free, tessera_call } = new WebAssembly.Instance(module, {}).exports;
  return (request) => {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    const at = tessera_alloc(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const packed = BigInt.asUintN(64, tessera_call(at, bytes.length));
    const [start, length] = [Number(packed & 0xffffffffn), Number(packed >> 32n)];
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, start, length)));
    tessera_free(start, length);
    tessera_free(at, bytes.length);
    return answer;
  };
}
