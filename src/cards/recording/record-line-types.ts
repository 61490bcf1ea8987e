import type { JsonObject } from "../../protocol/index.ts";
import type { MessageCard, CardTokenUsage } from "../message-card/index.ts";

/**
 * A record line, which is one line of an append-only JSON Lines file. The member names are the same in
 * TypeScript and in the record file. Readers of a record file ignore unknown members and lines with an
 * unknown `v` or `kind`.
 */
export type RecordLine = RunLine | CardLine | ModelCallLine | ScoreLine | SkipLine | RunEndLine;

/**
 * Source of the answers in an experiment run. Reports never compare results with different kinds of evidence.
 */
export type AnswerSourceKind = "live-model" | "recorded-model" | "oracle" | "simulated" | "heuristic";

interface RecordLineBase {
  readonly v: 1;
  readonly run_id: string;
  /** Time when the record line was written, in ISO 8601 format (UTC, with milliseconds). */
  readonly at: string;
}

/**
 * Record line that describes an experiment run. A run line is the first line that a new run or a resumed run
 * writes to its record file.
 */
export interface RunLine extends RecordLineBase {
  readonly kind: "run";
  /** Name of the dataset, such as `gsm8k`, `hotpotqa`, or a custom name. */
  readonly dataset: string;
  readonly split?: string;
  /** IDs of all problems of the run, including problems that were not started. */
  readonly sample_ids: readonly string[];
  /** Name of the method, such as `a2a`, `cot`, `direct`, or `cot-sc@5`. */
  readonly method: string;
  /** Planner mode, if the method is `a2a`. */
  readonly mode?: string;
  /** Context policy of the planner, if the method is `a2a`. */
  readonly context?: string;
  /** Model name for each role, by role name. */
  readonly model: Readonly<Record<string, string>>;
  readonly limits?: JsonObject;
  /** Additional role options, by role name, such as `transcript`, `temperature`, and `calculator`. */
  readonly options?: JsonObject;
  readonly evidence: AnswerSourceKind;
  /** Scorer of the run, for example `number`. */
  readonly rule: string;
  /** Version of Colloquy that wrote the record line. */
  readonly code: string;
  /** SHA-256 hash of the dataset files in hexadecimal. */
  readonly data_sha256?: string;
  readonly seed?: number;
  /** Base URL of the model server for each role, without credentials, if the run sets one. */
  readonly servers?: Readonly<Record<string, string>>;
  /** SHA-256 hash of the instructions for all models in hexadecimal. */
  readonly prompts_sha256?: string;
}

/**
 * Record line for a message card that one role sent, received, or relayed. A message card usually has two
 * record lines, one from its sender and one from its recipient.
 */
export interface CardLine extends RecordLineBase {
  readonly kind: "card";
  readonly sample_id?: string;
  /** Sequence number of the record line in the process that wrote the line, starting at 1. */
  readonly seq: number;
  /**
   * Direction of the message card, which is `out` if `at_role` sent the card, and `in` if `at_role` received
   * it. The direction is `relayed` if another role forwarded the card to `at_role`.
   */
  readonly dir: "out" | "in" | "relayed";
  readonly at_role: string;
  /**
   * Time in milliseconds on the writer's monotonic clock. The clock of each process has a different zero
   * point.
   */
  readonly mono_ms: number;
  readonly a2a?: CardA2ARequestInfo;
  readonly card: MessageCard;
}

/** A2A method and IDs of the request that carried a message card. */
export interface CardA2ARequestInfo {
  readonly method?: string;
  readonly task_id?: string;
  readonly context_id?: string;
  readonly message_id?: string;
  /** W3C `traceparent` of the request that carried the message card. */
  readonly traceparent?: string;
}

