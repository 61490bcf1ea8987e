import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { openPageRecordingRequestsAndErrors } from "../../../src/cards/html/browser.fixture.ts";
import type { ConsolePeer } from "../console/console-peers.ts";
import { runWithPeerServer } from "../console/run-console-peer.ts";
import { startPeerConsole } from "../console/start-peer-console.ts";
import { repositoryRoot } from "../install-programs.ts";
import type { InteropResult } from "../interop-result.ts";
import type { ProgramCommand } from "../sdk-peers.ts";
import { PageScenarios } from "./page-scenarios.ts";

const SCREENSHOT_FOLDER = join(repositoryRoot, "reports/console-peers");

/** Starts a console and the server of a peer, and uses the server from the page of the console in a browser. */
export async function* runPagePeer(
  peer: ConsolePeer,
  command: ProgramCommand,
  browser: Browser,
): AsyncGenerator<InteropResult> {
  const { name, sdk } = peer;
  const console = await startPeerConsole();
  mkdirSync(SCREENSHOT_FOLDER, { recursive: true });
  const opened = await openPageRecordingRequestsAndErrors(browser, console.url, {
    viewport: { width: 1_100, height: 760 },
  });
  try {
    const scenarios = new PageScenarios(opened, (view) => join(SCREENSHOT_FOLDER, `${name}-${view}.png`));
    const outcomes = runWithPeerServer(peer, command, {
      runWithSdk: (servers) => scenarios.runWithTextDrivenAgent(servers),
      runWithAdk: (url) => scenarios.runWithScriptedAgent(url),
    });
    for await (const outcome of outcomes)
      yield { suite: "page", peer: name, sdk, direction: "our client", ...outcome };
  } finally {
    await opened.page.close();
    await console.close();
  }
}
