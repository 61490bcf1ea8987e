import {
  context as contextApi,
  createContextKey,
  createTraceState,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type Tracer as OpenTelemetryApiTracer,
} from "@opentelemetry/api";
import { createChildContext, fillFromRandomPool, type TraceContext } from "../../../protocol/index.ts";
import { callSafely, runSafely } from "./call-safely.ts";
import { reportTelemetryError } from "../telemetry-errors.ts";
import {
  getCurrentTraceScope,
  runInTraceScope,
  type RunningTask,
  type TraceScope,
  type TraceScopeStorage,
} from "../trace-scope.ts";
import {
  PropagatingTracer,
  type SpanAttributes,
  type SpanError,
  type SpanStart,
  type TracedSpan,
  type Tracer,
} from "../tracer.ts";

const SPAN_KINDS: Readonly<Record<SpanStart["kind"], SpanKind>> = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
};

/**
 * The key with which `suppressTracing` of `@opentelemetry/core` marks a context. Keys with the same description are
 * equal, and the API package has no such function.
 */
const SUPPRESS_TRACING_KEY = createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");

interface OpenTelemetryTracerOptions {
  /** Whether the program has registered a context manager. The contexts of OpenTelemetry then contain the trace scope. */
  readonly hasContextManager: boolean;
  /**
   * Whether the sampler only reads the trace id, and drops the children of a dropped span. Then only recorded spans have
   * attributes, and the SDK does not see the children of a dropped span.
   */
  readonly hasOwnSampler: boolean;
}

/**
 * Records spans with the provider that the program has registered at `@opentelemetry/api`. Samplers, span processors, and
 * context managers of the program run within these calls. Their errors are reported, and do not reach the callers of the
 * tracer: a span that cannot start only has an id, like a span of `PropagatingTracer`.
 */
export class OpenTelemetryTracer implements Tracer {
  readonly records = true;
  readonly #tracer: OpenTelemetryApiTracer = trace.getTracer("colloquy");
  readonly #options: OpenTelemetryTracerOptions;
  readonly #fallback = new PropagatingTracer(fillFromRandomPool);

  constructor(options: OpenTelemetryTracerOptions) {
    this.#options = options;
  }

  startSpan(start: SpanStart): TracedSpan {
    try {
      return this.#startRecordedSpan(start);
    } catch (error) {
      reportTelemetryError(error);
      return this.#fallback.startSpan(start);
    }
  }

  #startRecordedSpan(start: SpanStart): TracedSpan {
    const { name, kind, parent, startTimeMs, links = [], attributes, task } = start;
    const scope = getCurrentTraceScope();
    const parentContext = this.#findParentContext(kind, parent, scope?.context);
    const { hasContextManager, hasOwnSampler } = this.#options;
    const parentOfSpan = trace.getSpanContext(parentContext);
    const dropped = isUnsampled(parentOfSpan) ? parentOfSpan : undefined;
    if (hasOwnSampler && dropped) {
      const { spanId } = createChildContext({ ...dropped, flags: dropped.traceFlags }, fillFromRandomPool);
      const span = trace.wrapSpanContext({ ...dropped, spanId, isRemote: false });
      const spanContext = trace.setSpan(parentContext, span);
      return new OpenTelemetrySpan(span, spanContext, task ?? scope?.task, hasContextManager);
    }
    // Most samplers drop the children of a dropped span. The attributes cost more than the rest of such a child.
    const isDeferred = hasOwnSampler || dropped !== undefined;
    const span = this.#tracer.startSpan(
      name,
      {
        kind: SPAN_KINDS[kind],
        ...(startTimeMs === undefined ? {} : { startTime: startTimeMs }),
        ...(isDeferred ? {} : { attributes: toOpenTelemetryAttributes(attributes()) }),
        ...(links.length > 0 ? { links: links.map((link) => ({ context: toSpanContext(link) })) } : {}),
      },
      parentContext,
    );
    if (isDeferred && span.isRecording()) span.setAttributes(toOpenTelemetryAttributes(attributes()));
    const spanContext = trace.setSpan(parentContext, span);
    return new OpenTelemetrySpan(span, spanContext, task ?? scope?.task, hasContextManager);
  }

  /** The active span is closer than the scope, because agents and frameworks start spans inside of a run. */
  #findParentContext(
    kind: SpanStart["kind"],
    parent: SpanStart["parent"],
    scope: TraceContext | undefined,
  ): Context {
    // A client in the same process suppresses the spans of HTTP clients, but not the spans of the server that it calls.
    const current = contextApi.active();
    const isSuppressed = kind !== "client" && current.getValue(SUPPRESS_TRACING_KEY) !== undefined;
    const active = isSuppressed ? current.deleteValue(SUPPRESS_TRACING_KEY) : current;
    const activeSpan = trace.getSpanContext(active);
    const hasActiveSpan = activeSpan !== undefined && isSpanContextValid(activeSpan);
    if (hasActiveSpan && (kind === "server" || parent === undefined)) return active;
    const known = parent === "none" ? undefined : (parent ?? scope);
    if (known) return trace.setSpanContext(active, toSpanContext(known));
    return activeSpan ? trace.deleteSpan(active) : active;
  }
}

