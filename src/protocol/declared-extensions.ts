/** Extension for positions in a task's events (docs/extensions/stream-cursor-v1.md). */
export const STREAM_CURSOR_EXTENSION_URI = "urn:colloquy:extensions:stream-cursor:v1";
/** Extension for messages that clients can safely send again (docs/extensions/idempotent-send-v1.md). */
export const IDEMPOTENT_SEND_EXTENSION_URI = "urn:colloquy:extensions:idempotent-send:v1";
/** Extension for messages to a running agent (docs/extensions/agent-steering-v1.md). */
export const AGENT_STEERING_EXTENSION_URI = "urn:colloquy:extensions:agent-steering:v1";
/** Extension for the users' messages in a stream (docs/extensions/message-events-v1.md). */
export const MESSAGE_EVENTS_EXTENSION_URI = "urn:colloquy:extensions:message-events:v1";
/** Extension for the task of an agent that sends a message (docs/extensions/parent-task-v1.md). */
export const PARENT_TASK_EXTENSION_URI = "urn:colloquy:extensions:parent-task:v1";
/** Metadata key of a message that an agent sends, with the task of the agent. */
export const PARENT_TASK_KEY: string = `${PARENT_TASK_EXTENSION_URI}/parentTask`;

/**
 * Effect of a message on a running agent. With `steer`, the agent uses the message in its current work. With
 * `interrupt`, the agent stops its work, and the message begins the next turn.
 */
export type SteeringSignal = "steer" | "interrupt";

/** Metadata key of the `SteeringSignal` of a message. */
export const STEERING_SIGNAL_KEY: string = `${AGENT_STEERING_EXTENSION_URI}/signal`;

/** Parameters of the agent steering extension on an agent card. */
export interface AgentSteeringParams {
  /** Whether the agent accepts `steer`. Default: false. */
  readonly steerable?: boolean;
  /** Whether the agent accepts `interrupt`. Default: false. */
  readonly interruptible?: boolean;
}
