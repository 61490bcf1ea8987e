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

/** A message from a session to a remote agent. If `parts` is empty, no request is sent. */
export interface OutgoingMessage {
  readonly parts: readonly Part[];
  /** Context id of this session at the peer. */
  readonly contextId?: string;
  /** Task of the peer whose question this message answers. */
  readonly taskId?: string;
}

export interface OutgoingMessageOptions {
  /** Name of the local agent that represents the peer. */
  readonly name: string;
  /** Branch in which the local agent runs. Events of unrelated branches are not sent. */
  readonly branch?: string | undefined;
  /** Converts an outgoing part. Return `undefined` to drop the part. Default: `toA2aPart`. */
  readonly toA2aPart?: ((part: GenaiPart) => Part | undefined) | undefined;
}

/** A function call of the remote agent, and the event that contains it. */
interface RemoteAgentCall {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

/** An outgoing part. `recipient` is the event whose call this part answers. */
interface OutgoingPart {
  readonly part: Part;
  readonly recipient?: AdkEvent | undefined;
}

/**
 * Collects the messages that a remote agent has not received yet: all events since its last output, and
 * answers that were not delivered.
 *
 * An answer to a call goes to the task that made the call. After a question without a call, the next user
 * message is the answer. Events of other agents are sent as context. The result contains several messages
 * only if the user has answered several tasks.
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

/**
 * Returns answers whose task has produced no output since. When several answers were sent at once, some of
 * them may not have arrived.
 */
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

/** Converts a response to a placeholder call: its text if the response is one string, otherwise its data. */
function toPlainPart({ response = {} }: AdkFunctionResponse): Part {
  const [value, ...others] = Object.values(response);
  return typeof value === "string" && others.length === 0
    ? { text: value }
    : { data: toJsonObject(response) };
}

/** Returns the calls that can be answered, by id. */
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

/** Returns true if the last task of the peer waits for input other than a call response. */
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

/** Returns true if an event belongs to the agent's branch or to one of its parent branches. */
function isVisibleFromBranch(branch: string | undefined, event: AdkEvent): boolean {
  if (!branch || !event.branch) return true;
  return branch === event.branch || branch.startsWith(`${event.branch}.`);
}
