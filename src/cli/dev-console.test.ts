import { writeFile } from "node:fs/promises";
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
