import {
  getEventTaskId,
  getEventTaskState,
  isInterrupted,
  isObject,
  isTerminal,
  type StreamResponse,
} from "../../../protocol/index.ts";
import type { TrafficIds } from "../../../observe/trace/index.ts";
import { fromJsonRpcError, fromRestError } from "../../../wire/index.ts";
import * as v0_3 from "../../../wire/v0_3/index.ts";
import * as v1 from "../../../wire/v1/index.ts";
import type { CallDescription } from "./call-description.ts";

/** The content of a response or of a frame, as far as it can be decoded. */
export interface DecodedResult {
  /** A task, message, or update in the form of an A2A 1.0 stream event. */
  readonly event?: StreamResponse;
  /** Message of the error that the agent returned. */
  readonly error?: string;
}

/** Decodes the JSON of a response, or of one frame of a stream, for an A2A operation. Never throws. */
export function decodeRecordedResult(call: CallDescription, json: unknown, httpStatus = 200): DecodedResult {
  if (call.a2aOperation === undefined) return {};
  if (call.binding === "JSONRPC") {
    if (!isObject(json)) return {};
    if (isObject(json["error"])) return { error: fromJsonRpcError(json["error"], httpStatus).message };
    return decodeEvent(call, json["result"]);
  }
  if (httpStatus >= 400 || isRestError(json)) return { error: fromRestError(httpStatus, json).message };
  return decodeEvent(call, json);
}

/** Returns whether the JSON of a stream frame is an error, as an HTTP+JSON stream contains it. */
export function isRestError(json: unknown): boolean {
  if (!isObject(json)) return false;
  return isObject(json["error"]) || (typeof json["code"] === "number" && typeof json["message"] === "string");
}

function decodeEvent(
  { a2aOperation, binding, protocolVersion }: CallDescription,
  json: unknown,
): DecodedResult {
  const decodeResult =
    protocolVersion === "1.0"
      ? v1.decodeResult
      : binding === "JSONRPC"
        ? v0_3.decodeResult
        : v0_3.protoJsonCodec.decodeResult.bind(v0_3.protoJsonCodec);
  try {
    if (a2aOperation === "GetTask" || a2aOperation === "CancelTask")
      return { event: { task: decodeResult(a2aOperation, json) } };
    const returnsEvent =
      a2aOperation === "SendMessage" ||
      a2aOperation === "SendStreamingMessage" ||
      a2aOperation === "SubscribeToTask";
    return returnsEvent ? { event: decodeResult(a2aOperation, json) } : {};
  } catch {
    return {};
  }
}

/** Returns the ids of an event for its line. */
export function getEventIds(event: StreamResponse): Omit<TrafficIds, "agent"> {
  const taskId = "message" in event ? event.message.taskId : getEventTaskId(event);
  const contextId = Object.values<{ contextId?: string }>(event)[0]?.contextId;
  return {
    ...(taskId === undefined || taskId === "" ? {} : { task_id: taskId }),
    ...(contextId === undefined || contextId === "" ? {} : { context_id: contextId }),
  };
}

/** Returns whether a turn has ended after the event, or `undefined` if the event does not tell. */
export function findTurnEnd(event: StreamResponse): boolean | undefined {
  if ("message" in event) return true;
  const state = getEventTaskState(event);
  return state && (isTerminal(state) || isInterrupted(state));
}
