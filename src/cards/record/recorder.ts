import type { CallLine, CardLine } from "./lines.ts";

/** Stamped by whoever records: when, and in which order. */
type Stamps = "v" | "kind" | "at" | "seq" | "mono_ms";

export type CardSeen = Omit<CardLine, Stamps>;
export type CallSeen = Omit<CallLine, Stamps>;

/** Where roles tell what they see. It stamps at once, never waits and never throws: a run must not fail of its record. */
export interface Recorder {
  card(seen: CardSeen): void;
  call(seen: CallSeen): void;
}
