import {
  type Artifact,
  copyTask,
  isInterrupted,
  isTerminal,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
} from "../../../protocol/index.ts";
import { isTruncatedBody, type ModelLine, type TrafficLine } from "../../../observe/trace/index.ts";
import { decodeToolReport, type ToolCall, type ToolReport } from "../parts/tool-report.ts";
import { PAGE_USER } from "../source/traffic-source.ts";
import { foldRecordedEvent } from "../task/fold-recorded-event.ts";

/** Something that an agent sent during a turn, in the order of its first appearance. `at` is its time in ISO 8601 format. */
export type TurnItem = TurnContent & { readonly at: string };

type TurnContent =
  /** A message of progress reports that the agent works. The next message replaces it for the reader. */
  | { readonly kind: "message"; readonly message: Message; readonly isProgress: boolean }
  | { readonly kind: "artifact"; readonly artifactId: string }
  /** A model call that the record of our server contains. */
  | { readonly kind: "model"; readonly line: ModelLine }
  | { readonly kind: "tool"; readonly call: ToolCall }
  /** A change of the connection, for example a cut. */
  | { readonly kind: "note"; readonly tone: "warn" | "good"; readonly text: string };

/** Where a turn stands. `cut` means that the connection broke while the agent worked. */
export type TurnStatus = "sending" | "streaming" | "cut" | "ended" | "failed" | "stopped";

/** One message of the user and everything that followed. The turn changes in place, because streams are fast. */
export class ChatTurn {
  readonly key: string;
  readonly sent: Message;
  sender: string = PAGE_USER;
  readonly items: TurnItem[] = [];
  status: TurnStatus = "sending";
  task: Task | undefined;
  error: string | undefined;
  /** The error that the agent threw, if the server reports it to the user. */
  cause: string | undefined;
  /** Stack of the error, if the console is that of `colloquy dev`. */
  stack: string | undefined;
  /** Id of the stream that is open. */
  call: string | undefined;
  /** Number of the last event in the log of the task, if the frames state numbers. */
  lastSeq: number | undefined;
  /** Time of the last line in milliseconds since the page was opened. */
  lastLineMs: number;
  events = 0;
  readonly #knownMessageIds: Set<string>;
  readonly #knownArtifactIds = new Set<string>();
  #wasCut = false;
  /** Time of the line that the turn adds. */
  #lineAt = "";

  /** `knownMessageIds` are the messages that earlier turns show. The turn adds its own. */
  constructor(sent: Message, knownMessageIds: Set<string>, nowMs: number) {
    this.key = sent.messageId;
    this.sent = sent;
    this.lastLineMs = nowMs;
    this.#knownMessageIds = knownMessageIds;
    knownMessageIds.add(sent.messageId);
  }

  /** Whether the agent works on the turn, as far as the page knows. */
  get isActive(): boolean {
    return this.status === "sending" || this.status === "streaming" || this.status === "cut";
  }

  /** Whether the task waits for an answer of the user. */
  get isWaiting(): boolean {
    return this.task !== undefined && !this.isActive && isInterrupted(this.task.status.state);
  }

  get isTaskOver(): boolean {
    return (
      this.task !== undefined && (isTerminal(this.task.status.state) || isInterrupted(this.task.status.state))
    );
  }

  findArtifact(artifactId: string): Artifact | undefined {
    return this.task?.artifacts?.find((artifact) => artifact.artifactId === artifactId);
  }

