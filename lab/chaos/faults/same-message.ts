import type { Task } from "../../../src/protocol/index.ts";
import { createUserMessage } from "../../../test/support/http-bindings.ts";
import { callAgent } from "../agent-requests.ts";
import type { ChaosFault } from "../chaos-fault.ts";

const MESSAGES = 4;
const COPIES = 20;

export const fault: ChaosFault = {
  title: "the same message 20 times to two nodes at once, 4 times over",
  promise: "One task for each message, and each request is answered with it.",
  maxSeconds: 60,
  bars: { tasksPerMessageMax: 1, runsPerTaskMax: 1 },
  isComparison: true,
  async inject({ hasEventIds, startNode, addFigure, addProblem }) {
    const nodes = [await startNode(), await startNode()];
    const text = JSON.stringify({ chunks: 3, intervalMs: 10 });
    let tasksPerMessageMax = 0;
    let refused = 0;
    for (let number = 0; number < MESSAGES; number++) {
      const message = createUserMessage(`same-${number}`, text);
      const replies = await Promise.allSettled(
        Array.from({ length: COPIES }, (_, at) =>
          callAgent<{ task: Task }>(nodes[at % 2]?.getAgentUrl("fail") ?? "", "SendMessage", { message }),
        ),
      );
      const ids = replies.flatMap((reply) => (reply.status === "fulfilled" ? [reply.value.task.id] : []));
      for (const reply of replies)
        if (reply.status === "rejected" && hasEventIds) addProblem(String(reply.reason));
      refused += COPIES - ids.length;
      tasksPerMessageMax = Math.max(tasksPerMessageMax, new Set(ids).size);
    }
    const runs = nodes.flatMap((node) => node.findAgentReports("started"));
    const runsPerTask = Object.values(Object.groupBy(runs, ({ taskId }) => taskId));
    addFigure("messages", MESSAGES);
    addFigure("refused", refused);
    addFigure("tasksPerMessageMax", tasksPerMessageMax);
    addFigure("runsPerTaskMax", Math.max(...runsPerTask.map((group = []) => group.length)));
  },
};
