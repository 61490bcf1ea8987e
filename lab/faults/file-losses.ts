/**
 * Takes the SQLite file away from a `colloquy serve` process under load, in twelve ways, and ends the process with
 * SIGTERM and with SIGKILL. No acknowledged message may be lost in silence: each message is in the store after the
 * restart, or in the copy that `colloquy store backup` saves, or the log or the loss record reports it. A second server
 * must not start on the file without its lock file. Takes about three minutes.
 *
 *   npm run lab -- faults file-losses [--only TEXT]
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import {
  spawnColloquyForTest,
  startServeCommandForTest,
  type CliTestProcessResult,
  type ServingCliTestProcess,
} from "../../src/cli/cli-test-process.fixture.ts";
import bundleForTestProcesses from "../../test/support/bundle-for-test-processes.ts";
import { createUserMessage } from "../../test/support/http-bindings.ts";

const AGENT = `export default {
  describe: () => ({ name: "echo", description: "Echoes" }),
  async *execute({ message }) {
    yield { artifact: { artifactId: "echo", parts: message.parts } };
  },
};`;
const CLIENT_COUNT = 8;
const LOAD_MS = 1500;
/** Longest time in milliseconds until a server has noticed a loss. */
const MAX_DETECTION_MS = 1000;

type Loss = (file: string, copy: string) => void;
const truncateHalf = (path: string): void => truncateSync(path, Math.floor(statSync(path).size / 2));
const LOSSES: Readonly<Record<string, Loss>> = {
  "file removed": (file) => rmSync(file),
  "folder removed": (file) => rmSync(join(file, ".."), { recursive: true }),
  "file moved": (file) => renameSync(file, `${file}.old`),
  "folder moved": (file) => renameSync(join(file, ".."), `${join(file, "..")}-old`),
  "file truncated": (file) => truncateSync(file),
  "file cut in half": truncateHalf,
  "backup moved over it": (file, copy) => renameSync(copy, file),
  "backup copied over it": (file, copy) => copyFileSync(copy, file),
  "log removed": (file) => rmSync(`${file}-wal`),
  "log truncated": (file) => truncateSync(`${file}-wal`),
  "log cut in half": (file) => truncateHalf(`${file}-wal`),
  "index of the log removed": (file) => rmSync(`${file}-shm`),
};

interface Acknowledged {
  readonly messageId: string;
  readonly taskId: string;
  readonly at: number;
  /** Time in milliseconds since 1970 at which the server has ended the task. */
  readonly endedAt: number;
}

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
let hasProblems = false;
await bundleForTestProcesses();
for (const [name, lose] of Object.entries(LOSSES))
  for (const signal of ["SIGTERM", "SIGKILL"] as const)
    if (`${name} ${signal}`.includes(values.only))
      await runInFolder((folder) => runLoss(name, lose, signal, folder));
if ("lock file removed".includes(values.only)) await runInFolder(runSecondServer);
process.exit(hasProblems ? 1 : 0);

async function runInFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-loss-"));
  writeFileSync(join(folder, "agent.mjs"), AGENT);
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runLoss(
  name: string,
  lose: Loss,
  signal: "SIGTERM" | "SIGKILL",
  folder: string,
): Promise<void> {
  const file = join(folder, ".colloquy", "colloquy.db");
  const saved = join(folder, "saved.db");
  const problems: string[] = [];
  const acknowledged: Acknowledged[] = [];

  // SQLite copies the log to the file when the first server ends.
  const first = await startServer(folder);
  await sendUntil(first.url, "first", acknowledged, performance.now() + 300);
  await stopServer(first, "SIGTERM");
  const server = await startServer(folder);
  await runStore(folder, "backup", join(folder, "copy.db"));

  const startedAt = performance.now();
  const load = Promise.all(
    Array.from({ length: CLIENT_COUNT }, (_, at) =>
      sendUntil(server.url, `client${at}`, acknowledged, startedAt + LOAD_MS * 2),
    ),
  );
  await pause(LOAD_MS);
  lose(file, join(folder, "copy.db"));
  const lostAt = performance.now();
  const detectionMs = (await waitForUnreadiness(server.url, lostAt + 3 * MAX_DETECTION_MS)) - lostAt;
  if (detectionMs > MAX_DETECTION_MS) problems.push(`noticed after ${Math.round(detectionMs)} ms`);
  await load;
  const info = await runStore(folder, "info");
  if (!info.out.includes("lost")) problems.push(`store info: ${info.out}${info.err}`);
  const backup = await runStore(folder, "backup", saved);
  const { err: log } = await stopServer(server, signal);
  if (!log.includes(" is lost: ")) problems.push("the log does not report the loss");

  const record = `${file}-lost`;
  const reported = existsSync(record) ? readFileSync(record, "utf8") : "";
  const refusal = existsSync(record) ? await startAndEnd(folder) : undefined;
  if (refusal && !refusal.err.includes(record)) problems.push("the next server does not refuse to start");
  rmSync(record, { force: true });
  const restarted = await startServer(folder).catch((error: unknown) => String(error));
  if (typeof restarted === "string" && !restarted.includes("damaged")) problems.push(restarted);
  const present = typeof restarted === "string" ? new Set<string>() : readTaskIds(file);
  if (typeof restarted !== "string") await stopServer(restarted, "SIGKILL");
  const copied = existsSync(saved) ? readTaskIds(saved) : new Set<string>();

  const after = acknowledged.filter(({ at }) => at > lostAt);
  const missing = acknowledged.filter(({ taskId }) => !present.has(taskId));
  const unsaved = missing.filter(({ taskId }) => !copied.has(taskId));
  // The report of a damage says that earlier tasks may be lost, too.
  const isDamage = log.includes("earlier tasks may be lost");
  const inspectedAt = reported ? parseInspectionTime(reported) : 0;
  const silent = unsaved.filter(({ at, taskId, messageId, endedAt }) => {
    // The answer to a message that was stored before the loss can arrive after the loss.
    if (at <= lostAt || (endedAt <= inspectedAt && !reported.includes(taskId))) return !isDamage;
    const isEarlierMessage = getTimeOfUuid(taskId) <= inspectedAt;
    return !reported.includes(taskId) || !(isEarlierMessage || reported.includes(messageId));
  });
  // After SQLite has started the log again, the cut can remove only frames that the file already contains.
  if (name === "log cut in half" && missing.length === 0) problems.length = 0;
  if (silent.length > 0) problems.push(`${silent.length} messages are lost in silence`);
  report(`${name}, ${signal}`, problems, {
    acknowledged: acknowledged.length,
    "after the loss": after.length,
    "noticed ms": Math.round(detectionMs),
    "not in the store": missing.length,
    "in no copy": unsaved.length,
    "in silence": silent.length,
    backup: backup.code === 0 ? "saved" : "failed",
    restart: `${refusal ? "refused, " : ""}${typeof restarted === "string" ? "damaged" : "open"}`,
  });
}

