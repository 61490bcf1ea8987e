import { Connection } from "./connection.ts";
import { nextRequest, type Template } from "./request.ts";
import { readOutcome } from "./outcome.ts";

export interface ReadersOrder {
  readonly template: Template;
  readonly count: number;
}

interface Reader {
  readonly connection: Connection;
  readonly answer: Promise<Buffer>;
}

let readers: Reader[] = [];

/** Opens streams that stay open; resolves when each has had its first event. */
export async function openReaders({ template, count }: ReadersOrder): Promise<number> {
  // In groups, because a server's accept queue is short.
  for (let at = 0; at < count; at += 100) {
    await Promise.all(Array.from({ length: Math.min(100, count - at) }, () => openReader(template)));
  }
  return readers.length;
}

async function openReader(template: Template): Promise<void> {
  const connection = new Connection(template.host, template.port);
  await connection.opened;
  const first = Promise.withResolvers<void>();
  connection.onData = (bytes) => {
    if (bytes.includes("data:")) first.resolve();
  };
  const answer = new Promise<Buffer>((resolve, reject) => {
    connection.send(nextRequest(template), true, (error, reply) => {
      if (!reply?.bytes) return reject(error ?? new Error("no answer"));
      return resolve(reply.bytes);
    });
  });
  readers.push({ connection, answer });
  await Promise.race([first.promise, answer.then(assertStream)]);
}

/** A stream that ends before its first event is none. */
function assertStream(bytes: Buffer): never {
  throw new Error(`a reader was refused: ${bytes.toString().slice(0, 400)}`);
}

export interface ReadersResult {
  readonly readers: number;
  /** How many of them saw the task complete. */
  readonly completed: number;
  /** All that one of them was told, as latin1 text. */
  readonly sample: string;
}

/** Resolves when every stream has ended. */
export async function finishReaders(): Promise<ReadersResult> {
  const finished = readers;
  readers = [];
  let completed = 0;
  let sample = "";
  for (const { connection, answer } of finished) {
    const bytes = await answer;
    if (readOutcome(bytes).state === "completed") completed++;
    sample ||= bytes.toString("latin1");
    connection.close();
  }
  return { readers: finished.length, completed, sample };
}
