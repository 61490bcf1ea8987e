import { STREAM_CURSOR_EXTENSION_URI } from "./declared-extensions.ts";
import type { StreamResponse } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { Task } from "./task.ts";

// The names follow A2A issue #1794, in which `generation` is the number of a task's latest change.
const GENERATION_KEY = `${STREAM_CURSOR_EXTENSION_URI}/generation`;
const PREVIOUS_GENERATION_KEY = `${STREAM_CURSOR_EXTENSION_URI}/previousGeneration`;
const AFTER_GENERATION_KEY = `${STREAM_CURSOR_EXTENSION_URI}/afterGeneration`;

/** The position of an event in the log of its task. */
export interface EventPosition {
  /** Sequence number of the event. For a task, the number of the last event that the task contains. */
  readonly generation: number;
  /**
   * Sequence number of the event that the stream sends before this event. Absent for a task, which replaces
   * everything before it.
   */
  readonly previousGeneration?: number;
}

/** Adds the position of an event to its metadata. A message is returned unchanged. */
export function addEventPosition(event: StreamResponse, position: EventPosition): StreamResponse {
  const { generation, previousGeneration = generation - 1 } = position;
  const added: JsonObject = { [GENERATION_KEY]: generation };
  if ("task" in event) return { task: addMetadata(event.task, added) };
  if (previousGeneration !== generation - 1) added[PREVIOUS_GENERATION_KEY] = previousGeneration;
  if ("statusUpdate" in event) return { statusUpdate: addMetadata(event.statusUpdate, added) };
  return "artifactUpdate" in event ? { artifactUpdate: addMetadata(event.artifactUpdate, added) } : event;
}

/** Adds the sequence number of the last event of a task to the metadata of the task. */
export function addTaskGeneration(task: Task, generation: number): Task {
  return addMetadata(task, { [GENERATION_KEY]: generation });
}

/**
 * Splits an event into the plain event and its position. The position is `undefined` if the event has none or
 * an invalid one.
 */
export function splitEventPosition(event: StreamResponse): {
  readonly event: StreamResponse;
  readonly position: EventPosition | undefined;
} {
  if ("message" in event) return { event, position: undefined };
  const { metadata } =
    "task" in event ? event.task : "statusUpdate" in event ? event.statusUpdate : event.artifactUpdate;
  const generation = toGeneration(metadata?.[GENERATION_KEY]);
  if (generation === undefined) return { event, position: undefined };
  if ("task" in event) return { event: { task: removeTaskGeneration(event.task) }, position: { generation } };
  const previousGeneration = toGeneration(metadata?.[PREVIOUS_GENERATION_KEY]) ?? generation - 1;
  const position = { generation, previousGeneration };
  return "statusUpdate" in event
    ? { event: { statusUpdate: removePosition(event.statusUpdate) }, position }
    : { event: { artifactUpdate: removePosition(event.artifactUpdate) }, position };
}

/** Removes the sequence number that `addTaskGeneration` adds. */
export function removeTaskGeneration(task: Task): Task {
  return removePosition(task);
}

/**
 * Returns the sequence number in the metadata of a stream request, after which the stream continues. The
 * result is `undefined` if the request has none, and `invalid` if the value is not a sequence number.
 */
export function findAfterGeneration(requestMetadata: unknown): number | "invalid" | undefined {
  if (typeof requestMetadata !== "object" || requestMetadata === null) return undefined;
  const value = (requestMetadata as Record<string, unknown>)[AFTER_GENERATION_KEY];
  return value === undefined ? undefined : (toGeneration(value) ?? "invalid");
}

function toGeneration(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function addMetadata<T extends { metadata?: JsonObject }>(target: T, added: JsonObject): T {
  return { ...target, metadata: { ...target.metadata, ...added } };
}

function removePosition<T extends { metadata?: JsonObject }>({ metadata, ...rest }: T): T {
  const { [GENERATION_KEY]: _generation, [PREVIOUS_GENERATION_KEY]: _previous, ...others } = metadata ?? {};
  return (Object.keys(others).length > 0 ? { ...rest, metadata: others } : rest) as T;
}
