import type { A2AClient, CallOptions } from "../client/index.ts";
import { A2AError, isTerminal, type Message, type Task, type TaskStatus } from "../protocol/index.ts";
import type { TaskView } from "./task-view.ts";

/** The methods of `A2AClient` that a chat calls. */
export interface ChatClient extends Pick<A2AClient, "stream"> {
  readonly tasks: Pick<A2AClient["tasks"], "get" | "list" | "cancel" | "subscribe">;
}

/** Id of the event that the view has applied, or `undefined` if the server sends no event ids. */
export type AppliedEventId = string | undefined;

/** Steps of a turn, one for each applied event. The consumer ends the connection with `return()`. */
export type TurnSteps = AsyncGenerator<AppliedEventId, void, undefined>;

export type TurnCallOptions = Pick<
  CallOptions,
  "signal" | "headers" | "onReconnect" | "onExtensionsActivated"
>;

/**
 * Reads a task from its first event until the end of its latest turn, and yields after each event that the view has
 * applied. The turn also ends when the task waits for its user. At AUTH_REQUIRED, the agent can continue without a
 * message (A2A §7.6.1), so a wait that is already over does not end the steps.
 *
 * The view must be empty, apart from messages of the user. The user's messages come from the history of the
 * task, because a stream contains only the events of the agent.
 */
export async function* replayTask(
  client: ChatClient,
  view: TaskView,
  task: Task,
  call: TurnCallOptions,
): TurnSteps {
  const { id: taskId, history = [] } = task;
  const firstMessage = history.find(({ role }) => role === "ROLE_USER");
  if (firstMessage) view.addUserMessage(firstMessage);
  let eventId: AppliedEventId;
  const onEventId = (id: string): void => void (eventId = id);
  for await (const event of client.tasks.subscribe(taskId, { ...call, after: 0, onEventId })) {
    view.apply(event);
    const isUnanswered = view.isWaiting && !addAnswers(view, history, view.status?.message?.messageId);
    const isWaiting = isUnanswered && (await isCurrentWait(client, view, task, call));
    const hasEnded = view.state !== undefined && isTerminal(view.state);
    // Messages to a working agent have no place between the events.
    if (hasEnded)
      for (const message of history) if (message.role === "ROLE_USER") view.addUserMessage(message);
    yield eventId;
    if (isWaiting || hasEnded) return;
  }
}

/** Returns true if the task still has the status of the view, in which it waits for its user, and has not ended since. */
async function isCurrentWait(
  client: ChatClient,
  view: TaskView,
  task: Task,
  call: TurnCallOptions,
): Promise<boolean> {
  if (isTerminal(task.status.state)) return false;
  // Only a message can continue a task at INPUT_REQUIRED.
  if (!isAtAuthRequired(view) || isSameStatus(view.status, task.status)) return true;
  return isSameStatus(view.status, (await client.tasks.get(task.id, call)).status);
}

/** Returns true if two reads of a task returned the same status. */
function isSameStatus(status: TaskStatus | undefined, other: TaskStatus | undefined): boolean {
  const [id, otherId] = [status, other].map((read) => read?.message?.messageId ?? read?.timestamp);
  return status?.state === other?.state && id === otherId;
}

/** Adds the messages that answer a question. Returns false if the question has no answer. */
function addAnswers(view: TaskView, history: readonly Message[], questionId: string | undefined): boolean {
  const at = history.findIndex(({ messageId }) => messageId === questionId);
  const later =
    questionId === undefined
      ? history
          .filter(({ role, messageId }) => role === "ROLE_USER" && !view.hasMessage(messageId))
          .slice(0, 1)
      : history.slice(at < 0 ? history.length : at + 1);
  const end = later.findIndex(({ role }) => role !== "ROLE_USER");
  const answers = end < 0 ? later : later.slice(0, end);
  for (const answer of answers) view.addUserMessage(answer);
  return answers.length > 0;
}

/**
 * Sends a message of the user, and yields after each event that the view has applied, until the turn ends. If the agent
 * has accepted a message with the same id before, the task is read from its first event. The stream of an agent that
 * waits at AUTH_REQUIRED within its turn stays open, unless `mode` is `ends-at-auth-required`.
 */
export async function* sendTurn(
  client: ChatClient,
  view: TaskView,
  message: Message,
  call: TurnCallOptions,
  mode?: "ends-at-auth-required",
): TurnSteps {
  const { status: initialStatus } = view;
  view.addUserMessage(message);
  let eventId: AppliedEventId;
  let acceptedTask: Task | undefined;
  let isFirst = true;
  for await (const event of client.stream(message, { ...call, onEventId: (id) => void (eventId = id) })) {
    if (isFirst && message.taskId === undefined && "task" in event && hasOutput(event.task)) {
      acceptedTask = event.task;
      break;
    }
    isFirst = false;
    view.apply(event);
    yield eventId;
    // The first event of an answer repeats the status before the answer.
    const isAuthRequired = isAtAuthRequired(view) && !isSameStatus(view.status, initialStatus);
    if (mode && isAuthRequired) return;
  }
  if (acceptedTask) yield* replayTask(client, view, acceptedTask, call);
}

