import { type MessageCard, truncateText } from "../message-card/index.ts";
import { parseRecordLine } from "./decode-record-line.ts";
import { encodeRecordLine } from "./encode-record-line.ts";
import type { ModelCallLine, CardLine, EndLine, RecordLine, RunLine, ScoreLine } from "./record-lines.ts";

/** Stamped by whoever records: when, and in which order. */
type RecorderStampKey = "v" | "kind" | "at" | "seq" | "mono_ms";

export type CardRecordInput = Omit<CardLine, RecorderStampKey>;
export type ModelCallRecordInput = Omit<ModelCallLine, RecorderStampKey>;
export type RunRecordInput = Omit<RunLine, RecorderStampKey>;
export type ScoreRecordInput = Omit<ScoreLine, RecorderStampKey>;

/** Where roles tell what they see. It stamps at once, never waits and never throws: a run must not fail of its record. */
export interface CardRecorder {
  recordCard(seen: CardRecordInput): void;
  recordModelCall(seen: ModelCallRecordInput): void;
}

/** A recorder that also knows of the run as a whole: what a controller writes to. */
export interface RunRecorder extends CardRecorder {
  /** Begins a part; the first thing that is written. */
  startRun(seen: RunRecordInput): void;
  /** Ends a problem. True: the line is where the sink keeps it, and the problem counts as done. False: it was lost. */
  recordScore(seen: ScoreRecordInput): boolean;
  endRun(status: EndLine["status"]): void;
  /** Lines were lost. */
  readonly isDegraded: boolean;
}

/** Where lines go. */
export interface RecordSink {
  /** Takes a whole line, its newline included. When it returns, the line is kept; when it throws, it is lost. */
  write(text: string): void;
  /** Called behind a line that ends a problem or the run, for a sink that keeps lines safer than each of them needs. */
  sync?(): void;
}

export interface RecorderOptions {
  /** The time, in milliseconds since 1970. Default: the system's. */
  readonly now?: () => number;
  /** A clock that never goes back, in milliseconds. Default: `performance.now`. */
  readonly monotonicNow?: () => number;
  /**
   * What of a card is written, for what must not be on disk. Ids and usage should stay, because figures rest on them.
   * A card of which it throws is not written at all.
   */
  readonly redactCard?: (card: MessageCard) => MessageCard;
  /** Of a line, in characters; a card that makes a longer one is written without its contexts and with a short content. Default 1 Mi. */
  readonly maxLineLength?: number;
  /** Of cards and calls together, in characters; more of them are lost. Default 400 Mi: JavaScript can read no text of 512. */
  readonly maxTotalLength?: number;
  /** What the sink has already, of earlier parts, in characters. Default 0. */
  readonly initialLength?: number;
  /** Told once, of the first line that was lost. Default: nobody; the end line says it anyway. */
  readonly onDegraded?: (cause: unknown) => void;
}

const DEFAULT_MAX_LINE_LENGTH = 1024 * 1024;
const DEFAULT_MAX_TOTAL_LENGTH = 400 * 1024 ** 2;
/** Of a content that had to be cut. */
const SHORTENED_LENGTH = 1_000;

/** A recorder that writes to a sink: a file (`colloquy/cards`), or `createMemorySink()`. */
export function createRecorder(sink: RecordSink, options: RecorderOptions = {}): RunRecorder {
  const { now = Date.now, monotonicNow: monotonic = () => performance.now(), redactCard: redact } = options;
  const {
    maxLineLength: maxLine = DEFAULT_MAX_LINE_LENGTH,
    maxTotalLength: maxSize = DEFAULT_MAX_TOTAL_LENGTH,
  } = options;
  let run_id = "";
  let seq = 0;
  let cards = 0;
  let samples = 0;
  let { initialLength: size = 0 } = options;
  let degraded = false;

  const lost = (cause: unknown): void => {
    if (degraded) return;
    degraded = true;
    try {
      options.onDegraded?.(cause);
    } catch {
      // Not even of whoever is told may a run fail.
    }
  };
  const write = (line: RecordLine, shorter?: () => RecordLine): boolean => {
    // The end is that of the run that was written of, also by a role that knows of no run.
    ({ run_id } = line);
    try {
      parseRecordLine(line, `a line of kind ${line.kind}`);
      let text = encodeRecordLine(line);
      if (text.length > maxLine && shorter) text = encodeRecordLine(shorter());
      if (line.kind === "card" || line.kind === "call") {
        size += text.length;
        if (size > maxSize) throw new RangeError(`The record is longer than ${maxSize} characters.`);
      }
      sink.write(text);
      if (line.kind === "score" || line.kind === "end") sink.sync?.();
      return true;
    } catch (cause) {
      lost(cause);
      return false;
    }
  };
  const at = (): string => new Date(now()).toISOString();
  /** To the microsecond; more digits are noise. */
  const mono = (): number => Math.round(monotonic() * 1_000) / 1_000;

  return {
    get isDegraded() {
      return degraded;
    },
    startRun: (seen) => void write({ v: 1, kind: "run", at: at(), ...seen }),
    recordCard: (seen) => {
      const stamps = { at: at(), seq: ++seq, mono_ms: mono() };
      if (seen.dir === "out") cards += 1;
      try {
        const card = redact ? redact(seen.card) : seen.card;
        const line: CardLine = { v: 1, kind: "card", ...seen, ...stamps, card };
        write(line, () => ({ ...line, card: shortenCard(card) }));
      } catch (cause) {
        lost(cause);
      }
    },
    recordModelCall: (seen) =>
      void write({ v: 1, kind: "call", ...seen, at: at(), seq: ++seq, mono_ms: mono() }),
    recordScore: (seen) => {
      const isKept = write({ v: 1, kind: "score", at: at(), ...seen });
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

/** What figures need of a card that is too long for the record, and a mark that it was longer. */
function shortenCard(card: MessageCard): MessageCard {
  const short = Object.entries(card.metadata).filter(
    ([, value]) => JSON.stringify(value).length <= SHORTENED_LENGTH,
  );
  const content =
    card.content.length > SHORTENED_LENGTH
      ? `${truncateText(card.content, SHORTENED_LENGTH)}…`
      : card.content;
  return { ...card, content, metadata: { ...Object.fromEntries(short), shortened: true } };
}

/** Keeps lines in memory: for tests, and for runs that leave nothing behind. `text()` is what the file would be. */
export function createMemorySink(): RecordSink & { text(): string } {
  const written: string[] = [];
  return { write: (text) => void written.push(text), text: () => written.join("") };
}
