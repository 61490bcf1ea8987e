import {
  A2AError,
  AGENT_STEERING_EXTENSION_URI,
  type AgentCard,
  findMessageJsonInStatusUpdate,
  IDEMPOTENT_SEND_EXTENSION_URI,
  isObject,
  MESSAGE_EVENTS_EXTENSION_URI,
  type Operations,
  PARENT_TASK_EXTENSION_URI,
  removeTaskGeneration,
  splitEventPosition,
  type SteeringSignal,
  STREAM_CURSOR_EXTENSION_URI,
  type Task,
} from "../protocol/index.ts";
import * as v1 from "../wire/v1/index.ts";
import type { Transport, UnaryOperation } from "./transport/transport.ts";

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

/**
 * Wraps a transport that requests the message events extension. A status update that contains a user's message
 * becomes a `message` event with the id of its task.
 */
function withMessageEvents(transport: Transport): Transport {
  return {
    version: transport.version,
    call: (operation, params, call) => transport.call(operation, params, call),
    async *stream(operation, params, call) {
      for await (const received of transport.stream(operation, params, call)) {
        const message = findMessageJsonInStatusUpdate(received.event);
        yield message
          ? { ...received, event: v1.decodeResult("SendStreamingMessage", { message }) }
          : received;
      }
    },
  };
}

/**
 * Wraps a transport that requests the stream cursor extension. The id of each event becomes its sequence
 * number, so that streams resume over every binding. The wrapper drops events that the client already has. If
 * events are missing, the wrapper throws `UNAVAILABLE`, so that the stream resumes before the gap.
 */
export function withStreamCursor(transport: Transport): Transport {
  return {
    version: transport.version,
    async call(operation, params, call) {
      const result = await transport.call(operation, params, call);
      return isGetTaskResult(operation, result) ? removeTaskGeneration(result) : result;
    },
    async *stream(operation, params, call) {
      let lastGeneration = call.lastEventId === undefined ? undefined : Number(call.lastEventId);
      for await (const received of transport.stream(operation, params, call)) {
        const { event, position } = splitEventPosition(received.event);
        if (!position) {
          yield received;
          continue;
        }
        const { generation, previousGeneration } = position;
        // A task has no previous event, because it replaces everything that the client has.
        if (previousGeneration !== undefined && lastGeneration !== undefined) {
          if (generation <= lastGeneration) continue;
          if (previousGeneration > lastGeneration)
            throw createEventGapError(lastGeneration, previousGeneration);
        }
        lastGeneration = generation;
        yield { ...received, id: String(generation), event };
      }
    },
  };
}

function isGetTaskResult<O extends UnaryOperation>(
  operation: O,
  result: Operations[O]["result"],
): result is Operations[O]["result"] & Task {
  return operation === "GetTask" && "status" in result;
}

function createEventGapError(lastGeneration: number, previousGeneration: number): A2AError {
  const text = `The stream skipped the events ${lastGeneration + 1} to ${previousGeneration}. Subscribe to the task again.`;
  return new A2AError("UNAVAILABLE", text);
}
