// The page: tabs, profile, links, copies, keys.
"use strict";

const VIEWS = { layout: Layout, instruction: Instruction, program: Program };

function setProfile(profile) {
  state.profile = profile;
  $("profile").value = profile;
  Program.forget();
  VIEWS[state.tab].show();
}

function open(tab) {
  state.tab = tab;
  for (const name of Object.keys(VIEWS)) {
    $(name).hidden = name !== tab;
    $("tab-" + name).setAttribute("aria-selected", String(name === tab));
    $("tab-" + name).tabIndex = name === tab ? 0 : -1;
  }
  VIEWS[tab].show();
}

function saveSvg() {
  const svg = VIEWS[state.tab].svg();
  if (svg) save(svg, state.tab); else say("There is no picture here.");
}

function copyAs(format) {
  if (!format) return;
  const text = { layout: null, instruction: state.instruction, program: state.text }[state.tab];
  if (text === null) { copyText(`tessera layout '${state.type}' --profile ${state.profile}`, "The command line"); return; }
  attempt(() => copyText(Engine.call({ do: "copy", text, profile: state.profile, as: format }).text, "As " + format));
}

function keys(event) {
  const tabs = Object.keys(VIEWS);
  if (event.altKey && ["1", "2", "3"].includes(event.key)) { open(tabs[Number(event.key) - 1]); event.preventDefault(); return; }
  const inTabs = event.target.getAttribute && event.target.getAttribute("role") === "tab";
  const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (inTabs && turn) {
    open(tabs[(tabs.indexOf(state.tab) + turn + tabs.length) % tabs.length]);
    $("tab-" + state.tab).focus();
    return;
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const steps = { ArrowLeft: () => state.step - 1, ArrowRight: () => state.step + 1, Home: () => 0, End: () => Infinity }[event.key];
  if (state.tab === "program" && !typing && steps) { Program.go(steps()); event.preventDefault(); }
}

async function start() {
  try {
    await Engine.load();
  } catch (error) {
    say("This browser cannot run the page: " + error.message);
    return;
  }
  const catalog = Engine.call({ do: "catalog" });
  const written = $("given").textContent;
  const given = written.startsWith("{") ? JSON.parse(written) : {};
  if (!(await readLink())) Object.assign(state, given);
  Examples.start();
  if (state.text === null) {
    const kept = Editor.draft();
    if (kept && kept.trim()) { state.text = kept; say("This is the text of your last visit; the menu has examples."); }
    else Object.assign(state, Examples.read(Examples.all[0].file));
  }
  if (!state.profile) state.profile = Examples.profile(state.text);
  Layout.start(catalog);
  Instruction.start(catalog);
  Editor.start(catalog);
  Program.start();
  for (const name of Object.keys(VIEWS)) $("tab-" + name).addEventListener("click", () => open(name));
  $("profile").addEventListener("change", () => setProfile($("profile").value));
  $("share").addEventListener("click", async () => { const url = await link(); history.replaceState(null, "", url); copyText(url, "The link"); });
  $("svg-export").addEventListener("click", saveSvg);
  $("copy-as").addEventListener("change", () => { copyAs($("copy-as").value); $("copy-as").value = ""; });
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", async () => { if (await readLink()) { Program.ran = null; $("profile").value = state.profile; open(state.tab); } });
  $("profile").value = state.profile;
  open(state.tab);
  document.body.dataset.ready = "yes";
}

start();
