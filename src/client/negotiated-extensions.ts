import {
  A2AError,
  AGENT_STEERING_EXTENSION_URI,
  type AgentCard,
  IDEMPOTENT_SEND_EXTENSION_URI,
  isObject,
  MESSAGE_EVENTS_EXTENSION_URI,
  PARENT_TASK_EXTENSION_URI,
  type SteeringSignal,
  STREAM_CURSOR_EXTENSION_URI,
} from "../protocol/index.ts";
import { withMessageEvents } from "./stream/with-message-events.ts";
import { withStreamCursor } from "./stream/with-stream-cursor.ts";
import type { Transport } from "./transport/transport.ts";

/** Extensions that the client requests from every agent that declares them. */
const AUTOMATIC_EXTENSION_URIS: readonly string[] = [
  STREAM_CURSOR_EXTENSION_URI,
  IDEMPOTENT_SEND_EXTENSION_URI,
  AGENT_STEERING_EXTENSION_URI,
  PARENT_TASK_EXTENSION_URI,
];

type CardCapabilities = Pick<AgentCard, "capabilities">;

/** Returns the extensions of the caller, followed by the automatic extensions that the agent card declares. */
export function addAutomaticExtensions(
  requestedUris: readonly string[],
  { capabilities }: CardCapabilities,
): readonly string[] {
  const declared = new Set(capabilities.extensions?.map(({ uri }) => uri));
  const added = AUTOMATIC_EXTENSION_URIS.filter((uri) => declared.has(uri) && !requestedUris.includes(uri));
  return [...requestedUris, ...added];
}

/** Wraps a transport so that it understands the responses of the requested extensions. */
export function withRequestedExtensions(transport: Transport, requestedUris: readonly string[]): Transport {
  const cursor = requestedUris.includes(STREAM_CURSOR_EXTENSION_URI)
    ? withStreamCursor(transport)
    : transport;
  return requestedUris.includes(MESSAGE_EVENTS_EXTENSION_URI) ? withMessageEvents(cursor) : cursor;
}

/** Returns true if the agent processes a message with the same id only once. */
export function acceptsRepeatedMessages({ capabilities }: CardCapabilities): boolean {
  return capabilities.extensions?.some(({ uri }) => uri === IDEMPOTENT_SEND_EXTENSION_URI) ?? false;
}

/** Throws UNSUPPORTED_OPERATION if the agent card does not declare the ability that the signal requires. */
export function assertSteeringDeclared(
  { capabilities, name }: Pick<AgentCard, "capabilities" | "name">,
  signal: SteeringSignal,
): void {
  const params = capabilities.extensions?.find(({ uri }) => uri === AGENT_STEERING_EXTENSION_URI)?.params;
  const ability = signal === "steer" ? "steerable" : "interruptible";
  if (isObject(params) && params[ability] === true) return;
  const text = `${JSON.stringify(name)} does not declare that it is ${ability}. Wait until the task stops, or cancel it.`;
  throw new A2AError("UNSUPPORTED_OPERATION", text);
}
