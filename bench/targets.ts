import { atLeast, atMost, type Target } from "./report.ts";
import type { SubjectName } from "./subjects.ts";

/** What a subject reached against the two that everything is compared with. */
export interface Ratios {
  readonly toFloor: number;
  readonly toA2aJs: number;
}

export interface ChunkRatios extends Ratios {
  /** `toA2aJs` is the least that it can be. */
  readonly isBound: boolean;
  /** Cost per chunk of the longest stream against the shortest. */
  readonly growth: number;
}

/** The bars that the project has set itself. */
export type Bars<R extends Ratios = Ratios> = Partial<Record<SubjectName, (ratios: R) => Target[]>>;

export const SEND_BARS: Bars = { "colloquy-memory": bars(0.45, 8), "colloquy-sqlite": bars(0.2, 3) };
export const STREAM_BARS: Bars = { "colloquy-memory": bars(0.5, 5) };
export const CHUNK_BARS: Bars<ChunkRatios> = {
  "colloquy-memory": chunkBars(0.4, 100),
  "colloquy-memory-unmerged": chunkBars(0.3, 100),
};

/** What an answer in A2A 0.3 may cost against the same in 1.0: events are translated once each. */
export const OLDER_BAR = (cost: number): Target => atMost(1.25, cost, "the cost in 1.0");

function bars(floor: number, a2aJs: number): (ratios: Ratios) => Target[] {
  return ({ toFloor, toA2aJs }) => [atLeast(floor, toFloor, "floor"), atLeast(a2aJs, toA2aJs, "a2a-js")];
}

function chunkBars(floor: number, a2aJs: number): (ratios: ChunkRatios) => Target[] {
  return ({ toFloor, toA2aJs, isBound, growth }) => [
    atLeast(floor, toFloor, "floor"),
    atLeast(a2aJs, toA2aJs, "a2a-js", isBound),
    atMost(1.3, growth, "8000:500"),
  ];
}
