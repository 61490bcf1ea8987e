/** The load that is put on a server for some time. */
export interface LoadOptions {
  /** Number of connections, each with one request in flight. */
  readonly connections: number;
  /**
   * Time in milliseconds before counting starts. It desynchronizes the connections, so that as many responses
   * start as end in any interval.
   */
  readonly rampUpMs: number;
  /** Time in milliseconds in which responses are counted. */
  readonly durationMs: number;
}

/** Reads the sampled responses. */
export interface ResponseReader<Sample> {
  /** Returns the first problem of a response, or `undefined` for a correct response. */
  readonly findFault: (sample: Sample) => string | undefined;
  /** Counts the events of a correct response. */
  readonly countEvents: (sample: Sample) => number;
}

export interface ThroughputResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Number of responses, including those of the ramp-up. */
  readonly completed: number;
  /** Number of responses that were decoded and compared completely. */
  readonly checked: number;
  /** Problems of the responses. */
  readonly faults: readonly string[];
  /** Number of events per response. */
  readonly eventsPerResponse: number;
}

/**
 * One response in this many is decoded after the measurement, and so is the first response of each
 * connection.
 */
const RESPONSES_PER_CHECKED_SAMPLE = 64;

/** Counts the responses of one throughput measurement and keeps samples of them. */
export class ResponseCounter<Sample> {
  readonly #options: LoadOptions;
  readonly #begin: number;
  readonly #end: number;
  readonly #latencies: number[] = [];
  readonly #samples: Sample[] = [];
  readonly #faults: string[] = [];
  #sent = 0;
  #completed = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#begin = performance.now() + options.rampUpMs;
    this.#end = this.#begin + options.durationMs;
  }

  /** Counts a request, and returns whether its response must be kept as a sample. */
  countRequest(): boolean {
    const index = this.#sent++;
    return index < this.#options.connections || index % RESPONSES_PER_CHECKED_SAMPLE === 0;
  }

  /** Records a response. Returns `false` when the measurement is over. */
  recordLatencyAndSample(latencyMs: number, sample: Sample | undefined): boolean {
    const now = performance.now();
    if (now > this.#end) return false;
    this.#completed++;
    if (now > this.#begin) this.#latencies.push(latencyMs);
    if (sample !== undefined) this.#samples.push(sample);
    return true;
  }

  /** Records a failed request. */
  recordFailedRequest(fault: string): void {
    if (performance.now() <= this.#end) this.#faults.push(fault);
  }

  /**
   * Resolves when all connections are done or the time is over. A slow server may still owe a response then.
   */
  async waitForConnectionsOrTimeout(connections: readonly Promise<void>[]): Promise<void> {
    const { rampUpMs, durationMs } = this.#options;
    await Promise.race([Promise.all(connections), sleep(rampUpMs + durationMs + 50)]);
  }

  /** Checks the samples and summarizes the measurement. */
  summarizeThroughput({ findFault, countEvents }: ResponseReader<Sample>): ThroughputResult {
    const { durationMs } = this.#options;
    const faults = [...this.#faults, ...this.#samples.flatMap((sample) => findFault(sample) ?? [])];
    const latencies = this.#latencies.toSorted((a, b) => a - b);
    const [first] = this.#samples;
    return {
      perSecond: (latencies.length / durationMs) * 1000,
      p50: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
      p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
      completed: this.#completed,
      checked: this.#samples.length,
      faults,
      eventsPerResponse: first !== undefined && faults.length === 0 ? countEvents(first) : Number.NaN,
    };
  }
}

/** Resolves after `ms` milliseconds, without keeping the process alive. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
