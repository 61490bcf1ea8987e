import { HttpConnection } from "./http-connection.ts";
import { renderNextRequest, type RequestTemplate } from "./request-template.ts";
import { parseTaskOutcome } from "./task-outcome.ts";

export interface SubscribersOptions {
  readonly template: RequestTemplate;
  readonly count: number;
}

interface StreamSubscriber {
  readonly connection: HttpConnection;
  readonly response: Promise<Buffer>;
}

let subscribers: StreamSubscriber[] = [];

/** Opens streams that stay open; resolves when each has had its first event. */
export async function openSubscribers({ template, count }: SubscribersOptions): Promise<number> {
  // In groups, because a server's accept queue is short.
  for (let at = 0; at < count; at += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - at) }, () => openSubscriber(template)));
  }
  return subscribers.length;
}

async function openSubscriber(template: RequestTemplate): Promise<void> {
  const connection = new HttpConnection(template.host, template.port);
  await connection.connected;
  const first = Promise.withResolvers<void>();
  connection.onData = (bytes) => {
    if (bytes.includes("data:")) first.resolve();
  };
  const answer = new Promise<Buffer>((resolve, reject) => {
    connection.send(renderNextRequest(template), true, (error, reply) => {
      if (!reply?.bytes) return reject(error ?? new Error("no answer"));
      return resolve(reply.bytes);
    });
  });
  subscribers.push({ connection, response: answer });
  await Promise.race([first.promise, answer.then(throwStreamRefused)]);
}

/** A stream that ends before its first event is none. */
function throwStreamRefused(bytes: Buffer): never {
  throw new Error(`a reader was refused: ${bytes.toString().slice(0, 400)}`);
}

export interface SubscribersResult {
  readonly subscribers: number;
  /** How many of them saw the task complete. */
  readonly completed: number;
  /** All that one of them was told, as latin1 text. */
  readonly sampleResponse: string;
}

/** Resolves when every stream has ended. */
export async function waitForSubscribers(): Promise<SubscribersResult> {
  const finished = subscribers;
  subscribers = [];
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
