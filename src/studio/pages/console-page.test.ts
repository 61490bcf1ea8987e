import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { agent, artifact, file, status } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../../cards/html/browser.fixture.ts";
import {
  bakerAgent,
  clerkAgent,
  ConsolePageTest,
  reportAgent,
  SteppedAgent,
} from "./console-page.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The page of the console is not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

describe.skipIf(!hasChromium)("the page of a console", () => {
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

  const sendInChat = async (page: Page, message: string): Promise<void> => {
    await page.getByRole("textbox", { name: "Message" }).fill(message);
    await page.keyboard.press("Enter");
  };
  const waitForLastTurn = (page: Page, status: string): Promise<unknown> =>
    page.waitForSelector(`[data-testid=turn]:last-child[data-status=${status}]`);

  it("loads only its own files, without errors and warnings, and hides the token", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page, requests, errors } = await test.open(browser);
    expect(
      requests.filter((url) => !url.startsWith(`${test?.url}/console/`) && !url.startsWith("data:")),
    ).toEqual([]);
    expect(errors).toEqual([]);
    expect(page.url()).not.toContain("token");
    await page.reload();
    await page.waitForSelector("body[data-ready]");
    expect(await page.locator("[data-testid=connection-status]").getAttribute("data-status")).not.toBeNull();
    expect(await page.getByRole("alert").count()).toBe(0);
    // The policy of the page forbids the evaluation of text.
    const outcome = await page.evaluate<string>(`(() => { const script = document.createElement("script");
      try { script.text = "window.taken = 1"; document.body.append(script); } catch (error) { return error.name; }
      return String(window.taken); })()`);
    expect(outcome).toBe("TypeError");
    await page.close();
  });

  it.each(["serve", "call"] as const)("chats with files, data, and Markdown (%s)", async (mode) => {
    test = await ConsolePageTest[mode]({ reporter: reportAgent });
    const { page, errors } = await test.open(browser, "#/chat/reporter");
    await page.getByRole("button", { name: "Write a report about tides" }).click();
    await waitForLastTurn(page, "ended");
    await expect.poll(() => page.locator(".markdown table td").first().innerText()).toBe("Rhine");
    expect(
      await page
        .getByRole("img", { name: "map.png" })
        .evaluate((image: { naturalWidth: number }) => image.naturalWidth),
    ).toBe(10);
    await expect.poll(() => page.locator(".json-tree").innerText()).toContain("isExact: true");
    await page.getByRole("button", { name: /Show the page/ }).click();
    const frame = page.frameLocator("iframe[sandbox='']");
    await expect.poll(() => frame.locator("h1").innerText()).toBe("Map");
    expect(errors).toEqual([]);
    await page.close();
  });

  it.each(["serve", "call"] as const)("shows large files and texts completely (%s)", async (mode) => {
    const words = "word ".repeat(30_000);
    const large = agent({ name: "large", description: "Sends much." }, async function* () {
      yield words;
      yield artifact({ name: "zeros" }, file(new Uint8Array(900_000), { filename: "zeros.bin" }));
    });
    test = await ConsolePageTest[mode]({ large });
    const { page, errors } = await test.open(browser, "#/chat/large");
    await sendInChat(page, "go");
    await waitForLastTurn(page, "ended");
    const checkContent = async (): Promise<void> => {
      const text = page.locator(".artifact .markdown").first();
      await expect.poll(async () => (await text.innerText()).trim()).toHaveLength(words.length - 1);
      await expect.poll(() => page.locator("figcaption").innerText()).toContain("900.0 kB");
    };
    await checkContent();
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.getByRole("tab", { name: "Messages and artifacts" }).click();
    await page.locator("figcaption").waitFor();
    await checkContent();
    expect(errors).toEqual([]);
    await page.close();
  });

  it("shows texts that are too expensive to parse as plain text, and other texts as Markdown", async () => {
    const expensiveTexts = ["_*a".repeat(6_700), ">".repeat(20_000)];
    const hostile = agent({ name: "hostile", description: "Sends delimiters." }, async function* () {
      for (const text of expensiveTexts) yield artifact({ id: text.slice(0, 1) }, text);
      yield artifact({ id: "last" }, "a **bold** text");
    });
    test = await ConsolePageTest.serve({ hostile });
    const { page, errors } = await test.open(browser, "#/chat/hostile");
    await sendInChat(page, "go");
    expect(await page.locator(".markdown strong").innerText()).toBe("bold");
    await page.locator(".markdown[aria-busy]").first().waitFor({ state: "detached" });
    const shownTexts = await page.locator("pre.plain-text").allTextContents();
    // A difference of two long texts would fill the report.
    expect(shownTexts.map((text, index) => text === expensiveTexts[index])).toEqual([true, true]);
    expect(errors).toEqual([]);
    await page.close();
  });

  it("sends attached files and data", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/chat/reporter");
    await page.locator("input[type=file]").setInputFiles({
      name: "note.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("a note"),
    });
    await page.getByRole("button", { name: "Data" }).click();
    await page.getByLabel("Data as JSON").fill(`{"level": 3}`);
    await sendInChat(page, "With a file");
    await waitForLastTurn(page, "ended");
    const sent = page.locator(".message[data-role=user]");
    await expect.poll(() => sent.locator("figcaption").innerText()).toContain("note.txt");
    await expect.poll(() => sent.locator(".plain-text").innerText()).toBe("a note");
    await expect.poll(() => sent.locator(".json-tree").innerText()).toContain("level: 3");
    await page.close();
  });

  it("answers a question with a form that is made from the schema [B13]", async () => {
    test = await ConsolePageTest.serve({ baker: bakerAgent });
    const { page } = await test.open(browser, "#/chat/baker");
    await sendInChat(page, "a cake");
    const form = page.getByTestId("answer");
    await form.getByLabel(/Size/).selectOption({ label: "large" });
    await form.getByLabel(/Layers/).fill("9");
    await form.getByRole("button", { name: "Send the answer" }).click();
    await expect.poll(() => form.innerText()).toContain("The number must be at most 5.");
    expect(await form.getByRole("alert").innerText()).toBe("One field is not valid.");
    expect(await form.getByLabel(/Layers/).evaluate((field) => field.matches(":focus"))).toBe(true);
    await form.getByLabel(/Layers/).fill("3");
    await form.getByLabel(/With candles/).check();
    await form.getByRole("button", { name: "Send the answer" }).click();
    await page.waitForSelector("[data-testid=turn]:nth-child(2)[data-status=ended]");
    await expect
      .poll(() => page.locator(".turn:last-child .artifact").innerText())
      .toContain(`{"size":"large","layers":3,"hasCandles":true}`);
    await page.close();
  });

  it("approves a tool call on the screen of the task", async () => {
    test = await ConsolePageTest.serve({ clerk: clerkAgent });
    const { page } = await test.open(browser, "#/chat/clerk");
    await sendInChat(page, "a chair");
    await page.getByTestId("answer").waitFor();
    await page.getByRole("link", { name: "Timeline" }).click();
    const answer = page.getByTestId("answer");
    await expect.poll(() => answer.innerText()).toContain("Allow reimburse?");
    await answer.getByLabel("Reason (optional)").fill("fine");
    await answer.getByRole("button", { name: "Approve" }).click();
    await page.waitForSelector("[data-testid=task][data-state=TASK_STATE_COMPLETED]");
    await page.getByRole("tab", { name: "Messages and artifacts" }).click();
    await expect
      .poll(() => page.locator(".artifact").innerText())
      .toContain(`"approved":true,"reason":"fine"`);
    await page.close();
  });

  it("cuts a stream, and shows how the client resumes it without a lost or repeated event [E4]", async () => {
    const ticker = new SteppedAgent();
    test = await ConsolePageTest.call({ ticker: ticker.agent });
    const { page } = await test.open(browser, "#/chat/ticker");
    await sendInChat(page, "count to 5");
    ticker.allow(2);
    await page.locator(".artifact", { hasText: "2" }).waitFor();
    await page.getByRole("button", { name: "Cut the connection" }).click();
    await page.locator(".turn-note", { hasText: "Connection cut" }).waitFor();
    await page.locator(".turn-note", { hasText: "Connected again" }).waitFor();
    ticker.allow(3);
    await waitForLastTurn(page, "ended");
    const text = page.locator(".artifact .text-part");
    await expect.poll(async () => (await text.innerText()).match(/\d/g)?.join("")).toBe("12345");
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.locator("[data-mark=cut]").waitFor();
    await page.locator("[data-mark=resume]").waitFor();
    expect(await page.locator("[data-mark=gap], [data-mark=duplicate]").count()).toBe(0);
    await page.close();
  });

  it("stops the agent", async () => {
    const ticker = new SteppedAgent();
    test = await ConsolePageTest.serve({ ticker: ticker.agent });
    const { page } = await test.open(browser, "#/chat/ticker");
    await sendInChat(page, "count to 9");
    ticker.allow(1);
    await page.locator(".artifact", { hasText: "1" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".turn-status [data-state=TASK_STATE_CANCELED]").waitFor();
    await expect.poll(() => page.locator(".artifact .text-part").innerText()).toBe("1");
    ticker.allow(9);
    await page.close();
  });

  it("follows tasks of other clients, and filters them", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent, baker: bakerAgent });
    const { page } = await test.open(browser, "#/tasks");
    await page.getByText("There are no tasks yet").waitFor();
    const other = await test.open(browser, "#/chat/baker");
    await sendInChat(other.page, "from another tab");
    await page.locator("[data-testid=task-row]", { hasText: "baker" }).waitFor();
    await other.page.goto(`${test.url}/console/#/chat/reporter`);
    await sendInChat(other.page, "a report");
    await page.locator("[data-testid=task-row]", { hasText: "reporter" }).waitFor();
    await page.getByLabel("State").selectOption("TASK_STATE_INPUT_REQUIRED");
    await expect.poll(() => page.locator("[data-testid=task-row]").count()).toBe(1);
    expect(page.url()).toContain("state=TASK_STATE_INPUT_REQUIRED");
    await page.getByLabel("Agent").selectOption({ label: "reporter" });
    await page.getByText("No task matches the filters").waitFor();
    await page.getByRole("link", { name: "Clear the filters" }).click();
    await expect.poll(() => page.locator("[data-testid=task-row]").count()).toBe(2);
    await page.close();
    await other.page.close();
  });

  it("finds a part of a Chinese text [B19]", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent }, { textIndex: true });
    const client = await connect(test.url);
    await client.ask("请检查我的订单");
    await client.ask("tides");
    const { page } = await test.open(browser, "#/tasks");
    const rows = page.getByTestId("task-row");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel("Text", { exact: true }).fill("订单");
    await expect.poll(() => rows.allInnerTexts()).toEqual([expect.stringContaining("请检查我的订单")]);
    await page.close();
  });

  it("marks nothing in a task whose new lines arrive before its earlier lines", async () => {
    const ticker = new SteppedAgent();
    test = await ConsolePageTest.serve({ ticker: ticker.agent });
    const other = await test.open(browser, "#/chat/ticker");
    await sendInChat(other.page, "count to 6");
    ticker.allow(3);
    await other.page.locator(".artifact", { hasText: "3" }).waitFor();
    const href = (await other.page.getByRole("link", { name: "Timeline" }).getAttribute("href")) ?? "";

    const { page } = await test.open(browser, "#/tasks");
    const lateLines = Promise.withResolvers<void>();
    const earlierLines = Promise.withResolvers<void>();
    await page.route("**/tasks/*/lines", async (route) => {
      const response = await route.fetch();
      earlierLines.resolve();
      await lateLines.promise;
      await route.fulfill({ response });
    });
    await page.evaluate(`location.hash = ${JSON.stringify(href)}`);
    await earlierLines.promise;
    ticker.allow(3);
    await waitForLastTurn(other.page, "ended");
    // A page reads the agents again after it has received the line of a response.
    const hasReceivedLines = page.waitForRequest(/\/api\/agents$/);
    await sendInChat(other.page, "count to 0");
    await hasReceivedLines;
    lateLines.resolve();
    await page.waitForSelector("[data-testid=task][data-state=TASK_STATE_COMPLETED] .timeline-row");
    await page.getByLabel("Stream frames").check();
    expect(await page.locator("[data-mark]").allInnerTexts()).toEqual([]);
    await page.close();
    await other.page.close();
  });

  it("follows a fast stream to its last event", async () => {
    const count = 400;
    const burst = agent({ name: "burst", description: "Reports many steps." }, async function* ({ text }) {
      // The first event arrives before the page is open.
      yield status("ready");
      if (text === "start") await opened.promise;
      for (let step = 1; step <= count; step++) yield status(`Step ${step}`);
    });
    const opened = Promise.withResolvers<void>();
    test = await ConsolePageTest.serve({ burst });
    const { page } = await test.open(browser, "#/chat/burst");
    await sendInChat(page, "start");
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.locator(".timeline-row", { hasText: "ready" }).waitFor();
    opened.resolve();
    await page.waitForSelector("[data-testid=task][data-state=TASK_STATE_COMPLETED]");
    await page.keyboard.press("2");
    await expect.poll(() => page.locator(".replay output").innerText()).toMatch(/^event (\d+) of \1$/);
    expect(await page.locator(".replay input").getAttribute("max")).toBe(String(count + 3));
    await page.close();
  });

  it("shows the traffic of earlier pages in Flow, and compares tasks with it", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent });
    const first = await test.open(browser, "#/chat/reporter");
    await sendInChat(first.page, "one subject");
    await waitForLastTurn(first.page, "ended");
    await first.page.getByRole("button", { name: "New conversation" }).click();
    await sendInChat(first.page, "another subject");
    await waitForLastTurn(first.page, "ended");
    const href = (await first.page.getByRole("link", { name: "Timeline" }).getAttribute("href")) ?? "";
    await first.page.close();

    const { page } = await test.open(browser, href);
    await page.locator(".task-header").getByRole("link", { name: "Flow" }).click();
    await page.locator(".sequence .message").first().waitFor();
    await expect.poll(() => page.locator(".flow-head").innerText()).toMatch(/tasks\s*1/);
    await page.goBack();
    await page.locator(".task-header").getByRole("link", { name: "Compare" }).click();
    await page.locator(".text-diff").first().waitFor();
    const changes = await page.locator(".text-diff ins, .text-diff del").allTextContents();
    expect(changes.join(" ")).toContain("another");
    await page.close();
  });

  it("shows a task as it was after an event, and sends an edited message again", async () => {
    test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/chat/reporter");
    await sendInChat(page, "first subject");
    await waitForLastTurn(page, "ended");
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.getByRole("tab", { name: "Messages and artifacts" }).click();
    await page.getByRole("slider").fill("2");
    await expect.poll(() => page.locator(".replay output").innerText()).toMatch(/^event 2 of \d+$/);
    await expect.poll(() => page.locator(".artifact").count()).toBe(0);
    await page.getByRole("button", { name: "Latest" }).click();
    await expect.poll(() => page.locator(".artifact").count()).toBe(3);
    await page.getByRole("button", { name: "Edit and send again" }).click();
    const field = page.getByRole("textbox", { name: "Message" });
    await expect.poll(() => field.inputValue()).toBe("first subject");
    await page.getByText("The agent also sees what it remembers of this conversation").waitFor();
    await sendInChat(page, "second subject");
    await waitForLastTurn(page, "ended");
    await expect.poll(() => page.locator(".artifact").first().innerText()).toContain("second subject");
    const context = new URL(page.url()).hash;
    await page.getByRole("button", { name: "Edit and send again" }).last().click();
    await page.getByLabel("In a new conversation").check();
    await page.getByText("The agent sees only this message.").waitFor();
    await sendInChat(page, "third subject");
    await expect.poll(() => page.locator(".artifact").first().innerText()).toContain("third subject");
    expect(await page.getByTestId("turn").count()).toBe(1);
    await expect.poll(() => new URL(page.url()).hash).not.toBe(context);
    expect(await page.getByLabel("In a new conversation").count()).toBe(0);
    await page.close();
  });

  it("adds an agent by its URL, and explains an unreachable one", async () => {
    test = await ConsolePageTest.call({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/agents");
    await page.getByLabel("URL of an agent").fill("http://127.0.0.1:9/");
    await page.getByRole("button", { name: "Add" }).click();
    await page.locator("[data-testid=agent][data-status=unreachable]").waitFor();
    await page.locator(".agent-details").getByRole("alert").waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await expect.poll(() => page.locator("[data-testid=agent]").count()).toBe(1);
    await page.locator("[data-testid=agent]").click();
    await page.getByText("The card has no problems.").waitFor();
    await page.close();
  });
});