  addLine(line: TrafficLine, nowMs: number): void {
    this.lastLineMs = nowMs;
    this.#lineAt = line.at;
    switch (line.kind) {
      case "request":
        this.#addRequest(line);
        break;
      case "response":
        if (line.error !== undefined && line.is_stream !== true) this.error = line.error;
        if (line.body !== undefined && line.is_stream !== true) this.#addResponseBody(line.body);
        break;
      case "event":
      case "frame":
        this.#addFrame(line);
        break;
      case "stream-end":
        this.call = undefined;
        if (line.reason === "cut" || line.reason === "stalled") {
          this.#wasCut = true;
          this.status = "cut";
          this.#addNote("warn", `Connection ${line.reason}${this.#formatPosition()}`);
        }
        break;
      case "fault":
        this.#addNote("warn", `Injected fault: ${line.fault} ${line.detail ?? ""}`);
        break;
      case "model":
        this.#addItem({ kind: "model", line }, true);
        break;
      case "tool":
        this.#addToolCall({
          name: line.tool,
          arguments: line.arguments,
          result: line.result,
          error: line.error,
          durationMs: line.duration_ms,
        });
        break;
      case "turn":
        this.cause = line.error ?? this.cause;
        this.stack = line.stack ?? this.stack;
        break;
      case "agent":
      case "card":
      case "end":
      case "loss":
      case "push":
      case "run":
      case "score":
      case "skip":
      case "span":
      case "writer":
        break;
    }
  }

  /** Adds a message of the agent from a stored task. */
  addStoredMessage(message: Message, isProgress: boolean): void {
    this.#addMessage(message, isProgress);
  }

  /** Adds the rest of a stored task to its last turn. */
  addStoredTask(task: Task): void {
    this.task = copyTask(task);
    for (const artifact of task.artifacts ?? []) this.#addArtifact(artifact);
    this.#addMessage(task.status.message);
  }

  /** Ends the turn, after its stream has ended as intended. */
  end(): void {
    if (this.status !== "stopped") this.status = "ended";
    this.call = undefined;
  }

  fail(message: string): void {
    this.status = "failed";
    this.error = message;
    this.call = undefined;
  }

  #addRequest({ call, operation }: Extract<TrafficLine, { kind: "request" }>): void {
    this.call = call;
    this.status = "streaming";
    if (this.#wasCut && operation === "SubscribeToTask") {
      this.#wasCut = false;
      this.#addNote("good", `Connected again${this.#formatPosition()}`);
    }
  }

  #addResponseBody(body: unknown): void {
    // Without streaming, the response contains the task or the message.
    const result = (body as { result?: unknown } | null)?.result ?? body;
    if (typeof result === "object" && result !== null && ("task" in result || "message" in result))
      this.#addEvent(result as StreamResponse);
  }

  #addFrame(line: Extract<TrafficLine, { kind: "event" | "frame" }>): void {
    if (line.event === undefined) return;
    const event = line.event as unknown as StreamResponse;
    const { log_seq: seq } = line;
    if (seq !== undefined && !("task" in event)) {
      if (this.lastSeq !== undefined && seq <= this.lastSeq) return;
      if (this.lastSeq !== undefined && seq > this.lastSeq + 1)
        this.#addNote("warn", `Gap: the events after ${this.lastSeq} and before ${seq} did not arrive`);
    }
    if (seq !== undefined) this.lastSeq = Math.max(this.lastSeq ?? 0, seq);
    this.status = "streaming";
    if (isTruncatedBody(event)) {
      this.#addNote(
        "warn",
        "The record of the console shortens an event. The screen Task shows all of the task",
      );
      if ("artifactUpdate" in event) return;
    }
    this.#addEvent(event);
  }

  #addEvent(event: StreamResponse): void {
    this.events += 1;
    if ("task" in event) {
      this.task = copyTask(event.task);
      for (const message of event.task.history ?? []) this.#addMessage(message);
      for (const artifact of event.task.artifacts ?? []) this.#addArtifact(artifact);
      this.#addMessage(event.task.status?.message);
      return;
    }
    if ("message" in event) this.#addMessage(event.message);
    if ("statusUpdate" in event) {
      const { status } = event.statusUpdate;
      this.#addMessage(status?.message, status?.state === "TASK_STATE_WORKING");
    }
    if ("artifactUpdate" in event) this.#addArtifact(event.artifactUpdate?.artifact);
    if (this.task === undefined) this.task = createTaskFromUpdate(event);
    if (this.task === undefined) return;
    this.task = foldRecordedEvent(this.task, event) ?? this.task;
  }

  #addMessage(message: Message | undefined, isProgress = false): void {
    if (message === undefined || message.role === "ROLE_USER" || this.#knownMessageIds.has(message.messageId))
      return;
    this.#knownMessageIds.add(message.messageId);
    const parts = this.#takeToolReports(message.parts);
    if (parts.length > 0 || (message.parts ?? []).length === 0)
      this.#addItem({ kind: "message", message: { ...message, parts }, isProgress });
  }

  /** Adds the tool calls that parts report, and returns the other parts. */
  #takeToolReports(parts: readonly Part[] = []): Part[] {
    const reports = parts.map(decodeToolReport);
    for (const report of reports) if (report !== undefined) this.#addToolCall(report);
    return parts.filter((_, index) => reports[index] === undefined);
  }

  /** Messages of the agent report the call and the result of a tool, and the record of our server both with the duration. */
  #addToolCall(report: ToolReport): void {
    const known = this.items.find((item) => item.kind === "tool" && isSameCall(item.call, report));
    if (known?.kind === "tool")
      for (const member of ["id", "arguments", "result", "error", "durationMs"] as const)
        known.call[member] = (report[member] ?? known.call[member]) as never;
    else if (report.name !== undefined)
      this.#addItem(
        { kind: "tool", call: { ...report, name: report.name } },
        report.durationMs !== undefined,
      );
  }

  /** ADK agents send the calls of their tools as artifacts. */
  #addArtifact({ artifactId = "", parts = [] }: Partial<Artifact> = {}): void {
    const others = this.#takeToolReports(parts);
    if (this.#knownArtifactIds.has(artifactId) || (others.length === 0 && parts.length > 0)) return;
    this.#knownArtifactIds.add(artifactId);
    this.#addItem({ kind: "artifact", artifactId });
  }

  #addNote(tone: "warn" | "good", text: string): void {
    this.#addItem({ kind: "note", tone, text });
  }

  /** Reports of the server and events of the agent arrive in different streams. A report precedes the event that it caused. */
  #addItem(content: TurnContent, isReport = false): void {
    const at = this.#lineAt;
    const index = this.items.findLastIndex((item) => item.at < at || (item.at === at && !isReport));
    this.items.splice(index + 1, 0, { ...content, at });
  }

  #formatPosition(): string {
    return this.lastSeq === undefined ? ` after ${this.events} events` : ` after event ${this.lastSeq}`;
  }
}

