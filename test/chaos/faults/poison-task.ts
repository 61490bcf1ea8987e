import { setTimeout as pause } from "node:timers/promises";
import { fetchTaskByRpc, startTask, waitForFinalState } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";
import { findTasksOfDeadNodes } from "../dead-node-tasks.ts";

const LEASE_MS = 1000;
const MAX_ATTEMPTS = 5;
const INNOCENT_TASKS = 10;

export const fault: ChaosFault = {
  title: "a task kills each process that runs it; other tasks with `resume` run beside it",
  promise: "The task FAILED after five attempts. The other tasks end COMPLETED.",
  maxSeconds: 120,
  bars: { tasksOfDeadNodes: 0, deaths: MAX_ATTEMPTS, innocentTasksFailed: 0 },
  async inject({ database, startNode, addFigure, addProblem }) {
    const nodes = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    let deaths = 0;
    const [first] = nodes;
    if (!first) return;
    const innocent = await Promise.all(
      Array.from({ length: INNOCENT_TASKS }, (_, at) =>
        startTask(first.getAgentUrl("resume"), `innocent-${at}`, { chunks: 1200, intervalMs: 20 }),
      ),
    );
    const script = { chunks: 100, intervalMs: 10, isPoison: true };
    const poison = await startTask(first.getAgentUrl("restart"), "poison", script);
    const deadline = performance.now() + 60_000;
    let state = "";
    while (!/FAILED|COMPLETED/.test(state) && performance.now() < deadline) {
      for (const [at, node] of nodes.entries()) {
        if (node.isRunning) continue;
        deaths++;
        // A new node can claim the poison task before it listens.
        const started = await startNode({ leaseMs: LEASE_MS }).catch(() => undefined);
        if (started) nodes[at] = started;
      }
      await pause(50);
      const url = nodes.find(({ isRunning }) => isRunning)?.getAgentUrl("restart") ?? "";
      state = await fetchTaskByRpc(url, poison).then(
        ({ status }) => status.state,
        () => "",
      );
    }
    if (state !== "TASK_STATE_FAILED") addProblem(`the poison task is ${state}`);
    const url = nodes.find(({ isRunning }) => isRunning)?.getAgentUrl("resume") ?? "";
    const states = await Promise.all(innocent.map((taskId) => waitForFinalState(url, taskId, 40_000)));
    addFigure("deaths", deaths);
    addFigure("innocentTasks", INNOCENT_TASKS);
    addFigure("innocentTasksFailed", states.filter((end) => end !== "TASK_STATE_COMPLETED").length);
    addFigure("tasksOfDeadNodes", (await findTasksOfDeadNodes(database)).length);
  },
};
