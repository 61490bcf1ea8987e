import type {
  AgentCallReport,
  AgentDescription,
  Caller,
  Observer,
  Subscription,
  TaskScope,
} from "../../engine/index.ts";
import {
  A2AError,
  estimateJsonSize,
  getEventTaskId,
  getEventTaskState,
  isInterrupted,
  isTerminal,
  type ErrorReason,
  type JsonObject,
  type LogEvent,
  type OperationName,
  type TaskState,
} from "../../protocol/index.ts";
import {
  findRequestIds,
  findResultTask,
  type RequestLine,
  type StreamEndLine,
} from "../../observe/trace/index.ts";
import type { OpenTrafficRecord, TrafficWriter } from "../../observe/trace/recording/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { HttpRequest, RequestMetadata, RequestRefusal } from "../http-exchange.ts";
import { hookSubscription, type OperationResultOrStream } from "../operation-outcome.ts";

/** Larger results are recorded without their content, because their events are in the record. */
const MAX_RESULT_SIZE = 65_536;

/** A request that the server performs. */
interface RecordedOperation {
  readonly operation: OperationName;
  readonly binding: RequestLine["binding"];
  readonly version: ProtocolVersion;
  /** The parameters as the client sent them. */
  readonly params: unknown;
  readonly request: RequestMetadata;
  readonly agentId: string;
  readonly caller: Caller;
}

/** Records the requests, streams, events, turns, and push notifications of a server. */
export class ServerTrafficRecorder {
  readonly #writer: TrafficWriter;
  readonly #agentNames = new Map<string, string>();
  readonly #refusals: RefusalRecorder;
  readonly #getErrorStatus: (reason: ErrorReason) => number;
  /** Stores the remaining lines. */
  readonly close: () => Promise<void>;

  /** `getErrorStatus` returns the HTTP status of an error. */
  constructor({ writer, close }: OpenTrafficRecord, getErrorStatus: (reason: ErrorReason) => number) {
    this.#writer = writer;
    this.#getErrorStatus = getErrorStatus;
    this.#refusals = new RefusalRecorder(writer, (agentId) => this.#getAgentName(agentId));
    this.close = close;
  }

  /** Records a request that the server refused before it knew the operation. */
  recordRefusal(refusal: RefusedRequest): void {
    this.#refusals.record(refusal);
  }

  /** Records the description of an agent. The record uses the name of the agent, and its id if it has no name. */
  async addAgent(
    agentId: string,
    url: string,
    loadDescription: () => AgentDescription | Promise<AgentDescription>,
  ): Promise<void> {
    try {
      const loaded = loadDescription();
      const description = "then" in loaded ? await loaded : loaded;
      this.#agentNames.set(agentId, description.name);
      // Descriptions consist of JSON values.
      const card = description as unknown as JsonObject;
      this.#writer.write({ kind: "agent", agent: description.name, url, card });
    } catch {
      // The card publisher reports the error.
    }
  }

