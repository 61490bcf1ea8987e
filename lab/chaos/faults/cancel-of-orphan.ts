import { setTimeout as pause } from "node:timers/promises";
import type { Task } from "../../../src/protocol/index.ts";
import { callAgent, startTask, waitForFinalState } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const LEASE_MS = 2000;
const TASKS = 20;
const RETRY_MS = 100;

export const fault: ChaosFault = {
  title: "`kill -9` of a node, and at once a cancel of its 20 tasks (`restart`) on the other node",
  promise:
    "Each task ends CANCELED after the lease, and its agent does not start again once a cancel is acknowledged.",
  maxSeconds: 60,
  bars: { notCanceled: 0, startedAfterAcknowledgement: 0, canceledMaxMs: LEASE_MS + 3000 },
  async inject({ startNode, addFigure }) {
    const [owner, other] = [await startNode({ leaseMs: LEASE_MS }), await startNode({ leaseMs: LEASE_MS })];
    const url = other.getAgentUrl("restart");
    const taskIds = await Promise.all(
      Array.from({ length: TASKS }, (_, at) =>
        startTask(owner.getAgentUrl("restart"), `orphan-${at}`, { chunks: 3000, intervalMs: 20 }),
      ),
    );
    await pause(500);
    await owner.kill();
    const killedAt = performance.now();
    let refused = 0;
    const canceledMs = await Promise.all(
      taskIds.map(async (taskId) => {
        // A client repeats a cancel that the server refuses with UNAVAILABLE.
        while (performance.now() - killedAt < 4 * LEASE_MS) {
          const state = await callAgent<Task>(url, "CancelTask", { id: taskId }).then(
            ({ status }) => status.state,
            () => undefined,
          );
          if (state === "TASK_STATE_CANCELED") break;
          refused++;
          await pause(RETRY_MS);
        }
        return performance.now() - killedAt;
      }),
    );
    const acknowledgedStarts = other.findAgentReports("started").length;
    await pause(LEASE_MS);
    const states = await Promise.all(taskIds.map((taskId) => waitForFinalState(url, taskId, 1000)));
    addFigure("tasks", TASKS);
    addFigure("refusedRequests", refused);
    addFigure("canceledMaxMs", Math.max(...canceledMs));
    addFigure("notCanceled", states.filter((state) => state !== "TASK_STATE_CANCELED").length);
    addFigure("startedAgain", acknowledgedStarts);
    addFigure("startedAfterAcknowledgement", other.findAgentReports("started").length - acknowledgedStarts);
  },
};
