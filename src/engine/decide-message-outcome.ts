import { isInterrupted, isTerminal, type SteeringSignal, type TaskState } from "../protocol/index.ts";

/**
 * The unfinished turn of a task, which can change the task without a new message. With `none`, the task has no
 * unfinished turn. With `running`, an agent of this process or of another node runs a turn, or a turn waits. With
 * `awaiting-recovery`, the store has an unfinished turn that no living process runs.
 */
export type TaskTurnStatus = "none" | "running" | "awaiting-recovery";

/** Everything that decides what happens to a message to an existing task. */
export interface MessageFacts {
  readonly turnStatus: TaskTurnStatus;
  readonly taskState: TaskState;
  /** True if the agent implements `deliver` and has not declined the message. */
  readonly canDeliver: boolean;
  /** What happens to a message to a running task, unless the agent takes the message. */
  readonly whileWorking: "refuse" | "queue";
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

/** The effect of an accepted message. `interrupt` queues the message and stops the running turn. */
export type MessageAction = "start" | "queue" | "deliver" | "interrupt";

export type MessageOutcome =
  | { readonly action: MessageAction }
  | { readonly action: "refuse"; readonly refusal: MessageRefusal };

/** Decides what happens to a message to an existing task. The test of this file contains the table of all cases. */
export function decideMessageOutcome(facts: MessageFacts): MessageOutcome {
  const { turnStatus, taskState, canDeliver, whileWorking, steering, isInterruptible } = facts;
  if (isTerminal(taskState)) return refuse("task-ended");
  if (turnStatus === "awaiting-recovery") return refuse("awaiting-recovery");
  // A turn never leaves a task in another state, so the turn was lost.
  if (turnStatus === "none")
    return isInterrupted(taskState) ? { action: "start" } : refuse("awaiting-recovery");
  // A client can answer before the agent has returned, so the message waits for the end of the turn.
  if (taskState === "TASK_STATE_INPUT_REQUIRED") return { action: "queue" };
  if (steering === "interrupt")
    return isInterruptible ? { action: "interrupt" } : refuse("not-interruptible");
  if (canDeliver) return { action: "deliver" };
  if (steering === "steer") return refuse("not-steerable");
  const mayWait = whileWorking === "queue" || taskState === "TASK_STATE_AUTH_REQUIRED";
  return mayWait ? { action: "queue" } : refuse("agent-working");
}

function refuse(refusal: MessageRefusal): MessageOutcome {
  return { action: "refuse", refusal };
}
