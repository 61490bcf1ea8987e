import { HttpConnection, type TimedResponse } from "./http-connection.ts";
import { findResponseFault, parseTaskOutcome } from "./task-outcome.ts";
import { renderNextRequest, type RequestTemplate } from "./request-template.ts";

/** Many requests at once for a while. */
export interface ThroughputOptions {
  readonly template: RequestTemplate;
  readonly connections: number;
  /** Not counted: until the connections are out of step, as many answers begin in a stretch of time as end in it. */
  readonly rampUpMs: number;
  readonly durationMs: number;
  /** The text that every answer must amount to. */
  readonly expectedText: string;
}

export interface ThroughputResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers altogether, with those of the lead. */
  readonly completed: number;
  /** Answers that were read and compared in full, and what was wrong with them. */
  readonly checked: number;
  readonly faults: readonly string[];
  /** Events per answer. */
  readonly eventsPerResponse: number;
}

/** One answer in this many is kept and read in full once the clock has stopped; so is the first of each connection. */
export const SAMPLE_INTERVAL = 64;

/** Keeps `connections` connections busy and counts complete answers. */
export async function measureThroughput({
  template,
  connections,
  rampUpMs,
  durationMs,
  expectedText,
}: ThroughputOptions): Promise<ThroughputResult> {
  const connectionList = Array.from(
    { length: connections },
    () => new HttpConnection(template.host, template.port),
  );
  await Promise.all(connectionList.map((connection) => connection.connected));
  const latencies: number[] = [];
  const samples: Buffer[] = [];
  const faults: string[] = [];
  const begin = performance.now() + rampUpMs;
  const end = begin + durationMs;
  let sentRequests = 0;
  let completed = 0;
  const runConnection = (connection: HttpConnection): Promise<void> =>
    new Promise((resolve) => {
      const sendNext = (): void => {
        const isSampled = sentRequests < connections || sentRequests % SAMPLE_INTERVAL === 0;
        sentRequests++;
        connection.send(renderNextRequest(template), isSampled, (error, reply) => {
          const now = performance.now();
          if (now > end) return resolve();
          if (!reply || reply.status !== 200) {
            faults.push(error?.message ?? `HTTP ${reply?.status}`);
            return resolve();
          }
          completed++;
          if (now > begin) latencies.push(reply.durationMs);
          if (reply.bytes) samples.push(reply.bytes);
          return sendNext();
        });
      };
      sendNext();
    });
  // A server that is far behind may have an answer outstanding; the clock does not wait for it.
  await Promise.race([Promise.all(connectionList.map(runConnection)), sleep(rampUpMs + durationMs + 50)]);
  for (const connection of connectionList) connection.close();
  for (const bytes of samples) {
    const fault = findResponseFault(bytes, expectedText);
    if (fault) faults.push(fault);
  }
  return {
    ...summarizeLatencies(latencies, durationMs),
    completed,
    checked: samples.length,
    faults,
    eventsPerResponse:
      samples[0] && faults.length === 0 ? parseTaskOutcome(samples[0]).eventCount : Number.NaN,
  };
}

/** From the times of all answers that came within `ms`. */
export function summarizeLatencies(
  latencies: number[],
  ms: number,
): Pick<ThroughputResult, "perSecond" | "p50" | "p99"> {
  latencies.sort((a, b) => a - b);
  return {
    perSecond: (latencies.length / ms) * 1000,
    p50: latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN,
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  };
}

/** One request, followed to its end or until patience runs out. */
export interface StreamTimingOptions {
  readonly template: RequestTemplate;
  readonly expectedText: string;
  readonly timeoutMs: number;
}

export interface StreamTiming {
  /** From writing the request to the last byte; `timeoutMs` when it did not end. */
  readonly durationMs: number;
  readonly hasEnded: boolean;
  readonly events: number;
  readonly faults: readonly string[];
}

export async function measureStreamTiming({
  template,
  expectedText,
  timeoutMs,
}: StreamTimingOptions): Promise<StreamTiming> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const timeout = sleep(timeoutMs).then(() => undefined);
  const reply = await Promise.race([connection.request(renderNextRequest(template)), timeout]);
  connection.close();
  if (!reply) return { durationMs: timeoutMs, hasEnded: false, events: Number.NaN, faults: [] };
  const fault = findResponseFault(requireBytes(reply), expectedText);
  if (fault) return { durationMs: reply.durationMs, hasEnded: true, events: Number.NaN, faults: [fault] };
  return {
    durationMs: reply.durationMs,
    hasEnded: true,
    events: parseTaskOutcome(requireBytes(reply)).eventCount,
    faults: [],
  };
}

/** One request; the raw answer as latin1 text (for IPC). */
export async function sendOnce(template: RequestTemplate): Promise<string> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const reply = await connection.request(renderNextRequest(template));
  connection.close();
  return requireBytes(reply).toString("latin1");
}

function requireBytes(reply: TimedResponse): Buffer {
  if (!reply.bytes) throw new Error("the bytes of this reply were not kept");
  return reply.bytes;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
