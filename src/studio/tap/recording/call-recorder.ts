import { getEventTaskState, splitEventPosition, type JsonObject } from "../../../protocol/index.ts";
import type { StreamEndLine, TrafficLineInput } from "../../../observe/trace/index.ts";
import type { TrafficWriter } from "../../../observe/trace/recording/index.ts";
import type { FaultableCall } from "../faults/fault-rule.ts";
import type { InjectedFault } from "../faults/stream-fault-injector.ts";
import { ClientGoneError } from "../http/write-response-bytes.ts";
import type { TapCallSummary } from "../relay-context.ts";
import { parseSequenceNumber, type CallDescription } from "./call-description.ts";
import { decodeRecordedResult, findTurnEnd, getEventIds } from "./decode-recorded-result.ts";

/** The circumstances of a call, which are known before its body. */
export interface RecordedCall {
  /** Name of the agent that receives the request. */
  readonly to: string;
  /** IP address of the caller. */
  readonly fromAddress: string | undefined;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the agent's SSE ids are sequence numbers of the task's log. */
  readonly hasLogEventIds: boolean;
  readonly monotonicNow: () => number;
}

/** A frame of a response, as the client receives it. */
export interface RecordedFrame {
  readonly index: number;
  readonly size: number;
  /** The `id:` of a server-sent event. */
  readonly id?: string;
  /** The JSON of the frame, if the frame has JSON. */
  readonly json?: JsonObject;
  /** The text of a frame without JSON. */
  readonly text?: string;
}

type ResponseLineInput = Extract<TrafficLineInput, { kind: "response" }>;

/** Time in milliseconds after which a client that reads no bytes counts as stalled, if it then closes the connection. */
const STALL_MS = 10_000;

/** Writes the lines of one call. The first method call is `recordRequest`. */
export class CallRecorder {
  readonly id: string;
  readonly #writer: TrafficWriter;
  readonly #call: RecordedCall;
  readonly #startMs: number;
  #description: CallDescription = { binding: "HTTP", operation: "", ids: {} };
  #ids: CallDescription["ids"] = {};
  #frames = 0;
  #isTurnOver: boolean | undefined;
  #lastError: string | undefined;
  #status: number | string | undefined;
  #isStream = false;
  #problem: string | undefined;

  constructor(writer: TrafficWriter, call: RecordedCall) {
    this.id = writer.createCallId();
    this.#writer = writer;
    this.#call = call;
    this.#startMs = call.monotonicNow();
  }

  /** The description of `recordRequest`. */
  get description(): CallDescription {
    return this.#description;
  }

