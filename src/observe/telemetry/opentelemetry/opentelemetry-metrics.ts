import { type Histogram, metrics, type Observable } from "@opentelemetry/api";
import {
  HISTOGRAM_BOUNDS,
  METRIC_CATALOG,
  type MetricName,
  type MetricRegistry,
} from "../metrics/metric-registry.ts";
import { callSafely } from "./call-safely.ts";

const METRIC_NAMES = Object.keys(METRIC_CATALOG) as readonly MetricName[];

/**
 * Publishes the metrics of a registry with the meter provider that the program has registered at `@opentelemetry/api`.
 * OpenTelemetry reads counters and gauges when it exports them, and receives each value of a histogram at once.
 */
export function publishMetricsToOpenTelemetry(registry: MetricRegistry): void {
  const meter = metrics.getMeter("colloquy");
  const histograms = new Map<MetricName, Histogram>();
  const observables = new Map<MetricName, Observable>();
  for (const name of METRIC_NAMES) {
    const { kind, unit, description } = METRIC_CATALOG[name];
    const options = { unit, description };
    if (kind === "histogram") {
      const advice = { explicitBucketBoundaries: [...HISTOGRAM_BOUNDS] };
      histograms.set(name, meter.createHistogram(name, { ...options, advice }));
    } else if (kind === "counter") observables.set(name, meter.createObservableCounter(name, options));
    else observables.set(name, meter.createObservableGauge(name, options));
  }
  meter.addBatchObservableCallback(
    (result) => {
      for (const [name, series] of registry.read()) {
        const observable = observables.get(name);
        for (const { value, labels } of observable ? series : [])
          if (observable) result.observe(observable, value, labels);
      }
    },
    [...observables.values()],
  );
  registry.onHistogramValue((name, value, labels) =>
    callSafely(() => histograms.get(name)?.record(value, labels), undefined),
  );
}
