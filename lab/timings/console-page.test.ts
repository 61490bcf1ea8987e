import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findChromium, launchChromium } from "../../src/cards/html/browser.fixture.ts";
import { agent, status } from "../../src/agents/adapters/index.ts";
import { ConsolePageTest } from "../../src/studio/pages/console-page.fixture.ts";

const EVENTS = 10_000;

describe.skipIf(findChromium() === undefined)("the page of a console with 10,000 status events", () => {
  let browser: Browser;
  let test: ConsolePageTest;
  beforeAll(async () => {
    browser = await launchChromium();
    const busy = agent({ name: "busy", description: "Reports its progress" }, async function* () {
      for (let step = 1; step <= EVENTS; step++) yield status(`Step ${step}`);
    });
    test = await ConsolePageTest.serve({ busy });
  });
  afterAll(async () => {
    await test?.close();
    await browser?.close();
  });

  it("has no frame of the chat longer than 200 ms, and opens the content of the task within a second", async () => {
    const { page } = await test.open(browser, "#/chat/busy");
    await page.evaluate(`
      let lastMs = performance.now();
      globalThis.longestFrameMs = 0;
      requestAnimationFrame(function measure(nowMs) {
        globalThis.longestFrameMs = Math.max(globalThis.longestFrameMs, nowMs - lastMs);
        lastMs = nowMs;
        requestAnimationFrame(measure);
      })`);
    await page.getByRole("textbox", { name: "Message" }).fill("Start");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    const longestFrameMs = await page.evaluate<number>("globalThis.longestFrameMs");
    const route = await page.getByRole("link", { name: "Timeline" }).getAttribute("href");
    await page.close();
    let contentMs = Infinity;
    for (let attempt = 0; attempt < 3; attempt++) {
      const other = (await test.open(browser, "#/agents")).page;
      await other.locator(".agent-details").waitFor();
      const beganMs = performance.now();
      await other.evaluate(`location.hash = ${JSON.stringify(`${route}?view=content`)}`);
      await other.locator(".messages > li").first().waitFor();
      contentMs = Math.min(contentMs, performance.now() - beganMs);
      await other.close();
    }
    console.log(`longest frame ${Math.round(longestFrameMs)} ms, content ${Math.round(contentMs)} ms`);
    expect(longestFrameMs).toBeLessThan(200);
    expect(contentMs).toBeLessThan(1_000);
  });
});
