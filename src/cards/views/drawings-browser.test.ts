import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MessageCard } from "../message-card/index.ts";
import { findChromium, CHROMIUM_MISSING_MESSAGE, launchChromium } from "../html/browser.fixture.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import { SCRIPTED_PARALLEL_TASKS_SAMPLE } from "../recording/scripted-samples.fixture.ts";
import { arbitraryHostileCard } from "./hostile-card.fixture.ts";
import { renderSequenceMermaid } from "./index.ts";

/** The samples use a fixed seed, because failures in a browser are slow to reproduce. */
const hostileCardLists: MessageCard[][] = fc.sample(
  fc.array(arbitraryHostileCard, { minLength: 1, maxLength: 6 }),
  {
    numRuns: 12,
    seed: 1,
  },
);
const cardLists = [createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE]).cards, ...hostileCardLists];

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`Drawings of cards are not tested in a browser: ${CHROMIUM_MISSING_MESSAGE}.\n`);

describe.skipIf(!hasChromium)("in a browser", () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser.close();
  });

  it("Mermaid draws our diagrams and executes no text of cards", async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("dialog", (dialog) => void dialog.dismiss().then(() => complaints.push(dialog.message())));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.setContent("<body></body>");
    await page.addScriptTag({
      content: readFileSync(fileURLToPath(import.meta.resolve("@mermaid-js/tiny")), "utf8"),
    });
    const diagrams = cardLists.map((cards) => renderSequenceMermaid(cards));
    const drawn = await page.evaluate(`(${RENDER_MERMAID_SCRIPT})(${JSON.stringify(diagrams)})`);
    expect(drawn).toEqual(diagrams.map(() => 0));
    expect(complaints).toEqual([]);
  });
});

// Code for the page is a string, because the test has no DOM types.
/** Inserts a drawing like a page that trusts it. */
const RENDER_MERMAID_SCRIPT = `async (texts) => {
  mermaid.initialize({ startOnLoad: false, securityLevel: "loose" });
  const found = [];
  for (const [at, text] of texts.entries()) {
    const { svg } = await mermaid.render("d" + at, text);
    document.body.innerHTML = svg;
    found.push(document.querySelectorAll("body script, body a, body iframe, body [onload], body [onclick]").length);
  }
  return found;
}`;
