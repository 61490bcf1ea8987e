import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTempTestDirectoryWithFiles } from "./cli-test-process.fixture.ts";
import { canTestConsolePage, ConsoleCommandTest } from "./console-page.fixture.ts";

const createAgentSource = (answer: string): string => `
import { agent } from "colloquy";
export default agent({ name: "hello", description: "Answers" }, async function* () { yield "${answer}"; });`;

describe.skipIf(!canTestConsolePage("A reload"))("the console of colloquy dev", () => {
  let dev: ConsoleCommandTest;
  let cwd: string;
  beforeAll(async () => {
    cwd = await createTempTestDirectoryWithFiles({
      "package.json": `{ "type": "module" }`,
      "agent.ts": createAgentSource("one"),
    });
    dev = await ConsoleCommandTest.start(["dev"], cwd);
  });
  afterAll(() => dev?.close());

  it("continues an open page after a restart, and shows what the server had observed before", async () => {
    const { page } = await dev.openPage("/chat/hello");
    await page.getByRole("textbox", { name: "Message" }).fill("Hi");
    await page.keyboard.press("Enter");
    await page.locator("[data-testid=turn][data-status=ended]").waitFor();
    const task = await page.getByRole("link", { name: "Timeline" }).getAttribute("href");
    await dev.restart(cwd);
    for (const file of ["dev.db-record.jsonl", "dev.db-console-secret"]) {
      const { mode } = await stat(join(cwd, ".colloquy", file));
      expect([file, (mode & 0o777).toString(8)]).toEqual([file, "600"]);
    }

    await page.locator("[data-testid=connection-status][data-status=live]").waitFor();
    await page.reload();
    await page.getByTestId("turn").filter({ hasText: "one" }).waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("Hi again");
    await page.keyboard.press("Enter");
    await page.locator("[data-testid=turn]:nth-child(2)[data-status=ended]").waitFor();
    await page.evaluate(
      `location.hash = ${JSON.stringify(`${task?.replace("#/task", "#/flow")}?view=path`)}`,
    );
    await page.locator(".path-bar li", { hasText: "hello (own work)" }).waitFor();
    await page.evaluate(`location.hash = ${JSON.stringify(task)}`);
    const events = page.locator("[data-testid=timeline] [data-kind=event]");
    await events.first().waitFor();
    expect(await events.locator("time").allInnerTexts()).not.toContain("–");
    await page.close();
  });

  it("shows each reload, and the stack of the error if a file could not be loaded", async () => {
    const { page, errors } = await dev.openPage();
    const notice = page.getByTestId("reload");
    expect(await notice.count()).toBe(0);
    await page.locator("[data-testid=connection-status][data-status=live]").waitFor();

    await writeFile(join(cwd, "agent.ts"), createAgentSource("two"));
    await notice.getByText("hello reloaded").waitFor();

    await writeFile(join(cwd, "agent.ts"), `const x = 1;\nthrow new Error("It broke <b>here</b>.");`);
    await notice.getByText("agent.ts: could not be loaded").waitFor();
    const text = await notice.innerText();
    expect(text).toContain("It broke <b>here</b>.");
    expect(text).toContain("agent.ts:2:7");
    // A page that is opened later shows what is broken.
    const later = await dev.openPage();
    await later.page.getByTestId("reload").getByText("agent.ts:2:7").waitFor();
    await later.page.getByRole("button", { name: "Close the notice" }).click();
    expect(await later.page.getByTestId("reload").count()).toBe(0);

    await writeFile(join(cwd, "agent.ts"), createAgentSource("three"));
    await notice.getByText("hello reloaded").waitFor();
    expect(await notice.locator("pre").count()).toBe(0);
    expect(errors).toEqual([]);
    await page.close();
    await later.page.close();
  });
});