/** Record line for a call to a language model. */
export interface ModelCallLine extends RecordLineBase {
  readonly kind: "call";
  readonly sample_id?: string;
  readonly seq: number;
  readonly mono_ms: number;
  readonly role: string;
  readonly turn?: number;
  /** `card_id` of the message card whose token usage includes this model call. */
  readonly card_id: string;
  readonly model: string;
  readonly usage: CardTokenUsage;
  readonly duration_ms: number;
  /** Finish reason that the model reported, such as `stop`, `length`, or `error`. */
  readonly finish: string;
  /** Error message of a failed model call. */
  readonly error?: string;
  /** Time in milliseconds after which the role repeated a failed model call. */
  readonly wait_ms?: number;
}

/**
 * Record line for the score of a problem. The score line is the last line of a problem, so a resumed run
 * skips problems with a score line.
 */
export interface ScoreLine extends RecordLineBase {
  readonly kind: "score";
  readonly sample_id: string;
  /** Answer that was extracted from the reply. `predicted` is missing if the reply contains no answer. */
  readonly predicted?: string;
  readonly gold: string;
  readonly correct: boolean;
  readonly rule: string;
  /**
   * How the problem ended: `answered`, `unmarked` (an answer without the requested marker), `no_answer`,
   * `placeholder`, or the error type of the reply, such as `timeout`, `truncated`, `filtered`,
   * `invalid_action`, or `turn_limit`.
   */
  readonly outcome?: string;
  /** Number of turns that the planner used for the problem. */
  readonly turns?: number;
  /** Additional scores between 0 and 1 that the dataset defines, for example `f1` and `joint_f1`. */
  readonly measures?: Readonly<Record<string, number>>;
  /** Error that ended the problem, if the run counts problems with errors as wrong. */
  readonly error?: string;
}

/**
 * Record line for a problem that ended with an error and that the run skips. A skipped problem has no score,
 * and a resumed run does not repeat the problem.
 */
export interface SkipLine extends RecordLineBase {
  readonly kind: "skip";
  readonly sample_id: string;
  /** Error that ended the problem. */
  readonly error: string;
}

/**
 * Record line that a process writes when it ends its part of a run. A missing end line means that the process
 * was killed.
 */
export interface RunEndLine extends RecordLineBase {
  readonly kind: "end";
  readonly status: "completed" | "interrupted" | "failed";
  /** Number of message cards that were sent since the run was started or resumed. */
  readonly cards: number;
  /** Number of problems that were finished since the run was started or resumed. */
  readonly samples: number;
  /** `degraded` if record lines were lost because the sink could not write them. */
  readonly recorder?: "degraded";
}

/**
 * All data of an experiment run, decoded from one or more record files. All statistics and views are computed
 * from recordings.
 */
export interface Recording {
  /**
   * The latest run line of the recording. All run lines of an experiment run are equal, except for `at` and
   * `code`. `run` is missing if the recording comes from the file of a single role or from a list of message
   * cards.
   */
  readonly run: RunLine | undefined;
  /**
   * Card lines of the recording, sorted by `mono_ms`. All card lines use the clock of the first process that
   * wrote to the first file.
   */
  readonly cards: readonly CardLine[];
  readonly calls: readonly ModelCallLine[];
  /** First score line of each finished problem. */
  readonly scores: readonly ScoreLine[];
  /** First skip line of each skipped problem. */
  readonly skips: readonly SkipLine[];
  readonly ends: readonly RunEndLine[];
  /**
   * Lines of interrupted attempts. The problems of these attempts were started again later. Statistics
   * exclude abandoned lines, although the model calls in abandoned attempts consumed tokens.
   */
  readonly abandoned: { readonly cards: readonly CardLine[]; readonly calls: readonly ModelCallLine[] };
  /**
   * Lines of the record file that could not be decoded. A killed writer leaves at most one torn line, which
   * is its last line.
   */
  readonly torn: readonly TornLine[];
}

/** A line of a record file that could not be decoded. */
export interface TornLine {
  readonly file: string;
  /** Number of the torn line in the file, starting at 1. */
  readonly line: number;
  /**
   * Whether the torn line is the last line that its process wrote, as happens when the process is killed. If
   * a torn line is not the last line of its process, the file is damaged.
   */
  readonly last: boolean;
  readonly why: string;
}
