import { setTimeout as pause } from "node:timers/promises";
import { ChaosLoad } from "../chaos-load.ts";
import type { ChaosContext, ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";
import { computePercentile } from "../percentile.ts";

const LEASE_MS = 1000;
const DEFAULT_LEASE_MS = 10_000;
/** Part of a lease, and time after it, until other nodes have recovered the tasks of a node without renewals. */
const RECOVERY_LEASES = 4 / 3;
const RECOVERY_MS = 3000;

export const fault: ChaosFault = {
  title: "`kill -9` of one of two nodes under load, again and again; at last with the default lease",
  promise:
    "3 s after a third more than its lease, no task belongs to the dead node, and each task is settled as its policy says. Each event of a client is once in the log. " +
    "No acknowledged cancel is overwritten.",
  maxSeconds: 900,
  async inject(context) {
    await killRepeatedly(context, LEASE_MS, context.isFullRun ? 99 : 4);
    await killRepeatedly(context, DEFAULT_LEASE_MS, 1);
  },
};

async function killRepeatedly(context: ChaosContext, leaseMs: number, kills: number): Promise<void> {
  const { database, startNode, addFigure, addProblem } = context;
  const nodes = [await startNode({ leaseMs }), await startNode({ leaseMs })];
  const load = new ChaosLoad({
    name: `lease-${leaseMs}`,
    clients: 12,
    script: { chunks: 60, intervalMs: 20 },
    cancelEach: 5,
    getNodes: () => nodes.filter(({ isRunning }) => isRunning),
    silenceMs: RECOVERY_LEASES * leaseMs + RECOVERY_MS,
  });
  const recoveriesMs: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    await pause(700);
    const at = kill % nodes.length;
    const node = nodes[at];
    if (!node) continue;
    await node.kill();
    const killedAt = performance.now();
    const [restarted, recoveryMs] = await Promise.all([
      startNode({ leaseMs, port: node.port }),
      measureRecovery(context, killedAt, leaseMs),
    ]);
    nodes[at] = restarted;
    recoveriesMs.push(recoveryMs);
  }
  await load.end(2 * (RECOVERY_LEASES * leaseMs + RECOVERY_MS) + 20_000);
  for (const problem of await load.findProblems()) addProblem(problem);
  let outOfAttempts = 0;
  for (const task of load.tasks) {
    if (task.finalState !== "TASK_STATE_FAILED" || task.policy === "fail") continue;
    if (task.frames.get(task.lastSeq)?.includes("stopped in each of 5 attempts")) outOfAttempts++;
    else addProblem(`task ${task.taskId} with the policy ${task.policy} is FAILED`);
  }
  const suffix = leaseMs === DEFAULT_LEASE_MS ? "WithDefaultLease" : "";
  addFigure(`kills${suffix}`, kills);
  addFigure(`tasks${suffix}`, load.tasks.length);
  addFigure(`failed${suffix}`, load.countTasks("TASK_STATE_FAILED"));
  addFigure(`failedAfterFiveAttempts${suffix}`, outOfAttempts);
  addFigure(`canceled${suffix}`, load.countTasks("TASK_STATE_CANCELED"));
  addFigure(`silences${suffix}`, load.countSilences());
  addFigure(`recoveryP50Ms${suffix}`, computePercentile(recoveriesMs, 0.5));
  addFigure(`recoveryMaxMs${suffix}`, Math.max(...recoveriesMs));
  addFigure(`tasksOfDeadNodes${suffix}`, (await findTasksOfDeadNodes(database)).length);
  for (const node of nodes) await node.kill();
}

/** Returns the time from the kill until no task belongs to a dead node. Reports tasks that remain too long. */
async function measureRecovery(
  { database, addProblem }: ChaosContext,
  killedAt: number,
  leaseMs: number,
): Promise<number> {
  // Until then, the node counts as alive.
  await pause(Math.max(0, leaseMs - (performance.now() - killedAt)));
  for (;;) {
    const held = await findTasksOfDeadNodes(database);
    const elapsedMs = performance.now() - killedAt;
    if (held.length === 0) return elapsedMs;
    if (elapsedMs > RECOVERY_LEASES * leaseMs + RECOVERY_MS) {
      addProblem(`${held.length} tasks belong to dead nodes after ${Math.round(elapsedMs)} ms`);
      return elapsedMs;
    }
    await pause(20);
  }
}
