import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createUserMessage, fetchTask } from "../../test/support/http-bindings.ts";
import type { Task } from "../../src/protocol/index.ts";
import { compileFaultShim } from "./fault-controls.ts";
import { FaultProbes } from "./fault-probes.ts";
import type { FaultScenario } from "./fault-scenarios.ts";
import { LoadClients, POLICIES, readWholeLog, type ObservedTask } from "./load-clients.ts";
import { mountSmallFileSystem } from "./small-file-system.ts";

export interface FaultOutcome {
  readonly scenario: string;
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, string | number>>;
}

const STREAMS_PER_POLICY = 4;
const WARM_UP_MS = 2_000;
/** Time after the end of the fault during which clients start new tasks. */
const AFTER_FAULT_LOAD_MS = 2_000;
/** Time after the end of the fault after which no task may be stuck. */
const SETTLE_MS = 5_000;
/** Time after the start of the fault after which every new message must be refused at once. */
const DETECTION_MS = 3_000;
const MAX_REFUSAL_MS = 500;
const MAX_READ_MS = 1_000;
const MAX_LOG_READ_MS = 2_000;

/** Runs a server under load through one fault, and resolves with what went wrong. */
export async function runFaultScenario(scenario: FaultScenario, folder: string): Promise<FaultOutcome> {
  const controls = compileFaultShim(folder);
  const disk = mountSmallFileSystem(folder);
  const file = join(disk.folder, "tasks.db");
  const children: ChildProcess[] = [];
  const problems: string[] = [];
  const storeStates: string[] = [];
  try {
    const first = await startServer(file, { ...controls.env, ...scenario.env }, children, storeStates);
    const probes = new FaultProbes(first.url);
    await probes.createTasks(2);
    const clients = new LoadClients(first.url);
    clients.start(STREAMS_PER_POLICY, await createFinishedTasks(first.url));
    await pause(WARM_UP_MS);

    const faultStart = performance.now();
    const endFault = await scenario.inject({ file, controls, disk, server: first.child });
    probes.send();
    await pause(scenario.durationMs / 2);
    probes.send();
    await pause(scenario.durationMs / 2);
    await endFault();
    const faultEnd = performance.now();
    await pause(AFTER_FAULT_LOAD_MS);
    clients.stopStartingTasks();
    await pause(SETTLE_MS - AFTER_FAULT_LOAD_MS);
    await probes.verify();
    const stuck = await findUnfinishedTasks(first.url);
    problems.push(...stuck.map((task) => `stuck: task ${task}`));
    await clients.stop();

    problems.push(...clients.problems, ...probes.problems, ...findStatisticsProblems(clients));
    if (scenario.storeStates.length === 0 && clients.refusals.length > 0)
      problems.push(`${clients.refusals.length} messages were refused although the store can commit`);
    if (first.child.exitCode !== null) problems.push("the server process ended");
    const missingStates = scenario.storeStates.filter((state) => !storeStates.includes(state));
    if (missingStates.length > 0) problems.push(`the store never reported ${missingStates.join(", ")}`);
    const slowRefusals = clients.refusals.filter(
      ({ at, ms }) => at > faultStart + DETECTION_MS && at < faultEnd && ms > MAX_REFUSAL_MS,
    );
    for (const { ms } of slowRefusals) problems.push(`a message was refused only after ${Math.round(ms)} ms`);
    for (const { retryAfter } of clients.refusals)
      if (retryAfter === null) problems.push("a refusal has no Retry-After");

    const before = await readLogs(clients.tasks, problems);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    const second = await startServer(file, {}, children, []);
    const moved = clients.tasks.map((task) => ({
      ...task,
      agentUrl: task.agentUrl.replace(first.url, second.url),
    }));
    const after = await readLogs(moved, problems);
    let eventCount = 0;
    for (const [taskId, log] of before) {
      eventCount += log.size;
      for (const [seq, data] of log)
        if (after.get(taskId)?.get(seq) !== data)
          problems.push(`event ${seq} of ${taskId} differs after kill -9`);
    }
    return {
      scenario: scenario.name,
      problems,
      figures: {
        tasks: clients.tasks.length,
        events: eventCount,
        stuck: stuck.length,
        "short sends": clients.acceptedCount,
        refused: clients.refusals.length,
        "slowest refusal ms": Math.round(Math.max(0, ...clients.refusals.map(({ ms }) => ms))),
        "slowest probe ms": Math.round(probes.requests.maxMs),
        reads: clients.reads.count,
        "slowest read ms": Math.round(clients.reads.maxMs),
        "slowest healthz ms": Math.round(clients.healthChecks.maxMs),
        states: storeStates.join(" "),
        ...(await countFinalStates(moved)),
      },
    };
  } finally {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    disk.unmount();
  }
}

