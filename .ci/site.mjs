// Opens pages of the site in a browser, on a phone and on a wide screen: nothing overflows, nothing is missing, no other host
// is asked, PTO text is coloured in light and dark, the search finds an instruction, and the playground runs.
// Arguments: the site, and a folder for screenshots (optional).
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";

const require = createRequire(join(process.env.PLAYWRIGHT_DIR || process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const site = resolve(process.argv[2] || "target/site");
const shots = process.argv[3] && resolve(process.argv[3]);
if (shots) mkdirSync(shots, { recursive: true });

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json" };
const faults = [];
const server = http.createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://site").pathname).replace(/\/$/, "/index.html");
  const file = join(site, path);
  const found = file.startsWith(site) && existsSync(file) && statSync(file).isFile();
  if (!found) faults.push(`${path} is missing`);
  response.writeHead(found ? 200 : 404, { "content-type": TYPES[extname(file)] || "application/octet-stream" });
  response.end(found ? readFileSync(file) : "");
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const base = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu"] });

async function open(path, width, colorScheme = "light") {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
  const page = await context.newPage();
  page.on("pageerror", (error) => faults.push(`${path}: ${error.message}`));
  page.on("request", (request) => { if (!request.url().startsWith(base) && /^http/.test(request.url())) faults.push(`${path} asks ${request.url()}`); });
  await page.goto(base + path);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > width) faults.push(`${path} is ${wide} pixels wide at ${width}`);
  if (shots) await page.screenshot({ path: join(shots, `${path.replace(/\W/g, "-")}-${width}-${colorScheme}.png`) });
  return page;
}

const own = readdirSync(site).filter((name) => name.endsWith(".html") && !/^(404|print|toc|explorer)\.html$/.test(name));
for (const path of [...own, "isa/tadd.html", "isa/tmatmul.html", "isa/index.html", "spec/language.html"].filter((path) => existsSync(join(site, path)))) {
  await (await open(path, 360)).context().close();
}
try {
  for (const scheme of ["light", "dark"]) {
    const page = await open("first-kernel.html", 1400, scheme);
    const colours = await page.locator("code.language-pto").first().evaluate((code) => new Set([...code.querySelectorAll("span")].map((s) => getComputedStyle(s).color)).size);
    assert.ok(colours >= 3, `PTO text has ${colours} colours (${scheme})`);
  }
  const page = await open("index.html", 1400);
  await page.keyboard.press("/");
  await page.keyboard.type("tadd");
  await page.waitForSelector("#mdbook-searchresults li a, #searchresults li a", { timeout: 20000 });
  const first = (await page.locator("#mdbook-searchresults li a, #searchresults li a").allInnerTexts()).slice(0, 5);
  assert.ok(first.some((text) => /tadd/i.test(text)), `the search finds ${first}`);
  const playground = await open("playground.html", 1400);
  const frame = playground.frameLocator("iframe");
  await frame.locator("body[data-ready=yes]").waitFor({ timeout: 60000 });
  await frame.locator("#run").click();
  assert.match(await frame.locator("#status").innerText(), /Ran \d+ instructions/);
  if (shots) await playground.screenshot({ path: join(shots, "playground-ran.png") });
} catch (error) {
  faults.push(error.message);
}
await browser.close();
server.close();
for (const fault of faults) console.error("error: " + fault);
console.log(faults.length ? `${faults.length} faults` : `${own.length} pages and the playground work in a browser`);
process.exit(faults.length ? 1 : 0);
