import type { Part } from "../../protocol/index.ts";
import { toA2aPart, toJsonObject } from "../parts.ts";
import { PLACEHOLDER_CALLS } from "../session-event.ts";
import type { AdkEvent, AdkFunctionCall, AdkFunctionResponse, GenaiPart } from "../types.ts";
import { renderToolAnswer, renderContextParts } from "./context-parts.ts";
import {
  CONTEXT_ID_KEY,
  isAnswerFrom,
  TASK_STATE_KEY,
  TASK_ID_KEY,
  getCustomMetadataText,
} from "./custom-metadata.ts";

/** What a remote agent is told of a session: nothing when `parts` is empty. */
export interface OutgoingMessage {
  readonly parts: readonly Part[];
  /** The conversation that the remote agent knows this session by. */
  readonly contextId?: string;
  /** The task that has asked for what is answered here. */
  readonly taskId?: string;
}

export interface OutgoingMessageOptions {
  /** The agent that stands for the remote one in the session. */
  readonly name: string;
  /** Where it runs; what other branches say is not for it. */
  readonly branch?: string | undefined;
  /** Undefined drops the part. Default: `toA2aPart`. */
  readonly toA2aPart?: ((part: GenaiPart) => Part | undefined) | undefined;
}

/** A call of the remote agent's, with the event in which it stands. */
interface RemoteAgentCall {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

/** Something to be told: to whoever made a call, when it answers one. */
interface OutgoingPart {
  readonly part: Part;
  readonly recipient?: AdkEvent | undefined;
}

/**
 * What of a session is new to a remote agent: everything since it spoke last, and answers that it has not heard yet. An answer to what it asked goes to the
 * task that asked; to a question in words, whatever is said next is the answer. What other agents said is told as
 * context. Several messages only when the user has answered several tasks at once.
 */
export function toOutgoingMessages(
  events: readonly AdkEvent[],
  options: OutgoingMessageOptions,
): [OutgoingMessage, ...OutgoingMessage[]] {
  const seen = events.filter((event) => !event.partial && isVisibleFromBranch(options.branch, event));
  const own = seen.filter((event) => isAnswerFrom(options.name, event));
  const calls = collectAnswerableCalls(own);
  const at = seen.findLastIndex((event) => event === own.at(-1)) + 1;
  const fresh = seen.slice(at);
  const told = [...findUndeliveredAnswers(seen.slice(0, at), calls), ...fresh].flatMap((event) =>
    toOutgoingParts(event, calls, seen, options),
  );

  const askers = new Map(
    told.flatMap(({ recipient: to }) => (to ? [[getCustomMetadataText(TASK_ID_KEY, to), to]] : [])),
  );
  const [
    first = isAwaitingTextAnswer(own, seen, calls) && fresh.some(hasText) ? own.at(-1) : undefined,
    ...others
  ] = askers.values();
  const partsTo = (asker: AdkEvent | undefined): Part[] =>
    told.flatMap(({ part, recipient: to = first }) => (isSameTask(to, asker) ? [part] : []));
  const context = own.findLast((event) => getCustomMetadataText(CONTEXT_ID_KEY, event) !== undefined);
  const message = (asker: AdkEvent | undefined): OutgoingMessage => {
    const taskId = asker && getCustomMetadataText(TASK_ID_KEY, asker);
    const contextId =
      getCustomMetadataText(CONTEXT_ID_KEY, asker ?? {}) ??
      getCustomMetadataText(CONTEXT_ID_KEY, context ?? {});
    return { parts: partsTo(asker), ...(contextId && { contextId }), ...(taskId && { taskId }) };
  };
  return [message(first), ...others.map(message)];
}

/** Answers for tasks that have said nothing since: when several were sent at once, some may have arrived and others not. */
function findUndeliveredAnswers(
  before: readonly AdkEvent[],
  calls: ReadonlyMap<string, RemoteAgentCall>,
): AdkEvent[] {
  const saidSince = new Set<string | undefined>();
  const found: AdkEvent[] = [];
  for (const event of before.toReversed()) {
    if (event.author !== "user") saidSince.add(getCustomMetadataText(TASK_ID_KEY, event));
    const parts = event.content?.parts?.filter(({ functionResponse }) => {
      const asked = event.author === "user" ? calls.get(functionResponse?.id ?? "") : undefined;
      return asked && !saidSince.has(getCustomMetadataText(TASK_ID_KEY, asked.event));
    });
    if (parts?.length) found.unshift({ ...event, content: { parts } });
  }
  return found;
}

function toOutgoingParts(
  event: AdkEvent,
  calls: ReadonlyMap<string, RemoteAgentCall>,
  seen: readonly AdkEvent[],
  { toA2aPart: convert = (part) => toA2aPart(part) }: OutgoingMessageOptions,
): OutgoingPart[] {
  const told = (part: GenaiPart | undefined, to?: AdkEvent): OutgoingPart[] => {
    const converted = part && convert(part);
    return converted ? [{ part: converted, recipient: to }] : [];
  };
  if (event.author !== "user") return renderContextParts(event).flatMap((part) => told(part));
  return (event.content?.parts ?? []).flatMap((part): OutgoingPart[] => {
    const { functionResponse: answer } = part;
    if (!answer) return told(part);
    const asked = calls.get(answer.id ?? "");
    if (!asked) {
      const name = answer.name ?? findCallById(answer.id, seen)?.name ?? "";
      return told(renderToolAnswer({ ...answer, name }));
    }
    const { name = "" } = asked.call;
    if (PLACEHOLDER_CALL_NAMES.has(name)) return [{ part: toPlainPart(answer), recipient: asked.event }];
    return told({ functionResponse: { ...answer, name } }, asked.event);
  });
}

const PLACEHOLDER_CALL_NAMES: ReadonlySet<string | undefined> = new Set(
  Object.values(PLACEHOLDER_CALLS).map(({ name }) => name),
);

/** An answer without the call that it answers: its text where it is one, its data otherwise. */
function toPlainPart({ response = {} }: AdkFunctionResponse): Part {
  const [value, ...others] = Object.values(response);
  return typeof value === "string" && others.length === 0
    ? { text: value }
    : { data: toJsonObject(response) };
}

/** The calls that can be answered, by their ids. */
function collectAnswerableCalls(own: readonly AdkEvent[]): Map<string, RemoteAgentCall> {
  const calls = new Map<string, RemoteAgentCall>();
  for (const event of own) {
    if (getCustomMetadataText(TASK_ID_KEY, event) === undefined) continue;
    for (const call of extractFunctionCalls(event)) if (call.id) calls.set(call.id, { event, call });
  }
  return calls;
}

function extractFunctionCalls({ content }: AdkEvent): AdkFunctionCall[] {
  return (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
}

function findCallById(id: string | undefined, events: readonly AdkEvent[]): AdkFunctionCall | undefined {
  return id === undefined ? undefined : events.flatMap(extractFunctionCalls).find((call) => call.id === id);
}

/** True when the task of what was said last waits, but for the answer to no call. */
function isAwaitingTextAnswer(
  own: readonly AdkEvent[],
  seen: readonly AdkEvent[],
  calls: ReadonlyMap<string, RemoteAgentCall>,
): boolean {
  const last = own.at(-1);
  const isWaiting =
    last && (getCustomMetadataText(TASK_STATE_KEY, last) !== undefined || last.longRunningToolIds?.length);
  if (!isWaiting) return false;
  const ids = own.flatMap((event) => (isSameTask(event, last) ? (event.longRunningToolIds ?? []) : []));
  const answered = new Set(
    seen.flatMap((event) => (event.author === "user" ? extractAnsweredCallIds(event) : [])),
  );
  return ids.every((id) => answered.has(id) || PLACEHOLDER_CALL_NAMES.has(calls.get(id)?.call.name));
}

function extractAnsweredCallIds({ content }: AdkEvent): string[] {
  return (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.id ?? []);
}

function hasText({ content }: AdkEvent): boolean {
  return content?.parts?.some(({ text, thought }) => text && !thought) ?? false;
}

function isSameTask(one: AdkEvent | undefined, other: AdkEvent | undefined): boolean {
  return (
    one === other ||
    Boolean(
      one && other && getCustomMetadataText(TASK_ID_KEY, one) === getCustomMetadataText(TASK_ID_KEY, other),
    )
  );
}

/** An agent sees what was said in its own branch and in those that lead to it. */
function isVisibleFromBranch(branch: string | undefined, event: AdkEvent): boolean {
  if (!branch || !event.branch) return true;
  return branch === event.branch || branch.startsWith(`${event.branch}.`);
}
