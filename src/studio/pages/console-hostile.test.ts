import * as fc from "fast-check";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agent, artifact, data, file, inputRequired } from "../../agents/adapters/index.ts";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../../cards/html/browser.fixture.ts";
import type { Agent } from "../../engine/index.ts";
import { ConsolePageTest } from "./console-page.fixture.ts";
import { countRuns } from "../../../test/support/count-runs.ts";
import { startHostileAgentServer } from "./hostile-agent-server.fixture.ts";
import { EXAMPLES_OF_ALL_PIECES, hostileText, watchPage } from "./hostile-content.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`Hostile content is not tested in a page: ${CHROMIUM_MISSING_MESSAGE}.\n`);
const RANDOM_RUNS = countRuns(1, 40);

/** Sends its request back in every place that an agent controls. */
const echoAgent: Agent = agent(
  { name: "echo", description: "Echoes." },
  async function* ({ text: hostile, history }) {
    yield hostile;
    const bytes = new TextEncoder().encode(hostile);
    yield artifact(
      { id: "files", name: hostile, description: hostile },
      file(bytes, { filename: hostile, mediaType: "text/html" }),
      file(bytes, { filename: hostile, mediaType: "image/svg+xml" }),
      file(bytes, { filename: hostile, mediaType: hostile }),
      { url: hostile, filename: hostile },
      data({ [hostile]: [hostile] }),
    );
    if (history.length === 1)
      yield inputRequired(
        hostile,
        data({
          schema: {
            type: "object",
            title: hostile,
            properties: {
              [hostile]: { type: "string", title: hostile, description: hostile, enum: [hostile] },
            },
          },
        }),
        data({ approvalId: hostile, toolName: hostile, input: hostile }),
      );
  },
);

/** Opens a screen of a loaded page. */
async function show(page: Page, route: string, ready: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
  await page.locator(ready).first().waitFor();
}

/** HTML files open in a sandbox, and the browser reports what the sandbox blocks, and the error of a cancellation. */
const isExpectedReport = (error: string): boolean =>
  /sandboxed|Content Security Policy|Failed to load resource: .* status of 500/.test(error);

