import {
  type Artifact,
  copyTask,
  isInterrupted,
  isTerminal,
  type Message,
  type StreamResponse,
  type Task,
} from "../../../protocol/index.ts";
import {
  isTruncatedBody,
  type ModelLine,
  type ToolLine,
  type TrafficLine,
} from "../../../observe/trace/index.ts";
import { foldRecordedEvent } from "../task/fold-recorded-event.ts";

/** Something that an agent sent during a turn, in the order of its first appearance. */
export type TurnItem =
  /** A message of progress reports that the agent works. The next message replaces it for the reader. */
  | { readonly kind: "message"; readonly message: Message; readonly isProgress: boolean }
  | { readonly kind: "artifact"; readonly artifactId: string }
  /** A model or tool call that the record of our server contains. */
  | { readonly kind: "work"; readonly line: ModelLine | ToolLine }
  /** A change of the connection, for example a cut. */
  | { readonly kind: "note"; readonly tone: "warn" | "good"; readonly text: string };

/** Where a turn stands. `cut` means that the connection broke while the agent worked. */
export type TurnStatus = "sending" | "streaming" | "cut" | "ended" | "failed" | "stopped";

/** One message of the user and everything that followed. The turn changes in place, because streams are fast. */
export class ChatTurn {
  readonly key: string;
  readonly sent: Message;
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
    switch (line.kind) {
      case "request":
        this.#addRequest(line);
        break;
      case "response":
        if (line.error !== undefined && line.is_stream !== true) this.error = line.error;
        if (line.body !== undefined && line.is_stream !== true) this.#addResponseBody(line.body);
        break;
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
      case "tool":
        this.items.push({ kind: "work", line });
        break;
      case "turn":
        this.cause = line.error ?? this.cause;
        this.stack = line.stack ?? this.stack;
        break;
      case "agent":
      case "card":
      case "end":
      case "event":
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
    for (const { artifactId } of task.artifacts ?? []) this.#addArtifact(artifactId);
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

  #addFrame(line: Extract<TrafficLine, { kind: "frame" }>): void {
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
      for (const { artifactId } of event.task.artifacts ?? []) this.#addArtifact(artifactId);
      this.#addMessage(event.task.status?.message);
      return;
    }
    if ("message" in event) this.#addMessage(event.message);
    if ("statusUpdate" in event) {
      const { status } = event.statusUpdate;
      this.#addMessage(status?.message, status?.state === "TASK_STATE_WORKING");
    }
    if ("artifactUpdate" in event) this.#addArtifact(event.artifactUpdate?.artifact?.artifactId ?? "");
    if (this.task === undefined) this.task = createTaskFromUpdate(event);
    if (this.task === undefined) return;
    this.task = foldRecordedEvent(this.task, event) ?? this.task;
  }

  #addMessage(message: Message | undefined, isProgress = false): void {
    if (message === undefined || message.role === "ROLE_USER" || this.#knownMessageIds.has(message.messageId))
      return;
    this.#knownMessageIds.add(message.messageId);
    this.items.push({ kind: "message", message, isProgress });
  }

  #addArtifact(artifactId: string): void {
    if (this.#knownArtifactIds.has(artifactId)) return;
    this.#knownArtifactIds.add(artifactId);
    this.items.push({ kind: "artifact", artifactId });
  }

  #addNote(tone: "warn" | "good", text: string): void {
    this.items.push({ kind: "note", tone, text });
  }

  #formatPosition(): string {
    return this.lastSeq === undefined ? ` after ${this.events} events` : ` after event ${this.lastSeq}`;
  }
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
