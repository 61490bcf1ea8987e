import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { findChromium } from "../../src/cards/html/browser.fixture.ts";
import { callAgentFromPage, EXPECTED_REPORT, openClientPage } from "../../test/tap/browser/client-page.ts";
import { repositoryRoot } from "./install-programs.ts";
import { startPeerServers } from "./run-sdk-peer.ts";

/** `npm run lab -- interop` installs Python's SDK here. `COLLOQUY_TEST_PYTHON` names another Python with the SDK. */
const python =
  process.env["COLLOQUY_TEST_PYTHON"] ??
  `${repositoryRoot}/node_modules/.cache/colloquy-interop/python/bin/python`;
const isReady = existsSync(python) && findChromium() !== undefined;
if (!isReady) console.warn("A page is not tested with Python's SDK: run npm run lab -- interop once.");

it.skipIf(!isReady)("the client in a page of another origin calls a server of Python's SDK", async () => {
  const client = await openClientPage();
  const program = `${repositoryRoot}/lab/interop/programs/python/server.py`;
  const server = await startPeerServers([python, program, "--cors-origin", client.origin], "unused-token");
  try {
    expect(await client.page.evaluate(callAgentFromPage, { url: server.url })).toEqual(EXPECTED_REPORT);
  } finally {
    server.stop();
    await client.close();
  }
});
