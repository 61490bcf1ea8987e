import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as fc from "fast-check";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Card } from "../card/index.ts";
import { findChromium, NO_CHROMIUM, openBrowser } from "../html/browser.fixture.ts";
import { cardsOf } from "../record/index.ts";
import { PARALLEL, recorded } from "../record/record.fixture.ts";
import { hostileCard } from "./hostile.fixture.ts";
import { graphMermaidOf, graphOf, graphSvgOf, mermaidOf, svgOf } from "./index.ts";

/** The same in every run: what a browser makes of one is slow to find out. */
const hostile: Card[][] = fc.sample(fc.array(hostileCard, { minLength: 1, maxLength: 6 }), {
  numRuns: 12,
  seed: 1,
});
const shown = [cardsOf(recorded([PARALLEL])), ...hostile];

const isHere = findChromium() !== undefined;
if (!isHere) process.stderr.write(`Drawings of cards are not tested in a browser: ${NO_CHROMIUM}.\n`);

describe.skipIf(!isHere)("in a browser", { timeout: 60_000 }, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser.close();
  });

  it("the drawings are well-formed SVG that runs nothing, and have a name for those who hear them", async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push(dialog.message())));
    page.on("request", (request) => complaints.push(request.url()));
    const folder = await mkdtemp(join(tmpdir(), "colloquy-svg-"));
    const drawings = shown.flatMap((cards) => [svgOf(cards), graphSvgOf(graphOf(cards))]);
    for (const [at, drawing] of drawings.entries()) {
      const file = join(folder, `${at}.svg`);
      await writeFile(file, drawing);
      const url = pathToFileURL(file).href;
      await page.goto(url);
      expect(complaints.splice(0)).toEqual([url]);
      const found = await page.evaluate(LOOK);
      expect(found).toEqual({ root: "svg", broken: 0, attributes: 0, name: true });
    }
  });

  it("Mermaid draws our diagrams, and nothing of the cards in them runs", async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push(dialog.message())));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.setContent("<body></body>");
    await page.addScriptTag({
      content: readFileSync(fileURLToPath(import.meta.resolve("@mermaid-js/tiny")), "utf8"),
    });
    const diagrams = shown.flatMap((cards) => [mermaidOf(cards), graphMermaidOf(graphOf(cards))]);
    const drawn = await page.evaluate(`(${DRAW})(${JSON.stringify(diagrams)})`);
    expect(drawn).toEqual(diagrams.map(() => 0));
    expect(complaints).toEqual([]);
  });
});

// What runs in the page is text here: this code has no document.
const LOOK = `({
  root: document.documentElement.localName,
  broken: document.querySelectorAll("parsererror, script, a, image, foreignObject").length,
  attributes: [...document.querySelectorAll("*")].filter((element) =>
    element.getAttributeNames().some((name) => name.startsWith("on") || name.endsWith("href")),
  ).length,
  name: document.documentElement.getAttribute("aria-label") !== "",
})`;

/** As a page would that trusts what it draws. */
const DRAW = `async (texts) => {
  mermaid.initialize({ startOnLoad: false, securityLevel: "loose" });
  const found = [];
  for (const [at, text] of texts.entries()) {
    const { svg } = await mermaid.render("d" + at, text);
    document.body.innerHTML = svg;
    found.push(document.querySelectorAll("body script, body a, body iframe, body [onload], body [onclick]").length);
  }
  return found;
}`;
