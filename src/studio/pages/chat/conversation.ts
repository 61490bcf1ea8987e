import { type ReadonlySignal, signal } from "@preact/signals";
import { type JsonObject, type Message, type Part, type Task } from "../../../protocol/index.ts";
import { type TrafficLine, TrafficModel } from "../../../observe/trace/index.ts";
import { createFrameScheduler } from "../parts/frame-scheduler.ts";
import { formatError } from "../parts/notice.tsx";
import { getConsoleUser, type TrafficActions, type TrafficSource } from "../source/traffic-source.ts";
import { findSender } from "../task/describe-line.ts";
import { ChatTurn, replayTurns, type ReportLine, restoreTurns } from "./chat-turn.ts";

const MAX_RESUME_ATTEMPTS = 5;
const FIRST_RESUME_DELAY_MS = 500;
/** Maximum number of lines that wait for the first event of their task. */
const MAX_WAITING_LINES = 100;

/** A source that sends messages. */
export type ChatSource = TrafficSource & { readonly actions: TrafficActions };

/** Where a message belongs. */
export interface MessageAddress {
  /** The waiting task that the message answers. */
  readonly taskId?: string | undefined;
  readonly referenceTaskIds?: readonly string[];
}

/** The turns of one context with an agent. The conversation continues while the user looks at other screens. */
export class Conversation {
  readonly agentId: string;
  readonly turns: ChatTurn[] = [];
  contextId: string | undefined;
  readonly #source: ChatSource;
  readonly #version = signal(0);
  /** The report about a task can arrive before the first event of its stream. */
  readonly #linesOfUnknownTasks: TrafficLine[] = [];
  readonly #knownMessageIds = new Set<string>();
  /** Keys of the reports that restored turns contain, and that can also arrive live. */
  readonly #knownReports = new Set<string>();
  readonly #aborts = new Map<string, AbortController>();
  readonly #scheduleRender = createFrameScheduler(() => {
    this.#version.value += 1;
  });

  constructor(agentId: string, source: ChatSource) {
    this.agentId = agentId;
    this.#source = source;
  }

  get #actions(): TrafficActions {
    return this.#source.actions;
  }

  /** Why the stored tasks cannot be shown, or `loading` until they are read. */
  loading: "loading" | { readonly error: unknown } | undefined;

  /** Adds the turns of stored tasks, oldest first, and follows the tasks that still run. */
  async load(stored: Promise<readonly StoredTask[]>): Promise<void> {
    this.loading = "loading";
    try {
      const tasks = await stored;
      this.loading = undefined;
      for (const task of tasks) this.#restore(task);
      this.observe(this.#linesOfUnknownTasks.splice(0));
    } catch (error) {
      this.loading = { error };
    }
    this.#scheduleRender();
  }

  #restore(stored: StoredTask): void {
    const { model, log, reports, task } = stored;
    const turns = task
      ? restoreTurns(task, this.#knownMessageIds)
      : replayTurns(log, reports, this.#knownMessageIds);
    for (const turn of turns) turn.sender = findSender(model, turn.sent.messageId);
    this.turns.push(...turns);
    if (!task) for (const report of reports) this.#knownReports.add(formatLineKey(report));
    const last = turns.at(-1);
    if (last && !last.isTaskOver) this.resume(last);
  }

  /** Changes with each change of a turn. */
  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** Adds what the server reports about the work on the tasks. The streams of the agent do not contain it. */
  observe(lines: readonly TrafficLine[]): void {
    for (const line of lines) {
      if (!isReport(line) || this.#knownReports.has(formatLineKey(line))) continue;
      // The line can arrive before the first event of a turn that continues the task.
      const turn = this.turns.findLast(({ task, sent }) => (task?.id ?? sent.taskId) === line.task_id);
      if (turn) {
        turn.addLine(line, performance.now());
        this.#scheduleRender();
      } else this.#linesOfUnknownTasks.push(line);
    }
    this.#linesOfUnknownTasks.splice(0, Math.max(0, this.#linesOfUnknownTasks.length - MAX_WAITING_LINES));
  }

  /** Sends a message and follows its turn. */
  send(parts: readonly Part[], { taskId, referenceTaskIds = [] }: MessageAddress = {}): void {
    const message: Message = {
      messageId: crypto.randomUUID(),
      role: "ROLE_USER",
      parts: [...parts],
      ...(this.contextId === undefined ? {} : { contextId: this.contextId }),
      ...(taskId === undefined ? {} : { taskId }),
      ...(referenceTaskIds.length === 0 ? {} : { referenceTaskIds: [...referenceTaskIds] }),
    };
    const turn = new ChatTurn(message, this.#knownMessageIds, performance.now());
    this.turns.push(turn);
    this.#scheduleRender();
    const request = { message: message as unknown as JsonObject };
    void this.#follow(turn, (signal) => this.#actions.sendMessage(this.agentId, request, signal));
  }

  /** Subscribes to the task of a turn again, after its last event. */
  resume(turn: ChatTurn): void {
    const { task } = turn;
    if (task === undefined) return;
    void this.#follow(turn, (signal) => this.#actions.subscribe(this.agentId, task.id, turn.lastSeq, signal));
  }

  /** Cancels the task of a turn. Without a task, only the stream ends. */
  stop(turn: ChatTurn): void {
    turn.status = "stopped";
    const { task } = turn;
    if (task === undefined) this.#aborts.get(turn.key)?.abort();
    else void this.#cancel(turn, task.id);
    this.#scheduleRender();
  }

  async #cancel(turn: ChatTurn, taskId: string): Promise<void> {
    try {
      const canceled = await this.#actions.cancelTask(this.agentId, taskId);
      // Some servers leave the stream of a canceled task open, without its last status.
      if (!turn.isTaskOver) turn.addStoredTask(canceled);
    } catch (error) {
      turn.error = formatError(error);
    }
    this.#scheduleRender();
  }

  /** Breaks the connection of a turn's stream, so that the user can watch the client resume the stream. */
  cut(turn: ChatTurn): void {
    if (turn.call === undefined) return;
    this.#actions.cutStream(this.agentId, turn.call).catch((error: unknown) => {
      turn.error = formatError(error);
      this.#scheduleRender();
    });
  }

  async #follow(
    turn: ChatTurn,
    open: (signal: AbortSignal) => AsyncIterable<readonly TrafficLine[]>,
    attempt = 1,
  ): Promise<void> {
    const controller = new AbortController();
    this.#aborts.set(turn.key, controller);
    try {
      for await (const lines of open(controller.signal)) {
        for (const line of lines) turn.addLine(line, performance.now());
        this.contextId = turn.task?.contextId ?? this.contextId;
        if (turn.task) this.observe(this.#linesOfUnknownTasks.splice(0));
        this.#scheduleRender();
      }
      turn.end();
    } catch (error) {
      if (controller.signal.aborted) turn.end();
      else await this.#handleFailure(turn, error, attempt);
    }
    this.#scheduleRender();
  }

  /** The task continues on the server when a connection breaks. Only a lost connection is worth another attempt. */
  async #handleFailure(turn: ChatTurn, error: unknown, attempt: number): Promise<void> {
    const { task } = turn;
    const isConnectionLost =
      !(error instanceof Error && "reason" in error) || error.reason === "CONNECTION_LOST";
    if (task === undefined || turn.isTaskOver || !isConnectionLost || attempt > MAX_RESUME_ATTEMPTS) {
      // Servers refuse a subscription to a task that has ended in the meantime.
      const stored = task && (await this.#source.readTask(this.agentId, task.id).catch(() => undefined));
      if (stored) turn.addStoredTask(stored);
      if (turn.isTaskOver) turn.end();
      else turn.fail(formatError(error));
      return;
    }
    turn.status = "cut";
    turn.error = `The connection to the console is lost. Attempt ${attempt} of ${MAX_RESUME_ATTEMPTS}.`;
    this.#scheduleRender();
    await new Promise((resolve) => setTimeout(resolve, FIRST_RESUME_DELAY_MS * 2 ** (attempt - 1)));
    turn.error = undefined;
    await this.#follow(
      turn,
      (signal) => this.#actions.subscribe(this.agentId, task.id, turn.lastSeq, signal),
      attempt + 1,
    );
  }
}

