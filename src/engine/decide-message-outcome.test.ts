import { describe, expect, it } from "vitest";
import { TASK_STATES } from "../protocol/index.ts";
import {
  decideMessageOutcome,
  MESSAGE_SITUATIONS,
  type MessageFacts,
  type MessageOutcome,
  type TaskTurnStatus,
} from "./decide-message-outcome.ts";

/**
 * The action in each cell: turn and task state, then the action for an agent that takes the message during a
 * turn, for an agent that queues messages, and for an agent that refuses messages.
 */
const EXPECTED_ACTIONS = `
none               SUBMITTED      awaiting-recovery  awaiting-recovery  awaiting-recovery
none               WORKING        awaiting-recovery  awaiting-recovery  awaiting-recovery
none               INPUT_REQUIRED start              start              start
none               AUTH_REQUIRED  start              start              start
none               COMPLETED      task-ended         task-ended         task-ended
none               FAILED         task-ended         task-ended         task-ended
none               CANCELED       task-ended         task-ended         task-ended
none               REJECTED       task-ended         task-ended         task-ended
none               UNSPECIFIED    awaiting-recovery  awaiting-recovery  awaiting-recovery
running            SUBMITTED      deliver            queue              agent-working
running            WORKING        deliver            queue              agent-working
running            INPUT_REQUIRED queue              queue              queue
running            AUTH_REQUIRED  deliver            queue              queue
running            COMPLETED      task-ended         task-ended         task-ended
running            FAILED         task-ended         task-ended         task-ended
running            CANCELED       task-ended         task-ended         task-ended
running            REJECTED       task-ended         task-ended         task-ended
running            UNSPECIFIED    deliver            queue              agent-working
awaiting-recovery  SUBMITTED      awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  WORKING        awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  INPUT_REQUIRED awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  AUTH_REQUIRED  awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  COMPLETED      task-ended         task-ended         task-ended
awaiting-recovery  FAILED         task-ended         task-ended         task-ended
awaiting-recovery  CANCELED       task-ended         task-ended         task-ended
awaiting-recovery  REJECTED       task-ended         task-ended         task-ended
awaiting-recovery  UNSPECIFIED    awaiting-recovery  awaiting-recovery  awaiting-recovery
`;

const BLOCKING_RESPONSES: Readonly<Record<string, string>> = {
  start: "task-after-turn",
  queue: "task-after-queued-turn",
  deliver: "current-task",
};

type AgentFacts = Pick<MessageFacts, "canDeliver" | "whileWorking">;

const AGENTS_BY_COLUMN: readonly (readonly AgentFacts[])[] = [
  [
    { canDeliver: true, whileWorking: "refuse" },
    { canDeliver: true, whileWorking: "queue" },
  ],
  [{ canDeliver: false, whileWorking: "queue" }],
  [{ canDeliver: false, whileWorking: "refuse" }],
];

const CELLS = EXPECTED_ACTIONS.trim()
  .split("\n")
  .flatMap((row) => {
    const [turn, state, ...actions] = row.split(/ +/);
    const task = {
      turnStatus: turn as TaskTurnStatus,
      taskState: `TASK_STATE_${state}` as MessageFacts["taskState"],
    };
    return actions.flatMap((action, column) =>
      AGENTS_BY_COLUMN[column]!.flatMap((agent) =>
        [true, false].map((returnImmediately) => ({ ...task, ...agent, returnImmediately, action })),
      ),
    );
  });

function toExpectedOutcome(action: string, returnImmediately: boolean): MessageOutcome {
  const response = returnImmediately ? "current-task" : BLOCKING_RESPONSES[action];
  const isAccepted = BLOCKING_RESPONSES[action] !== undefined;
  return (isAccepted ? { action, response } : { action: "refuse", refusal: action }) as MessageOutcome;
}

describe("a message to an existing task", () => {
  it("has an expected outcome in every cell of the table", () => {
    const cells = new Set(CELLS.map((cell) => JSON.stringify({ ...cell, action: undefined })));
    const turnCount = Object.keys(MESSAGE_SITUATIONS).length;
    expect(cells.size).toBe(turnCount * (TASK_STATES.length + 1) * 2 * 2 * 2);
    expect(CELLS).toHaveLength(cells.size);
  });

  it.for(CELLS)(
    "turn $turnStatus, $taskState, canDeliver $canDeliver, whileWorking $whileWorking, returnImmediately $returnImmediately: $action",
    ({ action, ...facts }) => {
      expect(decideMessageOutcome(facts)).toEqual(toExpectedOutcome(action, facts.returnImmediately));
    },
  );
});
