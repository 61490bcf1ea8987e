import { defineOptionNames, pickOptions } from "../../../base/usage-checks/index.ts";
import {
  decodeTrafficLineJson,
  type ModelLine,
  type RunEndLine,
  type RunLine,
  type ScoreLine,
  type SkipLine,
  type TrafficLine,
  type TrafficLineInput,
} from "../../../observe/trace/index.ts";
import {
  createTrafficWriter,
  type TrafficSink,
  type TrafficWriter,
} from "../../../observe/trace/recording/index.ts";
import { A2AError, type JsonObject } from "../../../protocol/index.ts";
import {
  type CardRecorder,
  type CardRecordInput,
  computeTokenPrice,
  convertUsageToTokenCounts,
  listCardJson,
  type MessageCard,
  type ModelCallRecordInput,
  toDict,
  type TokenTariff,
} from "../../index.ts";

/** Names of the members that the writer adds to each line. */
type WriterMember = "v" | "kind" | "writer" | "seq" | "at" | "mono_ms" | "traceparent";

/** Run line of an experiment run, except for the members that the writer adds. */
export type RunRecordInput = Omit<RunLine, WriterMember>;
/** Score line of a problem, except for the members that the writer adds. */
export type ScoreRecordInput = Omit<ScoreLine, WriterMember>;
/** Skip line of a problem, except for the members that the writer adds. */
export type SkipRecordInput = Omit<SkipLine, WriterMember>;

/** A recorder that controllers use to record runs and scores in addition to message cards. */
export interface RunRecorder extends CardRecorder {
  /**
   * Writer for the requests of the roles. Pass it as `connectOptions.record` to `serveRoles` and `createController`, so
   * that the record contains the messages that carry the cards.
   */
  readonly writer: TrafficWriter;
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

/** A sink that stores each line before `write` returns, so that a killed run keeps its scores. */
export interface RunSink extends TrafficSink {
  readonly isSynchronous: true;
  /**
   * Called after a line that ends a problem or the run. In `sync`, a sink can flush its data to
   * permanent storage.
   */
  sync?(): void;
}

/** Options of `createRunRecorder`. */
export interface RunRecorderOptions {
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns the time of a monotonic clock in milliseconds. Default: `performance.now`. */
  readonly monotonicNow?: () => number;
  /** Prices of tokens. With a tariff, the line of each model call with known tokens contains the price of the call. */
  readonly tariff?: TokenTariff;
  /** Replaces secrets in the JSON text of a line. By default, the writer redacts common forms of secrets. */
  readonly redact?: (jsonText: string) => string;
  /**
   * Called once, with the cause, when the first record line is lost. The end line of the run also reports
   * lost record lines.
   */
  readonly onDegraded?: (cause: unknown) => void;
}

const assertKnownOptions = defineOptionNames<RunRecorderOptions>()(
  "createRunRecorder",
  "monotonicNow now onDegraded redact tariff",
);

/** Bodies of runs are not shortened, because a shortened message card is no card. */
const MAX_BODY_LENGTH = 8 * 2 ** 20;

/** Creates a recorder of a run that writes to a sink, for example to `openFileSink(path)`. */
export function createRunRecorder(sink: RunSink, options: RunRecorderOptions = {}): RunRecorder {
  assertKnownOptions(options);
  return new TrafficRunRecorder(sink, options);
}

class TrafficRunRecorder implements RunRecorder {
  readonly writer: TrafficWriter;
  readonly #sink: RunSink;
  readonly #tariff: TokenTariff | undefined;
  /** Cards that the record contains. */
  readonly #recordedCardIds = new Set<string>();
  /** Reported cards of unfinished problems that no recorded message contains so far. */
  readonly #uncarried = new Map<string | undefined, Map<string, CardRecordInput>>();
  #runId = "";
  #samples = 0;
  #isDegraded = false;