  /** Records a request and its response. */
  async recordOperation<Outcome extends OperationResultOrStream>(
    { operation, binding, version, params, request, agentId, caller }: RecordedOperation,
    perform: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const call = this.#writer.createCallId();
    const startMs = performance.now();
    const traceparent = request.header("traceparent");
    const lastEventId = request.header("last-event-id");
    this.#writer.write({
      kind: "request",
      call,
      to: this.#getAgentName(agentId),
      ...(caller.principal !== "" && { from: caller.principal }),
      binding,
      protocol_version: version,
      operation,
      ...findRequestIds(params),
      ...(lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) && { after: Number(lastEventId) }),
      ...(traceparent !== undefined && { traceparent }),
      headers: selectRecordedHeaders(request),
      // The parameters are parsed JSON.
      body: params as JsonObject,
    });
    try {
      const outcome = await perform();
      const durationMs = roundToMicroseconds(performance.now() - startMs);
      if ("stream" in outcome) {
        this.#writer.write({ kind: "response", call, status: 200, duration_ms: durationMs, is_stream: true });
        return { ...outcome, stream: recordStream(outcome.stream, this.#writer, call) };
      }
      this.#recordResult(call, outcome.result, durationMs);
      return outcome;
    } catch (thrown) {
      const { reason, message } = A2AError.from(thrown);
      this.#writer.write({
        kind: "response",
        call,
        status: this.#getErrorStatus(reason),
        duration_ms: roundToMicroseconds(performance.now() - startMs),
        error: `${reason}: ${message}`,
      });
      throw thrown;
    }
  }

  /** Listeners for the events, turns, and push notifications of the engine. */
  get observer(): Required<Pick<Observer, "onEvent" | "onRun" | "onPush" | "onAgentCall">> {
    return {
      onEvent: ({ scope, taskId, event }) =>
        this.#writer.write(
          { kind: "event", ...this.#getIds(scope, taskId), log_seq: event.seq, bytes: event.jsonText.length },
          { event: event.jsonText },
        ),
      onRun: ({ scope, taskId, contextId, phase, attempt, traceparent, parentTask, error }) =>
        this.#writer.write({
          kind: "turn",
          ...this.#getIds(scope, taskId),
          context_id: contextId,
          phase,
          attempt,
          ...(traceparent !== undefined && { traceparent }),
          ...(parentTask && {
            parent: { task_id: parentTask.taskId, ...omitUndefined({ agent: parentTask.agent }) },
          }),
          ...(error !== undefined && {
            error: error instanceof Error ? error.message : JSON.stringify(error),
          }),
        }),
      onAgentCall: ({ scope, taskId, call }) => this.#recordAgentCall(this.#getIds(scope, taskId), call),
      onPush: ({ scope, taskId, configId, seq, outcome, reason }) =>
        this.#writer.write({
          kind: "push",
          ...this.#getIds(scope, taskId),
          config_id: configId,
          log_seq: seq,
          outcome,
          ...(reason !== undefined && { reason }),
        }),
    };
  }

  #recordAgentCall(ids: { agent: string; task_id: string }, report: AgentCallReport): void {
    const shared = {
      ...ids,
      call: this.#writer.createCallId(),
      duration_ms: roundToMicroseconds(report.durationMs),
    };
    const error = report.error !== undefined && { error: report.error };
    if (report.kind === "tool") {
      const { tool, server, arguments: toolArguments, result } = report;
      const optional = omitUndefined({ server, arguments: toolArguments, result });
      this.#writer.write({ kind: "tool", ...shared, tool, ...optional, ...error });
      return;
    }
    const { model, provider, prompt, reply, attempts, finishReason } = report;
    const { inputTokens, cachedInputTokens, outputTokens } = report;
    this.#writer.write({
      kind: "model",
      ...shared,
      model,
      ...omitUndefined({ provider, prompt, reply, attempts }),
      ...omitUndefined({
        finish_reason: finishReason,
        input_tokens: inputTokens,
        cached_input_tokens: cachedInputTokens,
        output_tokens: outputTokens,
      }),
      ...error,
    });
  }

  #recordResult(call: string, result: object, durationMs: number): void {
    const task = findResultTask(result);
    const isSmall = estimateJsonSize(result) <= MAX_RESULT_SIZE;
    this.#writer.write({
      kind: "response",
      call,
      status: 200,
      ...(task && { task_id: task.id, context_id: task.contextId, state: task.status.state }),
      ...(isSmall && { body: result as JsonObject }),
      duration_ms: durationMs,
    });
  }

  #getIds(scope: TaskScope, taskId: string): { agent: string; task_id: string } {
    return { agent: this.#getAgentName(scope.agent), task_id: taskId };
  }

  #getAgentName(agentId: string): string {
    return this.#agentNames.get(agentId) ?? agentId;
  }
}

/** Returns an object without the members that are `undefined`. */
function omitUndefined<T extends object>(value: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const defined = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(defined) as { [Name in keyof T]?: Exclude<T[Name], undefined> };
}

function roundToMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Returns a subscription that records the events that a reader receives. */
function recordStream(subscription: Subscription, writer: TrafficWriter, call: string): Subscription {
  let frames = 0;
  let taskId: string | undefined;
  let state: TaskState | undefined;
  let hasEnded = false;
  const recordFrame = (event: LogEvent): void => {
    const { seq, jsonText } = event;
    frames += 1;
    taskId ??= getEventTaskId(event.event);
    const isSnapshot = jsonText.startsWith('{"task"') && seq !== 1;
    if (jsonText.includes('"state"')) state = getEventTaskState(event.event) ?? state;
    writer.write(
      {
        kind: "frame",
        call,
        index: frames,
        ...(taskId !== undefined && { task_id: taskId }),
        ...(seq > 0 && { event_id: String(seq), log_seq: seq }),
        bytes: jsonText.length,
      },
      // The event line with the same `log_seq` contains the event.
      isSnapshot || seq === 0 ? { event: jsonText } : undefined,
    );
  };
  const recordEnd = (reason: StreamEndLine["reason"], error?: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    writer.write({
      kind: "stream-end",
      call,
      ...(taskId !== undefined && { task_id: taskId }),
      reason,
      frames,
      ...(error !== undefined && { error }),
    });
  };
  return hookSubscription(subscription, {
    onNext: (events) => {
      if (events) for (const event of events) recordFrame(event);
      else recordEnd(subscription.isComplete ? "completed" : "cut");
      return events;
    },
    onError: (error) => recordEnd("cut", error instanceof Error ? error.message : String(error)),
    onClose: (interruption) => {
      // A2A 0.3 servers close a stream after its final event, which is not the end of the subscription.
      const isOver = state !== undefined && (isTerminal(state) || isInterrupted(state));
      if (interruption && !isOver && !subscription.isComplete)
        recordEnd(interruption.reason, interruption.error);
      else recordEnd("completed");
    },
  });
}

/** A request that the server refused before it knew the operation. */
export interface RefusedRequest extends RequestRefusal {
  readonly request: Pick<HttpRequest, "path" | "header">;
  readonly status: number | string;
  /** Time at which the request arrived, on the monotonic clock. */
  readonly startMs: number;
}

/** Callers without credentials must not be able to displace the other lines of a record with a limited size. */
const MAX_REFUSALS_PER_SECOND = 20;

/** Records refused requests as requests with a failed response, up to a limit per second. */
export class RefusalRecorder {
  readonly #writer: TrafficWriter;
  readonly #getAgentName: (agentId: string) => string;
  readonly #monotonicNow: () => number;
  #secondStartMs = Number.NEGATIVE_INFINITY;
  #recordedInSecond = 0;
  #unrecorded = 0;

  constructor(
    writer: TrafficWriter,
    getAgentName: (agentId: string) => string,
    monotonicNow: () => number = () => performance.now(),
  ) {
    this.#writer = writer;
    this.#getAgentName = getAgentName;
    this.#monotonicNow = monotonicNow;
  }

  record({ request, operation, binding, agentId, caller, status, error, startMs }: RefusedRequest): void {
    const nowMs = this.#monotonicNow();
    if (nowMs - this.#secondStartMs >= 1_000) {
      this.#secondStartMs = nowMs;
      this.#recordedInSecond = 0;
    }
    if (this.#recordedInSecond >= MAX_REFUSALS_PER_SECOND) {
      this.#unrecorded += 1;
      return;
    }
    this.#recordedInSecond += 1;
    const others = this.#unrecorded > 0 ? ` (${this.#unrecorded} earlier refusals are not recorded)` : "";
    this.#unrecorded = 0;
    const call = this.#writer.createCallId();
    const traceparent = request.header("traceparent");
    this.#writer.write({
      kind: "request",
      call,
      to: agentId === undefined ? "server" : this.#getAgentName(agentId),
      ...(caller && caller.principal !== "" && { from: caller.principal }),
      binding,
      operation,
      url: request.path,
      ...(traceparent !== undefined && { traceparent }),
      headers: selectRecordedHeaders(request),
    });
    this.#writer.write({
      kind: "response",
      call,
      status,
      duration_ms: Math.round((nowMs - startMs) * 1_000) / 1_000,
      error: `${error.reason}: ${error.message}${others}`,
    });
  }
}

/** Request headers that the record contains. */
const RECORDED_HEADERS = [
  "a2a-version",
  "a2a-extensions",
  "x-a2a-extensions",
  "accept",
  "content-type",
  "idempotency-key",
  "last-event-id",
  "traceparent",
  "tracestate",
  "user-agent",
];

/** Returns the headers of a request that the record contains. */
function selectRecordedHeaders(request: Pick<HttpRequest, "header">): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of RECORDED_HEADERS) {
    const value = request.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}
