import type { JsonObject } from "../../protocol/index.ts";
import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";

/**
 * A line of a record file, which is an append-only JSON Lines file.
 * Member names are those of the file. Readers ignore unknown members and lines with an unknown `v` or `kind`.
 */
export type RecordLine = RunLine | CardLine | ModelCallLine | ScoreLine | EndLine;

/** How the answers of a run were produced. Results of different kinds are never compared. */
export type EvidenceKind = "live-model" | "recorded-model" | "oracle" | "simulated" | "heuristic";

interface RecordLineBase {
  readonly v: 1;
  readonly run_id: string;
  /** Time of writing in ISO 8601, UTC, with milliseconds. */
  readonly at: string;
}

/** Description of the run. It is the first line of a file and of each part that a resumed run appends. */
export interface RunLine extends RecordLineBase {
  readonly kind: "run";
  /** Name of the dataset: `gsm8k`, `hotpotqa`, or a custom name. */
  readonly dataset: string;
  readonly split?: string;
  /** IDs of all problems of the run, including those that were not started. */
  readonly sample_ids: readonly string[];
  /** Name of the method in tables: `a2a`, `cot`, `direct`, `cot-sc@5`. */
  readonly method: string;
  /** Planning mode of the method `a2a`. */
  readonly mode?: string;
  /** Context that the solver receives in the method `a2a`. */
  readonly context?: string;
  /** Model name by role. */
  readonly model: Readonly<Record<string, string>>;
  readonly limits?: JsonObject;
  /** Additional options by role, as passed: `transcript`, `temperature`, `calculator`, and others. */
  readonly options?: JsonObject;
  readonly evidence: EvidenceKind;
  /** Scoring rule, for example `gsm8k/strict`. */
  readonly rule: string;
  /** Version of Colloquy that wrote the line. */
  readonly code: string;
  /** SHA-256 of the dataset file. */
  readonly data_sha256?: string;
  readonly seed?: number;
}

/**
 * A card as seen by one role. A card usually has two lines: one from its sender and one from its recipient.
 */
export interface CardLine extends RecordLineBase {
  readonly kind: "card";
  readonly sample_id?: string;
  /** Sequence number among the lines of the writer, starting at 1. */
  readonly seq: number;
  /**
   * Direction: `out` if `at_role` sent the card, `in` if it received the card, or `relayed` if another role
   * reported the card to it.
   */
  readonly dir: "out" | "in" | "relayed";
  readonly at_role: string;
  /** Time in milliseconds of the writer's monotonic clock. Comparable within one part of a file. */
  readonly mono_ms: number;
  readonly a2a?: CardTransportInfo;
  readonly card: MessageCard;
}

/** A2A transport details of a card. */
export interface CardTransportInfo {
  readonly method?: string;
  readonly task_id?: string;
  readonly context_id?: string;
  readonly message_id?: string;
  /** W3C `traceparent` of the request that carried the card. */
  readonly traceparent?: string;
}

/** A call of a model. */
export interface ModelCallLine extends RecordLineBase {
  readonly kind: "call";
  readonly sample_id?: string;
  readonly seq: number;
  readonly mono_ms: number;
  readonly role: string;
  readonly turn?: number;
  /** `card_id` of the card whose usage includes this call. */
  readonly card_id: string;
  readonly model: string;
  readonly usage: CardTokenUsage;
  readonly duration_ms: number;
  /** Finish reason of the model: `stop`, `length`, `error`, or another. */
  readonly finish: string;
  /** Error message of a failed call. */
  readonly error?: string;
}

/** Score of a problem. It is the last line of the problem, so a resumed run skips the problem. */
export interface ScoreLine extends RecordLineBase {
  readonly kind: "score";
  readonly sample_id: string;
  /** Parsed answer. Missing if no answer was found. */
  readonly predicted?: string;
  readonly gold: string;
  readonly correct: boolean;
  readonly rule: string;
  /** Number of turns of the planner. */
  readonly turns?: number;
  /** Additional measures of the dataset from 0 to 1, for example `f1` and `joint_f1`. */
  readonly measures?: Readonly<Record<string, number>>;
}

/** End of a part of the run. A part without an end line was killed. */
export interface EndLine extends RecordLineBase {
  readonly kind: "end";
  readonly status: "completed" | "interrupted" | "failed";
  /** Number of cards that were sent in this part. */
  readonly cards: number;
  /** Number of problems that this part finished. */
  readonly samples: number;
  /** `degraded` if lines were lost because they could not be written. */
  readonly recorder?: "degraded";
}

/** All data of a run, from one file or several. Every figure and view is computed from it. */
export interface Recording {
  /**
   * The latest run line. All parts of a run have the same values except `at`.
   * Missing in the file of a single role and in a list of cards.
   */
  readonly run: RunLine | undefined;
  /** Card lines, sorted by `mono_ms`. All lines use the clock of the first part of the first file. */
  readonly cards: readonly CardLine[];
  readonly calls: readonly ModelCallLine[];
  /** First score of each finished problem. */
  readonly scores: readonly ScoreLine[];
  readonly ends: readonly EndLine[];
  /**
   * Lines of interrupted attempts that were started again. No figure includes them, although they cost
   * tokens.
   */
  readonly abandoned: { readonly cards: readonly CardLine[]; readonly calls: readonly ModelCallLine[] };
  /** Clock shifts of the other files, if several processes recorded the run. */
  readonly clocks: readonly ClockAdjustment[];
  /**
   * Lines that could not be decoded, with position and reason. A killed writer leaves at most one, as its
   * last line.
   */
  readonly torn: readonly TornLine[];
}

/** A line that could not be decoded. */
export interface TornLine {
  readonly file: string;
  /** Line number, starting at 1. */
  readonly line: number;
  /** Whether this is the last line of its part, as after a kill. Elsewhere in a file, the file is damaged. */
  readonly last: boolean;
  readonly why: string;
}

/**
 * Shift of a file's clock so that no card arrives before it was sent.
 * The cards that were exchanged restrict the shift to the range from `low_ms` to `high_ms`. Times across
 * files are only as exact as this range.
 */
export interface ClockAdjustment {
  readonly file: string;
  /** Shift in milliseconds, added to the times of the file. 0 if the cards are consistent without a shift. */
  readonly moved_ms: number;
  /** Smallest possible shift. `-Infinity` if no card went in one of the directions. */
  readonly low_ms: number;
  /** Largest possible shift. `Infinity` if no card went in one of the directions. */
  readonly high_ms: number;
}
