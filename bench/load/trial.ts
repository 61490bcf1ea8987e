import { Connection, type Reply } from "./connection.ts";
import { faultOf, readOutcome } from "./outcome.ts";
import { nextRequest, type Template } from "./request.ts";

/** Many requests at once for a while. */
export interface RateOrder {
  readonly template: Template;
  readonly connections: number;
  /** Not counted: until the connections are out of step, as many answers begin in a stretch of time as end in it. */
  readonly leadMs: number;
  readonly ms: number;
  /** The text that every answer must amount to. */
  readonly text: string;
}

export interface RateResult {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers altogether, with those of the lead. */
  readonly completed: number;
  /** Answers that were read and compared in full, and what was wrong with them. */
  readonly checked: number;
  readonly faults: readonly string[];
  /** Events per answer. */
  readonly events: number;
}

/** One answer in this many is kept and read in full once the clock has stopped; so is the first of each connection. */
export const SAMPLE = 64;

/** Keeps `connections` connections busy and counts complete answers. */
export async function measureRate({
  template,
  connections,
  leadMs,
  ms,
  text,
}: RateOrder): Promise<RateResult> {
  const open = Array.from({ length: connections }, () => new Connection(template.host, template.port));
  await Promise.all(open.map((connection) => connection.opened));
  const times: number[] = [];
  const kept: Buffer[] = [];
  const faults: string[] = [];
  const begin = performance.now() + leadMs;
  const end = begin + ms;
  let asked = 0;
  let completed = 0;
  const work = (connection: Connection): Promise<void> =>
    new Promise((resolve) => {
      const ask = (): void => {
        const keep = asked < connections || asked % SAMPLE === 0;
        asked++;
        connection.send(nextRequest(template), keep, (error, reply) => {
          const now = performance.now();
          if (now > end) return resolve();
          if (!reply || reply.status !== 200) {
            faults.push(error?.message ?? `HTTP ${reply?.status}`);
            return resolve();
          }
          completed++;
          if (now > begin) times.push(reply.ms);
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
    const fault = faultOf(bytes, text);
    if (fault) faults.push(fault);
  }
  return {
    ...speedOf(times, ms),
    completed,
    checked: kept.length,
    faults,
    events: kept[0] && faults.length === 0 ? readOutcome(kept[0]).events : Number.NaN,
  };
}

/** From the times of all answers that came within `ms`. */
export function speedOf(times: number[], ms: number): Pick<RateResult, "perSecond" | "p50" | "p99"> {
  times.sort((a, b) => a - b);
  return {
    perSecond: (times.length / ms) * 1000,
    p50: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p99: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
  };
}

/** One request, followed to its end or until patience runs out. */
export interface StreamOrder {
  readonly template: Template;
  readonly text: string;
  readonly patienceMs: number;
}

export interface StreamResult {
  /** From writing the request to the last byte; `patienceMs` when it did not end. */
  readonly ms: number;
  readonly ended: boolean;
  readonly events: number;
  readonly faults: readonly string[];
}

export async function measureStream({ template, text, patienceMs }: StreamOrder): Promise<StreamResult> {
  const connection = new Connection(template.host, template.port);
  await connection.opened;
  const patience = sleep(patienceMs).then(() => undefined);
  const reply = await Promise.race([connection.ask(nextRequest(template)), patience]);
  connection.close();
  if (!reply) return { ms: patienceMs, ended: false, events: Number.NaN, faults: [] };
  const fault = faultOf(bytesOf(reply), text);
  if (fault) return { ms: reply.ms, ended: true, events: Number.NaN, faults: [fault] };
  return { ms: reply.ms, ended: true, events: readOutcome(bytesOf(reply)).events, faults: [] };
}

/** One request; the raw answer as latin1 text (for IPC). */
export async function askOnce(template: Template): Promise<string> {
  const connection = new Connection(template.host, template.port);
  await connection.opened;
  const reply = await connection.ask(nextRequest(template));
  connection.close();
  return bytesOf(reply).toString("latin1");
}

function bytesOf(reply: Reply): Buffer {
  if (!reply.bytes) throw new Error("the bytes of this reply were not kept");
  return reply.bytes;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref());
