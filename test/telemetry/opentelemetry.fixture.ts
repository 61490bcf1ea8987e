import { context, metrics, propagation, type SpanKind, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";
import { resetTracer } from "../../src/observe/telemetry/node/index.ts";

/** Spans that a provider of OpenTelemetry in this process has recorded. */
export interface RecordedSpans {
  /** Returns the finished spans, in the order of their starts. */
  list(): ReadableSpan[];
  /** Returns the only finished span with a name and a kind. */
  find(name: string, kind?: SpanKind): ReadableSpan;
  unregister(): Promise<void>;
}

/** Registers a provider as a program does that uses OpenTelemetry. */
export function registerTestProvider(sampleRatio = 1): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  provider.register();
  const list = (): ReadableSpan[] =>
    exporter.getFinishedSpans().toSorted((a, b) => toNanoseconds(a.startTime) - toNanoseconds(b.startTime));
  return {
    list,
    find(name, kind) {
      const found = list().filter((span) => span.name === name && (kind === undefined || span.kind === kind));
      if (found.length !== 1 || !found[0])
        throw new Error(
          `${found.length} spans ${name}; there are ${list()
            .map((span) => span.name)
            .join(", ")}`,
        );
      return found[0];
    },
    async unregister() {
      await provider.shutdown();
      for (const api of [trace, context, propagation, metrics]) api.disable();
      resetTracer();
    },
  };
}

function toNanoseconds([seconds, nanoseconds]: ReadableSpan["startTime"]): number {
  return seconds * 1e9 + nanoseconds;
}

export function getParentId(span: ReadableSpan): string | undefined {
  return span.parentSpanContext?.spanId;
}
