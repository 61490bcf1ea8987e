import type { Subscription } from "../../engine/index.ts";
import {
  A2AError,
  formatTraceparent,
  type LogEvent,
  type OperationName,
  parseTraceContext,
} from "../../protocol/index.ts";
import {
  buildA2ARequestAttributes,
  buildA2AResponseAttributes,
  type CardOfSpan,
  getTracer,
  type SpanError,
  type TracedSpan,
} from "../../observe/telemetry/index.ts";
import type { RequestMetadata } from "../http-exchange.ts";
import { hookSubscription, type OperationResultOrStream } from "../operation-outcome.ts";

/** An A2A request that the server starts to process. */
export interface StartedOperation {
  readonly operation: OperationName;
  readonly protocolVersion: string;
  readonly card: CardOfSpan;
  readonly request: Pick<RequestMetadata, "header">;
}

/** Duration of an A2A request. The request of a stream ends with the stream. */
export interface OperationReport {
  readonly operation: OperationName;
  readonly agentName: string;
  readonly durationMs: number;
  /** Reason of the error with which the request ended. */
  readonly errorType: string | undefined;
}

/** Observes the A2A requests of a server, for spans and metrics. */
export class OperationObserver {
  readonly #startsSpans: boolean;
  readonly #onOperation: ((report: OperationReport) => void) | undefined;

  constructor(options: {
    readonly startsSpans: boolean;
    /** Called at the end of each request. */
    readonly onOperation: ((report: OperationReport) => void) | undefined;
  }) {
    this.#startsSpans = options.startsSpans;
    this.#onOperation = options.onOperation;
  }

  /** False if neither spans nor metrics need the requests. The program can register a tracer at any time. */
  get isActive(): boolean {
    return this.#onOperation !== undefined || (this.#startsSpans && getTracer().records);
  }

  /** Starts to observe a request. */
  startOperation({ operation, protocolVersion, card, request }: StartedOperation): ObservedOperation {
    const tracer = getTracer();
    // Without a recording tracer, the run of an agent is the child of the caller's span.
    const span =
      this.#startsSpans && tracer.records
        ? tracer.startSpan({
            name: operation,
            kind: "server",
            parent: parseTraceContext(request.header("traceparent"), request.header("tracestate")) ?? "none",
            attributes: () => buildA2ARequestAttributes({ operation, protocolVersion, card, params: {} }),
          })
        : undefined;
    const onOperation = this.#onOperation;
    const startMs = performance.now();
    return new ObservedOperation(
      { operation, protocolVersion, card },
      span,
      onOperation &&
        ((errorType) =>
          onOperation({
            operation,
            agentName: card.name,
            durationMs: performance.now() - startMs,
            errorType,
          })),
    );
  }
}

/** An A2A request whose span and duration the server observes. */
export class ObservedOperation {
  /** W3C `traceparent` of the request's span. Undefined if the server starts no spans. */
  readonly traceparent: string | undefined;
  readonly #details: Omit<StartedOperation, "request">;
  readonly #span: TracedSpan | undefined;
  readonly #reportEnd: ((errorType: string | undefined) => void) | undefined;
  #hasEnded = false;

  constructor(
    details: Omit<StartedOperation, "request">,
    span: TracedSpan | undefined,
    reportEnd: ((errorType: string | undefined) => void) | undefined,
  ) {
    this.#details = details;
    this.#span = span;
    this.#reportEnd = reportEnd;
    this.traceparent = span && formatTraceparent(span.context);
  }

  /** Adds the parameters of the operation to the span. */
  setParams(params: object): void {
    if (this.#span?.isRecording)
      this.#span.setAttributes(buildA2ARequestAttributes({ ...this.#details, params }));
  }

  /** Performs the operation, and ends the span with the response or with the stream. */
  async run<Outcome extends OperationResultOrStream>(perform: () => Promise<Outcome>): Promise<Outcome> {
    if (!this.#reportEnd && !this.#span?.isRecording) return await perform();
    try {
      const outcome = await perform();
      if ("stream" in outcome) {
        return { ...outcome, stream: this.#observeStream(outcome.stream) };
      }
      if (outcome.result) this.#addResponse(outcome.result);
      this.#end(undefined);
      return outcome;
    } catch (error) {
      this.#end(describeError(error));
      throw error;
    }
  }

  #observeStream(stream: Subscription): Subscription {
    let last: LogEvent | undefined;
    const end = (error?: unknown): void => {
      if (last && !this.#hasEnded) this.#addResponse(last.event);
      this.#end(error === undefined ? undefined : describeError(error));
    };
    return hookSubscription(stream, {
      onNext: (events) => {
        if (events) last = events.at(-1);
        else if (stream.isComplete) end();
        return events;
      },
      onError: end,
      onClose: () => end(),
    });
  }

  #addResponse(response: object): void {
    if (this.#span?.isRecording) this.#span.setAttributes(buildA2AResponseAttributes(response));
  }

  #end(error: SpanError | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#span?.end(error);
    this.#reportEnd?.(error?.type);
  }
}

function describeError(thrown: unknown): SpanError {
  // Only the message of an A2AError is for callers.
  const { reason, message } = A2AError.from(thrown);
  return thrown instanceof A2AError ? { type: reason, message } : { type: reason };
}
