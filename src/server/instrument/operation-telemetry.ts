import { A2AError, formatTraceparent, type LogEvent, parseTraceContext } from "../../protocol/index.ts";
import {
  buildA2ARequestAttributes,
  buildA2AResponseAttributes,
  getTracer,
  type SpanError,
} from "../../observe/telemetry/index.ts";
import type { OperationWatch, OperationWatcher, StartedOperation } from "./operation-watch.ts";

/** Duration of an A2A request. The request of a stream ends with the stream. */
export interface OperationReport {
  readonly operation: string;
  readonly agentName: string;
  readonly durationMs: number;
  /** Reason of the error with which the request ended. */
  readonly errorType: string | undefined;
}

/**
 * Watches the A2A requests of a server for spans and metrics. Without a recording tracer, the run of an agent is the child
 * of the caller's span.
 */
export class OperationTelemetry implements OperationWatcher {
  readonly #startsSpans: boolean;
  readonly #onOperation: ((report: OperationReport) => void) | undefined;

  constructor(startsSpans: boolean, onOperation: ((report: OperationReport) => void) | undefined) {
    this.#startsSpans = startsSpans;
    this.#onOperation = onOperation;
  }

  /** False if neither spans nor metrics need the requests. The program can register a tracer at any time. */
  get isActive(): boolean {
    return this.#onOperation !== undefined || (this.#startsSpans && getTracer().records);
  }

  start({ operation, version, card, request }: StartedOperation): OperationWatch {
    const tracer = getTracer();
    const details = { operation, protocolVersion: version, card };
    const span =
      this.#startsSpans && tracer.records
        ? tracer.startSpan({
            name: operation,
            kind: "server",
            parent: parseTraceContext(request.header("traceparent"), request.header("tracestate")) ?? "none",
            attributes: () => buildA2ARequestAttributes({ ...details, params: {} }),
          })
        : undefined;
    const onOperation = this.#onOperation;
    const startMs = performance.now();
    let last: LogEvent | undefined;
    const addResponse = (response: object): void => {
      if (span?.isRecording) span.setAttributes(buildA2AResponseAttributes(response));
    };
    return {
      traceparent: span && formatTraceparent(span.context),
      onParams(params) {
        if (span?.isRecording) span.setAttributes(buildA2ARequestAttributes({ ...details, params }));
      },
      onResult: addResponse,
      onEvents(events) {
        last = events.at(-1);
      },
      onEnd({ error }) {
        if (last) addResponse(last.event);
        const spanError = error === undefined ? undefined : describeError(error);
        span?.end(spanError);
        const durationMs = performance.now() - startMs;
        onOperation?.({ operation, agentName: card.name, durationMs, errorType: spanError?.type });
      },
    };
  }
}

function describeError(thrown: unknown): SpanError {
  // Only the message of an A2AError is for callers.
  const { reason, message } = A2AError.from(thrown);
  return thrown instanceof A2AError ? { type: reason, message } : { type: reason };
}
