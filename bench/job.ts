/**
 * What every server under test is asked to do, written once so that all do the same: the user's text names the job,
 * the agent answers with one artifact in chunks of 16 characters.
 */
export interface BenchmarkJob {
  readonly kind: "chunks" | "turns" | "wait";
  /** How many chunks; 0 for `wait`. */
  readonly count: number;
}

/**
 * - `chunks`: yields its chunks as fast as it can, without giving the event loop a turn.
 * - `turns`: gives the event loop a turn before each chunk, as a chunk does that comes from a model's socket.
 * - `wait`: works until it is released.
 */
export function formatJob({ kind, count }: BenchmarkJob): string {
  return `${kind} ${count}`;
}

export function parseJob(text: string): BenchmarkJob {
  const [kind, count] = text.split(" ");
  if (kind !== "chunks" && kind !== "turns" && kind !== "wait")
    throw new Error(`no job in ${JSON.stringify(text)}`);
  return { kind, count: Number(count) };
}

/** The text of chunk `at`: always 16 characters, and different for every chunk, so that a lost or doubled one shows. */
export function buildChunkText(index: number): string {
  return `chunk ${String(index).padStart(8, "0")}. `;
}

/** All that a job says. */
export function buildExpectedText(count: number): string {
  let text = "";
  for (let index = 0; index < count; index++) text += buildChunkText(index);
  return text;
}

/** The agent itself, as each server under test runs it. */
export async function* runJob(
  job: BenchmarkJob,
): AsyncGenerator<{ text: string; last: boolean }, void, undefined> {
  if (job.kind === "wait") await jobsReleased;
  for (let index = 0; index < job.count; index++) {
    if (job.kind === "turns") await yieldToEventLoop();
    yield { text: buildChunkText(index), last: index === job.count - 1 };
  }
}

const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const { promise: jobsReleased, resolve } = Promise.withResolvers<void>();

/** Lets every `wait` job of this process go on. */
export function releaseWaitingJobs(): void {
  resolve();
}
