import type { JsonObject } from "../../protocol/index.ts";
import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";

/**
 * The record of a run is a file of lines of JSON, only ever appended to. Its names are those of the file. A reader
 * ignores members that it does not know; a line of another `v` or `kind` is somebody else's.
 */
export type RecordLine = RunLine | CardLine | ModelCallLine | ScoreLine | EndLine;

/** How the answers of a run were produced. Results of different kinds are never compared. */
export type EvidenceKind = "live-model" | "recorded-model" | "oracle" | "simulated" | "heuristic";

interface RecordLineBase {
  readonly v: 1;
  readonly run_id: string;
  /** When it was written: ISO 8601, UTC, milliseconds. */
  readonly at: string;
}

/** What the run is: the first line of a file, and once more at the head of each part that a resumed run adds. */
export interface RunLine extends RecordLineBase {
  readonly kind: "run";
  /** `gsm8k`, `hotpotqa`, or a name of yours. */
  readonly dataset: string;
  readonly split?: string;
  /** All problems of the run, also those that it has not reached. */
  readonly sample_ids: readonly string[];
  /** As it is called in tables: `a2a`, `cot`, `direct`, `cot-sc@5`. */
  readonly method: string;
  /** Of `a2a`: how the planner works, and what the solver is shown of the context. */
  readonly mode?: string;
  readonly context?: string;
  /** The model of each role. */
  readonly model: Readonly<Record<string, string>>;
  readonly limits?: JsonObject;
  /** What else the roles were told, by role, as it was given: `transcript`, `temperature`, `calculator` … */
  readonly options?: JsonObject;
  readonly evidence: EvidenceKind;
  /** The rule by which answers are scored, for example `gsm8k/strict`. */
  readonly rule: string;
  /** Which Colloquy wrote it. */
  readonly code: string;
  /** Of the file that the problems came from. */
  readonly data_sha256?: string;
  readonly seed?: number;
}

/** A card as one of the roles saw it. The same card has a line where it is sent, and one where it arrives. */
export interface CardLine extends RecordLineBase {
  readonly kind: "card";
  readonly sample_id?: string;
  /** Counts the lines of the writer, from 1. */
  readonly seq: number;
  /** `out`: sent by `at_role`; `in`: received by it; `relayed`: told to it by another role, which was there. */
  readonly dir: "out" | "in" | "relayed";
  readonly at_role: string;
  /** Milliseconds by a clock of the writer that never goes back; comparable within a file's part. */
  readonly mono_ms: number;
  readonly a2a?: CardTransportInfo;
  readonly card: MessageCard;
}

/** How a card travelled. */
export interface CardTransportInfo {
  readonly method?: string;
  readonly task_id?: string;
  readonly context_id?: string;
  readonly message_id?: string;
  /** The place in a distributed trace where it was sent (W3C Trace Context). */
  readonly traceparent?: string;
}

/** One call of a model. */
export interface ModelCallLine extends RecordLineBase {
  readonly kind: "call";
  readonly sample_id?: string;
  readonly seq: number;
  readonly mono_ms: number;
  readonly role: string;
  readonly turn?: number;
  /** The card that has what this call spent. */
  readonly card_id: string;
  readonly model: string;
  readonly usage: CardTokenUsage;
  readonly duration_ms: number;
  /** Why the model stopped: `stop`, `length`, `error` … */
  readonly finish: string;
  /** What went wrong, when it failed. */
  readonly error?: string;
}

/** The verdict on a problem: the last line that it has, so whoever resumes knows it is done. */
export interface ScoreLine extends RecordLineBase {
  readonly kind: "score";
  readonly sample_id: string;
  /** As it was understood; missing when there was no answer to be found. */
  readonly predicted?: string;
  readonly gold: string;
  readonly correct: boolean;
  readonly rule: string;
  /** Of the planner. */
  readonly turns?: number;
  /** Other measures of the dataset, for example `f1` and `joint_f1`, 0 to 1. */
  readonly measures?: Readonly<Record<string, number>>;
}

/** How a part of the run ended; a part without one was killed. */
export interface EndLine extends RecordLineBase {
  readonly kind: "end";
  readonly status: "completed" | "interrupted" | "failed";
  /** The cards that this part saw sent, and the problems that it finished. */
  readonly cards: number;
  readonly samples: number;
  /** Lines were lost, because they could not be written. */
  readonly recorder?: "degraded";
}

/** All that is known of a run, from one file or several. Input of every figure and view. */
export interface Recording {
  /** The latest; all parts of a run agree in it but for `at`. Missing of what a role alone wrote, and of bare cards. */
  readonly run: RunLine | undefined;
  /** In the order of `mono_ms`, which here is one clock for all: that of the first part of the first file. */
  readonly cards: readonly CardLine[];
  readonly calls: readonly ModelCallLine[];
  /** One for each problem that is done; of several, the first. */
  readonly scores: readonly ScoreLine[];
  readonly ends: readonly EndLine[];
  /** What was seen of attempts that were interrupted and begun again: it was spent, and counts in no figure. */
  readonly abandoned: { readonly cards: readonly CardLine[]; readonly calls: readonly ModelCallLine[] };
  /** Of runs that several processes wrote: how their clocks were brought together. */
  readonly clocks: readonly ClockAdjustment[];
  /** Lines that could not be read: where they stand, and why. A killed writer leaves at most one, its last. */
  readonly torn: readonly TornLine[];
}

export interface TornLine {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** Nothing of ours follows in this part of the file: what a kill leaves behind. Elsewhere something else went wrong. */
  readonly last: boolean;
  readonly why: string;
}

/**
 * How far a file's clock was moved so that no card arrives before it is sent. The cards that went to and fro leave room
 * between `low` and `high`; times across files are no more exact than that.
 */
export interface ClockAdjustment {
  readonly file: string;
  /** Added to its times, in milliseconds; 0 where the cards do not contradict the two clocks. */
  readonly moved_ms: number;
  /** Infinite where no card went in one of the directions. */
  readonly low_ms: number;
  readonly high_ms: number;
}
