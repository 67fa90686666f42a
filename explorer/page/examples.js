// The menu of examples. The command line in the head of an example gives its profile and its inputs.
"use strict";

const Examples = {
  all: [],

  start() {
    this.all = JSON.parse($("examples").textContent);
    const groups = new Map();
    for (const one of this.all) groups.set(one.group, [...(groups.get(one.group) || []), one]);
    for (const [group, list] of groups) $("example").append(make("optgroup", { label: group }, ...list.map((one) => make("option", { value: one.file }, one.name))));
    $("example").addEventListener("change", () => { if ($("example").value) this.open($("example").value); });
  },

  /** What an example opens with. */
  read(file) {
    const one = this.all.find((e) => e.file === file);
    const words = (one.text.match(/^\/\/\s+tessera \w+ .*$/m) || [""])[0].split(/\s+/);
    const after = (flag) => words.flatMap((word, n) => (word === flag ? [words[n + 1]] : []));
    const inputs = {};
    for (const given of [...after("--in"), ...after("--set")]) {
      const [name, value] = given.split(/=(.*)/s);
      // A file that the page does not have is made up.
      if (!/\.npy$/.test(value)) inputs[name.replace(/^%/, "")] = value;
    }
    return { text: one.text, profile: after("--profile")[0] || this.profile(one.text), inputs, blocks: Number(after("--blocks")[0] || 1), expected: "", step: 0, ran: false };
  },

  /** The profile that a text states, else the first one that it is legal on; cpu has no costs and is last. */
  profile(text) {
    const stated = Engine.call({ do: "check", text }).profile;
    if (stated !== "cpu" || /target_arch/.test(text)) return stated;
    const isLegal = (profile) => !Engine.call({ do: "check", text, profile }).findings.some((f) => f.severity === "error");
    return ["a5", "a2a3"].find(isLegal) || "cpu";
  },

  open(file) {
    const hadText = state.text.trim() && !this.all.some((one) => one.text === state.text);
    const given = this.read(file);
    Program.forget();
    Object.assign(state, given);
    $("inputs").dataset.names = "";
    Editor.set(given.text);
    state.text = given.text;
    Program.soon.cancel();
    setProfile(given.profile);
    say(hadText ? "Opened. Ctrl+Z in the editor brings your text back." : "Opened. Press Run.");
  },
};
