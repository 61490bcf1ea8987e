import type { ServerResponse } from "node:http";
import {
  A2AError,
  isObject,
  LogEvent,
  type OperationName,
  type Operations,
  type StreamResponse,
} from "../../../protocol/index.ts";
import type { FrameLine, StreamEndLine } from "../../../observe/trace/index.ts";
import {
  encodeJsonRpcResult,
  fromGrpcError,
  fromJsonRpcError,
  fromRestError,
  isErrorReason,
  type JsonRpcId,
} from "../../../wire/index.ts";
import * as v0_3 from "../../../wire/v0_3/index.ts";
import * as v1 from "../../../wire/v1/index.ts";
import { parseRecordedJson, type MatchedRestOperation } from "../recording/call-description.ts";
import { isRestError } from "../recording/decode-recorded-result.ts";
import { directCardToReplay, type ReplayAddresses } from "./agent-replay.ts";
import type { RecordedExchange } from "./recorded-exchanges.ts";

/** Encodes the responses to one request, in the version and the binding of the request. */
export interface ReplayEncoder {
  readonly mediaType: string;
  encodeResult(operation: OperationName, result: unknown): string;
  /** Encodes the data of a server-sent event. */
  encodeEvent(event: LogEvent): string;
  encodeError(error: A2AError): { readonly status: number; readonly body: string };
}

export function createJsonRpcReplayEncoder(version: "1.0" | "0.3", id: JsonRpcId): ReplayEncoder {
  const dialect = version === "0.3" ? v0_3.jsonRpcDialect : v1.jsonRpcDialect;
  return {
    mediaType: "application/json",
    encodeResult: (operation, result) =>
      encodeJsonRpcResult(id, JSON.stringify(dialect.toResultJson(operation, result as never))),
    encodeEvent: (event) => encodeJsonRpcResult(id, dialect.encodeEvent(event)),
    encodeError: (error) => ({ status: 200, body: dialect.encodeError(id, error) }),
  };
}

export function createRestReplayEncoder({ dialect }: Pick<MatchedRestOperation, "dialect">): ReplayEncoder {
  return {
    mediaType: "application/json",
    encodeResult: (operation, result) => JSON.stringify(dialect.toResultJson(operation, result as never)),
    encodeEvent: (event) => dialect.encodeEvent(event),
    encodeError(error) {
      const { status, body } = dialect.toErrorResponse(error, "1.0.1");
      return { status, body: JSON.stringify(body) };
    },
  };
}

/** Decodes the recorded result of a request to the form of A2A 1.0. Throws the recorded error. */
function decodeRecordedResponse<O extends OperationName>(
  operation: O,
  { request, response, vantage }: Pick<RecordedExchange, "request" | "response" | "vantage">,
): Operations[O]["result"] {
  const { binding, protocol_version: version } = request;
  const { status = 0, body, error } = response ?? {};
  if (vantage === "server" || vantage === "client") {
    // Servers and clients record the result in the form of A2A 1.0, and an error as its reason and message.
    if (error !== undefined) throw fromRecordedError(error);
    return v1.decodeResult(operation, body ?? {});
  }
  if (binding === "JSONRPC" && isObject(body)) {
    if (isObject(body["error"])) throw fromJsonRpcError(body["error"]);
    const decodeResult = version === "0.3" ? v0_3.decodeResult : v1.decodeResult;
    return decodeResult(operation, body["result"]);
  }
  if (typeof status === "number" && status >= 400) throw fromRestError(status, body);
  if (typeof status === "string" && status !== "OK") throw fromRecordedGrpcError(operation, error, status);
  return version === "0.3"
    ? v0_3.protoJsonCodec.decodeResult(operation, body ?? {})
    : v1.decodeResult(operation, body ?? {});
}

/**
 * Decodes the recorded result of a request for a client of the replay. The interfaces of an extended agent card lead to
 * the replay. Throws the recorded error.
 */
export function decodeReplayedResult<O extends OperationName>(
  operation: O,
  exchange: RecordedExchange,
  addresses: ReplayAddresses,
): Operations[O]["result"] {
  const result = decodeRecordedResponse(operation, exchange);
  if (operation !== "GetExtendedAgentCard" || !isObject(result)) return result;
  return directCardToReplay(result, addresses) as unknown as Operations[O]["result"];
}

/** Returns what the agent sent in response to a recorded message. Throws the recorded error. */
export function readRecordedEvents(exchange: RecordedExchange): StreamResponse[] {
  if (exchange.operation === "SendMessage") return [decodeRecordedResponse("SendMessage", exchange)];
  return listReplayedEvents(exchange).map(({ content }) => {
    if (content instanceof A2AError) throw content;
    return content.event;
  });
}

/** Converts an error of the record of a server or a client, such as `TASK_NOT_FOUND: Task 1 was not found`. */
function fromRecordedError(text: string): A2AError {
  const [, reason = "INTERNAL", message = text] = /^([A-Z_]{2,40}): (.*)$/s.exec(text) ?? [];
  return new A2AError(isErrorReason(reason) ? reason : "INTERNAL", message);
}

/** Converts a recorded gRPC error, such as `NOT_FOUND: Task not found`. */
function fromRecordedGrpcError(operation: OperationName, text = "", recordedStatus?: string): A2AError {
  const [, prefix, rest = ""] = /^([A-Z_]{2,20}): ?(.*)$/s.exec(text) ?? [];
  const status = recordedStatus ?? prefix ?? "UNKNOWN";
  return fromGrpcError(operation, status, prefix === status ? rest : text);
}

/** An event of a recorded stream, with its time. */
export interface ReplayedEvent {
  /** Milliseconds after the request. */
  readonly offsetMs: number;
  readonly id: string | undefined;
  readonly content: LogEvent | A2AError;
}

/** Returns the events of a recorded stream. Comments, such as heartbeats, are omitted. */
export function listReplayedEvents({ operation, request, frames, end }: RecordedExchange): ReplayedEvent[] {
  const getOffset = ({ mono_ms: ms }: FrameLine | StreamEndLine): number => Math.max(0, ms - request.mono_ms);
  const events: ReplayedEvent[] = frames.flatMap((frame) => {
    const content = toEventOrError(frame);
    return content === undefined ? [] : [{ offsetMs: getOffset(frame), id: frame.event_id, content }];
  });
  // gRPC sends the error of a stream in the trailers, and the other bindings send it as an event.
  if (request.binding === "GRPC" && end?.reason === "completed" && end.error !== undefined)
    events.push({
      offsetMs: getOffset(end),
      id: undefined,
      content: fromRecordedGrpcError(operation, end.error),
    });
  return events;
}

function toEventOrError({ event, text, log_seq = 0 }: FrameLine): LogEvent | A2AError | undefined {
  if (event) return LogEvent.create(log_seq, event as unknown as StreamResponse);
  const json = parseRecordedJson(Buffer.from(text ?? ""));
  if (!json || !isRestError(json)) return undefined;
  return fromJsonRpcError(isObject(json["error"]) ? json["error"] : json);
}

/** Writes one event of a stream. */
export function writeReplayedEvent(
  response: ServerResponse,
  encoder: ReplayEncoder,
  { id, content }: ReplayedEvent,
): void {
  const data = content instanceof A2AError ? encoder.encodeError(content).body : encoder.encodeEvent(content);
  response.write(id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`);
}