class OpenTelemetrySpan implements TracedSpan {
  readonly context: TraceContext;
  readonly #span: Span;
  readonly #spanContext: Context;
  readonly #task: RunningTask | undefined;
  readonly #hasContextManager: boolean;

  constructor(span: Span, spanContext: Context, task: RunningTask | undefined, hasContextManager: boolean) {
    this.#span = span;
    this.#spanContext = spanContext;
    this.#task = task;
    this.#hasContextManager = hasContextManager;
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    const tracestate = traceState?.serialize();
    this.context = { traceId, spanId, flags: traceFlags, ...(tracestate ? { tracestate } : {}) };
  }

  get isRecording(): boolean {
    return callSafely(() => this.#span.isRecording(), false);
  }

  setAttributes(attributes: SpanAttributes): void {
    callSafely(() => {
      if (this.#span.isRecording()) this.#span.setAttributes(toOpenTelemetryAttributes(attributes));
    }, undefined);
  }

  run<T>(work: () => T): T {
    const scope: TraceScope = { context: this.context, task: this.#task };
    return this.#hasContextManager
      ? runSafely((run) => contextApi.with(setTraceScope(this.#spanContext, scope), run), work)
      : runInTraceScope(scope, work);
  }

  runRequest<T>(work: () => T): T {
    const context = this.#spanContext.setValue(SUPPRESS_TRACING_KEY, true);
    return runSafely((run) => contextApi.with(context, run), work);
  }

  end(error?: SpanError): void {
    callSafely(() => {
      if (error && this.#span.isRecording()) {
        this.#span.setAttribute("error.type", error.type);
        const { message } = error;
        this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
      }
      this.#span.end();
    }, undefined);
  }
}

function isUnsampled(parent: SpanContext | undefined): parent is SpanContext {
  return parent !== undefined && isSpanContextValid(parent) && (parent.traceFlags & TraceFlags.SAMPLED) === 0;
}

function toSpanContext(context: TraceContext): SpanContext {
  const { traceId, spanId, flags, tracestate } = context;
  return {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
}

function toOpenTelemetryAttributes(attributes: SpanAttributes): Attributes {
  const present: Attributes = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) present[name] = typeof value === "object" ? [...value] : value;
  return present;
}

const TRACE_SCOPE_KEY = createContextKey("colloquy trace scope");

/** Returns a context of OpenTelemetry that contains a scope. */
function setTraceScope(context: Context, scope: TraceScope): Context {
  return context.setValue(TRACE_SCOPE_KEY, scope);
}

/**
 * Keeps the scope in the context of OpenTelemetry. ADK changes the context about 150 times for a streamed reply of 50
 * chunks, and Node.js copies all storages of the process at each change. A second storage adds 0.1 µs to each change.
 */
export class ContextScopeStorage implements TraceScopeStorage {
  getStore(): TraceScope | undefined {
    return callSafely(getActiveScope, undefined) as TraceScope | undefined;
  }

  run<T>(scope: TraceScope, work: () => T): T {
    return runSafely((run) => contextApi.with(setTraceScope(contextApi.active(), scope), run), work);
  }
}

function getActiveScope(): unknown {
  return contextApi.active().getValue(TRACE_SCOPE_KEY);
}
