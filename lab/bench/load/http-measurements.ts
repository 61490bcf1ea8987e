import { HttpConnection, type TimedResponse } from "./http-connection.ts";
import { parseHttpResponse } from "./responses.ts";
import { ResponseCounter, sleep, type LoadOptions, type ThroughputResult } from "./response-counter.ts";
import { findTaskListFault } from "./responses.ts";
import { findResponseFault, parseTaskOutcome } from "./responses.ts";
import { renderNextRequest, type RequestTemplate } from "./request-template.ts";

/** Options for `measureThroughput`. */
export interface ThroughputOptions extends LoadOptions {
  readonly template: RequestTemplate;
  /** Text of the task, or total size of the task list, that every response must contain. */
  readonly expected: { readonly text: string } | { readonly totalSize: number };
}

/** Keeps all connections busy and counts complete responses. */
export async function measureThroughput({
  template,
  expected,
  ...load
}: ThroughputOptions): Promise<ThroughputResult> {
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
  return counter.summarizeThroughput(
    "text" in expected
      ? {
          findFault: (bytes) => findResponseFault(bytes, expected.text),
          countEvents: (bytes) => parseTaskOutcome(bytes).eventCount,
        }
      : { findFault: (bytes) => findTaskListFault(bytes, expected.totalSize), countEvents: () => 1 },
  );
}

/** Sends requests of a template one after another, and returns the time of each response in milliseconds. */
export async function measureSequentialRequests({
  template,
  count,
}: {
  readonly template: RequestTemplate;
  readonly count: number;
}): Promise<number[]> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const durations: number[] = [];
  while (durations.length < count) {
    const reply = await connection.request(renderNextRequest(template));
    const { body } = parseHttpResponse(requireBytes(reply));
    if (reply.status !== 200 || body.includes('"error":')) throw new Error(body.slice(0, 300));
    durations.push(reply.durationMs);
  }
  connection.close();
  return durations;
}

/** A response of any size. */
export interface LargeResponse {
  readonly status: number;
  readonly durationMs: number;
  readonly byteCount: number;
  /** The first bytes as text. */
  readonly start: string;
}

/** Sends one request and measures its response without keeping the response in memory. */
export async function measureLargeResponse(template: RequestTemplate): Promise<LargeResponse> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  let byteCount = 0;
  let start = "";
  connection.onData = (bytes) => {
    byteCount += bytes.length;
    if (start.length < 1000) start += bytes.toString("latin1", 0, 1000);
  };
  const { status, durationMs } = await new Promise<TimedResponse>((resolve, reject) => {
    connection.send(renderNextRequest(template), false, (error, reply) =>
      reply ? resolve(reply) : reject(error!),
    );
  });
  connection.close();
  return { status, durationMs, byteCount, start };
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