/** The record of our server has no ids of the framework. */
function isSameCall(known: ToolCall, report: ToolReport): boolean {
  if (known.id !== undefined && report.id !== undefined) return known.id === report.id;
  return (
    known.name === report.name &&
    JSON.stringify(known.arguments) === JSON.stringify(report.arguments) &&
    (known.durationMs === undefined) !== (report.durationMs === undefined)
  );
}

/** What the server reports about the work on a task. The streams of the agent do not contain it. */
export type ReportLine = Extract<TrafficLine, { readonly kind: "model" | "tool" | "turn" }>;
type EventLine = Extract<TrafficLine, { readonly kind: "event" }>;

/**
 * Creates the turns of a stored task from its event log, in the order of the log, and from reports in their order. The
 * turns are those that the page would show if it had followed the task.
 */
export function replayTurns(
  log: readonly EventLine[],
  reports: readonly ReportLine[],
  knownMessageIds: Set<string>,
): ChatTurn[] {
  const begun: { readonly sent: Message; readonly at: string; readonly lines: TrafficLine[] }[] = [];
  for (const line of log) {
    const sent = findSentMessage(line);
    if (sent) begun.push({ sent, at: line.at, lines: [] });
    if (!sent || begun.length === 1) begun.at(-1)?.lines.push(line);
  }
  let current: (typeof begun)[number] | undefined;
  for (const report of reports) {
    const timeMs = Date.parse(report.at);
    // An agent starts before its message is committed, so that only the begin of its turn shows the message.
    if (report.kind === "turn" && report.phase === "begin")
      current = begun.toSorted((a, b) => getDistance(a.at, timeMs) - getDistance(b.at, timeMs))[0];
    const { lines } = current ?? begun.findLast(({ at }) => at <= report.at) ?? begun[0] ?? { lines: [] };
    // A report precedes the event that it has caused.
    const next = lines.findIndex((line) => line.kind === "event" && line.log_seq > 1 && line.at >= report.at);
    lines.splice(next < 0 ? lines.length : next, 0, report);
  }
  return begun.map(({ sent, lines }, index) => {
    const turn = new ChatTurn(sent, knownMessageIds, performance.now());
    for (const line of lines) turn.addLine(line, performance.now());
    if (turn.isTaskOver || index < begun.length - 1) turn.end();
    return turn;
  });
}

function getDistance(at: string, timeMs: number): number {
  return Math.abs(Date.parse(at) - timeMs);
}

/** Returns the message of the user in an event of a log, which is in the new task at first, and alone later. */
function findSentMessage({ event }: EventLine): Message | undefined {
  const { message, task } = (event ?? {}) as { readonly message?: Message; readonly task?: Task };
  return message ?? task?.history?.find(({ role }) => role === "ROLE_USER");
}

/** Creates the turns of a stored task. A task of an agent that keeps no history has one turn without a message. */
export function restoreTurns(task: Task, knownMessageIds: Set<string>): ChatTurn[] {
  const turns: ChatTurn[] = [];
  const addTurn = (sent: Message): ChatTurn => {
    const turn = new ChatTurn(sent, knownMessageIds, performance.now());
    turn.task = task;
    turn.end();
    turns.push(turn);
    return turn;
  };
  const { history = [] } = task;
  for (const [index, message] of history.entries()) {
    if (message.role === "ROLE_USER") addTurn(message);
    // The history contains the messages of earlier states. The last one before the user's answer is a question.
    else turns.at(-1)?.addStoredMessage(message, history[index + 1]?.role !== "ROLE_USER");
  }
  const last = turns.at(-1) ?? addTurn({ messageId: task.id, role: "ROLE_USER", parts: [] });
  last.addStoredTask(task);
  return turns;
}

/** The stream of an answer starts with an update instead of the task. */
function createTaskFromUpdate(event: StreamResponse): Task | undefined {
  const update =
    "statusUpdate" in event
      ? event.statusUpdate
      : "artifactUpdate" in event
        ? event.artifactUpdate
        : undefined;
  if (update === undefined) return undefined;
  return { id: update.taskId, contextId: update.contextId, status: { state: "TASK_STATE_WORKING" } };
}
