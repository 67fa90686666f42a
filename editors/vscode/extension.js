// Starts `tessera lsp` and hands the editor over to it. Pages (tessera-explain:NAME) are the server's, too.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function settings() {
  const { profiles, races, hints } = vscode.workspace.getConfiguration("tessera");
  return { profiles, races, hints };
}

async function start() {
  const command = vscode.workspace.getConfiguration("tessera").get("path") || "tessera";
  client = new LanguageClient(
    "tessera",
    "Tessera",
    { command, args: ["lsp"] },
    {
      documentSelector: [{ language: "pto" }],
      initializationOptions: settings(),
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

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("tessera.explain", explain),
    vscode.commands.registerCommand("tessera.restart", () => stop().then(start)),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