async function startServer(
  file: string,
  env: Readonly<Record<string, string>>,
  children: ChildProcess[],
  storeStates: string[],
): Promise<{ child: ChildProcess; url: string }> {
  const script = fileURLToPath(new URL("fault-server-child.ts", import.meta.url));
  const child = fork(script, [file], { env: { ...process.env, ...env } });
  children.push(child);
  child.on("message", (message: { storeState?: string; error?: string }) => {
    if (message.storeState) storeStates.push(message.storeState);
    if (message.error && process.env["FAULTS_VERBOSE"]) console.error(message.error);
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { child, url };
}

async function createFinishedTasks(url: string): Promise<{ url: string; task: Task }[]> {
  return Promise.all(
    POLICIES.map(async (policy) => {
      const agentUrl = `${url}/a2a/${policy}`;
      const response = await fetch(`${agentUrl}/message:send`, {
        method: "POST",
        headers: { "a2a-version": "1.0", "content-type": "application/json" },
        body: JSON.stringify({ message: createUserMessage(`finished-${policy}`, "short") }),
      });
      const { task } = (await response.json()) as { task: Task };
      return { url: agentUrl, task: await fetchTask(agentUrl, task.id) };
    }),
  );
}

/** Resolves with the ids of the tasks that the server lists as SUBMITTED or WORKING. */
async function findUnfinishedTasks(url: string): Promise<string[]> {
  const found: string[] = [];
  for (const policy of POLICIES) {
    for (const state of ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"]) {
      const response = await fetch(`${url}/a2a/${policy}/tasks?status=${state}&pageSize=100`, {
        headers: { "a2a-version": "1.0" },
      });
      const { tasks = [] } = (await response.json()) as { tasks?: Task[] };
      found.push(...tasks.map(({ id }) => `${id} of "${policy}" is ${state}`));
    }
  }
  return found;
}

function findStatisticsProblems({ reads, healthChecks }: LoadClients): string[] {
  const problems = reads.failures.map((failure) => `a read of a finished task failed: ${failure}`);
  if (reads.maxMs > MAX_READ_MS) problems.push(`a read took ${Math.round(reads.maxMs)} ms`);
  problems.push(...healthChecks.failures.map((failure) => `/healthz failed: ${failure}`));
  return problems;
}

/** Reads the logs of all tasks, and compares each log with the events that clients received. */
async function readLogs(
  tasks: readonly ObservedTask[],
  problems: string[],
): Promise<Map<string, Map<number, string>>> {
  const logs = new Map<string, Map<number, string>>();
  for (const task of tasks) {
    const log = await readWholeLog(task, MAX_LOG_READ_MS);
    logs.set(task.taskId, log);
    for (const [seq, data] of task.frames)
      if (log.get(seq) !== data) problems.push(`event ${seq} of task ${task.taskId} is lost or changed`);
  }
  return logs;
}

async function countFinalStates(tasks: readonly ObservedTask[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { agentUrl, taskId } of tasks) {
    const { status } = await fetchTask(agentUrl, taskId);
    const name = status.state.replace("TASK_STATE_", "");
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
