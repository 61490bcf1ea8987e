import { defineOptionNames } from "../../base/usage-checks/index.ts";
import { truncateText } from "../../protocol/index.ts";
import { type MessageCard } from "../message-card/index.ts";
import { decodeRecordLineFromJsonValue } from "./decode-record-line.ts";
import { encodeRecordLine } from "./encode-record-line.ts";
import type {
  ModelCallLine,
  CardLine,
  RunEndLine,
  RecordLine,
  RunLine,
  ScoreLine,
  SkipLine,
} from "./record-line-types.ts";

/** Names of the members that the recorder adds to each record line. */
type RecorderAddedMember = "v" | "kind" | "at" | "seq" | "mono_ms";

/** Record line of a message card, except for the members that the recorder adds. */
export type CardRecordInput = Omit<CardLine, RecorderAddedMember>;
/** Record line of a model call, except for the members that the recorder adds. */
export type ModelCallRecordInput = Omit<ModelCallLine, RecorderAddedMember>;
/** Record line of an experiment run, except for the members that the recorder adds. */
export type RunRecordInput = Omit<RunLine, RecorderAddedMember>;
/** Record line of a score, except for the members that the recorder adds. */
export type ScoreRecordInput = Omit<ScoreLine, RecorderAddedMember>;
/** Record line of a skipped problem, except for the members that the recorder adds. */
export type SkipRecordInput = Omit<SkipLine, RecorderAddedMember>;

/**
 * A recorder that roles use to record message cards and model calls. A recorder never blocks and never
 * throws, so that recording cannot make an experiment run fail.
 */
export interface CardRecorder {
  recordCard(input: CardRecordInput): void;
  recordModelCall(input: ModelCallRecordInput): void;
}

/** A recorder that controllers use to record runs and scores in addition to message cards. */
export interface RunRecorder extends CardRecorder {
  /**
   * Records that an experiment run starts or resumes. Call `startRun` before any other method of the
   * recorder.
   */
  startRun(input: RunRecordInput): void;
  /**
   * Records the score of a problem and returns whether the sink stored the score line. A problem with a
   * stored score line counts as finished.
   */
  recordSampleScore(input: ScoreRecordInput): boolean;
  /** Records that the run skips a problem, and returns whether the sink stored the skip line. */
  recordSkippedSample(input: SkipRecordInput): boolean;
  /** Records the end of an experiment run. */
  endRun(status: RunEndLine["status"]): void;
  /** Whether record lines were lost. */
  readonly isDegraded: boolean;
}

/** A destination for record lines. */
export interface RecordSink {
  /**
   * Writes a complete record line, including its newline. The record line counts as stored when `write`
   * returns, and as lost if `write` throws.
   */
  write(text: string): void;
  /**
   * Called after a record line that ends a problem or the run. In `sync`, a sink can flush its data to
   * permanent storage.
   */
  sync?(): void;
}

/** Options of `createRecorder`. */
export interface RecorderOptions {
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns the time of a monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicNow?: () => number;
  /**
   * Function that removes data from a message card before the recorder stores the card. Statistics require
   * the IDs and the token usage of a message card. If `redactCard` throws, the recorder does not write the
   * message card.
   */
  readonly redactCard?: (card: MessageCard) => MessageCard;
  /**
   * Maximum length of a record line in characters. Default: 1,048,576. If a card line exceeds the maximum
   * length, the recorder omits long metadata and truncates the content of the message card.
   */
  readonly maxLineLength?: number;
  /**
   * Maximum total length of card lines and call lines in characters. Card lines and call lines beyond the
   * maximum total length are lost. Default: 400 × 1024². A JavaScript string cannot contain a record file of
   * 512 × 1024² characters.
   */
  readonly maxTotalLength?: number;
  /** Total length in characters of the record lines that the sink already contains. Default: 0. */
  readonly initialLength?: number;
  /**
   * Called once, with the cause, when the first record line is lost. The end line of the run also reports
   * lost record lines.
   */
  readonly onDegraded?: (cause: unknown) => void;
}

const assertKnownOptions = defineOptionNames<RecorderOptions>()(
  "createRecorder",
  "initialLength maxLineLength maxTotalLength monotonicNow now onDegraded redactCard",
);

const DEFAULT_MAX_RECORDED_LINE_LENGTH = 1024 * 1024;
const DEFAULT_MAX_RECORDED_TOTAL_LENGTH = 400 * 1024 ** 2;
/** Maximum length in characters of the content and of each metadata value in a shortened message card. */
const MAX_SHORTENED_TEXT_LENGTH = 1_000;

