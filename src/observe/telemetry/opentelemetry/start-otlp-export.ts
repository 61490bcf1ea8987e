import { metrics } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";
import type { OtlpExportOptions, RunningOtlpExport } from "../otlp-export-options.ts";

/**
 * Registers providers of OpenTelemetry that send spans and metrics to a collector over OTLP/HTTP. Frameworks that record
 * spans, such as ADK, use the same providers.
 */
export function startOtlpExport(options: OtlpExportOptions): RunningOtlpExport {
  const { url, headers = {}, serviceName, sampleRatio, metricIntervalMs } = options;
  const base = url.replace(/\/$/, "");
  const resource = resourceFromAttributes({ "service.name": serviceName });
  const tracerProvider = new NodeTracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${base}/v1/traces`, headers }))],
  });
  const meterProvider = new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: `${base}/v1/metrics`, headers }),
        exportIntervalMillis: metricIntervalMs,
        exportTimeoutMillis: Math.min(30_000, metricIntervalMs),
      }),
    ],
  });
  tracerProvider.register();
  metrics.setGlobalMeterProvider(meterProvider);
  return {
    async flush() {
      await Promise.allSettled([tracerProvider.forceFlush(), meterProvider.forceFlush()]);
    },
  };
}
