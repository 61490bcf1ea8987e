/**
 * `npm run bench:page -- [run.cards.jsonl …]`: how long the page of a whole run takes to open in the Chromium of this
 * machine, from navigation to the end of its script (`interactive`), and how long until a problem that is chosen is drawn.
 * Without a record, of runs that are made up: 1,319 problems in 7,914 and in 18,466 cards.
 */
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { findChromium, NO_CHROMIUM, onDisk, openBrowser } from "../src/cards/html/browser.fixture.ts";
import { htmlOf } from "../src/cards/html/index.ts";
import { cardsOf, decodeRecording } from "../src/cards/record/index.ts";
import { wholeRun } from "../src/cards/html/whole-run.fixture.ts";

const TIMES = 7;

if (findChromium() === undefined) {
  console.log(NO_CHROMIUM);
  process.exit(1);
}
const browser = await openBrowser();
console.log(`Chromium ${browser.version()}, median of ${TIMES} (slowest)`);
const files = process.argv.slice(2);
const runs =
  files.length > 0
    ? files.map((file) => () => decodeRecording(readFileSync(file, "utf8"), file))
    : [1, 3].map((rounds) => () => wholeRun(1_319, rounds));
for (const run of runs) {
  const recording = run();
  const began = performance.now();
  const html = htmlOf(recording);
  const made = performance.now() - began;
  const url = await onDisk(html);
  const times: Opened[] = [];
  for (let time = 0; time < TIMES; time++) times.push(await opened(browser, url));
  const cards = cardsOf(recording).length;
  const mb = statSync(fileURLToPath(url)).size / 1e6;
  console.log(
    `${recording.run?.sample_ids.length} problems, ${cards} cards: ${mb.toFixed(1)} MB, made in ${made.toFixed(0)} ms; ` +
      `interactive ${told(times.map(({ interactive }) => interactive))}; ` +
      `a problem drawn ${told(times.map(({ drawn }) => drawn))}`,
  );
}
await browser.close();

interface Opened {
  readonly interactive: number;
  readonly drawn: number;
}

async function opened(browser: Browser, url: string): Promise<Opened> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url);
  await page.waitForSelector("body[data-ready]");
  const interactive = await page.evaluate<number>(
    `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`,
  );
  const drawn = await page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now();
    document.querySelector("#samples").dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
  })`);
  await page.close();
  return { interactive, drawn };
}

function told(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms (${sorted.at(-1)?.toFixed(0)} ms)`;
}
