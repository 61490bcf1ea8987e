/** Settings of the export of spans and metrics to a collector. */
export interface OtlpExportOptions {
  /** Base URL of the collector, for example `http://127.0.0.1:4318`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Name of the service in the traces. */
  readonly serviceName: string;
  /** Share of the new traces that are recorded, from 0 to 1. The sender of a `traceparent` decides for its trace. */
  readonly sampleRatio: number;
  /** Time between two exports of metrics, in milliseconds. */
  readonly metricIntervalMs: number;
}

/** A running export. The export belongs to the process, and continues when a server closes. */
export interface RunningOtlpExport {
  /** Sends the finished spans and the metrics. Resolves also if the collector does not answer. */
  flush(): Promise<void>;
}
