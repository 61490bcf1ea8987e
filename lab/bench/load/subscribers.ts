import { HttpConnection } from "./http-connection.ts";
import { renderNextRequest, type RequestTemplate } from "./request-template.ts";
import { parseTaskOutcome } from "./responses.ts";

export interface SubscribersOptions {
  readonly template: RequestTemplate;
  readonly count: number;
}

interface StreamSubscriber {
  readonly connection: HttpConnection;
  readonly response: Promise<Buffer>;
}

let connectedStreamSubscribers: StreamSubscriber[] = [];

/** Opens streams that stay open. Resolves when each stream has received its first event. */
export async function openSubscribers({ template, count }: SubscribersOptions): Promise<number> {
  // Streams are opened in groups, because the accept queue of a server is short.
  for (let at = 0; at < count; at += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, count - at) }, () => openStreamSubscriber(template)),
    );
  }
  return connectedStreamSubscribers.length;
}

async function openStreamSubscriber(template: RequestTemplate): Promise<void> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const first = Promise.withResolvers<void>();
  connection.onData = (bytes) => {
    if (bytes.includes("data:")) first.resolve();
  };
  const answer = new Promise<Buffer>((resolve, reject) => {
    connection.send(renderNextRequest(template), true, (error, reply) => {
      if (!reply?.bytes) return reject(error ?? new Error("the server sent no response"));
      return resolve(reply.bytes);
    });
  });
  connectedStreamSubscribers.push({ connection, response: answer });
  await Promise.race([first.promise, answer.then(throwStreamRefused)]);
}

/** A stream that ends before its first event was rejected. */
function throwStreamRefused(bytes: Buffer): never {
  throw new Error(`the server rejected a subscriber: ${bytes.toString().slice(0, 400)}`);
}

export interface SubscribersResult {
  readonly subscribers: number;
  /** Number of subscribers that saw the task complete. */
  readonly completed: number;
  /** Complete response of one subscriber as latin1 text. */
  readonly sampleResponse: string;
}

/** Waits until every stream has ended and returns the result. */
export async function waitForSubscriberStreamsToEnd(): Promise<SubscribersResult> {
  const finished = connectedStreamSubscribers;
  connectedStreamSubscribers = [];
  let completed = 0;
  let sample = "";
  for (const { connection, response } of finished) {
    const bytes = await response;
    if (parseTaskOutcome(bytes).state === "completed") completed++;
    sample ||= bytes.toString("latin1");
    connection.close();
  }
  return { subscribers: finished.length, completed, sampleResponse: sample };
}
