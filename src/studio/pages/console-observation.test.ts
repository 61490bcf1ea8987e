import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FunctionTool, LlmAgent, LongRunningFunctionTool } from "@google/adk";
import { agent, artifact, data } from "../../agents/adapters/index.ts";
import { adkAgent, ScriptedLlm } from "../../agents/adk/index.ts";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
  writePageToDisk,
} from "../../cards/html/browser.fixture.ts";
import { ScriptedA2aJsTestExecutor, serveWithOfficialSdk } from "../../client/a2a-js-server.fixture.ts";
import { connect } from "../../client/index.ts";
import { decodeModelPrices, type TrafficLine } from "../../observe/trace/index.ts";
import {
  createMemoryTrafficSink,
  createTrafficWriter,
  openTrafficRecord,
  readTrafficFile,
} from "../../observe/trace/recording/index.ts";
import { bearer } from "../../server/auth/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { renderTrafficRecord } from "./index.ts";
import { clerkAgent, ConsolePageTest, reportAgent, SteppedAgent } from "./console-page.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium)
  process.stderr.write(`What the console states about tasks is not tested: ${CHROMIUM_MISSING_MESSAGE}.\n`);

describe.skipIf(!hasChromium)("the page of a console states only what it observed: it", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  it("shows no path of a task that ran before the console observed it, and the times of its commits [E26, B1, B2]", async () => {
    const store = `sqlite:${join(mkdtempSync(join(tmpdir(), "console-")), "tasks.db")}` as const;
    const earlier = createServer({ reporter: reportAgent }, { store, observer: false });
    const { task } = await (await connect((await earlier.listen()).url)).ask("tides");
    const endedAt = Date.now();
    await earlier.close();
    while (Date.now() - endedAt < 1000) await setTimeout(100);
    const served = await ConsolePageTest.serve({ reporter: reportAgent }, { store });
    const { page, errors } = await served.open(browser, `#/flow/reporter/${task?.id}?view=path`);
    await page.getByText("No requests or model calls of this task were observed.").waitFor();
    expect(await page.locator("#main").innerText()).not.toContain("own work");
    await page.keyboard.press("1");
    await page.locator("#tab-sequence[aria-selected=true]").waitFor();
    await page.getByText("No requests or model calls of this task were observed.").waitFor();
    await page.evaluate(`location.hash = "#/task/reporter/${task?.id}"`);
    const rows = page.locator("[data-testid=timeline] [data-kind=event]");
    await rows.first().waitFor();
    expect(await page.locator(".task-time").innerText()).toMatch(/: where the time went was not observed$/);
    const times = await rows
      .locator("time")
      .evaluateAll((elements) => elements.map((element) => element.getAttribute("datetime")));
    expect(times.length).toBeGreaterThan(4);
    for (const time of times) expect(Date.parse(time ?? "")).toBeLessThanOrEqual(endedAt);
    expect(errors).toEqual([]);
    await page.close();
    await served.close();
  });

  it("names the agent that a planner waited for, also if its server records nothing [B3]", async () => {
    const pricerServer = createServer(
      agent({ name: "pricer", description: "Prices" }, async function* () {
        await setTimeout(1_500);
        yield "5";
      }),
      { store: "memory", observer: false },
    );
    const { url: pricer } = await pricerServer.listen();
    const planner = agent({ name: "planner", description: "Plans" }, async function* () {
      yield (await (await connect(pricer)).ask("How much?")).text;
    });
    const served = await ConsolePageTest.serve({ planner });
    const { page } = await served.open(browser, "#/flow?view=path");
    await (await connect(served.url)).ask("Plan");
    const shares = page.locator(".path-bar li");
    await expect.poll(() => shares.first().innerText()).toMatch(/^pricer \(agent\)/);
    expect(await page.locator(".path-bar").innerText()).not.toContain("pricer (own work)");
    await page.close();
    await served.close();
    await pricerServer.close();
  });

  it("names agents of other vendors that a planner waited for: live, after a restart with a record, and in a page", async () => {
    const scripted = new ScriptedA2aJsTestExecutor();
    const execute = async (...turn: Parameters<typeof scripted.execute>): Promise<void> => {
      await setTimeout(300);
      await scripted.execute(...turn);
    };
    const vendor = await serveWithOfficialSdk({ executor: { execute, cancelTask: scripted.cancelTask } });
    const planner = agent({ name: "planner", description: "Plans" }, async function* () {
      yield (await (await connect(vendor.url)).ask("count")).text;
    });
    const folder = mkdtempSync(join(tmpdir(), "console-"));
    const file = join(folder, "record.jsonl");
    const options = { store: `sqlite:${join(folder, "tasks.db")}` } as const;
    const serve = async (): Promise<{ test: ConsolePageTest; close: () => Promise<void> }> => {
      const { writer, close } = openTrafficRecord(file, { vantage: "server", name: "test", code: "test" });
      const test = await ConsolePageTest.serve({ planner }, options, {
        serverRecord: writer,
        serverRecordFile: file,
      });
      const closeAll = async (): Promise<void> => {
        await test.close();
        await close();
      };
      return { test, close: closeAll };
    };
    const expectVendorOnPath = async (page: Page): Promise<void> => {
      await expect
        .poll(() =>
          page
            .locator(".path-bar li")
            .first()
            .innerText()
            .catch(() => ""),
        )
        .toMatch(/^Obedient \(agent\)/);
    };
    const first = await serve();
    const live = await first.test.open(browser, "#/flow?view=path");
    await (await connect(first.test.url)).ask("Plan");
    await expectVendorOnPath(live.page);
    await live.page.close();
    await first.close();

    const second = await serve();
    const restarted = await second.test.open(browser, "#/flow?view=path");
    await expectVendorOnPath(restarted.page);
    await restarted.page.close();
    await second.close();

    const lines: TrafficLine[] = [];
    for await (const decoded of readTrafficFile(file))
      if (decoded.type === "traffic") lines.push(decoded.line);
    const url = await writePageToDisk(renderTrafficRecord(lines, { title: "planner" }));
    const page = await browser.newPage();
    await page.goto(`${url}#/flow?view=path`);
    await expectVendorOnPath(page);
    await page.close();
    await vendor.close();
  });

  it("does not show the reads of the console itself [B15]", async () => {
    const remote = createServer(reportAgent, { store: "memory", observer: false });
    const { url } = await remote.listen();
    const served = await ConsolePageTest.serve({ reporter: reportAgent }, {}, { agentUrls: [url] });
    const { page } = await served.open(browser, "#/tasks");
    const { task } = await (await connect(served.url)).ask("tides");
    await page.evaluate(`location.hash = "#/task/reporter/${task?.id}?view=content"`);
    await page.locator(".markdown table").first().waitFor();
    await page.keyboard.type("gt");
    await page.locator("[data-testid=task-row]").first().waitFor();
    await page.keyboard.type("gf");
    await page.locator(".sequence .message").filter({ hasText: "completed" }).waitFor();
    expect(await page.locator("#picture").innerText()).not.toMatch(/GetTask|ListTasks/);
    await page.close();
    await served.close();
    await remote.close();
  });

  it("tells agents with the same name apart [B8]", async () => {
    const servers = ["one", "two"].map((answer) =>
      createServer(
        agent({ name: "clerk", description: "Answers" }, async function* () {
          yield answer;
        }),
        { store: "memory", observer: false },
      ),
    );
    const urls = await Promise.all(servers.map(async (server) => (await server.listen()).url));
    const test = await ConsolePageTest.callUrls(urls);
    const { page } = await test.open(browser, "#/chat");
    const names = await page.getByRole("combobox", { name: "Agent" }).locator("option").allInnerTexts();
    expect(names.toSorted()).toEqual(["clerk", expect.stringMatching(/^clerk \(:\d+\)$/)]);
    for (const name of names) {
      await page.getByRole("combobox", { name: "Agent" }).selectOption({ label: name });
      await page.getByRole("textbox", { name: "Message" }).fill("Hi");
      await page.keyboard.press("Enter");
      await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    }
    await page.evaluate(`location.hash = "#/flow"`);
    const participants = page.locator(".sequence-participants text");
    await expect.poll(() => participants.allTextContents()).toEqual(["You", ...names]);
    await page.close();
    await test.close();
    await Promise.all(servers.map((server) => server.close()));
  });

  it("shows only the failure of a task that does not exist, and offers no such task in Flow [B14]", async () => {
    const test = await ConsolePageTest.serve({ reporter: reportAgent });
    const client = await connect(test.url);
    const { page } = await test.open(browser, "#/task/reporter/nope");
    await page.getByText("The task cannot be read").waitFor();
    await expect(client.tasks.get("nope")).rejects.toThrow("nope");
    await client.ask("tides");
    expect(await page.locator("#main .task-header").count()).toBe(0);
    await page.evaluate(`location.hash = "#/flow"`);
    const choices = page.getByRole("combobox", { name: "Task" }).locator("option");
    await expect.poll(() => choices.allInnerTexts()).toContainEqual(expect.stringContaining("completed"));
    expect((await choices.allInnerTexts()).join()).not.toContain("unknown");
    await page.close();
    await test.close();
  });

  it("shows an agent that streams its answer as working, and finds its task with this state [B18]", async () => {
    const stepped = new SteppedAgent();
    const test = await ConsolePageTest.serve({ ticker: stepped.agent });
    const { page } = await test.open(browser, "#/chat/ticker");
    await page.getByRole("textbox", { name: "Message" }).fill("2");
    await page.keyboard.press("Enter");
    stepped.allow(1);
    await page.locator(".turn-status [data-state=TASK_STATE_WORKING]").waitFor();
    await page.evaluate(`location.hash = "#/tasks?state=TASK_STATE_WORKING"`);
    const rows = page.locator("[data-testid=task-row][data-state=TASK_STATE_WORKING]");
    await expect.poll(() => rows.count()).toBe(1);
    stepped.allow(1);
    await page.getByText("No task matches the filters").waitFor();
    await page.close();
    await test.close();
  });

  it("offers push notifications only for agents of other servers that send them [B12]", async () => {
    const remote = createServer(reportAgent, {
      store: "memory",
      observer: false,
      push: { allowPrivate: true },
    });
    const { url } = await remote.listen();
    await (await connect(url)).ask("tides");
    const test = await ConsolePageTest.serve({ own: clerkAgent }, {}, { agentUrls: [url] });
    const own = await (await connect(test.url)).ask("tides");
    const { page } = await test.open(browser, `#/task/own/${own.task?.id}`);
    const button = page.getByRole("button", { name: "Receive push notifications" });
    await page.locator(".task-header").waitFor();
    expect(await button.count()).toBe(0);
    await page.evaluate(`location.hash = "#/tasks"`);
    await page.locator("[data-testid=task-row]").filter({ hasText: "reporter" }).click();
    await button.waitFor();
    await page.close();
    await test.close();
    await remote.close();
  });

  it("leads from a chat to the sign-in of an agent that requires credentials [B11]", async () => {
    const guarded = createServer(reportAgent, {
      store: "memory",
      observer: false,
      authenticate: bearer({ tokens: { "key-of-ada-123456": "ada" } }),
    });
    const { url } = await guarded.listen();
    const test = await ConsolePageTest.callUrls([url]);
    const { page } = await test.open(browser, "#/chat");
    await page.getByRole("textbox", { name: "Message" }).fill("Hi");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Access token").waitFor();
    expect(page.url()).toContain("#/agents/");
    await page.close();
    await test.close();
    await guarded.close();
  });

  it("names one reader of a message of the chat, although the client and the server observe its stream", async () => {
    const test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/chat/reporter");
    await page.getByRole("textbox", { name: "Message" }).fill("tides");
    await page.keyboard.press("Enter");
    await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    await page.getByRole("link", { name: "Timeline" }).click();
    const readers = page.getByRole("region", { name: "Readers" }).getByRole("listitem");
    await readers.filter({ hasText: "closed" }).first().waitFor();
    expect(await readers.count()).toBe(1);
    await page.close();
    await test.close();
  });

  it("makes one row of the chunks of an answer, and shows each chunk on request", async () => {
    const stepped = new SteppedAgent();
    const test = await ConsolePageTest.serve({ ticker: stepped.agent });
    const { page } = await test.open(browser, "#/chat/ticker");
    await page.getByRole("textbox", { name: "Message" }).fill("6");
    await page.keyboard.press("Enter");
    // Each number is a separate chunk, because it arrives after the number before.
    for (let number = 1; number <= 6; number++) {
      stepped.allow(1);
      await page.locator(".artifact").getByText(String(number)).waitFor();
    }
    await page.getByRole("link", { name: "Timeline" }).click();
    const chunks = page.locator("[data-testid=timeline] [data-kind=event]").filter({ hasText: "artifact" });
    await page.getByText(/^\d chunks, \d/).waitFor();
    expect(await chunks.count()).toBeLessThan(3);
    expect(await page.locator("[data-testid=timeline] .entry-bar > span").count()).toBeGreaterThan(3);
    await page.getByLabel("Every line").check();
    await expect.poll(() => chunks.count()).toBeGreaterThan(5);
    await page.close();
    await test.close();
  });

  it("lists tokens and cost, and compares two runs of the same question first", async () => {
    const prices = decodeModelPrices({ currency: "USD", models: { "test-model": { input: 2, output: 10 } } });
    const asked = agent({ name: "asked", description: "Answers" }, async function* ({ text, reportCall }) {
      const [inputTokens, outputTokens] = [1_200, 34];
      reportCall?.({ kind: "model", model: "test-model", durationMs: 1, inputTokens, outputTokens });
      yield `About ${text}`;
    });
    const test = await ConsolePageTest.serve({ asked }, {}, { prices });
    const client = await connect(test.url);
    const { page } = await test.open(browser, "#/tasks");
    for (const question of ["tides", "tides", "rivers"]) await client.ask(question);
    const rows = page.locator("[data-testid=task-row]");
    await expect
      .poll(() => rows.locator(".task-tokens").allInnerTexts())
      .toEqual(["1,234", "1,234", "1,234"]);
    expect(await rows.locator(".task-cost").first().innerText()).toMatch(/^\$\d/);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await rows.locator(".task-cost").first().isVisible()).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.evaluate(`location.hash = "#/compare"`);
    const question = page.getByRole("row", { name: /^question/ });
    await expect.poll(() => question.locator("td").allInnerTexts()).toContain("tides");
    expect((await question.innerText()).match(/tides/g)).toHaveLength(2);
    const chosen = (): Promise<string[]> =>
      page
        .locator(".compare-pickers select")
        .evaluateAll((selects) => selects.map((select) => (select as HTMLSelectElement).value));
    const earlierFirst = await chosen();
    await page.evaluate(`location.hash = "#/compare?a=${earlierFirst[1]}&agent=asked"`);
    await expect.poll(() => page.url()).toContain("agent=asked");
    await expect.poll(chosen).toEqual(earlierFirst);
    await page.close();
    await test.close();
  });

  it("lists the tasks of called agents below their callers, with events and duration, and without prices no cost", async () => {
    const stepped = new SteppedAgent("solver");
    const solver = createServer(stepped.agent, { store: "memory", observer: false });
    const { url } = await solver.listen();
    const planner = agent({ name: "planner", description: "Plans" }, async function* ({ reportCall, text }) {
      reportCall?.({ kind: "model", model: "test-model", durationMs: 1, inputTokens: 10 });
      yield (await (await connect(url)).ask(text)).text;
    });
    const test = await ConsolePageTest.serve({ planner }, {}, { agentUrls: [url] });
    const { page, errors } = await test.open(browser, "#/tasks");
    const client = await connect(test.url);
    const answer = client.ask("2");
    const rows = page.locator("[data-testid=task-row]");
    const readCells = (name: string): Promise<string[]> => rows.locator(`.task-${name}`).allInnerTexts();
    await expect.poll(() => readCells("agent")).toEqual(["planner", "solver"]);
    await expect
      .poll(() => readCells("duration"))
      .toEqual([expect.stringMatching(/^for \d/), expect.stringMatching(/^for \d/)]);
    expect(await readCells("preview")).toEqual([
      expect.not.stringContaining("↳"),
      expect.stringMatching(/^↳ /),
    ]);
    expect((await readCells("caller")).at(-1)).toBe("planner");
    stepped.allow(2);
    await answer;
    await expect
      .poll(() => readCells("duration"))
      .toEqual([expect.stringMatching(/^\d/), expect.stringMatching(/^\d/)]);
    expect((await readCells("events")).map(Number)).toEqual([expect.any(Number), expect.any(Number)]);
    expect(await page.locator(".task-cost").count()).toBe(0);
    expect(await page.locator(".list-summary").innerText()).toContain(
      "No price is known for the used models",
    );
    // The model call of the planner is the only one, and the solver has made none.
    expect(await readCells("tokens")).toEqual(["≥ 10", ""]);
    await page.setViewportSize({ width: 390, height: 800 });
    const measureBottoms = (): Promise<number[]> =>
      rows.evaluateAll((elements) => elements.map((element) => element.getBoundingClientRect().bottom));
    await expect
      .poll(async () => {
        const [first = 0, second = 0] = await measureBottoms();
        return second - first;
      })
      .toBe((await rows.first().boundingBox())?.height);
    expect(await rows.nth(1).locator(".task-duration").isVisible()).toBe(true);
    await rows.nth(1).click();
    const readers = page.getByRole("region", { name: "Readers" }).getByRole("listitem");
    await expect.poll(() => readers.first().innerText()).toMatch(/all \d+ events/);
    expect(errors).toEqual([]);
    await page.close();
    await test.close();
    await solver.close();
  });

  it("shows unknown tokens as a dash with the reason, and a sum with unknown members as a lower bound", async () => {
    const model = { kind: "model", model: "test-model", durationMs: 1 } as const;
    const asked = agent({ name: "asked", description: "Answers" }, async function* ({ text, reportCall }) {
      reportCall?.(model);
      if (text === "some") reportCall?.({ ...model, inputTokens: 1_200, outputTokens: 34 });
      yield "Done";
    });
    const test = await ConsolePageTest.serve({ asked });
    const client = await connect(test.url);
    const { page } = await test.open(browser, "#/tasks");
    const { task: none } = await client.ask("none");
    const { task: some } = await client.ask("some");
    const tokens = page.locator("[data-testid=task-row] .task-tokens span");
    await expect.poll(() => tokens.allInnerTexts()).toEqual(["≥ 1,234", "–"]);
    expect(await tokens.nth(1).getAttribute("title")).toBe("The agent reported no tokens");
    expect(await tokens.nth(0).getAttribute("title")).toBe("The agent reported no tokens for 1 model call");
    for (const [task, text] of [
      [some, "≥ 1,200 + 34 tokens in 2 model calls"],
      [none, "– tokens in 1 model call"],
    ] as const) {
      await page.evaluate(`location.hash = "#/task/asked/${task?.id}"`);
      await page.locator(".task-title", { hasText: text }).waitFor();
    }
    await page.evaluate(`location.hash = "#/compare?a=${some?.id}&b=${none?.id}"`);
    const cells = page.getByRole("row", { name: /^tokens and cost/ }).locator("td");
    await expect.poll(() => cells.allInnerTexts()).toEqual(["tokens and cost", "≥ 1,234 tok", "– tok", "–"]);
    await page.close();
    await test.close();
  });

  it("counts a request once, with its real address, although its client and its server observe it", async () => {
    const test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page, errors } = await test.open(browser, "#/chat/reporter");
    await page.getByRole("textbox", { name: "Message" }).fill("tides");
    await page.keyboard.press("Enter");
    await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    await page.getByRole("link", { name: "Timeline" }).click();
    const counts = page.locator(".timeline-filters .soft");
    await expect.poll(() => counts.innerText()).toMatch(/^\d+ of \d+ lines/);
    for (const filter of await page.locator(".timeline-filters input").all()) await filter.check();
    expect(await counts.innerText()).toMatch(/^(\d+) of \1 lines/);
    await page.getByRole("tab", { name: "Wire" }).click();
    const requests = page.locator(".wire .call");
    await requests.first().waitFor();
    expect(await requests.count()).toBe(1);
    expect(await requests.innerText()).toMatch(/You → reporter.*seen by the client and the server/s);
    await requests.getByRole("button").first().click();
    await requests.getByText(`${test.url}/a2a/reporter`, { exact: true }).waitFor();
    await page.evaluate(`location.hash = "#/agents/reporter"`);
    const observed = page.locator(".card-report tbody tr");
    await expect
      .poll(async () => (await observed.allInnerTexts()).join("\n"))
      .toMatch(/1 stream with \d+ events, 0 refused streams[^]*\b1 request\b/);
    expect(errors).toEqual([]);
    await page.close();
    await test.close();
  });

  it("names the sender of a message: an agent, a client, or the person in front of the page", async () => {
    let url = "";
    const planner = agent({ name: "planner", description: "Plans" }, async function* () {
      yield (await (await connect(`${url}/a2a/reporter`)).ask("tides")).text;
    });
    const test = await ConsolePageTest.serve({ planner, reporter: reportAgent });
    ({ url } = test);
    const { task: other } = await (await connect(`${url}/a2a/planner`)).ask("From a program");
    const { page } = await test.open(browser, "#/chat/planner");
    await page.getByRole("textbox", { name: "Message" }).fill("From the page");
    await page.keyboard.press("Enter");
    await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    const sender = page.locator("[data-testid=turn] [data-role=user] strong");
    const context = new URL(page.url().replace("#", "")).searchParams.get("context");
    for (const [route, name] of [
      [`chat/planner?context=${context}`, /^You$/],
      [`chat/planner?context=${other?.contextId}`, /^client/],
    ] as const) {
      await page.evaluate(`location.hash = "#/${route}"`);
      await page.reload();
      await expect.poll(() => sender.first().innerText()).toMatch(name);
    }
    await page.evaluate(`location.hash = "#/tasks?agent=reporter"`);
    await page.locator("[data-testid=task-row]").first().click();
    await page.getByRole("tab", { name: "Messages and artifacts" }).click();
    const sides = page.locator(".messages .message-head strong");
    await expect.poll(() => sides.allInnerTexts()).toEqual(["planner", expect.stringMatching(/^reporter$/)]);
    await page.close();
    await test.close();
  });

  it("states the same duration everywhere, also of an agent whose server writes to the same record", async () => {
    const record = createTrafficWriter(createMemoryTrafficSink(), {
      vantage: "server",
      name: "test",
      code: "test",
    });
    const solver = agent({ name: "solver", description: "Solves" }, async function* () {
      await setTimeout(150);
      yield "5";
    });
    const solverServer = createServer(solver, { store: "memory", observer: false, record });
    const { url } = await solverServer.listen();
    const planner = agent({ name: "planner", description: "Plans" }, async function* () {
      yield (await (await connect(url)).ask("How much?")).text;
    });
    const test = await ConsolePageTest.serve({ planner }, {}, { agentUrls: [url], serverRecord: record });
    const { page, errors } = await test.open(browser, "#/tasks");
    await (await connect(test.url)).ask("Plan");
    const rows = page.locator("[data-testid=task-row]");
    await expect
      .poll(() => page.locator("[data-testid=task-row][data-state=TASK_STATE_COMPLETED]").count())
      .toBe(2);
    const listed = await rows.locator(".task-duration").allInnerTexts();
    for (const [index, name] of ["planner", "solver"].entries()) {
      await page.evaluate(`location.hash = "#/tasks"`);
      await rows.nth(index).click();
      await page.locator(".task-title h1", { hasText: name }).waitFor();
      const time = page.locator(".task-time");
      await expect.poll(() => time.innerText()).toMatch(new RegExp(`^${listed[index]}: \\d+ %`));
      await time.click();
      await page.getByRole("heading", { name: `: ${listed[index]}` }).waitFor();
      await page.locator(".card-facts", { hasText: `time${listed[index]}` }).waitFor();
    }
    expect(errors).toEqual([]);
    await page.close();
    await test.close();
    await solverServer.close();
  });

  it("shows the call of a tool once, also if messages, artifacts, and the record report it", async () => {
    const tool = new FunctionTool({
      name: "look_up",
      description: "Looks up",
      execute: () => ({ found: 7 }),
    });
    const ask = new LongRunningFunctionTool({
      name: "approve_order",
      description: "Asks",
      execute: () => ({ status: "pending" }),
    });
    const model = new ScriptedLlm([{ call: "look_up" }, { call: "approve_order" }, "I ask.", "Done."]);
    const helper = new LlmAgent({ name: "helper", description: "Helps", model, tools: [tool, ask] });
    const test = await ConsolePageTest.serve({ helper: adkAgent(helper) });
    const { page } = await test.open(browser, "#/chat/helper");
    await page.getByRole("textbox", { name: "Message" }).fill("Help");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.locator("[data-testid=turn]").nth(1).getByText("Done.").waitFor();
    const calls = page.locator(".transcript .tool-call summary");
    for (const isReload of [false, true]) {
      if (isReload) await page.reload();
      await expect
        .poll(() => calls.allInnerTexts())
        .toEqual([expect.stringMatching(/^tool look_up/), expect.stringMatching(/^tool approve_order/)]);
    }
    await page.close();
    await test.close();
  });

  it("says of an artifact that only one of two tasks has it, and compares data", async () => {
    const counter = agent({ name: "counter", description: "Counts" }, async function* ({ text }) {
      yield artifact({ name: "both", id: "both" }, data({ value: text }));
      if (text === "more") yield artifact({ name: "extra", id: "extra" }, data({}));
    });
    const test = await ConsolePageTest.serve({ counter });
    const client = await connect(test.url);
    const { page } = await test.open(browser, "#/compare");
    const tasks = [await client.ask("more"), await client.ask("less")].map(({ task }) => task?.id);
    await page.evaluate(`location.hash = "#/compare?a=${tasks[0]}&b=${tasks[1]}"`);
    await expect
      .poll(() => page.locator("article h3").allInnerTexts())
      .toEqual(["both different", "extra only first"]);
    await page.close();
    await test.close();
  });

  it("shows in the timeline of a task which agents it called and for how long, and the cost of its tree", async () => {
    const prices = decodeModelPrices({ currency: "USD", models: { "test-model": { input: 2, output: 10 } } });
    const model = { kind: "model", model: "test-model", durationMs: 1 } as const;
    const pricer = agent({ name: "pricer", description: "Prices" }, async function* ({ reportCall }) {
      await setTimeout(1_100);
      reportCall?.({ ...model, inputTokens: 1_000_000, outputTokens: 0 });
      yield "5";
    });
    let url = "";
    const planner = agent({ name: "planner", description: "Plans" }, async function* ({ reportCall }) {
      reportCall?.({ ...model, inputTokens: 2_000_000, outputTokens: 0 });
      yield (await (await connect(`${url}/a2a/pricer`)).send("How much?")).text;
    });
    const test = await ConsolePageTest.serve({ planner, pricer }, {}, { prices });
    ({ url } = test);
    const { page, errors } = await test.open(browser, "#/chat/planner");
    await page.getByRole("textbox", { name: "Message" }).fill("Plan");
    await page.keyboard.press("Enter");
    await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    await page.getByRole("link", { name: "Timeline" }).click();
    const requests = page.locator("[data-testid=timeline] [data-kind=request]");
    for (const isReload of [false, true]) {
      if (isReload) await page.reload();
      await expect
        .poll(async () => (await requests.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ")))
        .toEqual([
          expect.stringMatching(/→ planner: SendStreamingMessage · \d\.\d\d s$/),
          expect.stringMatching(/ planner → pricer: SendMessage · \d\.\d\d s$/),
        ]);
      expect(await page.locator(".task-title").innerText()).toMatch(
        /2,000,000 \+ 0 tokens in 1 model call of this task, \$4\.00/,
      );
      expect(await page.locator(".task-title").innerText()).toMatch(
        /3,000,000 \+ 0 tokens in 2 model calls with the tasks that it started, \$6\.00/,
      );
    }
    await requests.nth(1).click();
    await page.getByRole("link", { name: "Open the task of pricer" }).click();
    await page.locator(".task-title h1", { hasText: "pricer" }).waitFor();
    await page.getByRole("link", { name: "called by planner" }).click();
    await page.locator(".task-title h1", { hasText: "planner" }).waitFor();
    await page.getByRole("tab", { name: "Wire" }).click();
    await page.locator("#task-view").getByText("SendStreamingMessage").first().waitFor();
    expect(await page.locator("#task-view").innerText()).not.toContain("Request not recorded");
    expect(errors).toEqual([]);
    await page.close();
    await test.close();
  });

  it("says in Flow that the chosen task was not observed, instead of showing all traffic", async () => {
    const test = await ConsolePageTest.serve({ reporter: reportAgent });
    const { page } = await test.open(browser, "#/flow");
    await (await connect(test.url)).ask("tides");
    await page.locator(".sequence .message").first().waitFor();
    await page.evaluate(`location.hash = "#/flow/reporter/nope"`);
    await page.getByText("No requests or model calls of this task were observed.").waitFor();
    expect(await page.locator(".sequence .message").count()).toBe(0);
    await page.close();
    await test.close();
  });

  it("states in the list how long a task took, and in its header who determined the time, with a link to the path", async () => {
    let url = "";
    const slow = agent({ name: "slow", description: "Takes its time" }, async function* () {
      await setTimeout(1_100);
      yield "Done.";
    });
    const thinker = agent({ name: "thinker", description: "Thinks" }, async function* ({ reportCall }) {
      await setTimeout(300);
      reportCall?.({ kind: "model", model: "big", durationMs: 300 });
      yield "Done.";
    });
    const delegate = (name: string, to: string): Agent =>
      agent({ name, description: "Delegates" }, async function* () {
        yield (await (await connect(`${url}/a2a/${to}`)).ask("Hi")).text;
      });
    const agents = { slow, thinker, clerk: clerkAgent, planner: delegate("planner", "slow") };
    const test = await ConsolePageTest.serve({ ...agents, tutor: delegate("tutor", "planner") });
    ({ url } = test);
    const { page, errors } = await test.open(browser, "#/tasks");
    const ask = async (name: string): Promise<Task> => {
      const { task } = await (await connect(`${url}/a2a/${name}`)).ask("Hi");
      return task as Task;
    };
    const openTask = async (name: string, { id }: Task): Promise<Locator> => {
      await page.evaluate(`location.hash = "#/task/${name}/${id}"`);
      return page.locator(`[data-task-id="${id}"] .task-time`);
    };
    await ask("slow");
    await expect
      .poll(() => page.locator("[data-testid=task-row] .task-duration").first().innerText())
      .toMatch(/^1\.\d\d s$/);
    await page.locator("[data-testid=task-row]").first().click();
    const time = page.locator(".task-time");
    await expect.poll(() => time.innerText()).toMatch(/^1\.\d\d s: \d+ % own work/);
    const thinkerTime = await openTask("thinker", await ask("thinker"));
    await expect.poll(() => thinkerTime.innerText()).toMatch(/ms: \d+ % model big/);
    const tutored = await ask("tutor");
    const tutorTime = await openTask("tutor", tutored);
    await expect.poll(() => tutorTime.innerText()).toMatch(/s: \d+ % waiting for planner → slow/);

    await page.evaluate(`location.hash = "#/compare?a=${tutored.id}&agent=tutor"`);
    const called = page.getByRole("row", { name: /^called agents/ });
    await expect.poll(() => called.innerText()).toContain("planner, slow");

    const question = await ask("clerk");
    const clerkTime = await openTask("clerk", question);
    await expect.poll(() => clerkTime.innerText()).toMatch(/^Waiting for the user for \d/);
    await setTimeout(500);
    const clerk = await connect(`${url}/a2a/clerk`);
    await clerk.ask({ taskId: question.id, parts: [{ text: "yes" }] });
    await expect.poll(() => clerkTime.innerText()).toMatch(/ms: \d+ % waiting for the user/);
    await clerkTime.click();
    await page.locator("#tab-path[aria-selected=true]").waitFor();
    await page.locator(".path-bar li", { hasText: "user" }).waitFor();
    expect(errors).toEqual([]);
    await page.close();
    await test.close();
  });

  it("shows what a model saw, what it replied, and what the call cost, two clicks from the tasks", async () => {
    const prices = decodeModelPrices({ currency: "USD", models: { "test-model": { input: 2, output: 10 } } });
    const weather = agent(
      { name: "weather", description: "Answers" },
      async function* ({ text, reportCall }) {
        reportCall?.({
          kind: "model",
          model: "test-model",
          durationMs: 1_500,
          inputTokens: 1_200,
          cachedInputTokens: 800,
          outputTokens: 34,
          finishReason: "STOP",
          prompt: {
            tools: [
              { name: "look_up", description: "Finds the <i>weather</i>", parameters: { type: "object" } },
              { name: "stop", description: "Ends" },
            ],
            maxTokens: 512,
            instruction: "Answer in one <b>word</b>.",
            contents: [
              { role: "user", parts: [{ text }] },
              { role: "model", parts: [{ functionCall: { name: "look_up", args: { city: "Seoul" } } }] },
            ],
          },
          reply: { role: "model", parts: [{ text: "**Clear**" }] },
        });
        const many = Array.from({ length: 1_000 }, () => ({ role: "user", content: "x" }));
        reportCall?.({ kind: "model", model: "test-model", durationMs: 1, prompt: many });
        yield "Clear";
      },
    );
    const test = await ConsolePageTest.serve({ weather }, {}, { prices });
    const { page, errors } = await test.open(browser, "#/tasks");
    await (await connect(test.url)).ask("Weather in Seoul?");
    await page.locator("[data-testid=task-row]").first().click();
    const modelRow = page.locator("[data-testid=timeline] [data-kind=model]").first();
    expect(await modelRow.innerText()).toContain("test-model · 1.50 s ·");
    await modelRow.click();
    const call = page.locator(".model-call");
    const facts = await call.locator("dl").innerText();
    expect(facts).toContain("1,200 (800 cached) + 34");
    expect(facts).toContain("$0.0027");
    expect(facts).toContain("STOP");
    const messages = call.locator(".model-messages > li");
    expect(
      await messages.evaluateAll((items) => items.map((item) => item.getAttribute("data-role"))),
    ).toEqual(["system", "user", "assistant", "assistant"]);
    expect(await messages.nth(0).innerText()).toContain("Answer in one <b>word</b>.");
    expect(await messages.nth(2).innerText()).toMatch(/Calls look_up[^]*Seoul/);
    await messages.nth(3).locator("strong", { hasText: "Clear" }).waitFor();
    const tools = call.locator(".model-tools > li");
    expect(await tools.allInnerTexts()).toEqual([
      expect.stringMatching(/^look_up Finds the <i>weather<\/i>\s+Schema$/),
      "stop Ends (The record does not contain the schema.)",
    ]);
    expect(await call.innerText()).toMatch(/Settings[^]*maxTokens[^]*512[^]*Reply/);
    await tools.getByText("Schema", { exact: true }).click();
    await tools.getByText("object").waitFor();
    await page.locator("[data-testid=timeline] [data-kind=model]").nth(1).click();
    await call.getByRole("button", { name: "950 more" }).click();
    expect(await messages.count()).toBe(100);
    await call.getByText("The record does not contain the reply.").waitFor();
    await call.getByText("The record does not contain the settings of the call").waitFor();
    await page.locator("[data-testid=timeline] [data-kind=model]").nth(0).click();
    await page.getByText("The line as JSON").click();
    await page.locator(".inspector .json-tree").last().waitFor();
    expect(errors).toEqual([]);
    if (process.env["SHOT"]) await page.screenshot({ path: process.env["SHOT"] });
    await page.close();
    await test.close();
  });
});
