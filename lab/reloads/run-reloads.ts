import type { Browser, Page } from "playwright-core";
import { EXPECTED_ANSWER } from "./approving-agent.ts";
import type { ReloadPage, ReloadTestServer } from "./reload-test-server.ts";

/** The state of a page, which `globalThis.testPage` returns. */
interface PageState {
  readonly isSent: boolean;
  readonly isBusy: boolean;
  readonly needsApproval: boolean;
  readonly error?: string;
  readonly text: string;
  readonly tools: readonly string[];
}

/** Result of reloads of one page. */
export interface ReloadResult {
  readonly reloads: number;
  readonly answers: number;
  /** Reloads in answers that were still running. */
  readonly reloadsWhileBusy: number;
  /** Differences between a page and the answer of its agent. */
  readonly differences: readonly string[];
}

/** Commands to `globalThis.testPage`. The page runs them, so they are text. */
const READ_STATE = "globalThis.testPage.read()";
const APPROVE = "globalThis.testPage.approve()";
const SEND = `globalThis.testPage.send("Pay")`;

const POLL_MS = 20;
const ANSWER_TIMEOUT_MS = 120_000;

/**
 * Reloads a page at random moments of answers until `count` reloads have happened, and compares each page with the answer
 * of its agent: words, tool calls, and results, each exactly once.
 */
export async function runReloads(
  browser: Browser,
  server: ReloadTestServer,
  pageName: ReloadPage,
  count: number,
  random: () => number,
  maxPauseMs: number,
): Promise<ReloadResult> {
  const differences: string[] = [];
  let [reloads, reloadsWhileBusy, answers] = [0, 0, 0];
  while (reloads < count) {
    const page = await openPage(browser, server, pageName);
    const deadline = Date.now() + ANSWER_TIMEOUT_MS;
    let isComplete = false;
    while (!isComplete && Date.now() < deadline) {
      if (!(await advance(page))) {
        isComplete = true;
      } else if (reloads < count) {
        await page.waitForTimeout(Math.round(random() * maxPauseMs));
        if ((await readState(page)).isBusy) reloadsWhileBusy++;
        await page.reload();
        await page.waitForSelector("body[data-ready]", { state: "attached" });
        reloads++;
      } else await page.waitForTimeout(POLL_MS);
    }
    answers++;
    const { error, text, tools } = await readState(page);
    const expected = JSON.stringify(EXPECTED_ANSWER);
    const shown = JSON.stringify({ text, tools });
    if (!isComplete || error !== undefined || shown !== expected)
      differences.push(`${pageName}: ${error ?? (isComplete ? "" : "timeout")} ${shown}`);
    await page.close();
  }
  return { reloads, answers, reloadsWhileBusy, differences };
}

/** Sends the message or the approval if the page needs it. Returns false if the answer is complete. */
async function advance(page: Page): Promise<boolean> {
  const state = await readState(page);
  if (state.error !== undefined) return false;
  if (!state.isSent) {
    await page.evaluate(SEND);
    // A reload before the message arrives is no reload of an answer.
    await page.waitForFunction("globalThis.testPage.read().text.length > 0");
  } else if (state.needsApproval) await page.evaluate(APPROVE);
  else if (!state.isBusy && state.text.length >= EXPECTED_ANSWER.text.length) return false;
  return true;
}

async function openPage(browser: Browser, server: ReloadTestServer, pageName: ReloadPage): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(`${server.url}/${pageName}?thread=${crypto.randomUUID()}`);
  await page.waitForSelector("body[data-ready]", { state: "attached" });
  return page;
}

async function readState(page: Page): Promise<PageState> {
  return await page.evaluate<PageState>(READ_STATE);
}

/** Stops an answer, and returns the milliseconds from the click until the signal of the model call aborted. */
export async function measureStop(
  browser: Browser,
  server: ReloadTestServer,
  pageName: ReloadPage,
): Promise<number> {
  const page = await openPage(browser, server, pageName);
  await page.evaluate(SEND);
  await page.waitForFunction(`globalThis.testPage.read().text.length > 0`);
  const aborted = server.waitForModelAbort();
  const clicked = await page.evaluate<number>(
    `(() => { const now = Date.now(); void globalThis.testPage.stop(); return now; })()`,
  );
  const time = (await aborted) - clicked;
  await page.close();
  return time;
}
