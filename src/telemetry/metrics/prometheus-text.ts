import {
  HISTOGRAM_BOUNDS,
  METRIC_CATALOG,
  type MetricName,
  toPrometheusLabel,
  toPrometheusName,
} from "./metric-catalog.ts";
import type { MetricRegistry, MetricSeries } from "./metric-registry.ts";

/** Media type of the Prometheus text format, version 0.0.4. */
export const PROMETHEUS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Returns the metrics in the text format of Prometheus. */
export function renderPrometheusText(registry: Pick<MetricRegistry, "read">): string {
  let text = "";
  for (const [name, series] of registry.read()) text += renderMetric(name, series);
  return text;
}

function renderMetric(name: MetricName, series: readonly MetricSeries[]): string {
  const { kind, description } = METRIC_CATALOG[name];
  const id = toPrometheusName(name);
  const lines = [`# HELP ${id} ${description.replaceAll("\\", "\\\\")}`, `# TYPE ${id} ${kind}`];
  for (const one of series) {
    if (!one.buckets) lines.push(renderSample(id, one.labels, one.value));
    else lines.push(...renderHistogram(id, one, one.buckets));
  }
  return `${lines.join("\n")}\n`;
}

/** The buckets of Prometheus contain the values of all smaller buckets. */
function renderHistogram(id: string, { labels, value }: MetricSeries, buckets: readonly number[]): string[] {
  let count = 0;
  const lines = buckets.map((inBucket, at) => {
    count += inBucket;
    const bound = HISTOGRAM_BOUNDS[at];
    return renderSample(
      `${id}_bucket`,
      { ...labels, le: bound === undefined ? "+Inf" : String(bound) },
      count,
    );
  });
  return [...lines, renderSample(`${id}_sum`, labels, value), renderSample(`${id}_count`, labels, count)];
}

function renderSample(id: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(
    ([name, text]) => `${toPrometheusLabel(name)}="${escapeLabelValue(text)}"`,
  );
  return `${id}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
}

function escapeLabelValue(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
