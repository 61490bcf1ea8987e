/**
 * `npm run lab -- reloads` reloads a real Chromium at random moments of answers, with `useChat` of the AI SDK, with the official
 * client of AG-UI, and with `createChat`: on one server with SQLite, and on two nodes with PostgreSQL. It also measures
 * how fast a stop reaches the model call. Options: `--reloads N` (default 200), `--seed N`, `--setup sqlite|postgres`, and
 * `--page use-chat|ag-ui|create-chat`.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { launchChromium } from "../../src/cards/html/browser.fixture.ts";
import { PostgresStore } from "../../src/stores/index.ts";
import { startTestPostgres } from "../../src/stores/postgres/postgres-server.fixture.ts";
import { installManifest } from "../support/install-manifest.ts";
import { RELOAD_PAGES, startReloadTestServer } from "./reload-test-server.ts";
import { measureStop, type ReloadResult, runReloads } from "./run-reloads.ts";

const { values } = parseArgs({
  options: {
    reloads: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    setup: { type: "string" },
    page: { type: "string" },
  },
});
const WORD_MS = 20;
const MAX_PAUSE_MS = 600;
/** Tabs that are reloaded at the same time. */
const TABS = 4;
const STOPS = 10;
const MAX_STOP_MS = 200;

let state = Number(values.seed) >>> 0 || 1;
/** Xorshift, so that a run can be repeated with its seed. */
function random(): number {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
}

const packages = installManifest("ui", "lab/reloads");
const folder = mkdtempSync(join(tmpdir(), "colloquy-reloads-"));
const browser = await launchChromium();
const postgres = values.setup === "sqlite" ? undefined : await startTestPostgres();
const setups = [
  { name: "one process, SQLite", stores: [`sqlite:${join(folder, "tasks.db")}` as const] },
  ...(postgres
    ? [
        {
          name: "two nodes, PostgreSQL",
          stores: [new PostgresStore(postgres.url), new PostgresStore(postgres.url)],
        },
      ]
    : []),
].slice(values.setup === "postgres" ? 1 : 0);
for (const { name, stores } of setups) {
  const server = await startReloadTestServer(packages, stores, WORD_MS);
  for (const page of RELOAD_PAGES.filter((name) => values.page === undefined || values.page === name)) {
    const count = Math.ceil(Number(values.reloads) / TABS);
    const results = await Promise.all(
      Array.from({ length: TABS }, () => runReloads(browser, server, page, count, random, MAX_PAUSE_MS)),
    );
    const sum = (pick: (result: ReloadResult) => number): number =>
      results.reduce((total, result) => total + pick(result), 0);
    const differences = results.flatMap((result) => result.differences);
    console.log(
      `${name}, ${page}: ${sum(({ reloads }) => reloads)} reloads (${sum(({ reloadsWhileBusy }) => reloadsWhileBusy)} in running answers) in ${sum(({ answers }) => answers)} answers, ${differences.length} answers lost or repeated something`,
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
await postgres?.remove();
rmSync(folder, { recursive: true, force: true });
