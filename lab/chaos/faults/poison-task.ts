import { setTimeout as pause } from "node:timers/promises";
import { getText } from "../../../src/protocol/index.ts";
import { fetchTaskByRpc, startTask } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { parseChunks } from "../chunk-text.ts";
import { findTasksOfDeadNodes } from "../stored-tasks.ts";

const LEASE_MS = 1000;
const OTHER_TASKS = 10;
/** Five attempts count. The halving groups in which the task kills other tasks, too, do not count. */
const MAX_ATTEMPTS = 5 + Math.ceil(Math.log2(OTHER_TASKS + 1));
const WAIT_MS = 80_000;

export const fault: ChaosFault = {
  title: "a task kills each process that runs it; ten other tasks of its agent run in the same process",
  promise:
    "The task is FAILED after five attempts, and those in groups that halve. The other tasks continue.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, attempts: MAX_ATTEMPTS, otherTasksFailed: 0 },
  async inject({ database, startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    const [first] = nodes;
    if (!first) return;
    const others = await Promise.all(
      Array.from({ length: OTHER_TASKS }, (_, at) =>
        startTask(first.getAgentUrl("resume"), `other-${at}`, { chunks: 100_000, intervalMs: 100 }),
      ),
    );
    const script = { chunks: 100, intervalMs: 10, isPoison: true };
    const poison = await startTask(first.getAgentUrl("resume"), "poison", script);
    const findUrl = (): string => nodes.find(({ isRunning }) => isRunning)?.getAgentUrl("resume") ?? "";
    const deadline = performance.now() + WAIT_MS;
    let state = "";
    let attempts = 0;
    while (!/FAILED|COMPLETED/.test(state) && performance.now() < deadline) {
      for (const [at, node] of nodes.entries()) {
        if (node.isRunning) continue;
        // A new node can claim the poison task before it listens.
        const started = await startNode({ leaseMs: LEASE_MS }).catch(() => undefined);
        if (started) nodes[at] = started;
      }
      await pause(50);
      const task = await fetchTaskByRpc(findUrl(), poison).catch(() => undefined);
      if (!task) continue;
      state = task.status.state;
      const chunks = (task.artifacts ?? []).flatMap(({ parts }) => parseChunks(getText(parts)));
      attempts = Math.max(attempts, ...chunks.map(({ attempt }) => attempt));
    }
    if (state !== "TASK_STATE_FAILED") addProblem(`the poison task is ${state}`);
    await pause(LEASE_MS + 3000);
    const states = await Promise.all(others.map((taskId) => fetchTaskByRpc(findUrl(), taskId)));
    addFigure("attempts", attempts);
    addFigure("otherTasks", OTHER_TASKS);
    addFigure("otherTasksFailed", states.filter(({ status }) => status.state === "TASK_STATE_FAILED").length);
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
