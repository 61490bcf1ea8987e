import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getGsm8kSlice } from "../cards/index.ts";
import { pressTabUntil } from "../studio/pages/accessibility.fixture.ts";
import { createTempTestDirectoryWithFiles } from "./cli-test-process.fixture.ts";
import { canTestConsolePage, ConsoleCommandTest } from "./console-page.fixture.ts";

const canTest = canTestConsolePage("The console of the demo");

describe.skipIf(!canTest)("a newcomer in the console of the demo, with the keyboard alone", () => {
  let demo: ConsoleCommandTest;
  let page: Page;
  let errors: readonly string[];

  beforeAll(async () => {
    demo = await ConsoleCommandTest.start(["demo"], await createTempTestDirectoryWithFiles({}));
    ({ page, errors } = await demo.openPage());
  });
  afterAll(() => demo?.close());

  const openChat = async (agent: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(`chat with ${agent}`);
    await page.getByRole("option", { name: `Chat with ${agent}` }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: agent }).waitFor();
  };
  /** Leaves the field that has the focus, so that keys are commands. */
  const leaveField = (): Promise<void> => page.keyboard.press("Escape");
  const send = async (message: string, window = page): Promise<void> => {
    await window.keyboard.press("Escape");
    await window.keyboard.press("i");
    await window.keyboard.type(message);
    await window.keyboard.press("Enter");
  };
  const waitForLastTurn = (status: string): Promise<unknown> =>
    page.waitForSelector(`[data-testid=turn]:last-child[data-status=${status}]`);

  it("chats with the assistant, and sees its tool calls", async () => {
    await openChat("assistant");
    await send("What is 12.5% of 80, and 10 km in miles?");
    await waitForLastTurn("ended");
    const turn = page.locator("[data-testid=turn]").last();
    await expect.poll(() => turn.innerText()).toMatch(/calculate[^]*convert_units[^]*6\.213712 miles/);
  });

  it("approves an expense", async () => {
    await leaveField();
    await page.keyboard.press("n");
    await send("Reimburse 150 euros for a taxi");
    await page.getByTestId("answer").getByRole("button", { name: "Approve" }).waitFor();
    await leaveField();
    await page.keyboard.press("a");
    await pressTabUntil(page, "button ✓ Approve");
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-testid=turn]:nth-child(2)[data-status=ended]");
    await expect
      .poll(() => page.locator("[data-testid=turn]").last().innerText())
      .toContain("150 euros for a taxi");
    await page.locator("[data-testid=turn]:last-child .badge[data-state=TASK_STATE_COMPLETED]").waitFor();
  });

  it("cuts the stream of the writer, and watches the console resume it without a lost word", async () => {
    await openChat("writer");
    await send("Write 30 words");
    const text = page.locator(".artifact .text-part").first();
    await expect.poll(async () => (await text.innerText()).split(" ").length).toBeGreaterThan(3);
    await leaveField();
    await page.keyboard.press("x");
    await page.locator(".turn-note", { hasText: "Connection cut" }).waitFor();
    await page.locator(".turn-note", { hasText: "Connected again" }).waitFor();
    await waitForLastTurn("ended");
    const answer = page.locator(".artifact .markdown").first();
    const readWords = async (): Promise<string[]> => (await answer.innerText()).trim().split(/\s+/);
    await expect.poll(readWords).toHaveLength(30);
    expect((await readWords()).slice(16, 20)).toEqual(["conversation", "the", "agents", "talk"]);
  });

  it("follows the planner and the solver live in Flow", async () => {
    const problem = getGsm8kSlice()[0]?.question ?? "";
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.locator(".sequence .message").first().waitFor();
    const { page: chat } = await demo.openPage("/chat/tutor");
    await send(problem, chat);
    const participants = page.locator(".sequence-participants text");
    await expect
      .poll(async () => await participants.allTextContents())
      .toEqual(expect.arrayContaining(["tutor", "planner", "solver"]));
    await page
      .locator(".sequence .message")
      .filter({ hasText: /completed/ })
      .last()
      .waitFor();
    await chat.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
    // The flow of the tutor's task contains the tasks of both roles, and each task opens.
    await chat.keyboard.press("Escape");
    await pressTabUntil(chat, "a Timeline");
    await pressTabUntil(chat, "a Flow");
    await chat.keyboard.press("Enter");
    await expect.poll(() => chat.locator(".flow-head").innerText()).toMatch(/tasks\s*[34567]/);
    await chat.keyboard.press("3");
    await chat.locator("#picture .message").filter({ hasText: "solver" }).waitFor();
    await chat.keyboard.press("1");
    await chat.locator(".sequence .message").first().waitFor();
    await chat.keyboard.press("k");
    await chat.getByRole("link", { name: "Open the task" }).waitFor();
    await pressTabUntil(chat, "a Open the task");
    await chat.keyboard.press("Enter");
    await chat.waitForSelector("[data-testid=task] .timeline-row");
    await chat.close();
    expect(errors).toEqual([]);
  });
});
