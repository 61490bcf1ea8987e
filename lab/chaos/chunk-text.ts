/** A numbered chunk of a scripted agent. `emittedAt` is monotonic time in milliseconds. */
export interface AgentChunk {
  readonly attempt: number;
  readonly number: number;
  readonly emittedAt: number;
}

export function formatChunk({ attempt, number, emittedAt }: AgentChunk): string {
  return `${attempt}:${number}:${emittedAt.toFixed(3)} `;
}

/** Returns all chunks in a text, in order. */
export function parseChunks(text: string): AgentChunk[] {
  return [...text.matchAll(/(\d+):(\d+):([\d.]+) /g)].map(([, attempt, number, emittedAt]) => ({
    attempt: Number(attempt),
    number: Number(number),
    emittedAt: Number(emittedAt),
  }));
}

/**
 * Returns what is wrong with the chunks of one task: a missing chunk, a repeated chunk, or a chunk of an earlier attempt
 * after a later attempt has begun. Each attempt starts with chunk 0, or after the last chunk of the previous attempt if
 * the turn was resumed.
 */
export function findChunkProblems(chunks: readonly AgentChunk[], policy: string): string[] {
  const problems: string[] = [];
  let previous: AgentChunk | undefined;
  for (const chunk of chunks) {
    const isNewAttempt = previous !== undefined && chunk.attempt > previous.attempt;
    const expected = !previous || (isNewAttempt && policy !== "resume") ? 0 : previous.number + 1;
    if (previous && chunk.attempt < previous.attempt)
      problems.push(`a chunk of attempt ${chunk.attempt} follows attempt ${previous.attempt}`);
    else if (chunk.number !== expected)
      problems.push(`chunk ${chunk.number} of attempt ${chunk.attempt} is in the place of chunk ${expected}`);
    previous = chunk;
  }
  return problems;
}