const conversationsByAgent = new Map<string, Conversation>();

/** Maximum number of tasks of a context that the chat restores. */
const MAX_RESTORED_TASKS = 50;

/**
 * Returns the current conversation with an agent, or the conversation of a context. A context that the page does not
 * know yet has the turns of its stored tasks, once they are read.
 */
export function openConversation(
  agentId: string,
  source: ChatSource,
  contextId: string | undefined,
): Conversation {
  const current = conversationsByAgent.get(agentId);
  if (current && (contextId === undefined || current.contextId === contextId)) return current;
  const conversation = startConversation(agentId, source, contextId);
  if (contextId !== undefined) void conversation.load(readTasksOfContext(agentId, source, contextId));
  return conversation;
}

/** The event log of a task with the reports about it. */
interface StoredTask {
  readonly log: readonly EventLine[];
  readonly reports: readonly ReportLine[];
  /** Names the senders of the messages. */
  readonly model: TrafficModel;
  /** The task as its agent returns it, if the server of the console does not have the log. */
  readonly task?: Task;
}
type EventLine = Extract<TrafficLine, { readonly kind: "event" }>;

function isReport(line: TrafficLine): line is ReportLine {
  return line.kind === "model" || line.kind === "tool" || line.kind === "turn";
}

function formatLineKey({ writer, seq }: TrafficLine): string {
  return `${writer}:${seq}`;
}

async function readTasksOfContext(
  agentId: string,
  source: TrafficSource,
  contextId: string,
): Promise<StoredTask[]> {
  const { tasks } = await source.listTasks({
    agent: agentId,
    context: contextId,
    pageSize: MAX_RESTORED_TASKS,
  });
  const oldestFirst = tasks.toSorted((a, b) =>
    (a.createdAt ?? a.updatedAt) < (b.createdAt ?? b.updatedAt) ? -1 : 1,
  );
  return await Promise.all(oldestFirst.map(({ id }) => readStoredTask(agentId, source, id)));
}

async function readStoredTask(agentId: string, source: TrafficSource, taskId: string): Promise<StoredTask> {
  const log: EventLine[] = [];
  const reports: ReportLine[] = [];
  const model = new TrafficModel(undefined, getConsoleUser(source));
  for await (const lines of source.readLines(agentId, taskId))
    for (const line of lines) {
      model.add(line);
      if (line.kind === "event" && line.task_id === taskId) log.push(line);
      if (isReport(line) && line.task_id === taskId) reports.push(line);
    }
  const isComplete = log[0]?.log_seq === 1;
  return { log, reports, model, ...(!isComplete && { task: await source.readTask(agentId, taskId) }) };
}

/** Starts a new conversation with an agent, in the given context or in a new one. */
export function startConversation(agentId: string, source: ChatSource, contextId?: string): Conversation {
  const conversation = new Conversation(agentId, source);
  conversation.contextId = contextId;
  conversationsByAgent.set(agentId, conversation);
  return conversation;
}
