import { omitUndefined } from "../../base/usage-checks/index.ts";
import type { AgentCallReport, AgentDescription, Observer, TaskScope } from "../../engine/index.ts";
import {
  A2AError,
  estimateJsonSize,
  getEventTaskId,
  getEventTaskState,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type LogEvent,
  type TaskState,
} from "../../protocol/index.ts";
import { findRequestIds, findResultTask, type StreamEndLine } from "../../observe/trace/index.ts";
import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import { getHttpAndGrpcErrorStatus } from "../../wire/index.ts";
import type { HttpRequest } from "../http-exchange.ts";
import type { OperationEnd, OperationWatch, RefusedRequest, StartedOperation } from "./operation-watch.ts";

/** Maximum number of stacks of an error and its causes. */
const MAX_STACKS = 5;

/** Describes a thrown value. The log has its own function, because a shared one makes the bundles of workers larger. */
function describeRunError(thrown: unknown): { error: string; stack?: string } {
  if (!(thrown instanceof Error)) return { error: JSON.stringify(thrown) };
  const stacks: string[] = [];
  for (let error: unknown = thrown; error instanceof Error && stacks.length < MAX_STACKS; error = error.cause)
    stacks.push(error.stack ?? String(error));
  return { error: thrown.message, stack: stacks.join("\nCaused by: ") };
}

/** Larger results are recorded without their content, because their events are in the record. */
const MAX_RESULT_SIZE = 65_536;

/** Records the requests, streams, events, turns, and push notifications of a server. */
export class ServerTrafficRecorder {
  readonly #writer: TrafficWriter;
  readonly #agentNames = new Map<string, string>();
  readonly #refusals: RefusalRecorder;

  constructor(writer: TrafficWriter) {
    this.#writer = writer;
    this.#refusals = new RefusalRecorder(writer, (agentId) => this.#getAgentName(agentId));
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

  /** Records a request, its response, and the events that a reader receives. */
  watchOperation({
    operation,
    binding,
    version,
    params,
    request,
    agentId,
    caller,
  }: StartedOperation): OperationWatch {
    const call = this.#writer.createCallId();
    const startMs = performance.now();
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
      ...selectRecordedHeaders(request),
      // The parameters are parsed JSON.
      body: params as JsonObject,
    });
    const writeResponse = (status: number, members: object): void =>
      void this.#writer.write({
        kind: "response",
        call,
        status,
        duration_ms: roundToMicroseconds(performance.now() - startMs),
        ...members,
      });
    let stream: RecordedStream | undefined;
    return {
      onResult: (result) => writeResponse(200, describeResult(result)),
      onStream: () => {
        writeResponse(200, { is_stream: true });
        stream = new RecordedStream(this.#writer, call);
      },
      onEvents: (events) => events.forEach((event) => stream?.recordFrame(event)),
      onEnd: (end) => {
        if (stream) return stream.recordEnd(end);
        if (end.error === undefined) return;
        const { reason, message } = A2AError.from(end.error);
        writeResponse(getHttpAndGrpcErrorStatus(reason, "1.0.1").http, { error: `${reason}: ${message}` });
      },
    };
  }

  /** Listeners for the events, turns, and push notifications of the engine. */
  readonly observer: Required<Pick<Observer, "onEvent" | "onRun" | "onPush" | "onAgentCall">> = {
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
        ...(error !== undefined && describeRunError(error)),
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
    const line = {
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
    } as const;
    this.#writer.write(line, undefined, report.endedMsAgo);
  }

  #getIds(scope: TaskScope, taskId: string): { agent: string; task_id: string } {
    return { agent: this.#getAgentName(scope.agent), task_id: taskId };
  }

  #getAgentName(agentId: string): string {
    return this.#agentNames.get(agentId) ?? agentId;
  }
}

function formatError(error: unknown): string {
  return error instanceof Error ? error.message : (JSON.stringify(error) ?? "unknown");
}

function roundToMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Returns the members of a response line that describe a result. */
function describeResult(result: object): object {
  const task = findResultTask(result);
  return {
    ...(task && { task_id: task.id, context_id: task.contextId, state: task.status.state }),
    ...(estimateJsonSize(result) <= MAX_RESULT_SIZE && { body: result as JsonObject }),
  };
}

/** Records the events that a reader receives, and the end of the stream. */
class RecordedStream {
  readonly #writer: TrafficWriter;
  readonly #call: string;
  #frames = 0;
  #taskId: string | undefined;
  #state: TaskState | undefined;

  constructor(writer: TrafficWriter, call: string) {
    this.#writer = writer;
    this.#call = call;
  }

  recordFrame({ seq, jsonText, event }: LogEvent): void {
    this.#frames += 1;
    this.#taskId ??= getEventTaskId(event);
    const isSnapshot = jsonText.startsWith('{"task"') && seq !== 1;
    if (jsonText.includes('"state"')) this.#state = getEventTaskState(event) ?? this.#state;
    if (!this.#writer.frames) return;
    this.#writer.write(
      {
        kind: "frame",
        call: this.#call,
        index: this.#frames,
        ...this.#getTaskId(),
        ...(seq > 0 && { event_id: String(seq), log_seq: seq }),
        bytes: jsonText.length,
      },
      // The event line with the same `log_seq` contains the event.
      isSnapshot || seq === 0 ? { event: jsonText } : undefined,
    );
  }

  recordEnd(end: OperationEnd): void {
    this.#writer.write({
      kind: "stream-end",
      call: this.#call,
      ...this.#getTaskId(),
      frames: this.#frames,
      ...this.#describeEnd(end),
    });
  }

  #describeEnd({ error, interruption, isComplete }: OperationEnd): Pick<StreamEndLine, "reason" | "error"> {
    if (error !== undefined) return { reason: "cut", error: formatError(error) };
    // A2A 0.3 servers close a stream after its final event, which is not the end of the subscription.
    const isOver = this.#state !== undefined && (isTerminal(this.#state) || isInterrupted(this.#state));
    if (isComplete || (interruption && isOver)) return { reason: "completed" };
    return { reason: "cut", ...interruption };
  }

  #getTaskId(): { task_id?: string } {
    return this.#taskId === undefined ? {} : { task_id: this.#taskId };
  }
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
    this.#writer.write({
      kind: "request",
      call,
      to: agentId === undefined ? "server" : this.#getAgentName(agentId),
      ...(caller && caller.principal !== "" && { from: caller.principal }),
      binding,
      operation,
      url: request.path,
      ...selectRecordedHeaders(request),
    });
    this.#writer.write({
      kind: "response",
      call,
      status,
      duration_ms: roundToMicroseconds(nowMs - startMs),
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

/** Returns the members of a request line for the headers that the record contains. */
function selectRecordedHeaders(request: Pick<HttpRequest, "header">): {
  readonly headers: Record<string, string>;
  readonly traceparent?: string;
} {
  const headers: Record<string, string> = {};
  for (const name of RECORDED_HEADERS) {
    const value = request.header(name);
    if (value !== undefined) headers[name] = value;
  }
  const { traceparent } = headers;
  return { ...(traceparent !== undefined && { traceparent }), headers };
}
