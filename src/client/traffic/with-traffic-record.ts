import { getCurrentTraceScope } from "../../observe/telemetry/index.ts";
import {
  findRequestIds,
  findResultTask,
  getRecordedAgentName,
  type RequestIds,
  type RequestLine,
  type StreamEndLine,
} from "../../observe/trace/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import {
  A2AError,
  type AgentInterface,
  copyTask,
  fold,
  getEventTaskId,
  getEventTaskState,
  isEventRefusal,
  isInterrupted,
  isObject,
  isTerminal,
  type JsonObject,
  type JsonValue,
  type Message,
  type OperationName,
  parseJsonOrUndefined,
  splitEventPosition,
  type StreamResponse,
  type Task,
  type TaskState,
} from "../../protocol/index.ts";
import type { FetchedCard } from "../card/fetch-card.ts";
import { getMonotonicTimeMs } from "../clock.ts";
import type {
  HttpCallListener,
  ReceivedStreamEvent,
  StreamCallOptions,
  Transport,
} from "../transport/transport.ts";

/** Records the requests, responses, and stream events of a transport, and the agent card of the client. */
export function withTrafficRecord(
  transport: Transport,
  writer: TrafficWriter,
  { card, json, url }: FetchedCard,
  agentInterface: AgentInterface,
): Transport {
  const agent = getRecordedAgentName(writer, card.name, agentInterface.url);
  if (isObject(json)) writer.write({ kind: "agent", agent, url, card: json });
  const target: RecordedInterface = {
    agent,
    url: agentInterface.url,
    binding: agentInterface.protocolBinding as RecordedInterface["binding"],
    version: transport.version,
  };
  return {
    version: transport.version,
    async call(operation, params, call) {
      const recorder = new ClientCallRecorder(writer, target, operation, describeRequest(params, call));
      if (target.binding === "GRPC") recorder.recordRequest();
      try {
        const result = await transport.call(operation, params, { ...call, httpListener: recorder });
        recorder.recordResult(result);
        return result;
      } catch (error) {
        recorder.recordFailure(error);
        throw error;
      }
    },
    async *stream(operation, params, call) {
      const recorder = new ClientCallRecorder(writer, target, operation, describeRequest(params, call));
      if (target.binding === "GRPC") recorder.recordRequest();
      let end: "completed" | "canceled" | "cut" = "canceled";
      let failure: unknown;
      try {
        for await (const received of transport.stream(operation, params, {
          ...call,
          httpListener: recorder,
        })) {
          recorder.recordEvent(received);
          yield received;
        }
        end = "completed";
      } catch (error) {
        end = call.signal?.aborted ? "canceled" : "cut";
        failure = error;
        throw error;
      } finally {
        recorder.recordStreamEnd(end, failure);
      }
    },
  };
}

function describeRequest(
  params: object,
  { headers = {}, lastEventId }: Pick<StreamCallOptions, "headers" | "lastEventId">,
): RecordedRequest {
  const after = lastEventId === undefined ? Number.NaN : Number(lastEventId);
  const { taskId, agent } = getCurrentTraceScope()?.task ?? {};
  return {
    ...(taskId !== undefined && { parent: { task_id: taskId, ...(agent !== undefined && { agent }) } }),
    ...findRequestIds(params),
    ...(Number.isSafeInteger(after) && { after }),
    params: params as JsonObject,
    headers,
  };
}

/** Response headers that the record contains. A `fetch` of the caller may only offer `get`. */
const RECORDED_RESPONSE_HEADERS = [
  "content-type",
  "content-length",
  "date",
  "server",
  "a2a-version",
  "a2a-extensions",
  "x-a2a-extensions",
  "retry-after",
  "www-authenticate",
] as const;

/** The agent and the interface to which a client sends its requests. */
interface RecordedInterface {
  readonly agent: string;
  readonly url: string;
  readonly binding: RequestLine["binding"];
  readonly version: string;
}

/** Ids and headers of a request, before it is encoded for a protocol version. */
interface RecordedRequest extends RequestIds {
  readonly params: JsonValue;
  readonly headers: Readonly<Record<string, string>>;
}

/** Records one call of a client: its requests, its response, and the events of its stream. */
class ClientCallRecorder implements HttpCallListener {
  readonly #writer: TrafficWriter;
  readonly #target: RecordedInterface;
  readonly #operation: OperationName;
  readonly #request: RecordedRequest;
  #call: string | undefined;
  #startMs = 0;
  #response: { readonly status: number; readonly headers?: Record<string, string> } | undefined;
  #frames = 0;
  /** The result of the stream, if the record contains no frames. */
  #streamResult: { task: Task } | { message: Message } | undefined;
  #taskId: string | undefined;
  #state: TaskState | undefined;

  constructor(
    writer: TrafficWriter,
    target: RecordedInterface,
    operation: OperationName,
    request: RecordedRequest,
  ) {
    this.#writer = writer;
    this.#target = target;
    this.#operation = operation;
    this.#request = request;
    this.#taskId = request.task_id;
  }

  onRequest({ url, headers, body }: Parameters<HttpCallListener["onRequest"]>[0]): void {
    // The client sends the request again after it has renewed its credentials.
    if (this.#call !== undefined) this.#writeResponse({ error: "UNAUTHENTICATED" });
    this.#writeRequest(
      url,
      headers,
      body === undefined ? this.#request.params : parseJson(body),
      body?.length,
    );
  }

