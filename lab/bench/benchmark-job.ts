/**
 * Job that a request sends to every server under test. The message text names the job, and the agent answers
 * with one artifact in chunks of 16 characters, or of `LARGE_CHUNK_SIZE` characters for `large`.
 */
export interface BenchmarkJob {
  readonly kind: BenchmarkJobKind;
  /** Number of chunks. 0 for `wait` and `question`. */
  readonly count: number;
}

const BENCHMARK_JOB_KINDS = ["chunks", "turns", "wait", "large", "question"] as const;
type BenchmarkJobKind = (typeof BENCHMARK_JOB_KINDS)[number];

/** Size in characters of each chunk of a `large` job. */
export const LARGE_CHUNK_SIZE: number = 64 * 1024;

/** A job that produces nothing and runs until it is released. */
export const WAIT_UNTIL_RELEASED_JOB: BenchmarkJob = { kind: "wait", count: 0 };

/**
 * Formats a job as the text of a message.
 *
 * - `chunks`: yields all chunks without returning to the event loop.
 * - `turns`: returns to the event loop before each chunk, like chunks that arrive from a model's socket.
 * - `wait`: runs until it is released.
 * - `large`: yields chunks of 64 KB, and returns to the event loop before each chunk.
 * - `question`: ends the turn in the state INPUT_REQUIRED, so that the task accepts another message.
 */
export function formatJobAsMessageText({ kind, count }: BenchmarkJob): string {
  return `${kind} ${count}`;
}

/** Parses the text of a message. Throws when it names no job. */
export function parseJobFromMessageText(text: string): BenchmarkJob {
  const [name, count] = text.split(" ");
  const kind = BENCHMARK_JOB_KINDS.find((known) => known === name);
  if (!kind) throw new Error(`the message ${JSON.stringify(text)} names no job`);
  return { kind, count: Number(count) };
}

/**
 * Builds the text of the chunk `index`. It has always 16 characters and differs for every chunk, so that a
 * lost or repeated chunk is detected.
 */
export function buildChunkText(index: number): string {
  return `chunk ${String(index).padStart(8, "0")}. `;
}

const LARGE_CHUNK_TEXT = buildChunkText(0).repeat(LARGE_CHUNK_SIZE / 16);

/** Builds the text of all chunks of a job. */
export function buildExpectedText(count: number): string {
  let text = "";
  for (let index = 0; index < count; index++) text += buildChunkText(index);
  return text;
}

/** Runs a job. Every server under test uses this agent. */
export async function* generateJobChunks(
  job: BenchmarkJob,
): AsyncGenerator<{ text: string; last: boolean }, void, undefined> {
  if (job.kind === "wait") await jobsReleased;
  for (let index = 0; index < job.count; index++) {
    if (job.kind === "turns" || job.kind === "large") await yieldToEventLoop();
    const text = job.kind === "large" ? LARGE_CHUNK_TEXT : buildChunkText(index);
    yield { text, last: index === job.count - 1 };
  }
}

/** Resolves in the next turn of the event loop. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const { promise: jobsReleased, resolve } = Promise.withResolvers<void>();

/** Releases every `wait` job of this process. */
export function releaseWaitingJobs(): void {
  resolve();
}

/** Reply of the scripted model of the ADK rows: 50 partial events, followed by the complete text. */
export const SCRIPTED_MODEL_REPLY_JOB: BenchmarkJob = { kind: "turns", count: 50 };
export const SCRIPTED_MODEL_REPLY_TEXT: string = buildExpectedText(SCRIPTED_MODEL_REPLY_JOB.count);
