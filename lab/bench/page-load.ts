/**
 * Measures how long the HTML page of a complete run takes to load in the local Chromium: `npm run lab -- bench page
 * -- [run.cards.jsonl …]`. `interactiveMs` is the time from navigation to the end of the page's script.
 * `drawnMs` is the time until a selected problem is drawn. Without a recording, it uses generated runs: 1,319
 * problems in 7,914 and in 18,466 cards.
 */
import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import {
  findChromium,
  CHROMIUM_MISSING_MESSAGE,
  writePageToDisk,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { renderHtmlReport } from "../../src/pages/index.ts";
import { listDistinctRecordedCards, decodeRecording } from "../../src/cards/recording/index.ts";
import { createGsm8kSizedRecording } from "../../src/pages/cards/gsm8k-sized-recording.fixture.ts";

const PAGE_LOAD_REPETITIONS = 7;

if (findChromium() === undefined) {
  console.log(CHROMIUM_MISSING_MESSAGE);
  process.exit(1);
}
const browser = await launchChromium();
console.log(`Chromium ${browser.version()}, median of ${PAGE_LOAD_REPETITIONS} (slowest)`);
const recordingFiles = process.argv.slice(2);
const cardRecordingLoaders =
  recordingFiles.length > 0
    ? recordingFiles.map((file) => () => decodeRecording(readFileSync(file, "utf8"), file))
    : [1, 3].map((rounds) => () => createGsm8kSizedRecording(1_319, rounds));
for (const loadRecording of cardRecordingLoaders) {
  const recording = loadRecording();
  const startedAt = performance.now();
  const html = renderHtmlReport(recording);
  const renderMs = performance.now() - startedAt;
  const url = await writePageToDisk(html);
  const times: PageLoadTimes[] = [];
  for (let repetition = 0; repetition < PAGE_LOAD_REPETITIONS; repetition++)
    times.push(await measureReportPageLoad(browser, url));
  const cards = listDistinctRecordedCards(recording).length;
  const megabytes = statSync(fileURLToPath(url)).size / 1e6;
  console.log(
    `${recording.run?.sample_ids.length} problems, ${cards} cards: ${megabytes.toFixed(1)} MB, made in ${renderMs.toFixed(0)} ms; ` +
      `interactive ${formatMedianAndMax(times.map(({ interactiveMs }) => interactiveMs))}; ` +
      `a problem drawn ${formatMedianAndMax(times.map(({ drawnMs }) => drawnMs))}`,
  );
}
await browser.close();

interface PageLoadTimes {
  readonly interactiveMs: number;
  readonly drawnMs: number;
}

async function measureReportPageLoad(browser: Browser, url: string): Promise<PageLoadTimes> {
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
  return { interactiveMs: interactive, drawnMs: drawn };
}

function formatMedianAndMax(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms (${sorted.at(-1)?.toFixed(0)} ms)`;
}
