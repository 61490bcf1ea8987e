import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** A span that a collector has received over OTLP/HTTP. */
export interface ReceivedSpan {
  readonly service: string;
  readonly scope: string;
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A collector that keeps what it receives: traces and metrics as JSON or as protobuf, with or without gzip. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Names of the received metrics. */
  readonly metricNames: ReadonlySet<string>;
  close(): Promise<void>;
}

interface ProtobufType {
  decode(bytes: Uint8Array): unknown;
  toObject(message: unknown, options: object): unknown;
}
interface ProtobufServices {
  readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: ProtobufType } };
  readonly metrics: { readonly v1: { readonly ExportMetricsServiceRequest: ProtobufType } };
}
const { collector } = (
  createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root.js") as {
    opentelemetry: { proto: { collector: ProtobufServices } };
  }
).opentelemetry.proto;

interface AnyValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly boolValue?: boolean;
}
interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}
interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly scope?: { readonly name?: string };
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number | string;
        readonly attributes?: readonly KeyValue[];
      }[];
    }[];
  }[];
}
interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

const SPAN_KINDS = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

/** Starts a collector on a free port of this machine. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metricNames = new Set<string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const sent = Buffer.concat(chunks);
      const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent;
      const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
      if (request.url === "/v1/traces") {
        const { ExportTraceServiceRequest } = collector.trace.v1;
        spans.push(...toReceivedSpans(decodeBody(body, isJson, ExportTraceServiceRequest) as TraceRequest));
      } else if (request.url === "/v1/metrics") {
        const { ExportMetricsServiceRequest } = collector.metrics.v1;
        for (const name of listMetricNames(
          decodeBody(body, isJson, ExportMetricsServiceRequest) as MetricsRequest,
        ))
          metricNames.add(name);
      }
      response.writeHead(200, { "content-type": isJson ? "application/json" : "application/x-protobuf" });
      response.end(isJson ? "{}" : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metricNames,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Ids are hexadecimal in JSON, and bytes in protobuf. */
function decodeBody(body: Buffer, isJson: boolean, type: ProtobufType): unknown {
  if (isJson) return JSON.parse(body.toString("utf8"));
  return type.toObject(type.decode(body), { bytes: String, longs: String, enums: String, defaults: true });
}

function toReceivedSpans({ resourceSpans }: TraceRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ name, kind, traceId, spanId, parentSpanId = "", attributes = [] }) => ({
        service: String(toRecord(resource?.attributes ?? [])["service.name"]),
        scope: scope?.name ?? "",
        name,
        kind: typeof kind === "number" ? (SPAN_KINDS[kind] ?? "") : kind.replace("SPAN_KIND_", ""),
        traceId: toHex(traceId, 32),
        spanId: toHex(spanId, 16),
        parentSpanId: toHex(parentSpanId, 16),
        attributes: toRecord(attributes),
      })),
    ),
  );
}

function toHex(id: string, digits: number): string {
  return id === "" || id.length === digits ? id : Buffer.from(id, "base64").toString("hex");
}

function toRecord(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]),
  );
}

function listMetricNames({ resourceMetrics }: MetricsRequest): string[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name)),
  );
}
