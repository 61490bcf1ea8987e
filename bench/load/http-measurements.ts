import { HttpConnection, type TimedResponse } from "./http-connection.ts";
import { ResponseCounter, sleep, type LoadOptions, type ThroughputResult } from "./response-counter.ts";
import { findResponseFault, parseTaskOutcome } from "./task-outcome.ts";
import { renderNextRequest, type RequestTemplate } from "./request-template.ts";

/** Options for `measureThroughput`. */
export interface ThroughputOptions extends LoadOptions {
  readonly template: RequestTemplate;
}

/** Keeps all connections busy and counts complete responses. */
export async function measureThroughput({ template, ...load }: ThroughputOptions): Promise<ThroughputResult> {
  const connections = Array.from(
    { length: load.connections },
    () => new HttpConnection(template.host, template.port),
  );
  await Promise.all(connections.map((connection) => connection.connected));
  const counter = new ResponseCounter<Buffer>(load);
  const runConnection = (connection: HttpConnection): Promise<void> =>
    new Promise((resolve) => {
      const sendNext = (): void => {
        connection.send(renderNextRequest(template), counter.countRequest(), (error, reply) => {
          if (reply?.status === 200) {
            if (counter.recordLatencyAndSample(reply.durationMs, reply.bytes)) return sendNext();
          } else counter.recordFailedRequest(error?.message ?? `HTTP ${reply?.status}`);
          return resolve();
        });
      };
      sendNext();
    });
  await counter.waitForConnectionsOrTimeout(connections.map(runConnection));
  for (const connection of connections) connection.close();
  return counter.summarizeThroughput(parseTaskOutcome);
}

/** Options for `measureStreamTiming`. */
export interface StreamTimingOptions {
  readonly template: RequestTemplate;
  readonly expectedText: string;
  readonly timeoutMs: number;
}

/** The timing of one stream. */
export interface StreamTiming {
  /**
   * Time in milliseconds from writing the request to the last byte. `timeoutMs` when the stream did not end
   * in time.
   */
  readonly durationMs: number;
  readonly hasEnded: boolean;
  readonly events: number;
  readonly faults: readonly string[];
}

/** Sends one request and measures its response until it ends or the timeout expires. */
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

/** Sends one request and returns the raw response as latin1 text, which IPC can transfer. */
export async function sendOnce(template: RequestTemplate): Promise<string> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const reply = await connection.request(renderNextRequest(template));
  connection.close();
  return requireBytes(reply).toString("latin1");
}

function requireBytes(reply: TimedResponse): Buffer {
  if (!reply.bytes) throw new Error("the bytes of this response were not kept");
  return reply.bytes;
}
