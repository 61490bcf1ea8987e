/**
 * `npm run reloads` reloads a real Chromium at random moments of answers, with `useChat` of the AI SDK and with the
 * official client of AG-UI: on one server with SQLite, and on two nodes with PostgreSQL. It also measures how fast a stop
 * reaches the model call. Options: `--reloads N` (default 200) and `--seed N`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { launchChromium } from "../../src/cards/html/browser.fixture.ts";
import { startTestPostgres } from "../../src/stores/postgres/postgres-server.fixture.ts";
import { installManifest } from "../../scripts/install-manifest.ts";
import { type ReloadPage, startReloadTestServer } from "./reload-test-server.ts";
import { measureStop, runReloads } from "./run-reloads.ts";

const { values } = parseArgs({
  options: { reloads: { type: "string", default: "200" }, seed: { type: "string", default: "1" } },
});
const WORD_MS = 20;
const MAX_PAUSE_MS = 600;
const STOPS = 10;
const MAX_STOP_MS = 200;
const PAGES: readonly ReloadPage[] = ["use-chat", "ag-ui"];

let state = Number(values.seed) >>> 0 || 1;
/** Xorshift, so that a run can be repeated with its seed. */
function random(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const packages = installManifest("ui", "test/ui");
const folder = mkdtempSync(join(tmpdir(), "colloquy-reloads-"));
const browser = await launchChromium();
const postgres = await startTestPostgres();
const setups = [
  { name: "one process, SQLite", stores: [`sqlite:${join(folder, "tasks.db")}`] },
  { name: "two nodes, PostgreSQL", stores: [postgres.url, postgres.url] },
];
for (const { name, stores } of setups) {
  const server = await startReloadTestServer(packages, stores, WORD_MS);
  for (const page of PAGES) {
    const result = await runReloads(browser, server, page, Number(values.reloads), random, MAX_PAUSE_MS);
    const { reloads, reloadsWhileBusy, answers, differences } = result;
    console.log(
      `${name}, ${page}: ${reloads} reloads (${reloadsWhileBusy} in running answers) in ${answers} answers, ${differences.length} answers lost or repeated something`,
    );
    for (const difference of differences) console.log(difference);
    const times: number[] = [];
    for (let count = 0; count < STOPS; count++) times.push(await measureStop(browser, server, page));
    const slowest = Math.max(...times);
    console.log(`${name}, ${page}: ${STOPS} stops reached the model call after at most ${slowest} ms`);
    if (differences.length > 0 || slowest > MAX_STOP_MS) process.exitCode = 1;
  }
  await server.close();
}
await browser.close();
await postgres.remove();
rmSync(folder, { recursive: true, force: true });
