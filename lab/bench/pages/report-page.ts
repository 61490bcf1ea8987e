import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { launchChromium, writePageToDisk } from "../../../src/cards/html/browser.fixture.ts";
import { createGsm8kSizedRecording } from "../../../src/studio/pages/cards/gsm8k-sized-recording.fixture.ts";
import { renderHtmlReport } from "../../../src/studio/pages/index.ts";
import { computeMedian } from "../interval.ts";
import { createRow, type ReportTable } from "../report.ts";

const REPETITIONS = 7;
const PROBLEM_COUNT = 1_319;

/**
 * Measures how long the HTML page of a complete run takes to load in the local Chromium. *interactive* is the time from
 * navigation to the end of the page's script. *drawn* is the time until a selected problem is drawn. The runs are
 * generated: 1,319 problems in 7,914 and in 18,466 cards.
 */
export async function measureReportPage(): Promise<ReportTable[]> {
  const browser = await launchChromium();
  const rows = [];
  for (const roundsPerProblem of [1, 3]) {
    const recording = createGsm8kSizedRecording(PROBLEM_COUNT, roundsPerProblem);
    const startedAt = performance.now();
    const html = renderHtmlReport(recording);
    const renderMs = performance.now() - startedAt;
    const url = await writePageToDisk(html);
    const times: PageLoadTimes[] = [];
    for (let repetition = 0; repetition < REPETITIONS; repetition++)
      times.push(await measurePageLoad(browser, url));
    const interactive = times.map(({ interactiveMs }) => interactiveMs);
    const drawn = times.map(({ drawnMs }) => drawnMs);
    rows.push(
      createRow(`${recording.cards.length} cards`, {
        megabytes: statSync(fileURLToPath(url)).size / 1e6,
        render: renderMs,
        interactive: computeMedian(interactive),
        slowestInteractive: Math.max(...interactive),
        drawn: computeMedian(drawn),
        slowestDrawn: Math.max(...drawn),
      }),
    );
  }
  const version = browser.version();
  await browser.close();
  return [
    {
      workload: "report-page",
      title: `HTML report of ${PROBLEM_COUNT} problems, Chromium ${version}, median and slowest of ${REPETITIONS}`,
      columns: [
        { key: "megabytes", title: "MB", format: "ms" },
        { key: "render", title: "rendered in ms", format: "ms" },
        { key: "interactive", title: "interactive ms", format: "ms" },
        { key: "slowestInteractive", title: "slowest", format: "ms" },
        { key: "drawn", title: "problem drawn ms", format: "ms" },
        { key: "slowestDrawn", title: "slowest", format: "ms" },
      ],
      rows,
    },
  ];
}

interface PageLoadTimes {
  readonly interactiveMs: number;
  readonly drawnMs: number;
}

async function measurePageLoad(browser: Browser, url: string): Promise<PageLoadTimes> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url);
  await page.waitForSelector("body[data-ready]");
  const interactiveMs = await page.evaluate<number>(
    `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`,
  );
  const drawnMs = await page.evaluate<number>(`new Promise((resolve) => {
    const began = performance.now();
    document.querySelector("#samples").dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }));
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
  })`);
  await page.close();
  return { interactiveMs, drawnMs };
}
