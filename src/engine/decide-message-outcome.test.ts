import { describe, expect, it } from "vitest";
import { TASK_STATES } from "../protocol/index.ts";
import {
  decideMessageOutcome,
  type MessageFacts,
  type MessageOutcome,
  type TaskTurnStatus,
} from "./decide-message-outcome.ts";

/**
 * The action in each cell: turn and task state, and then the action for an agent that takes the message during
 * a turn, for an agent that queues messages, for an agent that refuses messages, for an interrupt, for an
 * interrupt of an agent that is not interruptible, and for steering of an agent that does not take the message.
 */
const EXPECTED_ACTIONS = `
none               SUBMITTED      awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
none               WORKING        awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
none               INPUT_REQUIRED start              start              start              start              start              start
none               AUTH_REQUIRED  start              start              start              start              start              start
none               COMPLETED      task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
none               FAILED         task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
none               CANCELED       task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
none               REJECTED       task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
none               UNSPECIFIED    awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
running            SUBMITTED      deliver            queue              agent-working      interrupt          not-interruptible  not-steerable
running            WORKING        deliver            queue              agent-working      interrupt          not-interruptible  not-steerable
running            INPUT_REQUIRED queue              queue              queue              queue              queue              queue
running            AUTH_REQUIRED  deliver            queue              queue              interrupt          not-interruptible  not-steerable
running            COMPLETED      task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
running            FAILED         task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
running            CANCELED       task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
running            REJECTED       task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
running            UNSPECIFIED    deliver            queue              agent-working      interrupt          not-interruptible  not-steerable
awaiting-recovery  SUBMITTED      awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  WORKING        awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  INPUT_REQUIRED awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  AUTH_REQUIRED  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
awaiting-recovery  COMPLETED      task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
awaiting-recovery  FAILED         task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
awaiting-recovery  CANCELED       task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
awaiting-recovery  REJECTED       task-ended         task-ended         task-ended         task-ended         task-ended         task-ended
awaiting-recovery  UNSPECIFIED    awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery  awaiting-recovery
`;

const TURN_STATUSES: readonly TaskTurnStatus[] = ["none", "running", "awaiting-recovery"];
const BOOLEANS = [true, false];
const POLICIES = ["queue", "refuse"] as const;
const SIGNALS = [undefined, "steer", "interrupt"] as const;

type AgentFacts = Pick<MessageFacts, "canDeliver" | "whileWorking" | "steering" | "isInterruptible">;

/** Returns the column of the expected action. */
function getExpectedColumn({ canDeliver, whileWorking, steering, isInterruptible }: AgentFacts): number {
  if (steering === "interrupt") return isInterruptible ? 3 : 4;
  if (canDeliver) return 0;
  if (steering === "steer") return 5;
  return whileWorking === "queue" ? 1 : 2;
}

const AGENT_FACTS: readonly AgentFacts[] = BOOLEANS.flatMap((canDeliver) =>
  BOOLEANS.flatMap((isInterruptible) =>
    POLICIES.flatMap((whileWorking) =>
      SIGNALS.map((steering) => ({ canDeliver, isInterruptible, whileWorking, steering })),
    ),
  ),
);

const ROWS = EXPECTED_ACTIONS.trim()
  .split("\n")
  .map((row) => {
    const [turnStatus, state, ...actions] = row.split(/ +/);
    return {
      turnStatus: turnStatus as TaskTurnStatus,
      taskState: `TASK_STATE_${state}` as MessageFacts["taskState"],
      actions,
    };
  });

function toExpectedOutcome(action: string): MessageOutcome {
  const isAccepted = ["start", "queue", "deliver", "interrupt"].includes(action);
  return (isAccepted ? { action } : { action: "refuse", refusal: action }) as MessageOutcome;
}

describe("a message to an existing task", () => {
  it("has expected outcomes for every turn and every state", () => {
    const cells = new Set(ROWS.map(({ turnStatus, taskState }) => `${turnStatus} ${taskState}`));
    expect(cells.size).toBe(TURN_STATUSES.length * (TASK_STATES.length + 1));
  });

  it.for(ROWS)(
    "with turn $turnStatus in $taskState has its outcome for every agent and every signal",
    (row) => {
      const { turnStatus, taskState, actions } = row;
      expect(actions).toHaveLength(6);
      for (const agentFacts of AGENT_FACTS) {
        const facts = { turnStatus, taskState, ...agentFacts };
        const outcome = toExpectedOutcome(actions[getExpectedColumn(agentFacts)] ?? "");
        expect({ facts, outcome: decideMessageOutcome(facts) }).toEqual({ facts, outcome });
      }
    },
  );
});
