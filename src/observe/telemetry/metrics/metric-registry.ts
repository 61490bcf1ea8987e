/** Values of a metric's labels. A label that is `undefined` is absent. */
export type MetricLabels = Readonly<Record<string, string | undefined>>;

/** The values of a metric for one combination of labels. */
interface MetricSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Value of a counter or gauge, or sum of a histogram. */
  value: number;
  /** Number of values of a histogram in each bucket. The last bucket has no upper bound. */
  readonly buckets?: number[];
}

/** Receives each value of a histogram, which OpenTelemetry cannot read later. */
type HistogramListener = (name: MetricName, value: number, labels: MetricSeries["labels"]) => void;

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

/** Description of a metric, in the terms of OpenTelemetry. */
interface MetricDescription {
  readonly kind: "counter" | "gauge" | "histogram";
  /** `s` seconds, `By` bytes, and `{…}` for a number of things. */
  readonly unit: string;
  readonly description: string;
  /** Names of the labels. Each label has few values: no ids, no URLs, and no names that callers choose. */
  readonly labels: readonly string[];
}

/**
 * All metrics of a server, by name: kind, unit, description, and labels. Names of OpenTelemetry's conventions have no
 * prefix of Colloquy. Prometheus receives the same names with underscores and a unit (`toPrometheusName`).
 */
const METRIC_ROWS = {
  "a2a.server.operation.duration": [
    "histogram",
    "s",
    "Duration of A2A requests. The request of a stream ends with the stream.",
    "a2a.method.name gen_ai.agent.name error.type",
  ],
  "gen_ai.invoke_agent.duration": [
    "histogram",
    "s",
    "Duration of the runs of agents.",
    "gen_ai.agent.name a2a.task.state error.type",
  ],
  "colloquy.request.duration": [
    "histogram",
    "s",
    "Time from a request to the start of its response, for HTTP and gRPC.",
    "method status",
  ],
  "colloquy.commit.duration": [
    "histogram",
    "s",
    "Duration of the commits of the task store. A commit contains the events of many tasks.",
    "outcome",
  ],
  "colloquy.commit.events": ["counter", "{event}", "Committed task events."],
  "colloquy.tasks.ended": [
    "counter",
    "{task}",
    "Tasks that have reached a terminal state, or that wait for their user.",
    "gen_ai.agent.name a2a.task.state",
  ],
  "colloquy.push.deliveries": [
    "counter",
    "{delivery}",
    "Push notifications by outcome: delivered, failed (will be repeated), and dead (given up).",
    "outcome",
  ],
  "colloquy.push.pending": [
    "gauge",
    "{webhook}",
    "Webhooks in memory that have not received all events, by state: ready, sending, and retry (after a failure).",
    "state",
  ],
  "colloquy.errors": [
    "counter",
    "{error}",
    "Internal errors, by the component that reports the error.",
    "where",
  ],
  "colloquy.credentials.rejected": [
    "counter",
    "{request}",
    "Requests with rejected credentials, by authentication scheme.",
    "scheme",
  ],
  "colloquy.readers.stalled": [
    "counter",
    "{connection}",
    "Connections that the server closed, because the client did not read.",
  ],
  "colloquy.retention.deleted_tasks": ["counter", "{task}", "Tasks that the retention has deleted."],
  "colloquy.runs.active": ["gauge", "{run}", "Agents that are running.", "gen_ai.agent.name"],
  "colloquy.turns.waiting": [
    "gauge",
    "{turn}",
    "Turns that wait, by reason: task and context (another turn runs there), time (the agent has suspended the turn), and recovery (the server of the turn died repeatedly).",
    "gen_ai.agent.name reason",
  ],
  "colloquy.streams.open": ["gauge", "{stream}", "Open event streams over HTTP."],
  "colloquy.buffered.used": ["gauge", "By", "Bytes of request bodies and unread responses in memory."],
  "colloquy.buffered.limit": ["gauge", "By", "Limit of the bytes in memory (limits.bufferedBytes)."],
  "colloquy.store.healthy": ["gauge", "{store}", "1 if the task store accepts commits, and otherwise 0."],
  "colloquy.store.connections": [
    "gauge",
    "{connection}",
    "Connections to PostgreSQL by state: max, open, and busy.",
    "state",
  ],
  "colloquy.store.waiting": ["gauge", "{statement}", "Statements that wait for a connection to PostgreSQL."],
  "colloquy.leases.held": ["gauge", "{lease}", "Turns that this server runs, on a store of several servers."],
  "colloquy.leases.claimed": [
    "counter",
    "{lease}",
    "Turns that this server has taken over from a stopped server.",
  ],
  "colloquy.leases.waiting": [
    "gauge",
    "{turn}",
    "Turns on the database that wait for a server that starts agents. All servers count the same turns.",
  ],
  "colloquy.leases.duration": ["gauge", "s", "Duration of a lease."],
  "colloquy.leases.renewal_age": [
    "gauge",
    "s",
    "Time since the leases were renewed. Other servers claim turns after the duration of a lease.",
  ],
  "nodejs.eventloop.delay.p99": [
    "gauge",
    "s",
    "99th percentile of the event loop delay since the last read of the metrics.",
  ],
  "process.memory.usage": ["gauge", "By", "Resident memory of the process."],
} as const;

/** Names of the metrics of a server. */
export type MetricName = keyof typeof METRIC_ROWS;

export const METRIC_CATALOG: Readonly<Record<MetricName, MetricDescription>> =
  /* @__PURE__ */ createCatalog(METRIC_ROWS);

function createCatalog<Name extends string>(
  rows: Readonly<Record<Name, readonly [MetricDescription["kind"], string, string, string?]>>,
): Record<Name, MetricDescription> {
  const catalog = {} as Record<Name, MetricDescription>;
  for (const name in rows) {
    const [kind, unit, description, labels] = rows[name];
    catalog[name] = { kind, unit, description, labels: labels?.split(" ") ?? [] };
  }
  return catalog;
}

/** Upper bounds of the buckets of histograms, in seconds: from a commit to memory to the run of an agent. */
export const HISTOGRAM_BOUNDS: readonly number[] = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

const PROMETHEUS_UNITS: Readonly<Record<string, string>> = { s: "_seconds", By: "_bytes" };

/** Returns the name of a metric in Prometheus, for example `a2a_server_operation_duration_seconds`. */
export function toPrometheusName(name: MetricName): string {
  const { kind, unit } = METRIC_CATALOG[name];
  return `${toPrometheusLabel(name)}${PROMETHEUS_UNITS[unit] ?? ""}${kind === "counter" ? "_total" : ""}`;
}

/** Returns the name of a label in Prometheus, for example `a2a_method_name`. */
export function toPrometheusLabel(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

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