/** Starts a second server on the file of a running server. */
async function runSecondServer(folder: string): Promise<void> {
  const server = await startServer(folder);
  rmSync(join(folder, ".colloquy", "colloquy.db-lock"));
  const ended = await startAndEnd(folder);
  const { code } = await runStore(folder, "info");
  const problems = ended.err.includes("in use by another process") ? [] : ["a second server has started"];
  if (code !== 0) problems.push("store info does not work");
  await stopServer(server, "SIGTERM");
  report("lock file removed", problems, { "second server": ended.code === 0 ? "started" : "refused" });
}

function startServer(folder: string): Promise<ServingCliTestProcess> {
  return startServeCommandForTest(["serve", "agent.mjs"], folder);
}

function runStore(folder: string, ...args: string[]): Promise<CliTestProcessResult> {
  return spawnColloquyForTest(["store", ...args], folder).result;
}

/** Runs a server that cannot start, or ends it after one minute. */
async function startAndEnd(folder: string): Promise<CliTestProcessResult> {
  const { child, result } = spawnColloquyForTest(["serve", "agent.mjs", "--port", "0"], folder);
  const timer = setTimeout(() => child.kill("SIGTERM"), 60_000);
  return await result.finally(() => clearTimeout(timer));
}

async function stopServer(
  server: ServingCliTestProcess,
  signal: NodeJS.Signals,
): Promise<CliTestProcessResult> {
  server.process.child.kill(signal);
  return await server.process.result;
}

/** Sends one message after the other, and records the acknowledged messages. */
async function sendUntil(
  url: string,
  prefix: string,
  acknowledged: Acknowledged[],
  end: number,
): Promise<void> {
  for (let at = 0; performance.now() < end; at++) {
    const messageId = `${prefix}-${at}`;
    const response = await fetch(`${url}/message:send`, {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({ message: createUserMessage(messageId, "x".repeat(2000)) }),
    });
    const { task } = (await response.json()) as {
      task?: { id: string; status: { state: string; timestamp: string } };
    };
    if (task?.status.state === "TASK_STATE_COMPLETED")
      acknowledged.push({
        messageId,
        taskId: task.id,
        at: performance.now(),
        endedAt: Date.parse(task.status.timestamp),
      });
    else await pause(20);
  }
}

async function waitForUnreadiness(url: string, end: number): Promise<number> {
  while (performance.now() < end && (await fetch(`${url}/readyz`)).ok) await pause(10);
  return performance.now();
}

/** Returns the time of the last inspection without a loss, in milliseconds since 1970. */
function parseInspectionTime(lossRecord: string): number {
  const { lastInspectionAt } = JSON.parse(lossRecord) as { lastInspectionAt: string };
  return Date.parse(lastInspectionAt);
}

/** Returns the time of a UUID of version 7 in milliseconds since 1970. */
function getTimeOfUuid(uuid: string): number {
  return Number.parseInt(uuid.replace("-", "").slice(0, 12), 16);
}

function readTaskIds(file: string): Set<string> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return new Set(
      db
        .prepare("SELECT task_id FROM task")
        .all()
        .map((row) => String(row["task_id"])),
    );
  } finally {
    db.close();
  }
}

function report(name: string, problems: readonly string[], figures: Record<string, string | number>): void {
  hasProblems ||= problems.length > 0;
  const text = Object.entries(figures).map(([label, value]) => `${label} ${value}`);
  console.log(`${problems.length === 0 ? "ok    " : "FAILED"} ${name}: ${text.join(", ")}`);
  for (const problem of problems) console.log(`       ${problem.slice(0, 2000)}`);
}
