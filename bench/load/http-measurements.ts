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
  rampUpMs: leadMs,
  durationMs: ms,
  expectedText: text,
}: ThroughputOptions): Promise<ThroughputResult> {
  const open = Array.from({ length: connections }, () => new HttpConnection(template.host, template.port));
  await Promise.all(open.map((connection) => connection.connected));
  const times: number[] = [];
  const kept: Buffer[] = [];
  const faults: string[] = [];
  const begin = performance.now() + leadMs;
  const end = begin + ms;
  let asked = 0;
  let completed = 0;
  const work = (connection: HttpConnection): Promise<void> =>
    new Promise((resolve) => {
      const ask = (): void => {
        const keep = asked < connections || asked % SAMPLE_INTERVAL === 0;
        asked++;
        connection.send(renderNextRequest(template), keep, (error, reply) => {
          const now = performance.now();
          if (now > end) return resolve();
          if (!reply || reply.status !== 200) {
            faults.push(error?.message ?? `HTTP ${reply?.status}`);
            return resolve();
          }
          completed++;
          if (now > begin) times.push(reply.durationMs);
          if (reply.bytes) kept.push(reply.bytes);
          return ask();
        });
      };
      ask();
    });
  // A server that is far behind may have an answer outstanding; the clock does not wait for it.
  await Promise.race([Promise.all(open.map(work)), sleep(leadMs + ms + 50)]);
  for (const connection of open) connection.close();
  for (const bytes of kept) {
    const fault = findResponseFault(bytes, text);
    if (fault) faults.push(fault);
  }
  return {
    ...summarizeLatencies(times, ms),
    completed,
    checked: kept.length,
    faults,
    eventsPerResponse: kept[0] && faults.length === 0 ? parseTaskOutcome(kept[0]).eventCount : Number.NaN,
  };
}

/** From the times of all answers that came within `ms`. */
export function summarizeLatencies(
  times: number[],
  ms: number,
): Pick<ThroughputResult, "perSecond" | "p50" | "p99"> {
  times.sort((a, b) => a - b);
  return {
    perSecond: (times.length / ms) * 1000,
    p50: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
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
  expectedText: text,
  timeoutMs: patienceMs,
}: StreamTimingOptions): Promise<StreamTiming> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const patience = sleep(patienceMs).then(() => undefined);
  const reply = await Promise.race([connection.request(renderNextRequest(template)), patience]);
  connection.close();
  if (!reply) return { durationMs: patienceMs, hasEnded: false, events: Number.NaN, faults: [] };
  const fault = findResponseFault(requireBytes(reply), text);
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
