import {
  decideMessageOutcome,
  type MessageAction,
  type MessageFacts,
  type MessageRefusal,
  type TaskTurnStatus,
} from "../../src/engine/decide-message-outcome.ts";

const TURN_TEXTS: Record<TaskTurnStatus, string> = {
  none: "No turn",
  running: "A turn is running",
  "awaiting-recovery": "A turn was lost, and the server has not recovered the task yet",
};
const STATES = [
  "COMPLETED",
  "FAILED",
  "CANCELED",
  "REJECTED",
  "INPUT_REQUIRED",
  "AUTH_REQUIRED",
  "SUBMITTED",
  "WORKING",
  "UNSPECIFIED",
] as const;
type AgentFacts = Omit<MessageFacts, "turnStatus" | "taskState">;
const REFUSES: AgentFacts = {
  canDeliver: false,
  whileWorking: "refuse",
  steering: undefined,
  isInterruptible: false,
};
/** The agents and signals of the columns. */
const COLUMNS: readonly AgentFacts[] = [
  { ...REFUSES, canDeliver: true },
  { ...REFUSES, whileWorking: "queue" },
  REFUSES,
  { ...REFUSES, steering: "interrupt", isInterruptible: true },
];
const OUTCOME_TEXTS: Record<MessageAction | MessageRefusal, string> = {
  start: "starts a turn",
  queue: "waits for its turn",
  deliver: "goes to the agent",
  "task-ended": "`UNSUPPORTED_OPERATION`",
  "agent-working": "`UNSUPPORTED_OPERATION`",
  interrupt: "stops the turn and is next",
  "not-steerable": "`UNSUPPORTED_OPERATION`",
  "not-interruptible": "`UNSUPPORTED_OPERATION`",
  "awaiting-recovery": "`UNAVAILABLE`, with a retry time",
};
const CURRENT_TASK_TEXT = "The current task, as soon as the message is durable";
const TASK_AFTER_QUEUED_TURN_TEXT =
  "The task when the turn of the message has stopped, or the current task if the running turn waits for its user for one second";
/** Response to SendMessage without `returnImmediately`. */
const RESPONSE_TEXTS: Record<MessageAction, string> = {
  start: "The task when the turn of the message has stopped",
  queue: TASK_AFTER_QUEUED_TURN_TEXT,
  deliver: CURRENT_TASK_TEXT,
  interrupt: TASK_AFTER_QUEUED_TURN_TEXT,
};
const ACTIONS: readonly MessageAction[] = ["start", "queue", "deliver", "interrupt"];

/** Renders the outcome of a message to an existing task. Task states with the same outcome share a row. */
export function renderMessageOutcomesTable(): string {
  const rows = (Object.keys(TURN_TEXTS) as TaskTurnStatus[]).flatMap((turnStatus) => {
    const renderOutcomes = (state: (typeof STATES)[number]): string =>
      COLUMNS.map((facts) => renderOutcome({ turnStatus, taskState: `TASK_STATE_${state}`, ...facts })).join(
        " | ",
      );
    return [...Map.groupBy(STATES, renderOutcomes)].map(
      ([outcomes, states]) => `| ${TURN_TEXTS[turnStatus]} | ${states.join(", ")} | ${outcomes} |`,
    );
  });
  const head =
    "| Turn | Task state | The agent accepts the message | `queue` | `refuse` | The message interrupts |";
  return `${head}\n|---|---|---|---|---|---|\n${rows.join("\n")}`;
}

function renderOutcome(facts: MessageFacts): string {
  const outcome = decideMessageOutcome(facts);
  return OUTCOME_TEXTS[outcome.action === "refuse" ? outcome.refusal : outcome.action];
}

/** Renders the response to SendMessage for each outcome. */
export function renderMessageActionsTable(): string {
  const rows = ACTIONS.map(
    (action) => `| ${OUTCOME_TEXTS[action]} | ${RESPONSE_TEXTS[action]} | ${CURRENT_TASK_TEXT} |`,
  );
  return `| The message | SendMessage | SendMessage with \`returnImmediately\` |\n|---|---|---|\n${rows.join("\n")}`;
}
