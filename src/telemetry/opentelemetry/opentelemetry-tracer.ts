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
import type { TraceContext } from "../trace-context.ts";
import { getCurrentTraceScope, runInTraceScope, type RunningTask } from "../trace-scope.ts";
import type { SpanAttributes, SpanError, SpanStart, TracedSpan, Tracer } from "../tracer.ts";

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

/** Records spans with the provider that the program has registered at `@opentelemetry/api`. */
export class OpenTelemetryTracer implements Tracer {
  readonly records = true;
  readonly #tracer: OpenTelemetryApiTracer = trace.getTracer("colloquy");

  startSpan({ name, kind, parent, links = [], attributes, task }: SpanStart): TracedSpan {
    const scope = getCurrentTraceScope();
    const parentContext = this.#findParentContext(kind, parent, scope?.context);
    const isDropped = isUnsampled(trace.getSpanContext(parentContext));
    const span = this.#tracer.startSpan(
      name,
      {
        kind: SPAN_KINDS[kind],
        // Most samplers drop the children of a dropped span. The attributes cost more than the rest of such a child.
        ...(isDropped ? {} : { attributes: toOpenTelemetryAttributes(attributes()) }),
        ...(links.length > 0 ? { links: links.map((link) => ({ context: toSpanContext(link) })) } : {}),
      },
      parentContext,
    );
    if (isDropped && span.isRecording()) span.setAttributes(toOpenTelemetryAttributes(attributes()));
    return new OpenTelemetrySpan(span, trace.setSpan(parentContext, span), task ?? scope?.task);
  }

  /** The active span is closer than the scope, because agents and frameworks start spans inside of a run. */
  #findParentContext(
    kind: SpanStart["kind"],
    parent: SpanStart["parent"],
    scope: TraceContext | undefined,
  ): Context {
    // A client in the same process suppresses the spans of HTTP clients, but not the spans of the server that it calls.
    const active =
      kind === "client" ? contextApi.active() : contextApi.active().deleteValue(SUPPRESS_TRACING_KEY);
    const activeSpan = trace.getSpanContext(active);
    const hasActiveSpan = activeSpan !== undefined && isSpanContextValid(activeSpan);
    if (hasActiveSpan && (kind === "server" || parent === undefined)) return active;
    const known = parent === "none" ? undefined : (parent ?? scope);
    return known ? trace.setSpanContext(active, toSpanContext(known)) : trace.deleteSpan(active);
  }
}

class OpenTelemetrySpan implements TracedSpan {
  readonly context: TraceContext;
  readonly #span: Span;
  readonly #spanContext: Context;
  readonly #task: RunningTask | undefined;

  constructor(span: Span, spanContext: Context, task: RunningTask | undefined) {
    this.#span = span;
    this.#spanContext = spanContext;
    this.#task = task;
    const { traceId, spanId, traceFlags, traceState } = span.spanContext();
    const tracestate = traceState?.serialize();
    this.context = { traceId, spanId, flags: traceFlags, ...(tracestate ? { tracestate } : {}) };
  }

  get isRecording(): boolean {
    return this.#span.isRecording();
  }

  setAttributes(attributes: SpanAttributes): void {
    if (this.#span.isRecording()) this.#span.setAttributes(toOpenTelemetryAttributes(attributes));
  }

  run<T>(work: () => T): T {
    return contextApi.with(this.#spanContext, () =>
      runInTraceScope({ context: this.context, task: this.#task }, work),
    );
  }

  runRequest<T>(work: () => T): T {
    return contextApi.with(this.#spanContext.setValue(SUPPRESS_TRACING_KEY, true), work);
  }

  end(error?: SpanError): void {
    if (error && this.#span.isRecording()) {
      this.#span.setAttribute("error.type", error.type);
      const { message } = error;
      this.#span.setStatus({ code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message }) });
    }
    this.#span.end();
  }
}

function isUnsampled(parent: SpanContext | undefined): boolean {
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
