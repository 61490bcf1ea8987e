import { type Card, cut } from "../card/index.ts";
import { readLine } from "./decode-line.ts";
import { encodeLine } from "./encode-line.ts";
import type { CallLine, CardLine, EndLine, RecordLine, RunLine, ScoreLine } from "./lines.ts";

/** Stamped by whoever records: when, and in which order. */
type Stamps = "v" | "kind" | "at" | "seq" | "mono_ms";

export type CardSeen = Omit<CardLine, Stamps>;
export type CallSeen = Omit<CallLine, Stamps>;
export type RunSeen = Omit<RunLine, Stamps>;
export type ScoreSeen = Omit<ScoreLine, Stamps>;

/** Where roles tell what they see. It stamps at once, never waits and never throws: a run must not fail of its record. */
export interface Recorder {
  card(seen: CardSeen): void;
  call(seen: CallSeen): void;
}

/** A recorder that also knows of the run as a whole: what a controller writes to. */
export interface RunRecorder extends Recorder {
  /** Begins a part; the first thing that is written. */
  run(seen: RunSeen): void;
  /** Ends a problem. True: the line is where the sink keeps it, and the problem counts as done. False: it was lost. */
  score(seen: ScoreSeen): boolean;
  end(status: EndLine["status"]): void;
  /** Lines were lost. */
  readonly degraded: boolean;
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
  readonly monotonic?: () => number;
  /**
   * What of a card is written, for what must not be on disk. Ids and usage should stay, because figures rest on them.
   * A card of which it throws is not written at all.
   */
  readonly redact?: (card: Card) => Card;
  /** Of a line, in characters; a card that makes a longer one is written without its contexts and with a short content. Default 1 Mi. */
  readonly maxLine?: number;
  /** Of cards and calls together, in characters; more of them are lost. Default 400 Mi: JavaScript can read no text of 512. */
  readonly maxSize?: number;
  /** What the sink has already, of earlier parts, in characters. Default 0. */
  readonly size?: number;
  /** Told once, of the first line that was lost. Default: nobody; the end line says it anyway. */
  readonly onDegraded?: (cause: unknown) => void;
}

const MAX_LINE = 1024 * 1024;
const MAX_SIZE = 400 * 1024 ** 2;
/** Of a content that had to be cut. */
const CUT = 1_000;

/** A recorder that writes to a sink: a file (`colloquy/cards`), or `memorySink()`. */
export function createRecorder(sink: RecordSink, options: RecorderOptions = {}): RunRecorder {
  const { now = Date.now, monotonic = () => performance.now(), redact } = options;
  const { maxLine = MAX_LINE, maxSize = MAX_SIZE } = options;
  let run_id = "";
  let seq = 0;
  let cards = 0;
  let samples = 0;
  let { size = 0 } = options;
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
      readLine(line, `a line of kind ${line.kind}`);
      let text = encodeLine(line);
      if (text.length > maxLine && shorter) text = encodeLine(shorter());
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
    get degraded() {
      return degraded;
    },
    run: (seen) => void write({ v: 1, kind: "run", at: at(), ...seen }),
    card: (seen) => {
      const stamps = { at: at(), seq: ++seq, mono_ms: mono() };
      if (seen.dir === "out") cards += 1;
      try {
        const card = redact ? redact(seen.card) : seen.card;
        const line: CardLine = { v: 1, kind: "card", ...seen, ...stamps, card };
        write(line, () => ({ ...line, card: shortened(card) }));
      } catch (cause) {
        lost(cause);
      }
    },
    call: (seen) => void write({ v: 1, kind: "call", ...seen, at: at(), seq: ++seq, mono_ms: mono() }),
    score: (seen) => {
      const isKept = write({ v: 1, kind: "score", at: at(), ...seen });
      if (isKept) samples += 1;
      return isKept;
    },
    end: (status) =>
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
function shortened(card: Card): Card {
  const short = Object.entries(card.metadata).filter(([, value]) => JSON.stringify(value).length <= CUT);
  const content = card.content.length > CUT ? `${cut(card.content, CUT)}…` : card.content;
  return { ...card, content, metadata: { ...Object.fromEntries(short), shortened: true } };
}

/** Keeps lines in memory: for tests, and for runs that leave nothing behind. `text()` is what the file would be. */
export function memorySink(): RecordSink & { text(): string } {
  const written: string[] = [];
  return { write: (text) => void written.push(text), text: () => written.join("") };
}
