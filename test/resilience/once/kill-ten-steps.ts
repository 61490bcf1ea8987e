import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { forkScript } from "../../support/fork-script.ts";

const CHILD_SCRIPT = new URL("ten-steps-child.ts", import.meta.url);
const STEP_COUNT = 10;
/** Longest time in milliseconds between the message of a server and its end. */
const MAX_LIFE_MS = 80;
const COMPLETION_TIMEOUT_MS = 120_000;

/** Outcome of the tasks whose servers were killed. */
export interface TenStepsOutcome {
  readonly kills: number;
  readonly tasks: number;
  readonly completedTasks: number;
  /** Number of executions of all steps. */
  readonly effects: number;
  /** Executions of a step after `once` had returned its result. */
  readonly repeatedFinishedSteps: number;
  /** Executions of a step again, because it was in flight when its process was killed. */
  readonly repeatedStepsInFlight: number;
  /** Largest number of steps of one task that one kill has repeated. */
  readonly mostRepeatedStepsPerKill: number;
  /** Steps whose executions had different idempotency keys. */
  readonly changedIdempotencyKeys: number;
}

/** Starts servers on the store, kills each after a random time, and lets the last server finish all tasks. */
export async function killTenSteps(
  storeUrl: string,
  journal: string,
  kills: number,
): Promise<TenStepsOutcome> {
  const killTimes: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const child = startChild(storeUrl, journal);
    // Half of the servers are killed while they recover tasks, and half while their own task runs.
    await waitForMessage(child, kill % 2 === 0 ? "sent" : "starts");
    await setTimeout(Math.random() * MAX_LIFE_MS);
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    killTimes.push(readJournal(journal).length);
  }
  const last = startChild(storeUrl, journal);
  try {
    await waitForMessage(last, "sent");
    await waitForCompletion(journal);
  } finally {
    last.kill("SIGKILL");
  }
  return evaluateJournal(readJournal(journal), killTimes);
}

function startChild(...args: string[]): ChildProcess {
  return forkScript(CHILD_SCRIPT, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
}

async function waitForMessage(child: ChildProcess, expected: string): Promise<void> {
  for (;;) {
    const [message] = (await Promise.race([once(child, "message"), once(child, "exit")])) as unknown[];
    if (message === expected) return;
    if (child.exitCode !== null) throw new Error(`The server exited with code ${child.exitCode}.`);
  }
}

type JournalEntry = readonly [kind: string, taskId: string, step?: string, detail?: string];

function readJournal(journal: string): JournalEntry[] {
  if (!existsSync(journal)) return [];
  const lines = readFileSync(journal, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => line.split(",") as unknown as JournalEntry);
}

/** Waits until all tasks of the journal are completed, and no new task has begun for a second. */
async function waitForCompletion(journal: string): Promise<void> {
  const deadline = performance.now() + COMPLETION_TIMEOUT_MS;
  let lastLength = -1;
  for (;;) {
    await setTimeout(2000);
    const entries = readJournal(journal);
    const { tasks, completedTasks } = evaluateJournal(entries, []);
    if (tasks === completedTasks && entries.length === lastLength) return;
    lastLength = entries.length;
    if (performance.now() > deadline) throw new Error(`${tasks - completedTasks} tasks did not complete.`);
  }
}

/** `killTimes` are the lengths of the journal at the kills. */
export function evaluateJournal(
  entries: readonly JournalEntry[],
  killTimes: readonly number[],
): TenStepsOutcome {
  const finished = new Set<string>();
  const keys = new Map<string, string>();
  const repeats = new Map<string, number>();
  const outcome = { effects: 0, repeatedFinishedSteps: 0, repeatedStepsInFlight: 0 };
  const changed = new Set<string>();
  const completed = new Set<string>();
  for (const [at, [kind, taskId, step = "", detail = ""]] of entries.entries()) {
    const name = `${taskId},${step}`;
    if (kind === "completed") completed.add(taskId);
    else if (kind === "finished") finished.add(name);
    else {
      outcome.effects++;
      if (finished.has(name)) outcome.repeatedFinishedSteps++;
      const earlierKey = keys.get(name);
      keys.set(name, detail);
      if (earlierKey === undefined) continue;
      if (earlierKey !== detail) changed.add(name);
      if (!finished.has(name)) outcome.repeatedStepsInFlight++;
      const period = `${taskId} ${killTimes.filter((time) => time <= at).length}`;
      repeats.set(period, (repeats.get(period) ?? 0) + 1);
    }
  }
  return {
    kills: killTimes.length,
    tasks: new Set(entries.map(([, taskId]) => taskId)).size,
    completedTasks: [...completed].filter((taskId) => finished.has(`${taskId},${STEP_COUNT}`)).length,
    ...outcome,
    mostRepeatedStepsPerKill: Math.max(0, ...repeats.values()),
    changedIdempotencyKeys: changed.size,
  };
}
