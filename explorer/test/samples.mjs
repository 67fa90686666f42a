// Every sample program opens in the page's engine, is judged as the command judges it, and runs where it may: on its own
// data it gives what it must.
import { cases } from "./cases.mjs";
import { engine } from "./engine.mjs";

const call = engine(process.argv[2]);
const faults = [];
let [count, compared, timelines] = [0, 0, 0];
for (const [set, kind] of ["cases", "cases-compute"].flatMap((s) => ["legal", "illegal", "warning", "runtime"].map((k) => [s, k]))) {
  for (const sample of cases(set, kind)) {
    count += 1;
    const where = `${set}/${kind}/${sample.name}`;
    const { program: text, command, ulp } = sample;
    const profile = (command.match(/--profile[ =](\S+)/) || [])[1];
    const blocks = Number((command.match(/--blocks[ =](\d+)/) || [])[1] || 1);
    try {
      const checked = call({ do: "check", text, profile });
      if (checked.error) throw new Error(checked.error);
      const isError = (f) => f.severity === "error";
      const illegal = checked.findings.some(isError);
      // What stops a run may be known before it.
      // A later page of the specification allows what some of these programs do.
      const isRefused = kind === "illegal" && sample.exit !== "0";
      if (kind !== "runtime" && illegal !== isRefused) faults.push(`${where}: ${illegal ? "illegal" : "legal"} in the page`);
      if (illegal || kind === "illegal" || checked.no_kernel) continue;
      const npy = (bytes) => "npy:" + bytes.toString("hex");
      const given = {};
      for (const [, of, file] of command.matchAll(/--in[ =]([^\s=@]+)=in_(\S+)\.npy/g)) given[of] = npy(sample.in[file]);
      for (const [, of, number] of command.matchAll(/--set[ =]([^\s=.]+)=(\S+)/g)) given[of] = number;
      const program = { text, profile, blocks, given };
      const wanted = [...command.matchAll(/--out[ =]([^\s=@]+)=/g)].map(([, of]) => of);
      const expect = wanted.filter((of) => checked.outputs.includes(of) && sample.expected[of])
        .map((of) => `%${of}${ulp.has(of) ? " ulp=" + ulp.get(of) : ""}: ${npy(sample.expected[of])}`);
      const ran = call({ ...program, do: "run", expect: kind === "legal" ? expect.join("\n") : "" });
      // Rows of half bytes cannot be made up.
      if (/do not end at a byte/.test(ran.error)) continue;
      if (ran.error) throw new Error(ran.error);
      if (!ran.blocks) faults.push(`${where}: nothing was recorded`);
      // Contents that are made up may stop a program whose data decides; a legal one stops for no other reason.
      const stop = ran.findings.find(isError);
      if (kind === "legal" && stop && !/-index|-value|-zero|undefined|bounds|quant|-counts|deadlock/.test(stop.rule)) faults.push(`${where}: ${stop.rule}: ${stop.message}`);
      for (const one of ran.compared || []) {
        compared += 1;
        if (one.different) faults.push(`${where}: %${one.name} differs in ${one.different} elements`);
      }
      const line = call({ ...program, do: "timeline" });
      if (checked.profile !== "cpu" && !stop && !line.processes && !/undecided|depends|known|cost|wait|loop|data|value/.test(line.error)) faults.push(`${where}: ${line.error}`);
      if (line.processes) timelines += 1;
      call({ do: "instruction", text, profile: checked.profile });
      const [first] = ran.outputs || [];
      if (first && !stop) {
        const target = `%${first.name}[${first.shape.length === 2 ? "0, 0" : "0"}]`;
        const block = ran.blocks[ran.blocks.length - 1];
        for (const moment of [undefined, [block.block, 0], [block.block, Math.ceil(block.steps.length / 2)]]) {
          const origin = call({ ...program, do: "origin", target, moment });
          if (!origin.hops && !origin.error) faults.push(`${where}: ${target} comes from nowhere`);
        }
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
console.log(`${count} sample programs open and run in the page's engine; ${compared} outputs are as expected, ${timelines} have a timeline`);
