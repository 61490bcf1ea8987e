import { type MessageCard, truncateText } from "../message-card/index.ts";
import { parseRecordLine } from "./decode-record-line.ts";
import { encodeRecordLine } from "./encode-record-line.ts";
import type { ModelCallLine, CardLine, EndLine, RecordLine, RunLine, ScoreLine } from "./record-lines.ts";

/** Members of a line that the recorder adds. */
type RecorderStampKey = "v" | "kind" | "at" | "seq" | "mono_ms";

/** A card line without the members that the recorder adds. */
export type CardRecordInput = Omit<CardLine, RecorderStampKey>;
/** A model call line without the members that the recorder adds. */
export type ModelCallRecordInput = Omit<ModelCallLine, RecorderStampKey>;
/** A run line without the members that the recorder adds. */
export type RunRecordInput = Omit<RunLine, RecorderStampKey>;
/** A score line without the members that the recorder adds. */
export type ScoreRecordInput = Omit<ScoreLine, RecorderStampKey>;

/**
 * A recorder for roles. It adds the time immediately, never blocks, and never throws, so that recording
 * cannot fail a run.
 */
export interface CardRecorder {
  recordCard(input: CardRecordInput): void;
  recordModelCall(input: ModelCallRecordInput): void;
}

/** A recorder for controllers, which also records runs and scores. */
export interface RunRecorder extends CardRecorder {
  /** Records the start of a part. Call this method first. */
  startRun(input: RunRecordInput): void;
  /**
   * Records the score of a problem. Returns `true` if the sink stored the line, so that the problem counts as
   * done. Returns `false` if the line was lost.
   */
  recordScore(input: ScoreRecordInput): boolean;
  /** Records the end of a part. */
  endRun(status: EndLine["status"]): void;
  /** Whether lines were lost. */
  readonly isDegraded: boolean;
}

/** A destination for record lines. */
export interface RecordSink {
  /**
   * Writes a complete line, including its newline. The line is stored when the method returns, and lost if it
   * throws.
   */
  write(text: string): void;
  /**
   * Called after a line that ends a problem or the run. A sink may then flush its data to permanent storage.
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
   * Removes data from a card that must not be stored. Keep IDs and usage, because figures require them.
   * If the function throws for a card, the card is not written.
   */
  readonly redactCard?: (card: MessageCard) => MessageCard;
  /**
   * Maximum length of a line in characters. Default: 1,048,576.
   * Of a card that exceeds it, long metadata is omitted and the content is truncated.
   */
  readonly maxLineLength?: number;
  /**
   * Maximum total length of card and call lines in characters. Further lines are lost. Default: 400 × 1024².
   * A JavaScript string cannot hold 512 × 1024² characters.
   */
  readonly maxTotalLength?: number;
  /** Length in characters of the lines that earlier parts wrote to the sink. Default: 0. */
  readonly initialLength?: number;
  /** Called once, with the cause, when the first line is lost. The end line reports the loss, too. */
  readonly onDegraded?: (cause: unknown) => void;
}

const DEFAULT_MAX_LINE_LENGTH = 1024 * 1024;
const DEFAULT_MAX_TOTAL_LENGTH = 400 * 1024 ** 2;
/** Maximum length of a shortened content, and of a metadata value in a shortened card. */
const SHORTENED_LENGTH = 1_000;

/** Creates a recorder that writes to a sink: a file sink of `colloquy/cards`, or `createMemorySink()`. */
export function createRecorder(sink: RecordSink, options: RecorderOptions = {}): RunRecorder {
  const { now = Date.now, monotonicNow = () => performance.now(), redactCard } = options;
  const { maxLineLength = DEFAULT_MAX_LINE_LENGTH, maxTotalLength = DEFAULT_MAX_TOTAL_LENGTH } = options;
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
    // The end line needs the run ID of the latest line, because a role may record without a run line.
    ({ run_id } = line);
    try {
      parseRecordLine(line, `a line of kind ${line.kind}`);
      let text = encodeRecordLine(line);
      if (text.length > maxLineLength && shorter) text = encodeRecordLine(shorter());
      if (line.kind === "card" || line.kind === "call") {
        totalLength += text.length;
        if (totalLength > maxTotalLength)
          throw new RangeError(`The record is longer than ${maxTotalLength} characters.`);
      }
      sink.write(text);
      if (line.kind === "score" || line.kind === "end") sink.sync?.();
      return true;
    } catch (cause) {
      handleLoss(cause);
      return false;
    }
  };
  const at = (): string => new Date(now()).toISOString();
  /** Rounds to microseconds, because further digits are noise. */
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
    recordScore: (input) => {
      const isKept = write({ v: 1, kind: "score", at: at(), ...input });
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

/** Returns a shortened card with the data that figures require, marked with `shortened`. */
function shortenCard(card: MessageCard): MessageCard {
  const shortMembers = Object.entries(card.metadata).filter(
    ([, value]) => JSON.stringify(value).length <= SHORTENED_LENGTH,
  );
  const content =
    card.content.length > SHORTENED_LENGTH
      ? `${truncateText(card.content, SHORTENED_LENGTH)}…`
      : card.content;
  return { ...card, content, metadata: { ...Object.fromEntries(shortMembers), shortened: true } };
}

/**
 * Creates a sink that stores lines in memory, for tests and for runs without a file. `text()` returns the
 * content that the file would have.
 */
export function createMemorySink(): RecordSink & { text(): string } {
  const written: string[] = [];
  return { write: (text) => void written.push(text), text: () => written.join("") };
}
