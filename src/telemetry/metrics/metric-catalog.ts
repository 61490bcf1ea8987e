/** Description of a metric, in the terms of OpenTelemetry. */
export interface MetricDescription {
  readonly kind: "counter" | "gauge" | "histogram";
  /** `s` seconds, `By` bytes, and `{…}` for a number of things. */
  readonly unit: string;
  readonly description: string;
  /** Names of the labels. Each label has few values: no ids, no URLs, and no names that callers choose. */
  readonly labels: readonly string[];
}

/** Names of the metrics of a server. */
export type MetricName =
  | "a2a.server.operation.duration"
  | "gen_ai.invoke_agent.duration"
  | "colloquy.request.duration"
  | "colloquy.commit.duration"
  | "colloquy.commit.events"
  | "colloquy.tasks.ended"
  | "colloquy.push.deliveries"
  | "colloquy.push.pending"
  | "colloquy.errors"
  | "colloquy.credentials.rejected"
  | "colloquy.readers.stalled"
  | "colloquy.retention.deleted_tasks"
  | "colloquy.runs.active"
  | "colloquy.turns.waiting"
  | "colloquy.streams.open"
  | "colloquy.buffered.used"
  | "colloquy.buffered.limit"
  | "colloquy.store.healthy"
  | "colloquy.store.connections"
  | "colloquy.store.waiting"
  | "colloquy.leases.held"
  | "colloquy.leases.claimed"
  | "colloquy.leases.waiting"
  | "colloquy.leases.duration"
  | "colloquy.leases.renewal_age"
  | "nodejs.eventloop.delay.p99"
  | "process.memory.usage";

const AGENT = "gen_ai.agent.name";

/**
 * All metrics of a server, by name. Names of OpenTelemetry's conventions have no prefix of Colloquy. Prometheus receives
 * the same names with underscores and a unit (`toPrometheusName`).
 */
export const METRIC_CATALOG: Readonly<Record<MetricName, MetricDescription>> = {
  "a2a.server.operation.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of A2A requests. The request of a stream ends with the stream.",
    labels: ["a2a.method.name", AGENT, "error.type"],
  },
  "gen_ai.invoke_agent.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of the runs of agents.",
    labels: [AGENT, "a2a.task.state", "error.type"],
  },
  "colloquy.request.duration": {
    kind: "histogram",
    unit: "s",
    description: "Time from a request to the start of its response, for HTTP and gRPC.",
    labels: ["method", "status"],
  },
  "colloquy.commit.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of the commits of the task store. A commit contains the events of many tasks.",
    labels: ["outcome"],
  },
  "colloquy.commit.events": {
    kind: "counter",
    unit: "{event}",
    description: "Committed task events.",
    labels: [],
  },
  "colloquy.tasks.ended": {
    kind: "counter",
    unit: "{task}",
    description: "Tasks that have reached a terminal state, or that wait for their user.",
    labels: [AGENT, "a2a.task.state"],
  },
  "colloquy.push.deliveries": {
    kind: "counter",
    unit: "{delivery}",
    description: "Push notifications by outcome: delivered, failed (will be repeated), and dead (given up).",
    labels: ["outcome"],
  },
  "colloquy.push.pending": {
    kind: "gauge",
    unit: "{webhook}",
    description:
      "Webhooks in memory that have not received all events, by state: ready, sending, and retry (after a failure).",
    labels: ["state"],
  },
  "colloquy.errors": {
    kind: "counter",
    unit: "{error}",
    description: "Internal errors, by the component that reports the error.",
    labels: ["where"],
  },
  "colloquy.credentials.rejected": {
    kind: "counter",
    unit: "{request}",
    description: "Requests with rejected credentials, by authentication scheme.",
    labels: ["scheme"],
  },
  "colloquy.readers.stalled": {
    kind: "counter",
    unit: "{connection}",
    description: "Connections that the server closed, because the client did not read.",
    labels: [],
  },
  "colloquy.retention.deleted_tasks": {
    kind: "counter",
    unit: "{task}",
    description: "Tasks that the retention has deleted.",
    labels: [],
  },
  "colloquy.runs.active": {
    kind: "gauge",
    unit: "{run}",
    description: "Agents that are running.",
    labels: [AGENT],
  },
  "colloquy.turns.waiting": {
    kind: "gauge",
    unit: "{turn}",
    description:
      "Turns that wait, by reason: task and context (another turn runs there), and time (the agent has suspended the turn).",
    labels: [AGENT, "reason"],
  },
  "colloquy.streams.open": {
    kind: "gauge",
    unit: "{stream}",
    description: "Open event streams over HTTP.",
    labels: [],
  },
  "colloquy.buffered.used": {
    kind: "gauge",
    unit: "By",
    description: "Bytes of request bodies and unread responses in memory.",
    labels: [],
  },
  "colloquy.buffered.limit": {
    kind: "gauge",
    unit: "By",
    description: "Limit of the bytes in memory (limits.bufferedBytes).",
    labels: [],
  },
  "colloquy.store.healthy": {
    kind: "gauge",
    unit: "{store}",
    description: "1 if the task store accepts commits, and otherwise 0.",
    labels: [],
  },
  "colloquy.store.connections": {
    kind: "gauge",
    unit: "{connection}",
    description: "Connections to PostgreSQL by state: max, open, and busy.",
    labels: ["state"],
  },
  "colloquy.store.waiting": {
    kind: "gauge",
    unit: "{statement}",
    description: "Statements that wait for a connection to PostgreSQL.",
    labels: [],
  },
  "colloquy.leases.held": {
    kind: "gauge",
    unit: "{lease}",
    description: "Turns that this server runs, on a store of several servers.",
    labels: [],
  },
  "colloquy.leases.claimed": {
    kind: "counter",
    unit: "{lease}",
    description: "Turns that this server has taken over from a stopped server.",
    labels: [],
  },
  "colloquy.leases.waiting": {
    kind: "gauge",
    unit: "{turn}",
    description:
      "Turns on the database that wait for a server that starts agents. All servers count the same turns.",
    labels: [],
  },
  "colloquy.leases.duration": {
    kind: "gauge",
    unit: "s",
    description: "Duration of a lease.",
    labels: [],
  },
  "colloquy.leases.renewal_age": {
    kind: "gauge",
    unit: "s",
    description:
      "Time since the leases were renewed. Other servers claim turns after the duration of a lease.",
    labels: [],
  },
  "nodejs.eventloop.delay.p99": {
    kind: "gauge",
    unit: "s",
    description: "99th percentile of the event loop delay since the last read of the metrics.",
    labels: [],
  },
  "process.memory.usage": {
    kind: "gauge",
    unit: "By",
    description: "Resident memory of the process.",
    labels: [],
  },
};

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
