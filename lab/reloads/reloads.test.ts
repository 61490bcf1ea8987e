import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CHROMIUM_MISSING_MESSAGE,
  findChromium,
  launchChromium,
} from "../../src/cards/html/browser.fixture.ts";
import { RELOAD_PAGES, type ReloadTestServer, startReloadTestServer } from "./reload-test-server.ts";
import { measureStop, runReloads } from "./run-reloads.ts";

const repositoryRoot = fileURLToPath(new URL("../..", import.meta.url));
const packageFolder = join(repositoryRoot, "node_modules/.cache/colloquy-ui");

/** Installs the packages of the pages, or returns why this machine cannot test them. */
function findMissingRequirement(): string | undefined {
  if (findChromium() === undefined) return CHROMIUM_MISSING_MESSAGE;
  const install = `import { installManifest } from "./lab/support/install-manifest.ts"; installManifest("ui", "lab/reloads");`;
  spawnSync(process.execPath, ["--input-type=module-typescript", "--eval", install], { cwd: repositoryRoot });
  return existsSync(join(packageFolder, "installed.txt"))
    ? undefined
    : "the packages of lab/reloads/package.json could not be installed";
}

const missing = findMissingRequirement();
if (missing !== undefined) process.stderr.write(`Reloads of chat pages are not tested: ${missing}.\n`);

describe.skipIf(missing !== undefined)("a page in Chromium", () => {
  let browser: Browser;
  let server: ReloadTestServer;
  beforeAll(async () => {
    browser = await launchChromium();
    server = await startReloadTestServer(packageFolder, ["memory"], 10);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.each(RELOAD_PAGES)(
    "with %s loses and repeats nothing when it is reloaded, and stops the model call",
    async (page) => {
      const { reloads, differences } = await runReloads(browser, server, page, 5, Math.random, 200);
      expect(differences).toEqual([]);
      expect(reloads).toBe(5);
      // `npm run lab -- reloads` measures the time. Here, other tests use the processor.
      expect(await measureStop(browser, server, page)).toBeLessThan(10_000);
    },
  );
});