/**
 * Reads a task that waits at AUTH_REQUIRED, because its agent can continue without a message, until the turn ends in
 * another state. The message of another page can also continue the task.
 */
export async function* followWaitingTask(
  client: ChatClient,
  view: TaskView,
  call: TurnCallOptions,
): AsyncGenerator<void, void, undefined> {
  const { taskId = "" } = view;
  for await (const event of client.tasks.subscribe(taskId, call)) {
    const { history = [] } = view.isWaiting && !("task" in event) ? await client.tasks.get(taskId, call) : {};
    if (call.signal?.aborted) return;
    for (const message of history) if (message.role === "ROLE_USER") view.addUserMessage(message);
    view.apply(event);
    yield;
    if (view.hasTurnEnded && !isAtAuthRequired(view)) return;
  }
}

/** Returns true if the task waits for its user, but the agent can continue without a message (A2A §7.6.1). */
export function isAtAuthRequired({ state }: TaskView): boolean {
  return state === "TASK_STATE_AUTH_REQUIRED";
}

function hasOutput({ artifacts = [], history = [], status }: Task): boolean {
  const hasAgentMessage = status.message !== undefined || history.some(({ role }) => role === "ROLE_AGENT");
  return artifacts.length > 0 || hasAgentMessage || isTerminal(status.state);
}

/**
 * Cancels the task of the view when the signal aborts, but not before the first event. The steps continue until the agent
 * has stopped. A task whose turn has ended is not canceled.
 */
export async function* withCancellation(
  client: ChatClient,
  view: TaskView,
  steps: TurnSteps,
  signal: AbortSignal,
): TurnSteps {
  // An answered task has the status before the answer until the agent continues.
  const { status: initialStatus } = view;
  // A cancellation before the first event could overtake the message, which the agent would then refuse.
  let hasEvent = false;
  let isCanceled = false;
  const cancel = (): void => {
    const hasEnded =
      view.hasTurnEnded && !isAtAuthRequired(view) && !isSameStatus(view.status, initialStatus);
    if (!hasEvent || view.taskId === undefined || hasEnded || isCanceled) return;
    isCanceled = true;
    // The steps show whether the agent has stopped.
    void cancelTask(client, view.taskId).catch(() => {});
  };
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for await (const step of steps) {
      hasEvent = true;
      if (signal.aborted) cancel();
      yield step;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/**
 * Lists the newest tasks of a context with their messages and artifacts, newest first. The server limits a page to 100
 * tasks. The list is empty if the agent cannot list tasks, as in A2A 0.3.
 */
export function listTasksOfContext(
  client: ChatClient,
  contextId: string,
  maxTasks: number,
  call: TurnCallOptions = {},
): Promise<readonly Task[]> {
  const pageSize = Math.max(1, Math.min(100, maxTasks));
  return listTasks(client, { contextId, includeArtifacts: true, historyLength: 1_000, pageSize }, call);
}

/** Cancels those of the newest tasks of a context that have not ended, and returns their number. */
export async function cancelTasksOfContext(
  client: ChatClient,
  contextId: string,
  maxTasks: number,
): Promise<number> {
  // The contents of the tasks would only delay the stop.
  const tasks = await listTasks(client, { contextId, historyLength: 0, pageSize: maxTasks }, {});
  const running = tasks.filter(({ status }) => !isTerminal(status.state));
  await Promise.all(running.map(({ id }) => cancelTask(client, id)));
  return running.length;
}

async function listTasks(
  client: ChatClient,
  params: NonNullable<Parameters<ChatClient["tasks"]["list"]>[0]>,
  call: TurnCallOptions,
): Promise<readonly Task[]> {
  try {
    return (await client.tasks.list(params, call)).tasks;
  } catch (error) {
    const reason = error instanceof A2AError ? error.reason : undefined;
    if (reason === "UNSUPPORTED_OPERATION" || reason === "METHOD_NOT_FOUND") return [];
    throw error;
  }
}

/** Cancels a task. A task that has already ended is no error. */
export async function cancelTask(client: ChatClient, taskId: string): Promise<void> {
  try {
    await client.tasks.cancel(taskId);
  } catch (error) {
    const reason = error instanceof A2AError ? error.reason : undefined;
    if (reason !== "TASK_NOT_CANCELABLE" && reason !== "TASK_NOT_FOUND") throw error;
  }
}
