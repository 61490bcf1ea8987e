import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../cards/html/browser.fixture.ts";
import { bakerAgent, clerkAgent, ConsolePageTest, reportAgent } from "./console-page.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The accessibility of the console is not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Runs axe, and returns one line per violation. */
async function findAccessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE_SOURCE);
  return page.evaluate<string[]>(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ": " + target + ": " + failureSummary)))`);
}

/** Returns the elements that make the page wider than the window. */
function findOverflowingElements(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const root = document.scrollingElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    return [...document.querySelectorAll("*")]
      .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 1)
      .map((element) => element.tagName + "." + element.className);
  })()`);
}

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
    ["#/task/reporter/unknown-task-id", "[role=alert]"],
    ["#/chat/reporter", ".composer"],
    ["#/agents/reporter", ".card-report"],
  ];

  it.each(["light", "dark"] as const)(
    "has no violation of axe's rules in the %s theme",
    async (colorScheme) => {
      const { page } = await test.open(browser, "", { colorScheme, reducedMotion: "reduce" });
      for (const [route, ready] of openScreens()) {
        await page.goto(`${test.url}/console/${route}`);
        await page.locator(ready).first().waitFor();
        if (ready === ".timeline-row") await page.locator(ready).nth(2).click();
        if (ready === ".call-head") await page.locator(ready).first().click();
        expect({ route, violations: await findAccessibilityViolations(page) }).toEqual({
          route,
          violations: [],
        });
      }
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
      expect(await findAccessibilityViolations(page)).toEqual([]);
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
    expect(await page.locator(".timeline-row").first().isVisible()).toBe(true);
    // A message can be sent on the phone.
    await page.goto(`${test.url}/console/#/chat/reporter`);
    await page.getByRole("textbox", { name: "Message" }).tap();
    await page.keyboard.type("from a phone");
    await page.getByRole("button", { name: "Send" }).tap();
    await page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
    await page.close();
  });

  it("can be used with the keyboard alone", async () => {
    const { page, errors } = await test.open(browser);
    const { keyboard } = page;
    const pressTabUntil = async (name: string): Promise<void> => {
      for (let press = 0; press < 40; press++) {
        await keyboard.press("Tab");
        const focused = await page.evaluate<string>(
          `(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()`,
        );
        if (focused.startsWith(name)) return;
      }
      throw new Error(`Tab does not reach ${name}.`);
    };
    // Chat: write, send, and answer the form.
    await keyboard.press("g");
    await keyboard.press("c");
    await page.locator(".composer").waitFor();
    await page.locator(".chat-header select").focus();
    await keyboard.type("baker");
    await page.getByText("Bakes cakes.").waitFor();
    await page.evaluate(`document.activeElement.blur()`);
    await keyboard.press("i");
    await keyboard.type("a cake");
    await keyboard.press("Enter");
    await page.getByTestId("answer").waitFor();
    await page.getByLabel(/Size/).focus();
    await keyboard.type("small");
    await keyboard.press("Tab");
    await keyboard.type("2");
    await keyboard.press("Enter");
    await page.waitForSelector("[data-testid=turn]:nth-child(2)[data-status=ended]");
    // Tasks: choose the newest task and open it.
    await page.evaluate(`document.activeElement.blur()`);
    await keyboard.press("g");
    await keyboard.press("t");
    await page.locator("[data-testid=task-row]").first().waitFor();
    await pressTabUntil("Tasks");
    await page.evaluate(`document.querySelector("[role=listbox]").focus()`);
    await keyboard.press("j");
    await keyboard.press("Enter");
    await page.waitForSelector("[data-testid=task]");
    // Task: select a line, look at its details, and change the view.
    await page.locator(".timeline-row").first().waitFor();
    await keyboard.press("j");
    await page.locator(".inspector").waitFor();
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
    expect(await page.evaluate(`document.activeElement.tagName`)).toBe("SELECT");
    await page.evaluate(`document.activeElement.blur()`);
    await keyboard.press("t");
    expect(await page.evaluate(`document.documentElement.dataset.theme`)).toBe("dark");
    await keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await keyboard.press("Escape");
    expect(await page.getByRole("dialog").count()).toBe(0);
    expect(errors).toEqual([]);
    await page.close();
  });
});
