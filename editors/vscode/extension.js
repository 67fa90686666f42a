// Starts `tessera lsp` and hands the editor over to it. Pages (tessera-explain:NAME) are the server's, too.
"use strict";

const { execFile } = require("node:child_process");
const { dirname } = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const { profiles, races, hints } = vscode.workspace.getConfiguration("tessera");
  return { profiles, races, hints };
}

function tessera() {
  return vscode.workspace.getConfiguration("tessera").get("path") || "tessera";
}

async function start() {
  const command = tessera();
  client = new LanguageClient(
    "tessera",
    "Tessera",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ language: "pto" }],
      // The lenses of the server name commands of this file.
      initializationOptions: { ...settings(), commands: true },
      synchronize: { configurationSection: "tessera" },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const why = `'${command} lsp' does not start: ${error.message}. Install tessera, or set tessera.path.`;
    vscode.window.showErrorMessage(why);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  await old?.stop().catch(() => undefined);
}

async function explain() {
  const editor = vscode.window.activeTextEditor;
  const range = editor?.document.getWordRangeAtPosition(editor.selection.active);
  if (!range) {
    return;
  }
  const word = editor.document.getText(range).replace(/^pto\./, "");
  try {
    const page = await vscode.workspace.openTextDocument(vscode.Uri.parse(`tessera-explain:${word}`));
    await vscode.window.showTextDocument(page, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  } catch {
    vscode.window.showInformationMessage(`Nothing is called '${word}'.`);
  }
}

/** The file of a lens, else of the editor, as it is on the screen. */
async function saved(uri) {
  const document = uri
    ? await vscode.workspace.openTextDocument(vscode.Uri.parse(uri))
    : vscode.window.activeTextEditor?.document;
  if (!document || document.uri.scheme !== "file") {
    vscode.window.showInformationMessage("Save the program in a file first.");
    return undefined;
  }
  return (await document.save()) || !document.isDirty ? document.uri.fsPath : undefined;
}

/** Runs the command line of `tessera info` in a terminal: random inputs, and the first sizes that work. */
async function run(uri, kernel) {
  const file = await saved(uri);
  if (!file) {
    return;
  }
  const asked = ["info", file, "--format", "json", ...(kernel ? ["--entry", kernel] : [])];
  execFile(tessera(), asked, { cwd: dirname(file) }, (error, stdout) => {
    let line;
    try {
      line = JSON.parse(stdout).kernels.map((one) => one.command).find(Boolean);
    } catch {
      line = undefined;
    }
    if (!line) {
      const why = error?.code === "ENOENT" ? `'${tessera()}' is not found; set tessera.path` : "tessera info finds no command line that runs it";
      vscode.window.showErrorMessage(`${kernel ? `@${kernel}` : "The program"} does not run: ${why}.`);
      return;
    }
    terminal(dirname(file)).sendText(line.replace(/^tessera(?= )/, quoted(tessera())));
  });
}

async function explore(uri) {
  const file = await saved(uri);
  if (file) {
    terminal(dirname(file)).sendText(`${quoted(tessera())} explore ${quoted(file)}`);
  }
}

function quoted(word) {
  return /^[\w./:\\-]+$/.test(word) ? word : `"${word}"`;
}

function terminal(cwd) {
  const known = vscode.window.terminals.find((one) => one.name === "Tessera" && one.exitStatus === undefined);
  const used = known || vscode.window.createTerminal({ name: "Tessera", cwd });
  used.show(true);
  return used;
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("tessera.explain", explain),
    vscode.commands.registerCommand("tessera.run", run),
    vscode.commands.registerCommand("tessera.explore", explore),
    vscode.commands.registerCommand("tessera.restart", () => stop().then(start)),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
