/**
 * `npm run lab -- pictures page run.cards.jsonl` creates the screenshots of message cards and of recorded traffic in
 * `docs/images`. The recording is a run of the oracle on GSM8K's test set (`colloquy cards run --dataset gsm8k
 * --data FOLDER --method a2a --model oracle`). The traffic comes from a planner and a solver that the script runs.
 */
import { mkdirSync, readFileSync, statSync } from "node:fs";
import type { Page } from "playwright-core";
import {
  findChromium,
  CHROMIUM_MISSING_MESSAGE,
  writePageToDisk,
  launchChromium,
  openPageRecordingRequestsAndErrors,
} from "../../src/cards/html/browser.fixture.ts";
import { renderHtmlReport, renderTrafficRecord } from "../../src/studio/pages/index.ts";
import { recordPlannerTraffic } from "../../src/studio/pages/recorded-traffic.fixture.ts";
import { decodeRecording } from "../../src/cards/recording/index.ts";

const CARD_SCREENSHOTS = [
  { name: "cards-run", hash: "" },
  { name: "cards-sequence", hash: "#sample=gsm8k_0&card=2" },
];
const OPTIONS = { colorScheme: "light", viewport: { width: 1280, height: 780 } } as const;
const MAX_SCREENSHOT_BYTES = 150_000;

const [file] = process.argv.slice(2);
if (file === undefined || findChromium() === undefined) {
  console.error(
    file === undefined
      ? "Pass a recording: npm run lab -- pictures page run.cards.jsonl"
      : CHROMIUM_MISSING_MESSAGE,
  );
  process.exit(1);
}
const reportPageUrl = await writePageToDisk(
  renderHtmlReport(decodeRecording(readFileSync(file, "utf8"), file)),
);
const screenshotFolder = new URL("../../docs/images/", import.meta.url);
mkdirSync(screenshotFolder, { recursive: true });
const browser = await launchChromium();
for (const { name, hash } of CARD_SCREENSHOTS) {
  const { page } = await openPageRecordingRequestsAndErrors(browser, reportPageUrl + hash, OPTIONS);
  const path = new URL(`${name}.png`, screenshotFolder).pathname;
  // For a problem, captures only the area beside the list and below the figures. The full page would be twice
  // as large.
  const clip = hash === "" ? {} : { clip: await computeScreenshotClipArea(page) };
  await page.screenshot({ path, ...clip });
  await page.close();
  checkScreenshotSize(path);
}
const { lines, taskIds } = await recordPlannerTraffic(["6 * 7", "2 + 3"]);
const trafficPageUrl = await writePageToDisk(renderTrafficRecord(lines, { title: "planner and solver" }));
const [firstTask, secondTask] = taskIds;
for (const [name, hash] of [
  ["flow-sequence", `#/flow/planner/${firstTask}`],
  ["compare", `#/compare?a=${firstTask}&b=${secondTask}`],
]) {
  const { page } = await openPageRecordingRequestsAndErrors(browser, `${trafficPageUrl}${hash}`, OPTIONS);
  if (name === "flow-sequence") await page.locator(".sequence .broken-off").click();
  const path = new URL(`${name}.png`, screenshotFolder).pathname;
  await page.screenshot({ path });
  await page.close();
  checkScreenshotSize(path);
}
await browser.close();

function checkScreenshotSize(path: string): void {
  const { size } = statSync(path);
  console.log(`${path}: ${Math.round(size / 1000)} kB`);
  if (size > MAX_SCREENSHOT_BYTES) throw new Error(`${path} is too large for the repository.`);
}

async function computeScreenshotClipArea(
  page: Page,
): Promise<{ x: number; y: number; width: number; height: number }> {
  const { x = 0, y = 0 } = (await page.locator("#middle").boundingBox()) ?? {};
  return { x, y, width: 1280 - x, height: 780 - y };
}