/** Creates a recorder that writes to a sink, for example to `openFileSink(path)` or `createMemorySink()`. */
export function createRecorder(sink: RecordSink, options: RecorderOptions = {}): RunRecorder {
  assertKnownOptions(options);
  const { now = Date.now, monotonicNow = () => performance.now(), redactCard } = options;
  const {
    maxLineLength = DEFAULT_MAX_RECORDED_LINE_LENGTH,
    maxTotalLength = DEFAULT_MAX_RECORDED_TOTAL_LENGTH,
  } = options;
  let run_id = "";
  let seq = 0;
  let cards = 0;
  let samples = 0;
  let { initialLength: totalLength = 0 } = options;
  let degraded = false;

  const handleLoss = (cause: unknown): void => {
    if (degraded) return;
    degraded = true;
    try {
      options.onDegraded?.(cause);
    } catch {
      // An error in the callback must not fail the run.
    }
  };
  const write = (line: RecordLine, shorter?: () => RecordLine): boolean => {
    // A message of another client, such as a health check, belongs to no run.
    if (line.run_id === "" && line.kind !== "run") return false;
    try {
      decodeRecordLineFromJsonValue(line, `a line of kind ${line.kind}`);
      // The end line needs the run ID of the latest line, because a role may record without a run line.
      ({ run_id } = line);
      let text = encodeRecordLine(line);
      if (text.length > maxLineLength && shorter) text = encodeRecordLine(shorter());
      if (line.kind === "card" || line.kind === "call") {
        totalLength += text.length;
        if (totalLength > maxTotalLength)
          throw new RangeError(`The record is longer than ${maxTotalLength} characters.`);
      }
      sink.write(text);
      if (line.kind === "score" || line.kind === "skip" || line.kind === "end") sink.sync?.();
      return true;
    } catch (cause) {
      handleLoss(cause);
      return false;
    }
  };
  const at = (): string => new Date(now()).toISOString();
  /** Returns the monotonic time in milliseconds, rounded to microseconds because finer digits are noise. */
  const mono = (): number => Math.round(monotonicNow() * 1_000) / 1_000;

  return {
    get isDegraded() {
      return degraded;
    },
    startRun: (input) => void write({ v: 1, kind: "run", at: at(), ...input }),
    recordCard: (input) => {
      const stamps = { at: at(), seq: ++seq, mono_ms: mono() };
      if (input.dir === "out") cards += 1;
      try {
        const card = redactCard ? redactCard(input.card) : input.card;
        const line: CardLine = { v: 1, kind: "card", ...input, ...stamps, card };
        write(line, () => ({ ...line, card: shortenCard(card) }));
      } catch (cause) {
        handleLoss(cause);
      }
    },
    recordModelCall: (input) =>
      void write({ v: 1, kind: "call", ...input, at: at(), seq: ++seq, mono_ms: mono() }),
    recordSampleScore: (input) => {
      const isKept = write({ v: 1, kind: "score", at: at(), ...input });
      if (isKept) samples += 1;
      return isKept;
    },
    recordSkippedSample: (input) => {
      const isKept = write({ v: 1, kind: "skip", at: at(), ...input });
      if (isKept) samples += 1;
      return isKept;
    },
    endRun: (status) =>
      void write({
        v: 1,
        kind: "end",
        run_id,
        at: at(),
        status,
        cards,
        samples,
        ...(degraded && { recorder: "degraded" as const }),
      }),
  };
}

/**
 * Returns a shortened copy of a message card. The copy contains the mark `shortened` and all metadata that
 * statistics require.
 */
function shortenCard(card: MessageCard): MessageCard {
  const shortMembers = Object.entries(card.metadata).filter(
    ([, value]) => JSON.stringify(value).length <= MAX_SHORTENED_TEXT_LENGTH,
  );
  const content =
    card.content.length > MAX_SHORTENED_TEXT_LENGTH
      ? `${truncateText(card.content, MAX_SHORTENED_TEXT_LENGTH)}…`
      : card.content;
  return { ...card, content, metadata: { ...Object.fromEntries(shortMembers), shortened: true } };
}

/**
 * Creates a sink that stores record lines in memory, for tests and for runs without a file. `text()` returns
 * all record lines that the memory sink contains.
 */
export function createMemorySink(): RecordSink & { text(): string } {
  const written: string[] = [];
  return { write: (text) => void written.push(text), text: () => written.join("") };
}
