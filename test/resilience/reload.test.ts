import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReloadTestServer, startReloadTestServer } from "../../lab/reloads/reload-test-server.ts";
import { measureStop, runReloads } from "../../lab/reloads/run-reloads.ts";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { warnAboutSkippedTests } from "../support/warn-about-skipped-tests.ts";

const hasChromium = findChromium() !== undefined;
if (!hasChromium) warnAboutSkippedTests("The tests of reloaded pages", CHROMIUM_MISSING_MESSAGE);

/** The pages of React, `useChat`, and AG-UI need more packages: `npm run lab -- reloads`. */
describe.skipIf(!hasChromium)("a page with createChat", () => {
  let browser: Browser;
  let server: ReloadTestServer;
  beforeAll(async () => {
    browser = await launchChromium();
    server = await startReloadTestServer("", ["memory"], 10, ["plain-chat"]);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it("loses and repeats nothing when it is reloaded, and stops the model call", async () => {
    const { reloads, differences } = await runReloads(browser, server, "plain-chat", 3, Math.random, 200);
    expect(differences).toEqual([]);
    expect(reloads).toBe(3);
    await measureStop(browser, server, "plain-chat");
  });
});
