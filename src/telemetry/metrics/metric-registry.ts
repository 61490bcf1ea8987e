import {
  HISTOGRAM_BOUNDS,
  METRIC_CATALOG,
  type MetricDescription,
  type MetricName,
} from "./metric-catalog.ts";

/** Values of a metric's labels. A label that is `undefined` is absent. */
export type MetricLabels = Readonly<Record<string, string | undefined>>;

/** The values of a metric for one combination of labels. */
export interface MetricSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Value of a counter or gauge, or sum of a histogram. */
  value: number;
  /** Number of values of a histogram in each bucket. The last bucket has no upper bound. */
  readonly buckets?: number[];
}

/** Receives each value of a histogram, which OpenTelemetry cannot read later. */
export type HistogramListener = (name: MetricName, value: number, labels: MetricSeries["labels"]) => void;

/**
 * Maximum number of label combinations of one metric. Further combinations are counted together, under the label
 * `otel_metric_overflow`, so that a mistake cannot fill the memory.
 */
const MAX_SERIES = 500;
const OVERFLOW_LABELS: MetricLabels = { "otel.metric.overflow": "true" };

/** The metrics of one server. All operations are synchronous, and take less than a microsecond. */
export class MetricRegistry {
  readonly #series = new Map<MetricName, Map<string, MetricSeries>>();
  readonly #gaugeReaders: (() => void)[] = [];
  readonly #histogramListeners: HistogramListener[] = [];

  add(name: MetricName, value: number, labels: MetricLabels = {}): void {
    this.#findSeries(name, labels).value += value;
  }

  set(name: MetricName, value: number, labels: MetricLabels = {}): void {
    this.#findSeries(name, labels).value = value;
  }

  /** Records a value of a histogram, in the unit of the metric. */
  record(name: MetricName, value: number, labels: MetricLabels = {}): void {
    const series = this.#findSeries(name, labels);
    series.value += value;
    const { buckets } = series;
    if (buckets) {
      const found = HISTOGRAM_BOUNDS.findIndex((bound) => value <= bound);
      const at = found === -1 ? HISTOGRAM_BOUNDS.length : found;
      buckets[at] = (buckets[at] ?? 0) + 1;
    }
    for (const listener of this.#histogramListeners) listener(name, value, series.labels);
  }

  /** Calls `read` before each read of the metrics, so that `read` can set gauges. */
  onRead(read: () => void): void {
    this.#gaugeReaders.push(read);
  }

  onHistogramValue(listener: HistogramListener): void {
    this.#histogramListeners.push(listener);
  }

  /** Updates the gauges, and returns the metrics that have values. */
  read(): ReadonlyMap<MetricName, readonly MetricSeries[]> {
    for (const readGauges of this.#gaugeReaders) readGauges();
    return new Map([...this.#series].map(([name, series]) => [name, [...series.values()]]));
  }

  #findSeries(name: MetricName, labels: MetricLabels): MetricSeries {
    let seriesByLabels = this.#series.get(name);
    if (!seriesByLabels) this.#series.set(name, (seriesByLabels = new Map()));
    const key = formatLabelKey(METRIC_CATALOG[name], labels);
    const found = seriesByLabels.get(key);
    if (found) return found;
    if (seriesByLabels.size >= MAX_SERIES && labels !== OVERFLOW_LABELS)
      return this.#findSeries(name, OVERFLOW_LABELS);
    const created = createSeries(METRIC_CATALOG[name], labels);
    seriesByLabels.set(key, created);
    return created;
  }
}

/** The catalog determines the labels of a metric, except for the overflow. */
function formatLabelKey({ labels: names }: MetricDescription, labels: MetricLabels): string {
  if (labels === OVERFLOW_LABELS) return "overflow";
  let key = "";
  for (const name of names) key += `${labels[name] ?? ""}\0`;
  return key;
}

function createSeries({ kind, labels: names }: MetricDescription, labels: MetricLabels): MetricSeries {
  const known = labels === OVERFLOW_LABELS ? Object.keys(labels) : names;
  const present: Record<string, string> = {};
  for (const name of known) {
    const value = labels[name];
    if (value !== undefined && value !== "") present[name] = value;
  }
  const buckets = kind === "histogram" ? HISTOGRAM_BOUNDS.map(() => 0).concat(0) : undefined;
  return { labels: present, value: 0, ...(buckets ? { buckets } : {}) };
}
