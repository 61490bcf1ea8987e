import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { PageWithRequestsAndErrors } from "../../../src/cards/html/browser.fixture.ts";
import type { ScenarioServerUrls } from "../frameworks/scenario-servers.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { runScenario } from "../scenarios.ts";

const TIMEOUT_MS = 20_000;

/** Uses the server of a peer from the page of a console, as a person does. */
export class PageScenarios {
  readonly #page: Page;
  readonly #errors: readonly string[];
  readonly #getScreenshotPath: (view: string) => string;

  constructor({ page, errors }: PageWithRequestsAndErrors, getScreenshotPath: (view: string) => string) {
    this.#page = page;
    this.#errors = errors;
    this.#getScreenshotPath = getScreenshotPath;
    page.setDefaultTimeout(TIMEOUT_MS);
  }

  /** Runs the scenarios with the test agent of the SDKs. */
  async *runWithTextDrivenAgent({
    url,
    securedUrl,
    token,
  }: ScenarioServerUrls): AsyncGenerator<ScenarioOutcome> {
    const page = this.#page;
    yield* this.#addAndReadCard(url);
    yield await runScenario("chat", async () => {
      await this.#openChat();
      await this.#send("count");
      await this.#waitForState("COMPLETED");
      assert.equal(await this.#readAnswer(), "one two three");
      await this.#save("chat");
    });
    yield await runScenario("stream", () => this.#checkStream());
    yield await runScenario("follow-up", async () => {
      await this.#openChat();
      await this.#send("ask");
      await this.#waitForState("INPUT_REQUIRED");
      await page.reload();
      await this.#waitForState("INPUT_REQUIRED");
      await page.getByPlaceholder("Answer Obedient").waitFor();
      await this.#send("blue");
      await this.#waitForState("COMPLETED");
      assert.equal(await this.#readAnswer(), "got blue");
    });
    yield await runScenario("files", async () => {
      await this.#openChat();
      await page.locator("input[type=file]").setInputFiles({
        name: "hello.png",
        mimeType: "image/png",
        buffer: Buffer.from("hello"),
      });
      await this.#send("receive");
      await this.#waitForState("COMPLETED");
      // The JavaScript agents ignore files, so that only the task shows that the file has arrived.
      await page.reload();
      await this.#turn.locator("[data-role=user]").getByText("hello.png").waitFor();
      await this.#save("files");
    });
    yield await runScenario("resume", async () => {
      await this.#openChat();
      await this.#send("wait");
      await this.#turn.locator(".turn-status [data-state=TASK_STATE_WORKING]").waitFor();
      await page.getByRole("button", { name: "Cut the connection" }).click();
      await this.#turn.getByText("Connection cut").waitFor();
      await this.#turn.locator(".turn-note[data-tone=good]").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await this.#turn.locator(".turn-status [data-state=TASK_STATE_CANCELED]").waitFor();
    });
    yield await runScenario("cancel", async () => {
      await this.#openChat();
      await this.#send("wait");
      await page.getByRole("link", { name: "Timeline" }).click();
      await page.waitForSelector("[data-testid=task][data-state=TASK_STATE_WORKING]");
      await page.getByRole("button", { name: "Cancel", exact: true }).click();
      await page.getByRole("button", { name: "Cancel the task" }).click();
      await page.waitForSelector("[data-testid=task][data-state=TASK_STATE_CANCELED]");
      await this.#save("cancel");
    });
    yield await runScenario("sign-in", async () => {
      await page.getByRole("link", { name: "Agents" }).click();
      await this.#add(securedUrl);
      await page.locator(".agent-details").getByRole("link", { name: "Chat" }).click();
      await this.#send("count");
      await page.locator(".turn .problem").waitFor();
      await page.getByRole("link", { name: "Agents" }).click();
      await page.locator("[data-testid=agent][data-status=auth-needed]").click();
      await page.locator(".sign-in input[type=password]").fill(token);
      await page.locator(".sign-in").getByRole("button", { name: "Sign in" }).click();
      await page.locator("[data-testid=agent][data-status=connected]").nth(1).waitFor();
      await page.locator(".agent-details").getByRole("link", { name: "Chat" }).click();
      await page.getByRole("button", { name: "New conversation" }).click();
      await this.#send("count");
      await this.#waitForState("COMPLETED");
      assert.equal(await this.#readAnswer(), "one two three");
    });
    yield await runScenario("no errors", () => this.#checkErrors());
  }

  /** Runs the scenarios with the scripted agent of the ADKs. */
  async *runWithScriptedAgent(url: string): AsyncGenerator<ScenarioOutcome> {
    yield* this.#addAndReadCard(url);
    yield await runScenario("chat", async () => {
      await this.#openChat();
      await this.#send("stream");
      await this.#waitForState("COMPLETED");
      assert.match(await this.#turn.innerText(), /sunny/);
      await this.#save("chat");
    });
    yield await runScenario("stream", () => this.#checkStream());
    yield await runScenario("no errors", () => this.#checkErrors());
  }

  async *#addAndReadCard(url: string): AsyncGenerator<ScenarioOutcome> {
    const page = this.#page;
    yield await runScenario("add", async () => {
      await page.getByRole("link", { name: "Agents" }).click();
      await this.#add(url);
    });
    yield await runScenario("card", async () => {
      await page.locator(".card-report").waitFor();
      assert.equal(await page.locator(".card-problems [data-tone=bad]").count(), 0);
      assert.match(await page.locator(".card-report .json-tree").innerText(), /name: /);
      await this.#save("card");
    });
  }

  async #add(url: string): Promise<void> {
    const agents = this.#page.locator("[data-testid=agent]");
    const before = await agents.count();
    await this.#page.getByLabel("URL of an agent").fill(url);
    await this.#page.getByRole("button", { name: "Add", exact: true }).click();
    await agents.nth(before).waitFor();
    await this.#page.locator(".agent-details").waitFor();
  }

  /** Opens a new conversation with the first agent. */
  async #openChat(): Promise<void> {
    await this.#page.getByRole("link", { name: "Chat", exact: true }).first().click();
    await this.#page.getByRole("button", { name: "New conversation" }).click();
  }

  async #send(text: string): Promise<void> {
    await this.#page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
    await this.#page.keyboard.press("Enter");
    await this.#turn.waitFor();
  }

  get #turn(): Locator {
    return this.#page.getByTestId("turn").last();
  }

  async #waitForState(state: string): Promise<void> {
    await this.#turn.locator(`.turn-status [data-state=TASK_STATE_${state}]`).waitFor();
    await this.#page.waitForSelector("[data-testid=turn]:last-child[data-status=ended]");
  }

  async #readAnswer(): Promise<string> {
    return (await this.#turn.locator(".artifact .markdown").allInnerTexts()).join("").trim();
  }

  /** Reads the task of the last turn: its timeline contains each event of the stream as it arrived. */
  async #checkStream(): Promise<void> {
    const page = this.#page;
    await page.getByRole("link", { name: "Timeline" }).last().click();
    await page.getByLabel("Every line").check();
    await page.locator(".timeline-row").nth(4).waitFor();
    const rows = await page.locator(".timeline-row").allInnerTexts();
    const events = rows.filter((row) => /\b(?:artifact|status|message)\b/.test(row));
    assert.ok(events.length >= 3, rows.join("\n"));
    assert.ok(
      rows.some((row) => row.includes("stream end")),
      rows.join("\n"),
    );
    assert.equal(await page.locator("[data-mark=gap], [data-mark=duplicate], [data-mark=cut]").count(), 0);
    await this.#save("timeline");
  }

  #checkErrors(): Promise<void> {
    assert.deepEqual(this.#errors, []);
    return Promise.resolve();
  }

  async #save(view: string): Promise<void> {
    await this.#page.screenshot({ path: this.#getScreenshotPath(view) });
  }
}