  onResponse({ status, headers }: Parameters<HttpCallListener["onResponse"]>[0]): void {
    const recorded: Record<string, string> = {};
    for (const name of RECORDED_RESPONSE_HEADERS) {
      const value = headers.get(name);
      if (value !== null) recorded[name] = value;
    }
    this.#response = { status, ...(this.#writer.frames && { headers: recorded }) };
  }

  /** Records a request that is not sent over HTTP. */
  recordRequest(): void {
    this.#writeRequest(this.#target.url, this.#request.headers, this.#request.params);
  }

  recordResult(result?: object, thrown?: unknown): void {
    const task = result && findResultTask(result);
    this.#taskId ??= task?.id;
    this.#writeResponse({
      ...(task && { context_id: task.contextId, state: task.status.state }),
      ...(result && { body: result as JsonObject }),
      ...(thrown !== undefined && { error: describeError(thrown) }),
    });
  }

  recordFailure(thrown: unknown): void {
    // The request could not be encoded, or the connection failed before the request.
    if (this.#call === undefined) this.recordRequest();
    this.#writeResponse({ error: describeError(thrown) });
  }

  recordEvent({ id, event, size = 0 }: ReceivedStreamEvent): void {
    if (!this.#writer.frames) {
      this.#addToResult(splitEventPosition(event).event);
      return;
    }
    if (this.#frames === 0) this.#writeResponse({ is_stream: true });
    this.#frames += 1;
    this.#taskId ??= getEventTaskId(event);
    this.#state = getEventTaskState(event) ?? this.#state;
    const { event: plainEvent, position } = splitEventPosition(event);
    const logSeq = position?.generation;
    this.#writer.write({
      kind: "frame",
      call: this.#getCall(),
      ...this.#getTaskId(),
      index: this.#frames,
      event_id: id,
      log_seq: logSeq,
      previous_log_seq: position?.previousGeneration,
      event: plainEvent as unknown as JsonObject,
      bytes: size,
    });
  }

  /** Records the end of a stream. A stream that failed before its first event is recorded as a failed response. */
  recordStreamEnd(reason: "completed" | "canceled" | "cut", thrown?: unknown): void {
    if (!this.#writer.frames) {
      this.recordResult(this.#streamResult, thrown);
      return;
    }
    if (this.#frames === 0) {
      if (reason === "cut") return this.recordFailure(thrown);
      this.#writeResponse({ is_stream: true });
    }
    const isOver = this.#state !== undefined && (isTerminal(this.#state) || isInterrupted(this.#state));
    const line: Pick<StreamEndLine, "reason" | "error"> =
      reason === "canceled" && isOver
        ? { reason: "completed" }
        : { reason, ...(thrown !== undefined && { error: describeError(thrown) }) };
    this.#writer.write({
      kind: "stream-end",
      call: this.#getCall(),
      ...this.#getTaskId(),
      frames: this.#frames,
      ...line,
    });
  }

  #addToResult(event: StreamResponse): void {
    const result = this.#streamResult;
    if ("task" in event) {
      const task = copyTask(event.task);
      // The request line contains the message of the user.
      this.#streamResult = {
        task: { ...task, history: task.history?.filter(({ role }) => role !== "ROLE_USER") ?? [] },
      };
    } else if (result && "task" in result) {
      const task = fold(result.task, event);
      if (!isEventRefusal(task)) this.#streamResult = { task };
    } else if ("message" in event) this.#streamResult = { message: event.message };
  }

  #writeRequest(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: JsonValue | undefined,
    bodyBytes?: number,
  ): void {
    this.#call = this.#writer.createCallId();
    this.#startMs = getMonotonicTimeMs();
    this.#response = undefined;
    const { params: _params, headers: _headers, ...ids } = this.#request;
    const traceparent = headers["traceparent"];
    const { agent, binding, version } = this.#target;
    this.#writer.write({
      kind: "request",
      call: this.#call,
      from: ids.parent?.agent,
      to: agent,
      binding,
      protocol_version: version,
      ...(this.#writer.vantage !== "client" && { vantage: "client" }),
      operation: this.#operation,
      ...ids,
      traceparent,
      ...(this.#writer.frames && { url, headers, body_bytes: bodyBytes }),
      body,
    });
  }

  #writeResponse(
    line: Partial<Record<"context_id" | "state" | "error", string>> & {
      is_stream?: boolean;
      body?: JsonObject;
    },
  ): void {
    this.#writer.write({
      kind: "response",
      call: this.#getCall(),
      ...this.#getTaskId(),
      ...this.#response,
      duration_ms: Math.round((getMonotonicTimeMs() - this.#startMs) * 1_000) / 1_000,
      ...line,
    });
  }

  #getCall(): string {
    if (this.#call === undefined) this.recordRequest();
    return this.#call ?? "";
  }

  #getTaskId(): { readonly task_id?: string } {
    return this.#taskId === undefined ? {} : { task_id: this.#taskId };
  }
}

function parseJson(text: string): JsonValue {
  const json = parseJsonOrUndefined(text);
  return isObject(json) || Array.isArray(json) ? json : text;
}

function describeError(thrown: unknown): string {
  if (thrown instanceof A2AError) return `${thrown.reason}: ${thrown.message}`;
  return thrown instanceof Error ? thrown.message : String(thrown);
}
