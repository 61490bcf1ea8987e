import type {
  FaultLine,
  FrameLine,
  RequestLine,
  ResponseLine,
  StreamEndLine,
  TrafficLine,
  WriterLine,
} from "../traffic-line-types.ts";
import type { SequenceNumberRange } from "./sequence-number-set.ts";
import type { ReaderPosition, TimelineEntry } from "./timeline-types.ts";

/** A line that belongs to a call. */
export type CallLine = RequestLine | ResponseLine | FrameLine | StreamEndLine | FaultLine;

/** Events that a frame shows as missing. The gap is certain if the frame states the previous event. */
export interface StreamGap extends SequenceNumberRange {
  readonly entry: TimelineEntry;
  readonly isCertain: boolean;
}

/** Positions of a stream without frames. */
export interface FrameHole extends SequenceNumberRange {
  /** The frame after the missing frames. */
  readonly entry: TimelineEntry;
  /** `seq` of the line before the missing frames. */
  readonly previousLine: number;
}

/** The writer of a call. Its line can arrive after the lines of the call. */
interface WriterOfCall {
  readonly line: WriterLine | undefined;
}

/** One request and its response, as one writer observed them. */
export class TrafficCall {
  /** Unique within the model. */
  readonly key: string;
  readonly writer: string;
  request: TimelineEntry<RequestLine> | undefined;
  response: TimelineEntry<ResponseLine> | undefined;
  end: TimelineEntry<StreamEndLine> | undefined;
  readonly faults: TimelineEntry<FaultLine>[] = [];
  frameCount = 0;
  frameBytes = 0;
  firstFrame: TimelineEntry<FrameLine> | undefined;
  lastFrame: TimelineEntry<FrameLine> | undefined;
  /** `log_seq` of the last event that the reader of this call received. */
  lastLogSeq: number | undefined;
  /** Key of the task in the model, once a line states the task. */
  taskKey: string | undefined;
  contextId: string | undefined;
  messageId: string | undefined;
  /** Lines whose task is not known yet. */
  linesWithoutTask: TimelineEntry[] = [];
  readonly gaps: StreamGap[] = [];
  readonly duplicates: TimelineEntry<FrameLine>[] = [];
  /** Frames before which frames of the stream are missing, in the record or in the stream. */
  readonly frameHoles: FrameHole[] = [];
  readonly #writerState: WriterOfCall;
  #lastEventId: string | undefined;

  constructor(key: string, writer: string, writerState: WriterOfCall) {
    this.key = key;
    this.writer = writer;
    this.#writerState = writerState;
  }

  /** The place of the observation, or `undefined` if the record has no writer line. */
  get vantage(): WriterLine["vantage"] | undefined {
    return this.request?.line.vantage ?? this.#writerState.line?.vantage;
  }

  /** Adds a line. Lines of one call arrive in the order of their sequence numbers. */
  addLine(entry: TimelineEntry<CallLine>): void {
    const { line } = entry;
    this.contextId ??= line.context_id;
    if (isEntryOfKind(entry, "request")) {
      this.request ??= entry;
      this.messageId ??= entry.line.message_id;
      // A resumed stream continues after this event, so an earlier or a later first event is irregular.
      this.lastLogSeq ??= entry.line.after;
    } else if (isEntryOfKind(entry, "response")) this.response ??= entry;
    else if (isEntryOfKind(entry, "stream-end")) this.end ??= entry;
    else if (isEntryOfKind(entry, "fault")) this.faults.push(entry);
    else if (isEntryOfKind(entry, "frame")) this.#addFrame(entry);
  }

  get startMs(): number | undefined {
    return (this.request ?? this.response ?? this.firstFrame)?.timeMs;
  }

  /** Time of the last line of the call, or `undefined` while the call is open. */
  get endMs(): number | undefined {
    if (this.end) return this.end.timeMs;
    return this.response?.line.is_stream ? undefined : this.response?.timeMs;
  }

  get isStream(): boolean {
    return this.frameCount > 0 || this.end !== undefined || this.response?.line.is_stream === true;
  }

  /** Whether the call received no response, or a response with an error. */
  get hasFailed(): boolean {
    const { line } = this.response ?? {};
    return (
      line !== undefined &&
      (line.error !== undefined || (typeof line.status === "number" && line.status >= 400))
    );
  }

  /** Whether the connection of the stream ended before the last event. */
  get wasInterrupted(): boolean {
    const reason = this.end?.line.reason;
    return reason === "cut" || reason === "stalled";
  }

  getReaderPosition(): ReaderPosition {
    const { request, lastLogSeq, vantage = "unknown" } = this;
    return {
      call: this.key,
      writer: this.writer,
      vantage,
      ...(request?.line.from !== undefined && { from: request.line.from }),
      ...(lastLogSeq !== undefined && { lastLogSeq }),
      frames: this.frameCount,
      state: this.end?.line.reason ?? (this.hasFailed ? "failed" : "open"),
    };
  }

  #addFrame(entry: TimelineEntry<FrameLine>): void {
    const { index, log_seq, previous_log_seq, event_id, event, bytes } = entry.line;
    // A record may begin within a call, whose earlier lines were in a deleted file.
    const previousIndex = this.lastFrame?.line.index ?? (this.request ? 0 : index - 1);
    const missingFrames = index - previousIndex - 1;
    if (missingFrames > 0) {
      const { seq } = (this.lastFrame ?? this.response ?? this.request ?? entry).line;
      this.frameHoles.push({ entry, from: previousIndex + 1, to: index - 1, previousLine: seq });
    }
    const isRepeated = this.lastFrame !== undefined && index <= previousIndex;
    if (isRepeated) this.duplicates.push(entry);
    this.frameCount += 1;
    this.frameBytes += bytes;
    this.firstFrame ??= entry;
    this.lastFrame = entry;
    if (log_seq === undefined) {
      // Event ids of other servers may be no numbers, but a repeated id is a repeated event.
      const hasSameId = event_id !== undefined && event_id !== "" && event_id === this.#lastEventId;
      if (hasSameId && !isRepeated) this.duplicates.push(entry);
      this.#lastEventId = event_id ?? this.#lastEventId;
      return;
    }
    const last = this.lastLogSeq;
    const isSnapshot = event !== undefined && "task" in event && log_seq !== 1;
    if (last !== undefined && !isSnapshot && missingFrames <= 0 && !isRepeated) {
      if (log_seq <= last) this.duplicates.push(entry);
      else if ((previous_log_seq ?? log_seq - 1) > last)
        this.gaps.push({
          entry,
          from: last + 1,
          to: previous_log_seq ?? log_seq - 1,
          isCertain: previous_log_seq !== undefined,
        });
    }
    this.lastLogSeq = Math.max(last ?? 0, log_seq);
  }
}

/** Returns whether the line of an entry has the given kind. */
export function isEntryOfKind<Kind extends TrafficLine["kind"]>(
  entry: TimelineEntry,
  kind: Kind,
): entry is TimelineEntry<Extract<TrafficLine, { kind: Kind }>> {
  return entry.line.kind === kind;
}
