import * as fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
  writePageToDisk,
} from "../../cards/html/browser.fixture.ts";
import { countRuns } from "../../../test/support/count-runs.ts";
import { listScriptedLines } from "../../cards/recording/recording.fixture.ts";
import type { TrafficLine } from "../../observe/trace/index.ts";
import { EXAMPLES_OF_ALL_PIECES, hostileText, watchPage } from "./hostile-content.fixture.ts";
import { renderTrafficRecord } from "./index.ts";
import { recordPlannerTraffic, type RecordedTraffic } from "./recorded-traffic.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`Hostile records are not tested in a page: ${CHROMIUM_MISSING_MESSAGE}.\n`);
const RANDOM_RUNS = countRuns(1, 40);

/** Members with a fixed set of values, or whose values must match those of other lines. */
const KEPT_MEMBERS: ReadonlySet<string> = new Set(
  [
    "at binding call card_id code dir evidence fault from finish_reason gold id in_reply_to kind mono_ms",
    "operation outcome phase protocol_version reason role rule run_id sample_id sample_ids seq state status",
    "timestamp to trace_id traceparent type unit vantage writer",
  ].flatMap((names) => names.split(" ")),
);

/** Members of message cards that a page shows only if they are valid. */
const VALIDATED_MEMBERS: ReadonlySet<string> = new Set([
  ...KEPT_MEMBERS,
  "sender",
  "recipient",
  "message_type",
  "mediaType",
  "source",
  "error_type",
]);

/** Returns a copy of recorded JSON in which each text that an agent may choose ends with hostile text. */
function addHostileText<T>(value: T, hostile: string, kept: ReadonlySet<string> = KEPT_MEMBERS): T {
  const visit = (one: unknown, name: string): unknown => {
    if (typeof one === "string") return kept.has(name) ? one : `${one}${hostile}`;
    if (Array.isArray(one)) return one.map((item) => visit(item, name));
    if (typeof one !== "object" || one === null || one instanceof Map) return one;
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, visit(item, key)]));
  };
  return visit(value, "") as T;
}

describe.skipIf(!hasChromium)("a page with a hostile record", () => {
  let browser: Browser;
  let traffic: RecordedTraffic;
  beforeAll(async () => {
    browser = await launchChromium();
    traffic = await recordPlannerTraffic(["6 * 7", "2 + 3"]);
  });
  afterAll(() => browser?.close());

  const show = async (page: Page, route: string, ready: string): Promise<void> => {
    await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
    await page.locator(ready).first().waitFor();
  };

  it("is only text on every screen of a one-file export, and leaves the window's layout alone", async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        const lines: readonly TrafficLine[] = [
          ...traffic.lines.map((line) => addHostileText(line, text)),
          ...listScriptedLines().map((line) => addHostileText(line, text, VALIDATED_MEMBERS)),
        ];
        const url = await writePageToDisk(renderTrafficRecord(lines, { title: text }));
        const { page, errors, requests } = await openPageRecordingRequestsAndErrors(browser, url);
        const watch = await watchPage(page);
        const takeovers: Record<string, readonly string[]> = {};
        const check = async (screen: string): Promise<void> => {
          const found = await watch.findTakeovers();
          if (found.length > 0) takeovers[screen] = found;
        };
        for (const view of ["sequence", "graph", "timeline", "path"]) {
          await show(page, `#/flow?view=${view}`, view === "path" ? ".path-view" : "#picture .message");
          if (view === "sequence") await page.locator(".sequence .message").nth(3).click();
          await check(`flow ${view}`);
        }
        await show(page, "#/tasks", "[data-testid=task-row]");
        await check("tasks");
        await page.locator("[data-testid=task-row]").first().click();
        await page.locator(".timeline-row").nth(2).click();
        await page.locator(".inspector").waitFor();
        await check("timeline");
        for (const [key, ready] of [
          ["2", "[data-view=content]"],
          ["3", ".call-head"],
        ] as const) {
          await page.keyboard.press(key);
          await page.locator(ready).first().waitFor();
          if (ready === ".call-head") await page.locator(ready).first().click();
          await check(ready);
        }
        await show(page, "#/agents", ".agents-screen");
        await check("agents");
        const [first = "", second = ""] = traffic.taskIds.map((id) =>
          encodeURIComponent(`${id}${text}`.toWellFormed()),
        );
        await show(page, `#/compare?a=${first}&b=${second}`, ".compare-screen");
        await check("compare");
        await show(page, "#/cards", ".run-overview");
        await check("cards");
        await show(page, "#/cards?sample=gsm8k_0&card=2", "#card h2");
        await check("card");
        expect(takeovers).toEqual({});
        // The page reports no blocked script, request, or style, because it contains none.
        expect(errors).toEqual([]);
        expect(requests).toEqual([url]);
        await page.close();
      }),
      {
        // A short text fits into a bar of the timeline.
        examples: [...EXAMPLES_OF_ALL_PIECES, "עולם \u202bעברית"].map((text) => [text]),
        numRuns: EXAMPLES_OF_ALL_PIECES.length + RANDOM_RUNS,
      },
    );
  });
});
