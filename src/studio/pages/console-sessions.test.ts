import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../../cards/html/browser.fixture.ts";
import { agent } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import { bearer } from "../../server/auth/index.ts";
import { findAccessibilityViolations } from "./accessibility.fixture.ts";
import { bakerAgent, ConsolePageTest, reportAgent, SteppedAgent } from "./console-page.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`Tabs and reloads of the console are not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

describe.skipIf(!hasChromium)("the page of a console forgets nothing: it", () => {
  let browser: Browser;
  let test: ConsolePageTest | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterEach(async () => {
    await test?.close();
    test = undefined;
  });
  afterAll(() => browser?.close());

  const send = async (page: Page, message: string): Promise<void> => {
    await page.getByRole("textbox", { name: "Message" }).fill(message);
    await page.keyboard.press("Enter");
  };
  const openTab = async (page: Page, url: string): Promise<Page> => {
    const popup = page.waitForEvent("popup");
    await page.evaluate(`window.open(${JSON.stringify(url)}, "_blank", "noopener")`);
    const tab = await popup;
    await tab.waitForSelector("body[data-ready]");
    return tab;
  };

  it.each(["serve", "call"] as const)(
    "restores the conversation after a reload, and follows the task that still runs (%s) [B4]",
    async (mode) => {
      const ticker = new SteppedAgent();
      test = await ConsolePageTest[mode]({ ticker: ticker.agent });
      const { page, errors } = await test.open(browser, "#/chat");
      await send(page, "count to 2");
      ticker.allow(2);
      await page.waitForSelector("[data-testid=turn][data-status=ended]");
      await send(page, "count to 4");
      ticker.allow(2);
      const turns = page.getByTestId("turn");
      await turns.nth(1).locator(".artifact", { hasText: "2" }).waitFor();
      await page.reload();
      await turns.nth(1).locator(".artifact", { hasText: "2" }).waitFor();
      expect(await turns.locator("[data-role=user]").allInnerTexts()).toEqual([
        expect.stringContaining("count to 2"),
        expect.stringContaining("count to 4"),
      ]);
      ticker.allow(2);
      await turns.nth(1).locator(".artifact", { hasText: "4" }).waitFor();
      await page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
      // The next message belongs to the same context.
      await send(page, "count to 0");
      await page.waitForSelector("[data-testid=turn]:nth-child(3)[data-status=ended]");
      await page.reload();
      await expect.poll(() => turns.count()).toBe(3);
      expect(errors).toEqual([]);
      await page.close();
    },
  );

  it("shows the state of a task whose server refuses a subscription, because the task has ended [B10]", async () => {
    const ticker = new SteppedAgent();
    test = await ConsolePageTest.serve({ ticker: ticker.agent });
    const { page } = await test.open(browser, "#/chat/ticker");
    await send(page, "count to 2");
    ticker.allow(1);
    const turn = page.getByTestId("turn");
    await turn.locator(".artifact", { hasText: "1" }).waitFor();
    const client = await connect(test.url);
    await page.route("**/subscribe*", async (route) => {
      ticker.allow(1);
      await expect
        .poll(async () => (await client.tasks.list()).tasks[0]?.status.state)
        .toBe("TASK_STATE_COMPLETED");
      const end = {
        reason: "failed",
        error: { reason: "UNSUPPORTED_OPERATION", message: "The task has ended." },
      };
      await route.fulfill({
        contentType: "text/event-stream",
        body: `event: end\ndata: ${JSON.stringify(end)}\n\n`,
      });
    });
    await page.reload();
    await turn.getByText("completed").waitFor();
    await turn.locator(".artifact", { hasText: "2" }).waitFor();
    expect(await page.getByRole("alert").allInnerTexts()).toEqual([]);
    await page.close();
  });

  it("restores an open question, and starts and lists conversations", async () => {
    test = await ConsolePageTest.serve({ baker: bakerAgent });
    const { page, errors } = await test.open(browser, "#/chat/baker");
    await send(page, "A cake");
    await page.getByLabel("Size").waitFor();
    await page.getByRole("button", { name: "New conversation" }).click();
    await expect.poll(() => page.getByTestId("turn").count()).toBe(0);
    await send(page, "Another cake");
    await page.getByLabel("Size").waitFor();
    await page.getByText("Conversations", { exact: true }).click();
    const list = page.getByRole("list", { name: "Conversations" }).getByRole("link");
    await expect.poll(() => list.count()).toBe(2);
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await list.filter({ hasText: /^A cake/ }).click();
    await page.getByTestId("turn").filter({ hasText: "A cake" }).getByLabel("Size").waitFor();
    await page.goBack();
    await page.getByTestId("turn").filter({ hasText: "Another cake" }).waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });

  it("lists the conversations with all agents, and opens one of another agent", async () => {
    let url = "";
    const planner = agent({ name: "planner", description: "Plans" }, async function* () {
      yield (await (await connect(`${url}/a2a/reporter`)).ask("A question of the planner")).text;
    });
    test = await ConsolePageTest.serve({ baker: bakerAgent, reporter: reportAgent, planner });
    ({ url } = test);
    const { page } = await test.open(browser, "#/chat/baker");
    await (await connect(`${url}/a2a/planner`)).ask("A plan");
    await send(page, "A cake");
    await page.getByLabel("Size").waitFor();
    await page.evaluate(`location.hash = "#/chat/reporter"`);
    await page.getByRole("heading", { name: "reporter" }).waitFor();
    await page.getByText("Conversations", { exact: true }).click();
    const rows = page.getByRole("list", { name: "Conversations" }).getByRole("link");
    await rows.filter({ hasText: "A plan" }).waitFor();
    expect(await rows.filter({ hasText: "A question of the planner" }).count()).toBe(0);
    await rows.filter({ hasText: "baker" }).click();
    await page.getByTestId("turn").filter({ hasText: "A cake" }).getByLabel("Size").waitFor();
    expect(await page.getByRole("combobox", { name: "Agent" }).inputValue()).toBe("baker");
    await page.close();
  });

  it("opens in other tabs: a link, a row of the list, and a URL without a token [B5]", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/tasks");
    const { task } = await (await connect(test.url)).ask("tides");
    const row = page.locator(`[data-testid=task-row][data-task-id="${task?.id}"]`);
    const opened = page.context().waitForEvent("page");
    await row.click({ modifiers: ["ControlOrMeta"] });
    const tab = await opened;
    await tab.waitForSelector(`[data-testid=task][data-task-id="${task?.id}"]`);
    const other = await openTab(page, `${test.url}/console/#/chat/reporter`);
    await send(other, "rivers");
    await other.waitForSelector("[data-testid=turn][data-status=ended]");
    const shared = await openTab(page, other.url());
    await expect.poll(() => shared.getByTestId("turn").innerText()).toContain("rivers");
    await page.context().close();
  });

  it("continues after a restart of the server, whose new token it does not need [B6]", async () => {
    const folder = mkdtempSync(join(tmpdir(), "console-"));
    const serve = (token: string, port?: number): Promise<ConsolePageTest> =>
      ConsolePageTest.serve(
        { reporter: reportAgent },
        { store: `sqlite:${join(folder, "tasks.db")}` },
        { sessionSecret: "a stored secret", token },
        port,
      );
    test = await serve("token-of-the-page-test");
    const { page } = await test.open(browser, "#/chat/reporter");
    await send(page, "tides");
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    await test.close();
    await page.locator("[data-testid=connection-status][data-status=reconnecting]").waitFor();
    test = await serve("another-token-of-the-page-test", Number(new URL(test.url).port));
    await page.locator("[data-testid=connection-status][data-status=live]").waitFor();
    await send(page, "rivers");
    await page.waitForSelector("[data-testid=turn]:nth-child(2)[data-status=ended]");
    await page.reload();
    await page.waitForSelector("[data-testid=turn]:nth-child(2)[data-status=ended]");
    expect(await page.getByTestId("turn").first().innerText()).toContain("tides");
    await page.close();
  });

  it("keeps the tasks while the connection is lost, and loads tasks and agents again when it returns", async () => {
    const options = { store: `sqlite:${join(mkdtempSync(join(tmpdir(), "console-")), "tasks.db")}` } as const;
    const session = { sessionSecret: "a stored secret" };
    test = await ConsolePageTest.serve({ reporter: reportAgent }, options, session);
    const { page } = await test.open(browser, "#/tasks");
    await (await connect(test.url)).ask("tides");
    const row = page.getByTestId("task-row").filter({ hasText: "tides" });
    await row.waitFor();
    await test.close();
    await page.locator("[data-testid=connection-status][data-status=reconnecting]").waitFor();
    await page.getByRole("link", { name: "Agents" }).click();
    await page.getByLabel("Screens").getByRole("link", { name: "Tasks" }).click();
    const failure = page.getByText("The tasks cannot be listed");
    await failure.waitFor();
    await row.waitFor();
    await page.getByText("These tasks were loaded earlier").waitFor();
    await page.locator("#main").getByLabel("State").selectOption({ label: "failed" });
    await row.waitFor({ state: "hidden" });
    expect(await page.locator("#main").innerText()).not.toMatch(/\b0 tasks/);
    await page.locator("#main").getByLabel("State").selectOption({ label: "any" });
    const agents = { reporter: reportAgent, baker: bakerAgent };
    test = await ConsolePageTest.serve(agents, options, session, Number(new URL(test.url).port));
    await failure.waitFor({ state: "hidden" });
    await row.waitFor();
    await page
      .locator("#main")
      .getByLabel("Agent")
      .locator("option", { hasText: "baker" })
      .waitFor({ state: "attached" });
    await page.close();
  });

  it("names an agent that does not exist, and links to the others [B17]", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/chat/renamed");
    await page.getByText("The console has no agent renamed to talk to").waitFor();
    await page.getByRole("link", { name: "Chat with reporter" }).click();
    await send(page, "tides");
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    expect(page.url()).toContain("#/chat/reporter?context=");
    await page.close();
  });

  it("asks a user of a server with authentication to sign in, and signs out", async () => {
    const token = "token-of-ada-0123456789";
    test = await ConsolePageTest.serve(
      { reporter: reportAgent },
      { authenticate: bearer({ tokens: { [token]: "ada" } }) },
      { token: undefined },
    );
    const page = await browser.newPage();
    await page.goto(`${test.url}/console/#/chat/reporter`);
    await page.getByRole("heading", { name: "Sign in to the console" }).waitFor();
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Token" }).fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByRole("textbox", { name: "Token" }).fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await send(page, "tides");
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    await page.reload();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to the console" }).waitFor();
    await page.close();
  });
});
