import { isInterrupted, type Message, type Part, type Task } from "../../protocol/index.ts";
import { createDecisionMessageId, createDecisionPart } from "../decode-tool-event.ts";
import { toChatMessages } from "../task-view.ts";
import {
  type AppliedEventId,
  type ChatClient,
  listTasksOfContext,
  replayTask,
  sendTurn,
  type TurnCallOptions,
} from "../turn-stream.ts";
import { type AgUiEvent, AgUiEventEncoder, encodeRunEnd } from "./ag-ui-event-encoder.ts";
import { type AgUiMessage, type ResumeEntry, type RunAgentInput, toParts } from "./run-agent-input.ts";
import { UsageTaskView } from "./usage-task-view.ts";

/** The version of the AG-UI protocol. Each run declares it (AG-UI 1.0, Versioning). */
const PROTOCOL_VERSION = "1.0";

/** The position of a client in the events of a task. */
export interface AgUiCursor {
  readonly taskId: string;
  readonly eventId: string;
}

/** Events of one event of the task, with the position after them. */
export interface AgUiEventBatch {
  readonly events: readonly AgUiEvent[];
  readonly cursor?: AgUiCursor;
}

/** Maximum number of earlier tasks that a client without messages receives. */
const MAX_EARLIER_TASKS = 50;

type AgUiBatches = AsyncGenerator<AgUiEventBatch, void, undefined>;

/**
 * Runs an AG-UI request. A request whose last message is the user's sends that message, and a request with answers sends
 * the answers. Any other request continues the latest task of the thread. The client receives only content that its
 * messages do not contain.
 */
export async function* runAgUiTurn(
  client: ChatClient,
  input: RunAgentInput,
  cursor: AgUiCursor | undefined,
  call: TurnCallOptions,
): AgUiBatches {
  const { threadId, runId, messages } = input;
  yield { events: [{ type: "RUN_STARTED", threadId, runId, protocolVersion: PROTOCOL_VERSION }] };
  const run = new AgUiTaskRun(client, input, cursor, call);
  const lastMessage = messages.at(-1);
  // A first message has no earlier tasks, and therefore starts without a request for them.
  const isFirstMessage = messages.length === 1 && lastMessage?.role === "user" && !cursor;
  const tasks = isFirstMessage
    ? []
    : await listTasksOfContext(client, threadId, messages.length === 0 ? MAX_EARLIER_TASKS : 1, call);
  const latest = cursor ? await client.tasks.get(cursor.taskId, call) : tasks[0];
  const waiting = latest && isInterrupted(latest.status.state) ? latest : undefined;
  if (!cursor && lastMessage?.role === "user") {
    const answer = waiting === undefined ? {} : { taskId: waiting.id };
    yield* run.send(
      { messageId: lastMessage.id, role: "ROLE_USER", parts: toParts(lastMessage.content), ...answer },
      waiting,
    );
  } else if (!cursor && waiting && input.resume.length > 0) {
    yield* run.answer(input.resume, waiting);
  } else if (latest) {
    if (messages.length === 0) yield* run.encodeEarlierTasks(tasks.slice(1));
    yield* run.replay(latest);
  }
  yield { events: run.end() };
}

class AgUiTaskRun {
  readonly #client: ChatClient;
  readonly #input: RunAgentInput;
  readonly #cursor: AgUiCursor | undefined;
  readonly #call: TurnCallOptions;
  readonly #view = new UsageTaskView();
  readonly #encoder = new AgUiEventEncoder();
  readonly #delivered: DeliveredMessages;

  constructor(
    client: ChatClient,
    input: RunAgentInput,
    cursor: AgUiCursor | undefined,
    call: TurnCallOptions,
  ) {
    this.#client = client;
    this.#input = input;
    this.#cursor = cursor;
    this.#call = call;
    this.#delivered = new DeliveredMessages(input.messages);
  }

