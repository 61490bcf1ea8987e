import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  agent,
  artifact,
  data,
  inputRequired,
  status,
  text as textPart,
} from "../../agents/adapters/index.ts";
import { CHROMIUM_MISSING_MESSAGE, findChromium, launchChromium } from "../../cards/html/browser.fixture.ts";
import { findAccessibilityViolations } from "./accessibility.fixture.ts";
import { bakerAgent, clerkAgent, ConsolePageTest } from "./console-page.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`The chat of the console is not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

/** Writes sections of Markdown, each after a rendered frame of the page. */
const writerAgent = agent({ name: "writer", description: "Writes" }, async function* ({ text }) {
  for (let section = 1; section <= Number(text); section++) {
    yield `## Section ${section}\n\n${"A paragraph with **bold** words. ".repeat(20)}\n\n`;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

describe.skipIf(!hasChromium)("the chat of a console", () => {
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
  const readDistanceFromEnd = (page: Page): Promise<number> =>
    page
      .locator(".transcript")
      .evaluate((element: { scrollHeight: number; scrollTop: number; clientHeight: number }) =>
        Math.round(element.scrollHeight - element.scrollTop - element.clientHeight),
      );

  it("follows a fast answer to its end, stops when the user scrolls up, and jumps to the latest [B7]", async () => {
    test = await ConsolePageTest.serve({ writer: writerAgent });
    const { page } = await test.open(browser, "#/chat/writer");
    await send(page, "60");
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    await page.getByText("Section 60").waitFor();
    await expect.poll(() => readDistanceFromEnd(page)).toBeLessThan(80);
    await page.locator(".transcript").hover();
    await page.mouse.wheel(0, -2_000);
    await page.getByRole("button", { name: "Jump to the latest" }).click();
    await expect.poll(() => readDistanceFromEnd(page)).toBeLessThan(80);
    expect(await page.getByRole("button", { name: "Jump to the latest" }).count()).toBe(0);
    await page.close();
  });

  it("saves a conversation as a file of colloquy test, also after a reload", async () => {
    const refunds = agent(
      { name: "refunds", description: "Refunds" },
      async function* ({ text, history, reportCall }) {
        reportCall?.({ kind: "tool", tool: "findOrder", arguments: { text }, durationMs: 1 });
        if (history.length === 1) yield inputRequired("Really?");
        yield "The money is on its way.";
      },
    );
    test = await ConsolePageTest.serve({ refunds });
    const { page } = await test.open(browser, "#/chat/refunds");
    await send(page, "Refund 80 euros");
    await page.getByText("Really?").waitFor();
    await send(page, "yes");
    await page.getByText("The money is on its way.").waitFor();
    const readSaved = async (): Promise<unknown> => {
      const button = page.getByRole("button", { name: "Save as test" });
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      expect(download.suggestedFilename()).toBe("refunds.test.json");
      return JSON.parse(await readFile(await download.path(), "utf8"));
    };
    const createExpected = (createCalls: (text: string) => object): object => ({
      tests: [
        {
          name: "refunds",
          turns: [
            {
              send: "Refund 80 euros",
              expect: { state: "input-required", question: "Really?", ...createCalls("Refund 80 euros") },
            },
            {
              send: "yes",
              expect: { state: "completed", text: "The money is on its way.", ...createCalls("yes") },
            },
          ],
        },
      ],
    });
    await page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
    const calls = (text: string): object => ({ calls: [{ tool: "findOrder", arguments: { text } }] });
    expect(await readSaved()).toEqual(createExpected(calls));
    await page.reload();
    await page.getByText("The money is on its way.").waitFor();
    expect(await readSaved()).toEqual(createExpected(calls));
    await page.close();
  });

  it("shows one bubble with the agent's name, and the last of many messages of progress [B9]", async () => {
    const counter = agent({ name: "counter", description: "Counts" }, async function* () {
      for (let step = 1; step <= 300; step++) yield status(`Step ${step}`);
      yield "Done.";
    });
    test = await ConsolePageTest.serve({ counter });
    const { page } = await test.open(browser, "#/chat/counter");
    await send(page, "Count");
    await page.waitForSelector("[data-testid=turn][data-status=ended]");
    const bubbles = page.getByRole("article", { name: "Message of the agent" });
    expect(await bubbles.count()).toBe(1);
    const text = await bubbles.innerText();
    expect(text).toMatch(/^counter/);
    expect(text).toContain("+299 earlier");
    expect(text).toContain("Step 300");
    expect(text).not.toContain("Step 299");
    expect(text).toContain("Done.");
    await page.getByText("+299 earlier").click();
    await expect.poll(() => bubbles.innerText()).toContain("Step 299");
    expect(await findAccessibilityViolations(page)).toEqual([]);
    const href = await page.getByRole("link", { name: "Timeline" }).getAttribute("href");
    await page.evaluate(`location.hash = ${JSON.stringify(`${href}?view=content`)}`);
    const messages = page.locator(".messages > li");
    await expect.poll(() => messages.count()).toBe(100);
    await page.getByRole("button", { name: "Show earlier messages (201)" }).click();
    await expect.poll(() => messages.count()).toBe(200);
    await page.close();
  });

  it("answers a question in the composer, and shows past answers as text", async () => {
    const asker = agent({ name: "asker", description: "Asks" }, async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which color?");
      else yield `You like ${text}.`;
    });
    test = await ConsolePageTest.serve({ asker, clerk: clerkAgent, baker: bakerAgent });
    const { page } = await test.open(browser, "#/chat/asker");
    await send(page, "Paint");
    await page.getByPlaceholder("Answer asker").waitFor();
    expect(await page.getByRole("textbox").count()).toBe(1);
    await send(page, "blue");
    await page.getByText("You like blue.").waitFor();

    await page.evaluate(`location.hash = "#/chat/clerk"`);
    await send(page, "Pay");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("You approved reimburse").waitFor();
    await page.getByText("Question: Allow reimburse?").waitFor();

    await page.evaluate(`location.hash = "#/chat/baker"`);
    await send(page, "A cake");
    await page.getByLabel("Size").selectOption("large");
    await page.getByLabel("Layers").fill("3");
    await page.getByRole("button", { name: "Send the answer" }).click();
    await page.getByText("You answered: size large, layers 3").waitFor();
    expect(await page.locator("[data-role=user]").last().innerText()).not.toContain("{");
    await page.close();
  });

  it("shows the stack and the cause of an error only in colloquy dev [B16]", async () => {
    const broken = agent({ name: "broken", description: "Fails" }, async function* () {
      yield "Before.";
      throw new Error("The scale is empty.", { cause: new Error("No batteries.") });
    });
    for (const mode of ["dev", "serve"] as const) {
      test = await ConsolePageTest.serve({ broken }, {}, { mode });
      const { page } = await test.open(browser, "#/chat/broken");
      await send(page, "Weigh");
      await page.getByText("The agent threw an error: The scale is empty.").waitFor();
      const stack = page.getByLabel("Stack of the error");
      if (mode === "dev") {
        await page.getByText("Stack and causes").click();
        await expect
          .poll(() => stack.innerText())
          .toMatch(
            /^Error: The scale is empty\.\n.*console-chat\.test\.ts[^]*\nCaused by: Error: No batteries\./,
          );
      }
      await page.getByRole("link", { name: "Timeline" }).click();
      await page.locator("[data-kind=turn]").filter({ hasText: "end: The scale is empty." }).click();
      await page.locator(".inspector").waitFor();
      expect((await page.locator(".inspector").innerText()).includes("No batteries")).toBe(mode === "dev");
      await page.close();
      await test.close();
    }
  });

  it("shows the same after a reload: progress, model calls, tool calls, the answer, and errors with their causes [B4]", async () => {
    const worker = agent(
      { name: "worker", description: "Works" },
      async function* ({ text, history, reportCall }) {
        yield status("Reading");
        yield status("Thinking");
        reportCall?.({
          kind: "model",
          model: "test-model",
          durationMs: 1,
          prompt: [{ role: "user", content: text }],
        });
        yield "First ";
        reportCall?.({ kind: "tool", tool: "weigh", arguments: { text }, durationMs: 1 });
        if (history.length === 1) yield inputRequired("Which color?");
        yield artifact({ name: "notes" }, textPart("A note"));
        throw new Error("The scale is empty.", { cause: new Error("No batteries.") });
      },
    );
    test = await ConsolePageTest.serve({ worker }, {}, { mode: "dev" });
    const { page } = await test.open(browser, "#/chat/worker");
    await send(page, "Weigh");
    await page.getByPlaceholder("Answer worker").waitFor();
    await send(page, "blue");
    await page.getByText("The agent threw an error: The scale is empty.").waitFor();
    const readTurns = async (): Promise<string[]> => {
      await page.locator("details").evaluateAll((all: { open: boolean }[]) => {
        for (const one of all) one.open = true;
      });
      // Two lines of the same millisecond have no order.
      return (await page.getByTestId("turn").allInnerTexts()).map((text) =>
        text.split("\n").toSorted().join("\n"),
      );
    };
    await expect.poll(async () => (await readTurns())[1]).toContain("No batteries.");
    const before = await readTurns();
    expect(before[0]).toContain("test-model");
    await page.reload();
    await page.getByText("Stack and causes").waitFor();
    await expect.poll(readTurns).toEqual(before);
    await page.close();
  });

  it("leads from a model call to its prompt, and from the menu back to the conversation", async () => {
    const createAnswerer = (name: string): ReturnType<typeof agent> =>
      agent({ name, description: "Answers" }, async function* ({ text, reportCall }) {
        const prompt = [
          { role: "user", content: text },
          { role: "tool", content: "42" },
        ];
        reportCall?.({ kind: "model", model: "test-model", durationMs: 1, prompt });
        yield "Clear";
      });
    test = await ConsolePageTest.serve({ first: createAnswerer("first"), second: createAnswerer("second") });
    const { page } = await test.open(browser, "#/chat/second");
    await page.getByText("Conversations", { exact: true }).click();
    await page.getByText("There are no conversations yet.").waitFor();
    expect(await page.getByRole("list", { name: "Conversations" }).count()).toBe(0);
    await send(page, "Weather?");
    await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    await page.getByRole("list", { name: "Conversations" }).getByText("Weather?").waitFor();
    await page.getByRole("link", { name: "model test-model" }).click();
    const messages = page.locator(".model-call .model-messages > li");
    await messages.first().waitFor();
    expect((await messages.first().innerText()).split("\n")).toEqual(["user", "Weather?"]);
    expect(await messages.nth(1).innerText()).toMatch(/^tool\s+Result\s+"42"/);
    await page.getByRole("link", { name: "Chat", exact: true }).click();
    await page.locator("[data-role=user]").getByText("Weather?").waitFor();
    expect(await page.getByRole("combobox", { name: "Agent" }).inputValue()).toBe("second");
    await page.close();
  });

  it.each(["serve", "call"] as const)(
    "shows the call and the result of a tool in one row, with the duration if the server reports it (%s)",
    async (mode) => {
      const call = { toolCallId: "c1", toolName: "look_up", input: { city: "Seoul" } };
      const seeker = agent({ name: "seeker", description: "Looks up" }, async function* ({ reportCall }) {
        yield status(data({ type: "tool-call", ...call }));
        reportCall?.({
          kind: "tool",
          tool: "look_up",
          arguments: call.input,
          result: { people: 9_400_000 },
          durationMs: 12,
        });
        yield status(data({ type: "tool-result", ...call, output: { people: 9_400_000 } }));
        yield status({
          data: { id: "c2", name: "weigh", args: {} },
          metadata: { adk_type: "function_call" },
        });
        yield status({
          data: { id: "c2", name: "weigh", response: { kg: 3 } },
          metadata: { adk_type: "function_response" },
        });
        yield "Done.";
      });
      test = await ConsolePageTest[mode]({ seeker });
      const { page } = await test.open(browser, "#/chat");
      await send(page, "Seoul");
      await page.waitForSelector("[data-testid=turn][data-status=ended]");
      const readCalls = (): Promise<string[]> => page.locator(".tool-call").allInnerTexts();
      const duration = mode === "serve" ? " · 12 ms" : "";
      const expected = [`tool look_up({"city":"Seoul"})${duration}`, "tool weigh({})"];
      await expect.poll(readCalls).toEqual(expected);
      await page.locator(".tool-call").first().click();
      await expect.poll(readCalls).toEqual([expect.stringContaining("9400000"), expected[1]]);
      await page.reload();
      await page.waitForSelector("[data-testid=turn][data-status=ended]");
      await expect.poll(readCalls).toEqual(expected);
      await page.close();
    },
  );

  it("highlights the code of an answer, and copies it", async () => {
    const coder = agent({ name: "coder", description: "Writes code" }, async function* () {
      yield '# Code\n\nRun this:\n\n```ts\n// Adds\nconst sum = 1 + 2;\n```\n\n<span class="hljs-keyword">no</span>\n';
    });
    test = await ConsolePageTest.serve({ coder });
    const { page } = await test.open(browser, "#/chat/coder");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await send(page, "Write");
    const block = page.locator(".code-block");
    await block.getByText("const", { exact: true }).waitFor();
    const readColors = (): Promise<string[]> =>
      block
        .locator("span")
        .evaluateAll((words: object[]) =>
          words.map(
            (word) =>
              (globalThis as unknown as { getComputedStyle(e: object): { color: string } }).getComputedStyle(
                word,
              ).color,
          ),
        );
    expect(new Set(await readColors()).size).toBeGreaterThan(2);
    expect(await page.locator(".markdown .hljs-keyword").allInnerTexts()).toEqual(["const"]);
    expect(await page.locator(".markdown .heading.h1").allInnerTexts()).toEqual(["Code"]);
    await block.getByRole("button", { name: "Copy the code" }).click();
    await expect.poll(() => page.locator(".toast").innerText()).toBe("Copied the code");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("// Adds\nconst sum = 1 + 2;\n");
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findAccessibilityViolations(page)).toEqual([]);
    await page.close();
  });

  it("names the error that the agent threw", async () => {
    const broken = agent({ name: "broken", description: "Fails" }, async function* () {
      yield "Before.";
      throw new Error("The scale is empty.");
    });
    test = await ConsolePageTest.serve({ broken });
    const { page } = await test.open(browser, "#/chat/broken");
    await send(page, "Weigh");
    await expect
      .poll(() => page.getByRole("alert").allInnerTexts())
      .toContain("The agent threw an error: The scale is empty.");
    await page.close();
  });

  it("reaches every screen on a phone, also if the name of an agent is long [B20]", async () => {
    const name = "An agent with a name that is longer than the screen of a phone".repeat(2);
    const long = agent({ name, description: "Has a long name" }, async function* () {
      yield "Done.";
    });
    test = await ConsolePageTest.serve({ long });
    const { page } = await test.open(browser, "#/chat/long", { viewport: { width: 390, height: 800 } });
    await page.getByRole("heading", { name }).waitFor();
    const expectLinks = async (screens: readonly string[]): Promise<void> => {
      for (const screen of screens) {
        const box = await page.locator("nav").getByRole("link", { name: screen, exact: true }).boundingBox();
        expect([screen, box && box.x >= 0 && box.x + box.width <= 390]).toEqual([screen, true]);
      }
    };
    await expectLinks(["Tasks", "Chat", "Flow", "Agents", "Compare"]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await send(page, "Hi");
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.locator("[data-testid=task]").waitFor();
    await expectLinks(["Tasks", "Task", "Chat", "Flow", "Agents", "Compare"]);
    await page.getByRole("tab", { name: "Timeline" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("[data-view=content]").waitFor();
    await page.close();
  });
});