  constructor(sink: RunSink, options: RunRecorderOptions) {
    this.#sink = sink;
    this.#tariff = options.tariff;
    this.writer = createTrafficWriter(sink, {
      ...pickOptions<RunRecorderOptions>(options, "now monotonicNow redact"),
      vantage: "client",
      name: "controller",
      frames: false,
      maxBodyLength: MAX_BODY_LENGTH,
      onLoss: (cause) => {
        this.#isDegraded = true;
        options.onDegraded?.(cause);
      },
    });
    this.writer.subscribe((text) => this.#rememberCards(JSON.parse(text) as TrafficLine));
  }

  get isDegraded(): boolean {
    return this.#isDegraded;
  }

  startRun(input: RunRecordInput): void {
    this.#runId = input.run_id;
    this.writer.write({ kind: "run", ...input });
  }

  recordCard(input: CardRecordInput): void {
    const { card_id } = input.card.metadata;
    // A message of another client, such as a health check, belongs to no run.
    if (input.run_id === "" || (card_id !== undefined && this.#recordedCardIds.has(card_id))) return;
    this.#runId ||= input.run_id;
    const cards = this.#uncarried.get(input.sample_id) ?? new Map<string, CardRecordInput>();
    this.#uncarried.set(input.sample_id, cards);
    const key = card_id ?? JSON.stringify(toDict(input.card));
    if (!cards.has(key)) cards.set(key, input);
  }

  recordModelCall(input: ModelCallRecordInput): void {
    if (input.run_id === "") return;
    const { role, card_id, usage, finish, ...line } = input;
    const { source, ...tokens } = usage;
    this.#write({
      kind: "model",
      call: this.writer.createCallId(),
      agent: role,
      message_id: card_id,
      ...line,
      duration_ms: Math.round(input.duration_ms * 1_000) / 1_000,
      finish_reason: finish,
      ...(source !== "none" && tokens),
      ...(source === "estimated" && { tokens_estimated: true }),
      ...(source !== "none" &&
        this.#tariff && { price: computeTokenPrice(convertUsageToTokenCounts(usage), this.#tariff) }),
    } satisfies Omit<ModelLine, WriterMember> & { kind: "model" });
  }

  recordSampleScore(input: ScoreRecordInput): boolean {
    return this.#finishSample({ kind: "score", ...input }, input.sample_id);
  }

  recordSkippedSample(input: SkipRecordInput): boolean {
    return this.#finishSample({ kind: "skip", ...input }, input.sample_id);
  }

  endRun(status: RunEndLine["status"]): void {
    for (const id of this.#uncarried.keys()) this.#writeUncarriedCards(id);
    this.#write({
      kind: "end",
      run_id: this.#runId,
      status,
      cards: this.#recordedCardIds.size,
      samples: this.#samples,
      ...(this.#isDegraded && { recorder: "degraded" as const }),
    });
    this.#sync();
  }

  #finishSample(line: TrafficLineInput, sampleId: string): boolean {
    this.#writeUncarriedCards(sampleId);
    const isKept = this.#write(line);
    if (isKept) this.#samples += 1;
    this.#sync();
    return isKept;
  }

  /** Writes the cards of a problem that no recorded message contains, such as cards for agents that read plain text. */
  #writeUncarriedCards(sampleId: string | undefined): void {
    const cards = this.#uncarried.get(sampleId)?.values() ?? [];
    this.#uncarried.delete(sampleId);
    for (const { run_id, sample_id, at_role, a2a: { task_id, context_id } = {}, card } of cards) {
      const { card_id } = card.metadata;
      if (card_id !== undefined && this.#recordedCardIds.has(card_id)) continue;
      this.#write({
        kind: "card",
        run_id,
        ...(sample_id !== undefined && { sample_id }),
        agent: at_role,
        ...(task_id !== undefined && { task_id }),
        ...(context_id !== undefined && { context_id }),
        card: toDict(card) as unknown as JsonObject,
      });
    }
  }

  #write(line: TrafficLineInput): boolean {
    return this.writer.write(line);
  }

  #sync(): void {
    try {
      this.#sink.sync?.();
    } catch {
      this.#isDegraded = true;
    }
  }

  #rememberCards(line: TrafficLine): void {
    for (const json of listCardJson(line)) {
      const { metadata } = json as unknown as Partial<MessageCard>;
      if (typeof metadata?.card_id !== "string") continue;
      this.#recordedCardIds.add(metadata.card_id);
      this.#uncarried.get(metadata.sample_id)?.delete(metadata.card_id);
    }
  }
}

/** Throws INVALID_PARAMS if the description of a run is invalid, because its ID becomes part of a file name. */
export function requireValidRun(run: RunRecordInput): void {
  const line = { v: 1, kind: "run", writer: "", seq: 1, at: new Date(0).toISOString(), mono_ms: 0, ...run };
  const decoded = decodeTrafficLineJson(line);
  if (decoded.type === "unreadable")
    throw new A2AError(
      "INVALID_PARAMS",
      `The description of the run is invalid: ${decoded.reason.replace(/^run line: /, "")}.`,
    );
}

/** Creates a sink that stores lines in memory, for tests and for runs without a file. `text()` returns all lines. */
export function createMemorySink(): RunSink & { text(): string } {
  let text = "";
  return {
    isSynchronous: true,
    write(lines, header) {
      text += text.includes(header) ? lines : `${header}${lines}`;
    },
    close: () => {},
    text: () => text,
  };
}
