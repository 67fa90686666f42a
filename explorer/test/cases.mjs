// The sample cases of `tests` (their README describes the format).
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./engine.mjs";

const TYPES = { i8: "|i1", u8: "|u1", i16: "<i2", u16: "<u2", i32: "<i4", u32: "<u4", i64: "<i8", u64: "<u8", f16: "<f2", f32: "<f4" };

/** A `.npy` file of a type, a shape and lines of hex. */
function npy(type, shape, lines) {
  const tuple = shape.split("x").join(", ") + (shape.includes("x") ? "" : ",");
  const header = `{'descr': '${TYPES[type]}', 'fortran_order': False, 'shape': (${tuple}), }`;
  const length = Math.ceil((header.length + 11) / 64) * 64 - 10;
  let [hex, row] = ["", ""];
  for (const line of lines) {
    if (line.startsWith("* ")) hex += row.repeat(Number(line.slice(2)));
    else hex += row = line;
  }
  const start = Buffer.from(`\x93NUMPY\x01\0${String.fromCharCode(length & 255, length >> 8)}${header.padEnd(length - 1)}\n`, "latin1");
  return Buffer.concat([start, Buffer.from(hex, "hex")]);
}

/** The cases of a set and a kind: name, first command line, its exit code, program, files of `in` and `expected`, distances of `ulp`. */
export function cases(set, kind) {
  const dir = join(root, "tests", set, kind);
  const all = [];
  for (const file of readdirSync(dir).filter((name) => name.endsWith(".txt"))) {
    const [, ...parts] = ("\n" + readFileSync(join(dir, file), "utf8")).split("\n//// ");
    for (const part of parts) {
      const [head, ...lines] = part.split("\n");
      const [word, ...rest] = head.split(" ");
      const last = all[all.length - 1];
      if (word === "case") all.push({ name: rest.join("-"), command: "", program: "", in: {}, expected: {}, ulp: new Map() });
      else if (word === "command") last.command ||= rest.join(" ");
      else if (word === "exit") last.exit ||= rest[0];
      else if (word === "program") last.program = lines.join("\n") + "\n";
      else if (word === "ulp") last.ulp.set(rest[0], rest[1]);
      else if (word === "in" || word === "expected") last[word][rest[0]] = npy(rest[1], rest[2], lines.filter(Boolean));
    }
  }
  return all;
}