describe.skipIf(!hasChromium)("content of a hostile agent", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it("is only text on every screen that shows a task [E13]", async () => {
    const test = await ConsolePageTest.serve({ echo: echoAgent });
    const { page, errors } = await test.open(browser);
    const watch = await watchPage(page);
    let previousId = "";
    await fc.assert(
      fc.asyncProperty(hostileText, async (text) => {
        const takeovers: Record<string, readonly string[]> = {};
        const check = async (screen: string): Promise<void> => {
          const found = await watch.findTakeovers();
          if (found.length > 0) takeovers[screen] = found;
        };
        await show(page, "#/chat/echo", ".composer");
        await page.getByRole("button", { name: "New conversation" }).click();
        await page.getByRole("textbox", { name: "Message", exact: true }).fill(text.toWellFormed());
        await page.keyboard.press("Enter");
        await page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
        await check("chat");
        const task = await page.getByRole("link", { name: "Timeline" }).getAttribute("href");
        const id = task?.split("/").at(-1) ?? "";
        for (const view of ["content", "timeline", "wire"]) {
          await show(page, `${task}?view=${view}`, view === "content" ? ".artifact" : `[data-view=${view}]`);
          await page.locator("[data-testid=answer]").waitFor();
          if (view === "content") {
            for (const button of await page.getByRole("button", { name: /Show the page/ }).all())
              await button.click();
            await page.locator("iframe").first().waitFor();
          }
          if (view === "timeline") await page.locator(".timeline-row").last().click();
          if (view === "wire") await page.locator(".call-head").first().click();
          await check(view);
        }
        for (const view of ["sequence", "graph", "timeline", "path"]) {
          await show(
            page,
            `#/flow/echo/${id}?view=${view}`,
            view === "path" ? ".path-view" : "#picture .message",
          );
          if (view === "sequence") await page.locator(".sequence .message").first().click();
          await check(`flow ${view}`);
        }
        if (previousId !== "") {
          await show(page, `#/compare?a=${previousId}&b=${id}`, ".text-diff");
          await check("compare");
        }
        await show(page, "#/tasks", "[data-testid=task-row]");
        await check("tasks");
        previousId = id;
        expect(takeovers).toEqual({});
      }),
      {
        examples: EXAMPLES_OF_ALL_PIECES.map((text) => [text]),
        numRuns: EXAMPLES_OF_ALL_PIECES.length + RANDOM_RUNS,
        // A wait that fails takes 30 s. The search for a smaller text would end at the time limit without an error.
        endOnFailure: true,
      },
    );
    expect(errors.filter((error) => !isExpectedReport(error))).toEqual([]);
    expect(watch.sentUrls().filter((url) => !url.startsWith(`${test.url}/console/`))).toEqual([]);
    expect(watch.popups).toEqual([]);
    await page.close();
    await test.close();
  });

  it("is only text in cards, names, ids, and errors of a server without code of ours", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostileText, { minLength: 2, maxLength: 3 }), async (texts) => {
        const servers = await Promise.all(texts.map((text) => startHostileAgentServer(text)));
        const test = await ConsolePageTest.callUrls(servers.map(({ url }) => url));
        const { page, errors } = await test.open(browser, "#/agents");
        const watch = await watchPage(page);
        const takeovers: Record<string, readonly string[]> = {};
        const check = async (screen: string): Promise<void> => {
          const found = await watch.findTakeovers();
          if (found.length > 0) takeovers[screen] = found;
        };
        await page
          .locator("[data-testid=agent]")
          .nth(texts.length - 1)
          .waitFor();
        const agents = await page
          .locator("[data-testid=agent]")
          .evaluateAll((links: { getAttribute(name: string): string | null }[]) =>
            links.map((link) => link.getAttribute("href") ?? ""),
          );
        for (const route of agents) {
          await show(page, route, ".agent-details");
          await page.locator(".card-report, .agent-details .notice").first().waitFor();
          await check(`agent ${route}`);
          await show(page, route.replace("agents", "chat"), ".composer");
          await check(`empty chat ${route}`);
          await page.getByRole("textbox", { name: "Message", exact: true }).fill("hello");
          await page.keyboard.press("Enter");
          await page.waitForSelector(
            "[data-testid=turn]:last-child:not([data-status=sending], [data-status=streaming])",
          );
          await check(`chat ${route}`);
          const link = page.getByRole("link", { name: "Timeline" });
          await link.click();
          await page.locator(".timeline-row").first().waitFor();
          await check(`task ${route}`);
          await page.keyboard.press("2");
          await page.locator(".artifact").first().waitFor();
          await check(`content ${route}`);
          await page.getByRole("button", { name: "Cancel", exact: true }).click();
          await page.getByRole("button", { name: "Cancel the task" }).click();
          await page.locator(".task-header .notice").waitFor();
          await check(`error ${route}`);
          await page.locator(".task-header").getByRole("link", { name: "Flow" }).click();
          await page.locator(".sequence .message").first().click();
          await check(`flow ${route}`);
        }
        await show(page, "#/flow?view=graph", "#picture .message");
        await check("graph");
        await show(page, "#/tasks", "[data-testid=task-row]");
        await check("tasks");
        await page.keyboard.press("Control+k");
        await page.locator(".palette li").first().waitFor();
        await check("palette");
        expect(takeovers).toEqual({});
        expect(errors.filter((error) => !isExpectedReport(error))).toEqual([]);
        expect(watch.sentUrls().filter((url) => !url.startsWith(`${test.url}/console/`))).toEqual([]);
        await page.close();
        await test.close();
        for (const server of servers) await server.close();
      }),
      {
        examples: [[[...EXAMPLES_OF_ALL_PIECES]]],
        numRuns: 1 + Math.ceil(RANDOM_RUNS / 3),
        endOnFailure: true,
      },
    );
  });
});
