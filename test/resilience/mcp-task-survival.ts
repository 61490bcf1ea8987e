/**
 * Runs a task that an MCP host begins, kills the host and the server several times during the task, and
 * returns the result that the last host receives. As a command, the task takes ten minutes:
 *
 *     node test/resilience/mcp-task-survival.ts
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { findTestPort } from "../support/test-ports.ts";
import { forkScript } from "../support/fork-script.ts";
import { createTempFolder } from "../support/store-factories.ts";

/** Parameters of the task, and of the kills during the task. */
export interface SurvivalOptions {
  readonly stepCount: number;
  /** Duration of one step of the task, in milliseconds. */
  readonly stepMs: number;
  /** The steps after which the host and the server are killed with SIGKILL. */
  readonly killAfterSteps: readonly number[];
  readonly onProgress?: (text: string) => void;
}

/** The result of a task whose host and server were killed. */
export interface SurvivalReport {
  /** Whether each host received a task (`task`) or a result (`immediate`) first. */
  readonly hostKinds: string[];
  readonly outcome: unknown;
  readonly durationMs: number;
}

/** A message of a child process. */
interface ChildMessage {
  readonly url?: string;
  readonly step?: number;
  readonly kind?: string;
  readonly outcome?: unknown;
}

export async function runMcpTaskSurvival(options: SurvivalOptions): Promise<SurvivalReport> {
  const { stepCount, stepMs, killAfterSteps, onProgress } = options;
  const { folder, remove } = await createTempFolder();
  const children = new Set<ChildProcess>();
  const start = (script: string, ...args: readonly (string | number)[]): ChildProcess => {
    const child = forkScript(new URL(script, import.meta.url), args.map(String));
    children.add(child);
    return child;
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    children.delete(child);
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
  const startedAt = performance.now();
  const hostKinds: string[] = [];
  const port = await findTestPort();
  try {
    for (const killAfterStep of [...killAfterSteps, undefined]) {
      const database = join(folder, "tasks.db");
      const server = start("mcp-task-server-child.ts", database, port, stepCount, stepMs);
      const killStep = Promise.withResolvers<void>();
      server.on("message", ({ step }: ChildMessage) => {
        if (step === killAfterStep) killStep.resolve();
      });
      const { url = "" } = await waitForMessage(server, (message) => message.url !== undefined);
      const host = start("mcp-task-host-child.ts", url, join(folder, "reference.json"));
      const outcome = waitForMessage(host, (message) => message.outcome !== undefined);
      outcome.catch(() => {});
      const { kind = "" } = await waitForMessage(host, (message) => message.kind !== undefined);
      hostKinds.push(kind);
      if (killAfterStep === undefined) {
        const { outcome: result } = await outcome;
        return { hostKinds, outcome: result, durationMs: performance.now() - startedAt };
      }
      // The kill rejects the outcome. An earlier end of the host is a failure of the test.
      await Promise.race([
        killStep.promise,
        outcome.then(() => Promise.reject(new Error("The task ended early."))),
      ]);
      await Promise.all([kill(host), kill(server)]);
      onProgress?.(`killed the host and the server after step ${killAfterStep}`);
    }
    throw new Error("The last host always returns.");
  } finally {
    await Promise.all([...children].map((child) => kill(child)));
    await remove();
  }
}

/** Resolves with the first message that matches, and rejects if the child process exits before. */
function waitForMessage(
  child: ChildProcess,
  matches: (message: ChildMessage) => boolean,
): Promise<ChildMessage> {
  return new Promise((resolve, reject) => {
    child.on("message", (message: ChildMessage) => {
      if (matches(message)) resolve(message);
    });
    child.once("exit", (code, signal) => reject(new Error(`The child process ended: ${code ?? signal}`)));
  });
}

/** Returns the text that the agent reports after all steps. */
export function formatExpectedReport(stepCount: number): string {
  return Array.from({ length: stepCount }, (_, step) => `${step} `).join("");
}

function log(text: string): void {
  console.log(new Date().toISOString(), text);
}

if (process.argv[1] === import.meta.filename) {
  const stepCount = 600;
  log(`a task of ${stepCount} steps, one second each`);
  const report = await runMcpTaskSurvival({
    stepCount,
    stepMs: 1000,
    killAfterSteps: [60, 300, 540],
    onProgress: log,
  });
  const { result } = report.outcome as { result?: { structuredContent?: { state?: string; text?: string } } };
  const { state, text } = result?.structuredContent ?? {};
  const isComplete = text === formatExpectedReport(stepCount);
  log(
    JSON.stringify({
      state,
      isComplete,
      hostKinds: report.hostKinds,
      minutes: +(report.durationMs / 60_000).toFixed(2),
    }),
  );
  process.exitCode = isComplete && state === "TASK_STATE_COMPLETED" ? 0 : 1;
}