  recordRequest(description: CallDescription, body: JsonObject | undefined, bodyBytes: number): void {
    const { fromAddress, to, url, headers } = this.#call;
    this.#description = description;
    this.#ids = description.ids;
    const { binding, protocolVersion, operation, ids, referenceTaskIds, after } = description;
    this.#writer.write({
      kind: "request",
      call: this.id,
      ...this.#shared(),
      ...ids,
      from_address: fromAddress,
      to,
      binding,
      protocol_version: protocolVersion,
      operation,
      url,
      headers,
      body,
      body_bytes: bodyBytes,
      reference_task_ids: referenceTaskIds,
      after,
    });
  }

  /** Writes the beginning of a stream. */
  recordStreamStart(status: number | string, headers: Readonly<Record<string, string>>): void {
    this.#isStream = true;
    this.#writer.write({ ...this.#response(status, headers), is_stream: true });
  }

  /** Writes a complete response that is not a stream. */
  recordResponse(
    status: number | string,
    headers: Readonly<Record<string, string>>,
    body: JsonObject | undefined,
    bodyBytes: number,
    failure?: string,
  ): void {
    const { event, error = failure } = decodeRecordedResult(
      this.#description,
      body,
      typeof status === "number" ? status : 200,
    );
    if (event) this.#ids = { ...this.#ids, ...getEventIds(event) };
    const state = event && getEventTaskState(event);
    this.#writer.write({ ...this.#response(status, headers), body, body_bytes: bodyBytes, state, error });
  }

  /** Writes the failure of a request without a complete response. */
  recordFailure(error: string, status?: number | string): void {
    this.#problem = error;
    this.#writer.write({ ...this.#response(status, undefined), error });
  }

  /** Writes the end of a call that an error, a fault, or the client has broken. */
  recordBrokenCall(error: unknown, isClientGone: boolean): void {
    const message = error instanceof Error ? error.message : String(error);
    if (!this.#isStream) return this.recordFailure(message);
    const isStalled = error instanceof ClientGoneError && error.stalledMs > STALL_MS;
    this.recordStreamEnd(isStalled ? "stalled" : isClientGone ? "canceled" : "cut", message);
  }

  recordFrame({ index, size, id, json, text }: RecordedFrame): void {
    this.#frames++;
    const decoded = json === undefined ? {} : decodeRecordedResult(this.#description, json);
    const { event } = decoded;
    this.#lastError = decoded.error;
    const position = event && splitEventPosition(event).position;
    if (event) {
      this.#ids = { ...this.#ids, ...getEventIds(event) };
      this.#isTurnOver = findTurnEnd(event) ?? this.#isTurnOver;
    }
    const logSeq = position?.generation ?? (this.#call.hasLogEventIds ? parseSequenceNumber(id) : undefined);
    const content = text ?? (json === undefined ? undefined : JSON.stringify(json));
    this.#writer.write({
      kind: "frame",
      call: this.id,
      ...this.#shared(),
      index,
      event_id: id,
      log_seq: logSeq,
      previous_log_seq: position?.previousGeneration,
      ...(event ? { event: event as unknown as JsonObject } : { text: content }),
      bytes: size,
    });
  }

  /**
   * Writes the end of a stream. A stream that ends without the last event of the turn counts as cut, unless the agent
   * ended the stream with an error.
   */
  recordStreamEnd(reason: StreamEndLine["reason"], error?: string): void {
    const isIncomplete =
      reason === "completed" &&
      this.#description.a2aOperation !== undefined &&
      this.#isTurnOver !== true &&
      this.#lastError === undefined &&
      error === undefined;
    const cause = isIncomplete
      ? "The stream ended before the last event of the turn."
      : (error ?? this.#lastError);
    const actualReason = isIncomplete ? "cut" : reason;
    if (actualReason !== "completed") this.#problem = actualReason;
    this.#writer.write({
      kind: "stream-end",
      call: this.id,
      ...this.#shared(),
      reason: actualReason,
      frames: this.#frames,
      error: cause,
    });
  }

  recordFault({ fault, detail, index }: InjectedFault): void {
    this.#writer.write({ kind: "fault", call: this.id, ...this.#shared(), fault, index, detail });
  }

  /** Returns the members of the call by which fault rules match. */
  toFaultableCall(): FaultableCall {
    const { operation, a2aOperation } = this.#description;
    return { agent: this.#call.to, operation, isA2A: a2aOperation !== undefined };
  }

  summarize(): TapCallSummary {
    return {
      agent: this.#call.to,
      operation: this.#description.operation,
      ...(this.#status === undefined ? {} : { status: this.#status }),
      ...(this.#isStream ? { frames: this.#frames } : {}),
      ...(this.#problem === undefined ? {} : { problem: this.#problem }),
      durationMs: this.#measureDuration(),
    };
  }

  #shared(): { agent: string; traceparent: string | undefined } & CallDescription["ids"] {
    return { agent: this.#call.to, ...this.#ids, traceparent: this.#call.headers["traceparent"] };
  }

  #response(
    status: number | string | undefined,
    headers: Readonly<Record<string, string>> | undefined,
  ): ResponseLineInput {
    this.#status = status;
    const duration_ms = this.#measureDuration();
    return { kind: "response", call: this.id, ...this.#shared(), status, headers, duration_ms };
  }

  #measureDuration(): number {
    return Math.round((this.#call.monotonicNow() - this.#startMs) * 1_000) / 1_000;
  }
}
