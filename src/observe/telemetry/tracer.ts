import {
  createChildContext,
  createRootContext,
  type FillRandomBytes,
  type TraceContext,
  fillFromRandomPool,
} from "../../protocol/index.ts";
import { getCurrentTraceScope, runInTraceScope, type RunningTask, type TraceScope } from "./trace-scope.ts";

/** Attributes of a span. The tracer ignores members that are `undefined`. */
export type SpanAttributes = Readonly<Record<string, SpanAttributeValue | undefined>>;
type SpanAttributeValue = string | number | boolean | readonly string[];

/** A span to start. */
export interface SpanStart {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /**
   * Parent of the span, or `none` to start a new trace. Default: the current span of the running code. A server span
   * prefers the active span of OpenTelemetry, because the instrumentation of HTTP has already continued the trace of the
   * caller.
   */
  readonly parent?: TraceContext | "none" | undefined;
  /** Start of the span in milliseconds since 1970. Default: now. */
  readonly startTimeMs?: number | undefined;
  /** Spans that are related, but are not the parent. */
  readonly links?: readonly TraceContext[];
  /** Computes the attributes. Called only if the span may be recorded. */
  readonly attributes: () => SpanAttributes;
  /** Task of the agent that runs in the span. Default: the task of the current scope. */
  readonly task?: RunningTask | undefined;
}

/** Error with which an operation ended. */
export interface SpanError {
  /** Low-cardinality class of the error, for example `TASK_NOT_FOUND` (`error.type`). */
  readonly type: string;
  /** Description without secrets. */
  readonly message?: string | undefined;
}

/** An operation in a trace. */
export interface TracedSpan {
  readonly context: TraceContext;
  /** False if attributes have no effect. */
  readonly isRecording: boolean;
  setAttributes(attributes: SpanAttributes): void;
  /** Runs `work` with the span as the parent of all spans and calls that `work` starts. */
  run<T>(work: () => T): T;
  /**
   * Runs `work`, which sends the headers of the span itself. Instrumentations of HTTP clients then neither create a
   * span nor send a second `traceparent`.
   */
  runRequest<T>(work: () => T): T;
  end(error?: SpanError): void;
}

/** Starts spans. */
export interface Tracer {
  /** False if the tracer only creates ids, and records nothing. */
  readonly records: boolean;
  startSpan(start: SpanStart): TracedSpan;
}

/**
 * A tracer that records nothing, but continues traces: each span has its own id, so that the next process knows its
 * caller. New traces are marked as sampled, because a traffic record may contain them.
 */
export class PropagatingTracer implements Tracer {
  readonly records = false;
  readonly #fillRandom: FillRandomBytes;

  constructor(fillRandom: FillRandomBytes) {
    this.#fillRandom = fillRandom;
  }

  startSpan({ parent, task }: SpanStart): TracedSpan {
    const current = getCurrentTraceScope();
    const parentSpan = parent === "none" ? undefined : parent ? { context: parent } : current;
    return new UnrecordedSpan(parentSpan, task ?? current?.task, this.#fillRandom);
  }
}

/** The span is also the trace scope of its work. It creates its ids on first use, because most agents call no other agent. */
class UnrecordedSpan implements TracedSpan, TraceScope {
  readonly isRecording = false;
  readonly task: RunningTask | undefined;
  readonly #parent: Pick<TraceScope, "context"> | undefined;
  readonly #fillRandom: FillRandomBytes;
  #context: TraceContext | undefined;

  constructor(
    parent: Pick<TraceScope, "context"> | undefined,
    task: RunningTask | undefined,
    fillRandom: FillRandomBytes,
  ) {
    this.#parent = parent;
    this.task = task;
    this.#fillRandom = fillRandom;
  }

  get context(): TraceContext {
    return (this.#context ??= this.#parent
      ? createChildContext(this.#parent.context, this.#fillRandom)
      : createRootContext(true, this.#fillRandom));
  }

  run<T>(work: () => T): T {
    return runInTraceScope(this, work);
  }

  runRequest<T>(work: () => T): T {
    return work();
  }

  setAttributes(): void {}
  end(): void {}
}

/**
 * The key under which every copy of `@opentelemetry/api` 1.x stores the providers of the process. The key shows that a
 * provider is registered, without loading the package.
 */
const OPENTELEMETRY_GLOBAL: symbol = Symbol.for("opentelemetry.js.api.1");

/** OpenTelemetry has one provider for each process, so the process also has one tracer. */
let currentTracer: Tracer | undefined;
let propagatingTracer: Tracer | undefined;

/** Returns the tracer of the process. By default, its spans only have ids, which the next process receives. */
export function getTracer(): Tracer {
  propagatingTracer ??= new PropagatingTracer(fillFromRandomPool);
  return currentTracer ?? propagatingTracer;
}

/** Sets the tracer for all further spans of the process. The value `undefined` restores the default. */
export function setTracer(tracer: Tracer | undefined): void {
  currentTracer = tracer;
}

/** Returns whether the program has registered a provider of spans (`trace`) or of metrics, or a context manager. */
export function isProviderRegistered(kind: "trace" | "metrics" | "context"): boolean {
  const registered: unknown = Reflect.get(globalThis, OPENTELEMETRY_GLOBAL);
  return typeof registered === "object" && registered !== null && kind in registered;
}
