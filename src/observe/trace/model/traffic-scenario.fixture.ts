import type { TrafficLine, TrafficLineInput } from "../traffic-line-types.ts";

/** A writer of a scripted record. All writers share one clock, which advances with each line. */
export class ScriptedWriter {
  readonly lines: TrafficLine[] = [];
  readonly #id: string;
  readonly #clock: { ms: number };
  readonly #clockErrorMs: number;
  #seq = 0;

  constructor(id: string, vantage: "server" | "client" | "tap", clock: { ms: number }, clockErrorMs = 0) {
    this.#id = id;
    this.#clock = clock;
    this.#clockErrorMs = clockErrorMs;
    this.#push({ kind: "writer", vantage, name: id, code: "", bodies: true });
  }

  write(line: TrafficLineInput): void {
    this.#push(line);
  }

  /** Skips a sequence number, as if the line was lost. */
  loseLine(): void {
    this.#seq += 1;
    this.#clock.ms += 1;
  }

  #push(line: object): void {
    this.#seq += 1;
    this.#clock.ms += 1;
    const wallMs = 1_700_000_000_000 + this.#clock.ms + this.#clockErrorMs;
    this.lines.push({
      v: 1,
      writer: this.#id,
      seq: this.#seq,
      at: new Date(wallMs).toISOString(),
      mono_ms: this.#clock.ms,
      ...line,
    } as TrafficLine);
  }
}

/** Merges the lines of writers. `picks` chooses the writer of each next line, and is repeated if it is too short. */
export function interleaveLines(
  writers: readonly (readonly TrafficLine[])[],
  picks: readonly number[],
): TrafficLine[] {
  const rests = writers.map((lines) => [...lines]);
  const merged: TrafficLine[] = [];
  for (let at = 0; rests.some((rest) => rest.length > 0); at++) {
    const open = rests.filter((rest) => rest.length > 0);
    const line = open[(picks[at % picks.length] ?? 0) % open.length]?.shift();
    if (line) merged.push(line);
  }
  return merged;
}
