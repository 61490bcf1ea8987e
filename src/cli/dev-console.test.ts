import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
  openPageRecordingRequestsAndErrors,
} from "../cards/html/browser.fixture.ts";
import {
  createTempTestDirectoryWithFiles,
  startServeCommandForTest,
  type ServingCliTestProcess,
} from "./cli-test-process.fixture.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium) process.stderr.write(`Reloads are not tested in a page: ${CHROMIUM_MISSING_MESSAGE}.\n`);

const createAgentSource = (answer: string): string => `
import { agent } from "colloquy";
export default agent({ name: "hello", description: "Answers" }, async function* () { yield "${answer}"; });`;

describe.skipIf(!hasChromium)("the console of colloquy dev", () => {
  let browser: Browser;
  let dev: ServingCliTestProcess;
  let cwd: string;
  beforeAll(async () => {
    browser = await launchChromium();
    cwd = await createTempTestDirectoryWithFiles({
      "package.json": `{ "type": "module" }`,
      "agent.ts": createAgentSource("one"),
    });
    dev = await startServeCommandForTest(["dev"], cwd);
  });
  afterAll(async () => {
    await browser?.close();
    dev?.process.child.kill("SIGTERM");
    await dev?.process.result;
  });

  it("shows each reload, and the stack of the error if a file could not be loaded", async () => {
    const url = /console: (\S+)/.exec(dev.banner)?.[1] ?? "";
    const { page, errors } = await openPageRecordingRequestsAndErrors(browser, url);
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
    const later = await openPageRecordingRequestsAndErrors(browser, url);
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
