import type { SteeringSignal, TaskState } from "../protocol/index.ts";

/**
 * The unfinished turn of a task, which can change the task without a new message. With `none`, the task has no
 * unfinished turn. With `running`, an agent of this process or of another node runs a turn, or a turn waits. With
 * `awaiting-recovery`, the store has an unfinished turn that no living process runs.
 */
export type TaskTurnStatus = "none" | "running" | "awaiting-recovery";

/** What happens to a message to a running task, unless the agent takes the message. */
type MessageWhileWorkingPolicy = "refuse" | "queue";

/** Everything that decides what happens to a message to an existing task. */
export interface MessageFacts {
  readonly turnStatus: TaskTurnStatus;
  readonly taskState: TaskState;
  /** True if the agent implements `deliver` and has not declined the message. */
  readonly canDeliver: boolean;
  readonly whileWorking: MessageWhileWorkingPolicy;
  /** Effect on a running turn that the client requests. By default, the agent decides. */
  readonly steering: SteeringSignal | undefined;
  readonly isInterruptible: boolean;
}

/** Reason why a task does not accept a message. */
export type MessageRefusal =
  | "task-ended"
  | "agent-working"
  | "awaiting-recovery"
  | "not-steerable"
  | "not-interruptible";

/**
 * The effect of an accepted message. `interrupt` queues the message and stops the running
 * turn.
 */
const ACTIONS = ["start", "queue", "deliver", "interrupt"] as const;
export type MessageAction = (typeof ACTIONS)[number];

export type MessageOutcome =
  | { readonly action: MessageAction }
  | { readonly action: "refuse"; readonly refusal: MessageRefusal };

/** The situation of a task when a message arrives. */
type MessageSituation =
  | "ended"
  | "awaiting-recovery"
  | "waiting"
  | "waiting-for-input-within-turn"
  | "waiting-for-authorization-within-turn"
  | "working";

const ENDED_SITUATIONS = {
  TASK_STATE_COMPLETED: "ended",
  TASK_STATE_FAILED: "ended",
  TASK_STATE_CANCELED: "ended",
  TASK_STATE_REJECTED: "ended",
} as const;

/** The situation of a task by its turn and its state. */
export const MESSAGE_SITUATIONS: Record<TaskTurnStatus, Record<TaskState, MessageSituation>> = {
  none: {
    ...ENDED_SITUATIONS,
    TASK_STATE_INPUT_REQUIRED: "waiting",
    TASK_STATE_AUTH_REQUIRED: "waiting",
    // A turn never leaves a task in these states, so the turn was lost.
    TASK_STATE_SUBMITTED: "awaiting-recovery",
    TASK_STATE_WORKING: "awaiting-recovery",
    TASK_STATE_UNSPECIFIED: "awaiting-recovery",
  },
  running: {
    ...ENDED_SITUATIONS,
    TASK_STATE_INPUT_REQUIRED: "waiting-for-input-within-turn",
    TASK_STATE_AUTH_REQUIRED: "waiting-for-authorization-within-turn",
    TASK_STATE_SUBMITTED: "working",
    TASK_STATE_WORKING: "working",
    TASK_STATE_UNSPECIFIED: "working",
  },
  "awaiting-recovery": {
    ...ENDED_SITUATIONS,
    TASK_STATE_INPUT_REQUIRED: "awaiting-recovery",
    TASK_STATE_AUTH_REQUIRED: "awaiting-recovery",
    TASK_STATE_SUBMITTED: "awaiting-recovery",
    TASK_STATE_WORKING: "awaiting-recovery",
    TASK_STATE_UNSPECIFIED: "awaiting-recovery",
  },
};

/**
 * The treatment of a message during a turn. The agent accepts the message, or the message waits for its turn,
 * is rejected, or stops the turn. With `refuse-steering` and `refuse-interrupt`, the agent does not have the
 * ability that the client requests.
 */
export type RunningTurnPolicy =
  | "deliver"
  | "queue"
  | "refuse"
  | "interrupt"
  | "refuse-steering"
  | "refuse-interrupt";

type ActionByPolicy = Record<RunningTurnPolicy, MessageAction | MessageRefusal>;

const forEveryPolicy = (action: MessageAction | MessageRefusal): ActionByPolicy => ({
  deliver: action,
  queue: action,
  refuse: action,
  interrupt: action,
  "refuse-steering": action,
  "refuse-interrupt": action,
});

const WORKING_ACTIONS: ActionByPolicy = {
  deliver: "deliver",
  queue: "queue",
  refuse: "agent-working",
  interrupt: "interrupt",
  "refuse-steering": "not-steerable",
  "refuse-interrupt": "not-interruptible",
};

/**
 * The action by situation and policy. A task that waits for its user accepts every message. If its turn has
 * not ended yet, the message waits for the end, because a client can answer before the agent has returned.
 */
export const MESSAGE_ACTIONS: Record<MessageSituation, ActionByPolicy> = {
  ended: forEveryPolicy("task-ended"),
  "awaiting-recovery": forEveryPolicy("awaiting-recovery"),
  waiting: forEveryPolicy("start"),
  "waiting-for-input-within-turn": forEveryPolicy("queue"),
  "waiting-for-authorization-within-turn": { ...WORKING_ACTIONS, refuse: "queue" },
  working: WORKING_ACTIONS,
};

/** Decides what happens to a message to an existing task. */
export function decideMessageOutcome(facts: MessageFacts): MessageOutcome {
  const { turnStatus, taskState } = facts;
  const situation = MESSAGE_SITUATIONS[turnStatus][taskState];
  const action = MESSAGE_ACTIONS[situation][chooseRunningTurnPolicy(facts)];
  return isMessageAction(action) ? { action } : { action: "refuse", refusal: action };
}

function chooseRunningTurnPolicy(facts: MessageFacts): RunningTurnPolicy {
  const { steering, isInterruptible, canDeliver, whileWorking } = facts;
  if (steering === "interrupt") return isInterruptible ? "interrupt" : "refuse-interrupt";
  if (canDeliver) return "deliver";
  return steering === "steer" ? "refuse-steering" : whileWorking;
}

function isMessageAction(action: MessageAction | MessageRefusal): action is MessageAction {
  return ACTIONS.some((one) => one === action);
}
