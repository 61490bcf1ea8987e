import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ACCESSIBILITY_VIEWS,
  findAccessibilityViolations,
  findOverflowingElements,
  pressTabUntil,
  readFocusedName,
} from "./accessibility.fixture.ts";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../../cards/html/browser.fixture.ts";
import { bakerAgent, clerkAgent, ConsolePageTest, reportAgent } from "./console-page.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The accessibility of the console is not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

describe.skipIf(!hasChromium)("every screen of the console", () => {
  let browser: Browser;
  let test: ConsolePageTest;
  let taskRoutes: readonly string[];

  beforeAll(async () => {
    browser = await launchChromium();
    test = await ConsolePageTest.serve({ reporter: reportAgent, baker: bakerAgent, clerk: clerkAgent });
    const { page } = await test.open(browser);
    const routes: string[] = [];
    for (const [agent, status] of [
      ["reporter", "ended"],
      ["baker", "ended"],
      ["clerk", "ended"],
    ] as const) {
      await page.goto(`${test.url}/console/#/chat/${agent}`);
      await page.getByRole("textbox", { name: "Message" }).fill("a **bold** wish");
      await page.keyboard.press("Enter");
      await page.waitForSelector(`[data-testid=turn]:last-child[data-status=${status}]`);
      const href = await page.getByRole("link", { name: "Timeline" }).getAttribute("href");
      routes.push(href ?? "");
    }
    taskRoutes = routes;
    await page.close();
  });
  afterAll(async () => {
    await test?.close();
    await browser?.close();
  });

  const openScreens = (): readonly (readonly [route: string, ready: string])[] => [
    ["#/tasks", "[data-testid=task-row]"],
    ["#/tasks?state=TASK_STATE_REJECTED", "text=No task matches"],
    [taskRoutes[0] ?? "", ".timeline-row"],
    [`${taskRoutes[0]}?view=content`, ".artifact"],
    [`${taskRoutes[0]}?view=wire`, ".call-head"],
    [taskRoutes[1] ?? "", "[data-testid=answer]"],
    [taskRoutes[2] ?? "", "[data-testid=answer]"],
    ["#/task", "text=No task is selected"],
    ["#/task/reporter/unknown-task-id", "[role=alert]"],
    ["#/chat/reporter", ".composer"],
    ["#/chat/baker", ".composer"],
    ["#/agents/reporter", ".card-report"],
    ...["sequence", "graph", "timeline", "path"].map(
      (view) => [`#/flow?view=${view}`, "#picture .message, .path-view"] as const,
    ),
    ["#/compare", ".compare-screen table"],
    ["#/compare?a=unknown", ".compare-screen"],
  ];

  it.each(ACCESSIBILITY_VIEWS)(
    "has no violation of axe's rules in the $colorScheme theme at $width × $height pixels",
    async ({ colorScheme, width, height, rules }) => {
      const viewport = { width, height };
      const { page } = await test.open(browser, "", { colorScheme, viewport, reducedMotion: "reduce" });
      for (const [route, ready] of openScreens()) {
        await page.goto(`${test.url}/console/${route}`);
        await page.locator(ready).first().waitFor();
        if (ready === ".timeline-row") await page.locator(ready).nth(2).click();
        if (ready === ".call-head") await page.locator(ready).first().click();
        if (route.endsWith("sequence")) await page.locator(".sequence .message").first().click();
        expect({ route, violations: await findAccessibilityViolations(page, { rules }) }).toEqual({
          route,
          violations: [],
        });
      }
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      expect(await findAccessibilityViolations(page, { rules })).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("option", { name: "Chat with baker" }).waitFor();
      expect(await findAccessibilityViolations(page, { rules })).toEqual([]);
      await page.close();
    },
  );

  it("fits a phone of 390 pixels", async () => {
    const { page } = await test.open(browser, "", {
      viewport: { width: 390, height: 760 },
      hasTouch: true,
      isMobile: true,
    });
    for (const [route, ready] of openScreens()) {
      await page.goto(`${test.url}/console/${route}`);
      await page.locator(ready).first().waitFor();
      expect({ route, elements: await findOverflowingElements(page) }).toEqual({ route, elements: [] });
    }
    // A tap on a line replaces the timeline by the details, and the button returns to the timeline.
    await page.goto(`${test.url}/console/${taskRoutes[0]}`);
    await page.locator(".timeline-row").nth(1).tap();
    await page.locator(".inspector").waitFor();
    expect(await page.locator(".timeline-row").first().isVisible()).toBe(false);
    await page.getByRole("button", { name: "Close the details" }).tap();
    await page.locator(".timeline-row").first().waitFor();
    // A message can be sent on the phone.
    await page.goto(`${test.url}/console/#/chat/reporter`);
    await page.getByRole("textbox", { name: "Message" }).tap();
    await page.keyboard.type("from a phone");
    await page.getByRole("button", { name: "Send" }).tap();
    await page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
    await page.close();
  });

  it("has the focus in the palette before the next key", async () => {
    const { page } = await test.open(browser, "");
    await page.locator("[data-testid=task-row]").first().waitFor();
    const focused = await page.evaluate<string | null>(`(async () => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
      for (let turn = 0; turn < 10; turn++) await undefined;
      return document.activeElement.getAttribute("aria-label");
    })()`);
    expect(focused).toBe("Command, agent, or task");
    await page.close();
  });

  it("can be used with the keyboard alone", async () => {
    const { page, errors } = await test.open(browser, "", {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const { keyboard } = page;
    // Chat: choose the agent, write, send, and answer the form.
    await keyboard.press("g");
    await keyboard.press("c");
    await page.locator(".composer").waitFor();
    await pressTabUntil(page, "select Agent");
    await keyboard.type("baker");
    await page.getByText("Bakes cakes.").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("n");
    await keyboard.press("i");
    await keyboard.type("a cake");
    await keyboard.press("Enter");
    await page.getByTestId("answer").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("a");
    expect(await readFocusedName(page)).toMatch(/^select Size/);
    await keyboard.type("small");
    await keyboard.press("Tab");
    await keyboard.type("2");
    await keyboard.press("Enter");
    await page.waitForSelector("[data-testid=turn]:nth-child(2)[data-status=ended]");
    // Tasks: choose the newest task, copy its id, and open it.
    await keyboard.press("Escape");
    await keyboard.press("g");
    await keyboard.press("t");
    // The rows of the earlier list remain until the new list is loaded.
    await page.locator(".list-summary", { hasText: /^\d+ task/ }).waitFor();
    await keyboard.press("j");
    await keyboard.press("y");
    await page.getByText("Copied the task id").first().waitFor();
    const copiedId = await page.evaluate<string>(`navigator.clipboard.readText()`);
    expect(copiedId).toBe(await page.locator("[data-testid=task-row]").first().getAttribute("data-task-id"));
    await keyboard.press("Enter");
    await page.waitForSelector("[data-testid=task]");
    // Task: select a line, copy it, and change the view.
    await page.locator(".timeline-row").first().waitFor();
    await keyboard.press("j");
    await page.locator(".inspector").waitFor();
    await keyboard.press("Y");
    await page.getByText("Copied the line as JSON").first().waitFor();
    const copiedLine = JSON.parse(await page.evaluate<string>(`navigator.clipboard.readText()`)) as object;
    expect(copiedLine).toMatchObject({ v: 1, writer: expect.any(String), seq: expect.any(Number) });
    await keyboard.press("Escape");
    await expect.poll(() => page.locator(".inspector").count()).toBe(0);
    await keyboard.press("2");
    await page.getByRole("slider").waitFor();
    await keyboard.press("ArrowLeft");
    await page.getByRole("button", { name: "Latest" }).waitFor();
    await keyboard.press("u");
    await page.locator("[data-testid=task-row]").first().waitFor();
    // Filters, theme, and help.
    await keyboard.press("/");
    expect(await readFocusedName(page)).toMatch(/^select State/);
    await keyboard.press("Escape");
    await keyboard.press("t");
    expect(await page.evaluate(`document.documentElement.dataset.theme`)).toBe("dark");
    await keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    // The palette finds commands of the screen, agents, and tasks.
    await keyboard.press("Control+k");
    await keyboard.type("flow");
    await keyboard.press("Enter");
    await page.locator(".flow-screen").waitFor();
    await keyboard.press("Control+k");
    await keyboard.type(copiedId.slice(-12));
    await page.getByRole("option", { name: "Task of baker" }).waitFor();
    await keyboard.press("Enter");
    await page.waitForSelector(`[data-testid=task][data-task-id="${copiedId}"]`);
    expect(errors).toEqual([]);
    await page.close();
  });
});
