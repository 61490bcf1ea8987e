import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createUserMessage } from "../../test/support/http-bindings.ts";
import type { SweepReport } from "../../src/engine/index.ts";
import type { FaultControls } from "./fault-controls.ts";

const ENDED_TASKS = 20;
const WAITING_TASKS = 5;
/** Time for several sweeps, also on a busy machine. */
const SWEEPS_MS = 1_000;
/** More than 7 days between two sweeps count as a pause, and a busy machine sweeps late. */
const MAX_RUN_SECONDS = 24 * 60 * 60;
const V1_HEADERS = { "a2a-version": "1.0", "content-type": "application/json" };

interface ChildMessage {
  readonly url?: string;
  readonly report?: SweepReport;
  readonly error?: string;
}

/** A server in its own process, on a machine whose clocks the scenario changes. Collects what goes wrong. */
export class ClockedServer {
  readonly problems: string[] = [];
  readonly #store: string;
  readonly #controls: FaultControls;
  readonly #reports: SweepReport[] = [];
  #child: ChildProcess | undefined;
  #url = "";
  #wallOffset = 0;
  #monotonicOffset = 0;
  #endedTasks = 0;
  #waitingTasks = 0;
  #lastMessageNumber = 0;
  /** A jump of the monotonic clock ends the queries that run meanwhile. Later sweeps repeat them. */
  #errorCount = 0;

  constructor(store: string, controls: FaultControls) {
    this.#store = store;
    this.#controls = controls;
  }

  get figures(): Readonly<Record<string, number>> {
    const delayed = this.#reports.flatMap((report) => report.delayed ?? []);
    return {
      "ended tasks": this.#endedTasks,
      "waiting tasks": this.#waitingTasks,
      "deleted tasks": this.#reports.reduce((sum, { deletedTasks }) => sum + deletedTasks, 0),
      delays: delayed.length,
      "failed sweeps": this.#errorCount,
      "deletions delayed": delayed.reduce(
        (sum, { endedTasks, waitingTasks }) => sum + endedTasks + waitingTasks,
        0,
      ),
    };
  }

  async start(): Promise<void> {
    const script = fileURLToPath(new URL("clock-server-child.ts", import.meta.url));
    const child = fork(script, [this.#store], { env: { ...process.env, ...this.#controls.env } });
    this.#child = child;
    const { promise, resolve } = Promise.withResolvers<string>();
    child.on("message", ({ url, report, error }: ChildMessage) => {
      if (url !== undefined) resolve(url);
      if (report) this.#reports.push(report);
      if (error !== undefined) this.#errorCount++;
    });
    child.once("exit", (code) => resolve(`the server ended with ${code}`));
    this.#url = await promise;
    await this.#readTasksAfterSweeps();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  /** Kills the process, and starts the next one after the machine was off for a time. */
  async killAndRestart(offSeconds = 0): Promise<void> {
    await this.kill();
    this.#wallOffset += offSeconds;
    this.#controls.setClockOffsets(this.#wallOffset, this.#monotonicOffset);
    await this.start();
  }

  async storeTasks(): Promise<void> {
    const texts = [...Array(ENDED_TASKS).fill("end"), ...Array(WAITING_TASKS).fill("ask")] as string[];
    for (const text of texts) {
      const response = await fetch(`${this.#url}/message:send`, {
        method: "POST",
        headers: V1_HEADERS,
        body: JSON.stringify({ message: createUserMessage(`m-${++this.#lastMessageNumber}`, text) }),
      });
      if (response.status !== 200) this.problems.push(`a message was answered with ${response.status}`);
    }
    await this.#readTasksAfterSweeps();
  }

  /** Moves the wall clock, but not the monotonic clock, and waits for sweeps. */
  async moveWallClock(seconds: number): Promise<void> {
    await this.#moveClocks(seconds, 0);
  }

  /** Lets both clocks advance, with sweeps in between. */
  async runFor(seconds: number): Promise<void> {
    for (let rest = seconds; rest > 0; rest -= MAX_RUN_SECONDS)
      await this.moveBothClocks(Math.min(rest, MAX_RUN_SECONDS));
  }

  /** Moves both clocks at once, as if the machine had been suspended, and waits for sweeps. */
  async moveBothClocks(seconds: number): Promise<void> {
    await this.#moveClocks(seconds, seconds);
  }

  async #moveClocks(wallSeconds: number, monotonicSeconds: number): Promise<void> {
    this.#wallOffset += wallSeconds;
    this.#monotonicOffset += monotonicSeconds;
    this.#controls.setClockOffsets(this.#wallOffset, this.#monotonicOffset);
    await this.#readTasksAfterSweeps();
  }

  expectAllTasks(): void {
    this.#expectTasks(ENDED_TASKS, WAITING_TASKS);
  }

  async expectOnlyWaitingTasks(): Promise<void> {
    await this.#waitForDeletions(WAITING_TASKS);
    this.#expectTasks(0, WAITING_TASKS);
  }

  async expectNoTasks(): Promise<void> {
    await this.#waitForDeletions(0);
    this.#expectTasks(0, 0);
  }

  /** A jump of the monotonic clock can end the queries of a sweep, which a later sweep repeats. */
  async #waitForDeletions(remainingTasks: number): Promise<void> {
    for (let attempt = 0; attempt < 15 && this.#endedTasks + this.#waitingTasks > remainingTasks; attempt++)
      await this.#readTasksAfterSweeps();
  }

  expectDelays(count: number): void {
    const { delays } = this.figures;
    if (delays !== count) this.problems.push(`${delays} delays were reported instead of ${count}`);
  }

  #expectTasks(ended: number, waiting: number): void {
    if (this.#endedTasks === ended && this.#waitingTasks === waiting) return;
    this.problems.push(
      `${this.#endedTasks} ended and ${this.#waitingTasks} waiting tasks instead of ${ended} and ${waiting}`,
    );
  }

  async #readTasksAfterSweeps(): Promise<void> {
    await pause(SWEEPS_MS);
    this.#endedTasks = await this.#countTasks("TASK_STATE_COMPLETED");
    this.#waitingTasks = await this.#countTasks("TASK_STATE_INPUT_REQUIRED");
  }

  async #countTasks(status: string): Promise<number> {
    const response = await fetch(`${this.#url}/tasks?status=${status}&pageSize=1`, { headers: V1_HEADERS });
    return ((await response.json()) as { totalSize: number }).totalSize;
  }
}
