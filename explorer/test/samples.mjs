// Every sample program opens in the page's engine, is judged as the command judges it, and runs where it may.
import { readFileSync, readdirSync, existsSync } from "node:fs";
import { join } from "node:path";
import { engine, root } from "./engine.mjs";

const call = engine(process.argv[2]);
const faults = [];
let count = 0;
for (const [cases, kind] of ["cases", "cases-compute"].flatMap((c) => ["legal", "illegal", "warning", "runtime"].map((k) => [c, k]))) {
  const dir = join(root, "tests", cases, kind);
  if (!existsSync(dir)) continue;
  for (const name of readdirSync(dir)) {
    const file = join(dir, name, "program.pto");
    if (!existsSync(file)) continue;
    count += 1;
    const where = `${cases}/${kind}/${name}`;
    const text = readFileSync(file, "utf8");
    const command = readFileSync(join(dir, name, "command.txt"), "utf8").split("\n")[0];
    const profile = (command.match(/--profile[ =](\S+)/) || [])[1];
    const blocks = Number((command.match(/--blocks[ =](\d+)/) || [])[1] || 1);
    try {
      const checked = call({ do: "check", text, profile });
      if (checked.error) throw new Error(checked.error);
      const isError = (f) => f.severity === "error";
      const illegal = checked.findings.some(isError);
      // What stops a run may be known before it.
      if (kind !== "runtime" && illegal !== (kind === "illegal")) faults.push(`${where}: ${illegal ? "illegal" : "legal"} in the page`);
      if (illegal || checked.no_kernel) continue;
      const ran = call({ do: "run", text, profile, blocks });
      // Rows of half bytes cannot be made up.
      if (/do not end at a byte/.test(ran.error)) continue;
      if (ran.error) throw new Error(ran.error);
      if (!ran.blocks) faults.push(`${where}: nothing was recorded`);
      // Contents that are made up may stop a program whose data decides; a legal one stops for no other reason.
      const stop = ran.findings.find(isError);
      if (kind === "legal" && stop && !/-index|-value|-zero|undefined|bounds|quant|-counts|deadlock/.test(stop.rule)) faults.push(`${where}: ${stop.rule}: ${stop.message}`);
      call({ do: "instruction", text, profile: checked.profile });
      const [first] = ran.outputs || [];
      if (first && !stop) {
        const target = `%${first.name}[${first.shape.length === 2 ? "0, 0" : "0"}]`;
        const origin = call({ do: "origin", text, profile, target });
        if (!origin.hops && !origin.error) faults.push(`${where}: ${target} comes from nowhere`);
      }
      const copied = call({ do: "copy", text, profile, as: "pto" });
      if (!copied.text) faults.push(`${where}: ${copied.error}`);
    } catch (error) {
      faults.push(`${where}: ${error.message}`);
    }
  }
}
if (faults.length) {
  console.error(faults.join("\n"));
  process.exit(1);
}
console.log(`${count} sample programs open and run in the page's engine`);