  /** Sends a message. If the message answers a question, the events before the question come first. */
  async *send(message: Message, waiting: Task | undefined): AgUiBatches {
    if (waiting) yield* this.replay(waiting);
    const turn = { ...message, contextId: this.#input.threadId };
    yield* this.#encodeSteps(sendTurn(this.#client, this.#view, turn, this.#call));
  }

  /** Sends the answers to the interrupts of a waiting task. */
  async *answer(entries: readonly ResumeEntry[], waiting: Task): AgUiBatches {
    yield* this.replay(waiting);
    const parts = entries.flatMap((entry) => this.#toAnswerParts(entry));
    const message: Message = {
      messageId: createDecisionMessageId(
        waiting.id,
        entries.map(({ interruptId }) => interruptId),
      ),
      contextId: this.#input.threadId,
      taskId: waiting.id,
      role: "ROLE_USER",
      parts,
    };
    yield* this.#encodeSteps(sendTurn(this.#client, this.#view, message, this.#call));
  }

  /** Reads the task from its first event, and yields what the client does not have. */
  async *replay(task: Task): AgUiBatches {
    yield* this.#encodeSteps(replayTask(this.#client, this.#view, task, this.#call));
  }

  /** Yields the messages of earlier tasks, which are listed newest first. */
  *encodeEarlierTasks(tasks: readonly Task[]): Generator<AgUiEventBatch, void, undefined> {
    for (const task of tasks.toReversed()) {
      const encoder = new AgUiEventEncoder();
      const events = encoder.encode({ messages: toChatMessages(task), progressText: "" });
      yield { events: [...events, ...encoder.closeText()] };
    }
  }

  /** Returns the events at the end of the run. */
  end(): AgUiEvent[] {
    const { threadId, runId } = this.#input;
    const closing = this.#delivered.selectNew(this.#encoder.closeText());
    const { taskId } = this.#view;
    return [...closing, encodeRunEnd(taskId === undefined ? undefined : this.#view, { threadId, runId })];
  }

  async *#encodeSteps(steps: AsyncIterable<AppliedEventId>): AgUiBatches {
    for await (const eventId of steps) {
      const events = this.#encoder.encode(this.#view);
      const { taskId } = this.#view;
      if (this.#hasReceived(eventId)) this.#delivered.addDelivered(events);
      else
        yield {
          events: this.#delivered.selectNew(events),
          ...(eventId === undefined || taskId === undefined ? {} : { cursor: { taskId, eventId } }),
        };
    }
  }

  #hasReceived(eventId: AppliedEventId): boolean {
    return this.#cursor !== undefined && Number(eventId) <= Number(this.#cursor.eventId);
  }

  #toAnswerParts({ interruptId, isResolved, payload }: ResumeEntry): Part[] {
    const call = this.#view.messages
      .flatMap(({ parts }) => parts)
      .find((part) => part.type === "tool" && part.approval?.id === interruptId);
    if (call?.type === "tool" && call.approval) {
      const { approved = payload === true, reason } =
        typeof payload === "object" && payload !== null && !Array.isArray(payload) ? payload : {};
      const isApproved = isResolved && approved === true;
      return [createDecisionPart(call.approval, isApproved, typeof reason === "string" ? reason : undefined)];
    }
    if (!isResolved) return [{ text: "The user canceled the question." }];
    return [typeof payload === "string" ? { text: payload } : { data: payload }];
  }
}

/**
 * Removes the content that a client already has from the events of a task. The client's own messages determine what it
 * has, so that a page which is reloaded between any two events receives exactly the rest.
 */
class DeliveredMessages {
  /** Number of characters that the client has, by the id of a text message or a tool call. */
  readonly #knownLengths = new Map<string, number>();
  readonly #knownIds = new Set<string>();
  /** Number of characters that the events contained so far, by the id of a text message or a tool call. */
  readonly #lengths = new Map<string, number>();
  /** Start events of entities that the client has. They are sent only if more content follows. */
  readonly #heldStarts = new Map<string, AgUiEvent[]>();

  constructor(messages: readonly AgUiMessage[]) {
    for (const { id, role, content, toolCalls } of messages) {
      this.#knownIds.add(id);
      // The client has the complete messages of its user.
      const length = role === "user" ? Infinity : typeof content === "string" ? content.length : 0;
      this.#knownLengths.set(id, length);
      for (const call of toolCalls) {
        this.#knownIds.add(call.id);
        this.#knownLengths.set(call.id, call.arguments.length);
      }
    }
  }

  /** Records events that the client has received. */
  addDelivered(events: readonly AgUiEvent[]): void {
    for (const event of events) {
      const id = getEntityId(event);
      if (id === undefined) continue;
      this.#knownIds.add(id);
      if (typeof event["delta"] === "string")
        this.#knownLengths.set(id, (this.#lengths.get(id) ?? 0) + event["delta"].length);
      this.#selectNew(event);
    }
  }

  /** Returns the events without the content that the client has. */
  selectNew(events: readonly AgUiEvent[]): AgUiEvent[] {
    return events.flatMap((event) => this.#selectNew(event));
  }

  #selectNew(event: AgUiEvent): AgUiEvent[] {
    const id = getEntityId(event);
    if (id === undefined) return [event];
    if (event.type === "TOOL_CALL_RESULT") return this.#knownIds.has(id) ? [] : [event];
    if (event.type.endsWith("_START")) {
      if (!this.#knownIds.has(id)) return [event];
      this.#heldStarts.set(id, [...(this.#heldStarts.get(id) ?? []), event]);
      return [];
    }
    // The start of an entity that the client has was not sent, so neither is its end.
    if (event.type.endsWith("_END")) return this.#heldStarts.has(id) ? [] : [event];
    const { delta } = event;
    if (typeof delta !== "string") return [event];
    const start = this.#lengths.get(id) ?? 0;
    this.#lengths.set(id, start + delta.length);
    const newDelta = delta.slice(Math.max(0, (this.#knownLengths.get(id) ?? 0) - start));
    if (newDelta === "") return [];
    const held = this.#heldStarts.get(id) ?? [];
    this.#heldStarts.delete(id);
    return [...held, { ...event, delta: newDelta }];
  }
}

/** Returns the id of the message or tool call that an event changes. Other events replace what the client has. */
function getEntityId({ type, messageId, toolCallId }: AgUiEvent): string | undefined {
  if (type === "ACTIVITY_SNAPSHOT" || type === "CUSTOM") return undefined;
  if (type === "TOOL_CALL_RESULT") return typeof messageId === "string" ? messageId : undefined;
  const id = toolCallId ?? messageId;
  return typeof id === "string" ? id : undefined;
}
