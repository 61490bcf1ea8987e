import { defineOptionNames, omitUndefined, pickOptions } from "../../../base/usage-checks/index.ts";
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
  const { tariff, onDegraded } = options;
  /** Cards that the record contains. */
  const recordedCardIds = new Set<string>();
  /** Reported cards of unfinished problems that no recorded message contains so far. */
  const uncarried = new Map<string | undefined, Map<string, CardRecordInput>>();
  let runId = "";
  let samples = 0;
  let isDegraded = false;
  const writer = createTrafficWriter(sink, {
    ...pickOptions<RunRecorderOptions>(options, "now monotonicNow redact"),
    vantage: "client",
    name: "controller",
    frames: false,
    maxBodyLength: MAX_BODY_LENGTH,
    onLoss: (cause) => {
      isDegraded = true;
      onDegraded?.(cause);
    },
  });
  writer.subscribe((text) => {
    for (const json of listCardJson(JSON.parse(text) as TrafficLine)) {
      const { metadata } = json as unknown as Partial<MessageCard>;
      if (typeof metadata?.card_id !== "string") continue;
      recordedCardIds.add(metadata.card_id);
      uncarried.get(metadata.sample_id)?.delete(metadata.card_id);
    }
  });
  const isRecorded = ({ metadata: { card_id } }: MessageCard): boolean =>
    card_id !== undefined && recordedCardIds.has(card_id);
  /** Writes the cards of a problem that no recorded message contains, such as cards for agents that read plain text. */
  const writeUncarriedCards = (sampleId: string | undefined): void => {
    const cards = uncarried.get(sampleId)?.values() ?? [];
    uncarried.delete(sampleId);
    for (const { run_id, sample_id, at_role: agent, a2a: { task_id, context_id } = {}, card } of cards) {
      if (isRecorded(card)) continue;
      const ids = omitUndefined({ sample_id, task_id, context_id });
      writer.write({ kind: "card", run_id, agent, ...ids, card: toDict(card) as unknown as JsonObject });
    }
  };
  const sync = (): void => {
    try {
      sink.sync?.();
    } catch {
      isDegraded = true;
    }
  };
  const finishSample = (line: TrafficLineInput, sampleId: string): boolean => {
    writeUncarriedCards(sampleId);
    const isKept = writer.write(line);
    if (isKept) samples += 1;
    sync();
    return isKept;
  };
  return {
    writer,
    get isDegraded() {
      return isDegraded;
    },
    startRun: (input) => {
      runId = input.run_id;
      writer.write({ kind: "run", ...input });
    },
    recordCard: (input) => {
      // A message of another client, such as a health check, belongs to no run.
      if (input.run_id === "" || isRecorded(input.card)) return;
      runId ||= input.run_id;
      const cards = uncarried.get(input.sample_id) ?? new Map<string, CardRecordInput>();
      uncarried.set(input.sample_id, cards);
      const key = input.card.metadata.card_id ?? JSON.stringify(toDict(input.card));
      if (!cards.has(key)) cards.set(key, input);
    },
    recordModelCall: (input) => {
      if (input.run_id === "") return;
      const { role: agent, card_id: message_id, usage, finish: finish_reason, ...line } = input;
      const { source, ...tokens } = usage;
      const isKnown = source !== "none";
      writer.write({
        kind: "model",
        call: writer.createCallId(),
        agent,
        message_id,
        ...line,
        duration_ms: Math.round(input.duration_ms * 1_000) / 1_000,
        finish_reason,
        ...(isKnown && tokens),
        ...(source === "estimated" && { tokens_estimated: true }),
        ...(isKnown && tariff && { price: computeTokenPrice(convertUsageToTokenCounts(usage), tariff) }),
      } satisfies Omit<ModelLine, WriterMember> & { kind: "model" });
    },
    recordSampleScore: (input) => finishSample({ kind: "score", ...input }, input.sample_id),
    recordSkippedSample: (input) => finishSample({ kind: "skip", ...input }, input.sample_id),
    endRun: (status) => {
      for (const id of uncarried.keys()) writeUncarriedCards(id);
      writer.write({
        kind: "end",
        run_id: runId,
        status,
        cards: recordedCardIds.size,
        samples,
        ...(isDegraded && { recorder: "degraded" as const }),
      });
      sync();
    },
  };
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
