import type { Part } from "../../../protocol/index.ts";
import type {
  AdkEvent,
  AdkFunctionCall,
  AdkFunctionResponse,
  GenaiPart,
  SessionFunctionCall,
} from "../adk-structural-types.ts";
import { toA2aPart, toJsonObject } from "../part-conversion.ts";
import { isReservedCallName } from "../reserved-calls.ts";
import { PLACEHOLDER_CALLS_BY_TASK_STATE } from "../to-session-event.ts";
import {
  getCustomMetadataText,
  isPeerOutputEvent,
  PEER_CONTEXT_ID_METADATA_KEY,
  PEER_TASK_ID_METADATA_KEY,
  PEER_TASK_STATE_METADATA_KEY,
} from "./event-custom-metadata.ts";

/** A message from a session to a remote agent. If `parts` is empty, `RemoteAgent` sends no request. */
export interface OutgoingMessage {
  readonly parts: readonly Part[];
  /** Context id that the peer uses for the session. */
  readonly contextId?: string;
  /** Id of the peer's task that the message answers. */
  readonly taskId?: string;
}

export interface OutgoingMessageOptions {
  /** Name of the local agent that represents the peer. */
  readonly name: string;
  /** ADK branch of the local agent. Events of unrelated branches are not sent to the peer. */
  readonly branch?: string | undefined;
  /**
   * Converts a part before it is sent to the peer. If the converter returns `undefined`, the part is dropped.
   * Default: `toA2aPart`.
   */
  readonly toA2aPart?: ((part: GenaiPart) => Part | undefined) | undefined;
}

/** An outgoing part. If the part answers a call, `recipient` is the event that contains the call. */
interface OutgoingPartWithRecipient {
  readonly part: Part;
  readonly recipient?: AdkEvent | undefined;
}

/**
 * Returns the undelivered messages for a remote agent. The result contains all events since the agent's
 * last output, and undelivered answers.
 *
 * The answer to a call goes to the task that made the call. If the peer asks a question without a call, the
 * next user message is the answer. Events of other agents are sent to the peer as context. The result
 * contains several messages only if the user has answered several tasks.
 */
export function sessionEventsToOutgoingMessages(
  events: readonly AdkEvent[],
  options: OutgoingMessageOptions,
): [OutgoingMessage, ...OutgoingMessage[]] {
  const visible = events.filter((event) => !event.partial && isVisibleFromBranch(options.branch, event));
  const own = visible.filter((event) => isPeerOutputEvent(options.name, event));
  const calls = collectAnswerableCalls(own);
  const freshStart = visible.findLastIndex((event) => event === own.at(-1)) + 1;
  const fresh = visible.slice(freshStart);
  const outgoing = [...findUndeliveredAnswers(visible.slice(0, freshStart), calls), ...fresh].flatMap(
    (event) => eventToOutgoingParts(event, calls, visible, options),
  );

  const recipients = new Map(
    outgoing.flatMap(({ recipient }) =>
      recipient ? [[getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, recipient), recipient]] : [],
    ),
  );
  const [
    first = isAwaitingTextAnswer(own, visible, calls) && fresh.some(hasText) ? own.at(-1) : undefined,
    ...others
  ] = recipients.values();
  const listPartsFor = (target: AdkEvent | undefined): Part[] =>
    outgoing.flatMap(({ part, recipient = first }) => (isSameTask(recipient, target) ? [part] : []));
  const contextEvent = own.findLast(
    (event) => getCustomMetadataText(PEER_CONTEXT_ID_METADATA_KEY, event) !== undefined,
  );
  const createMessage = (recipient: AdkEvent | undefined): OutgoingMessage => {
    const taskId = recipient && getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, recipient);
    const contextId =
      getCustomMetadataText(PEER_CONTEXT_ID_METADATA_KEY, recipient ?? {}) ??
      getCustomMetadataText(PEER_CONTEXT_ID_METADATA_KEY, contextEvent ?? {});
    return { parts: listPartsFor(recipient), ...(contextId && { contextId }), ...(taskId && { taskId }) };
  };
  return [createMessage(first), ...others.map(createMessage)];
}

/**
 * Returns each answer whose task has produced no output after the answer. If several answers were sent at
 * once, the peer may not have received all answers.
 */
function findUndeliveredAnswers(
  before: readonly AdkEvent[],
  calls: ReadonlyMap<string, SessionFunctionCall>,
): AdkEvent[] {
  const answeredTaskIds = new Set<string | undefined>();
  const undelivered: AdkEvent[] = [];
  for (const event of before.toReversed()) {
    if (event.author !== "user") answeredTaskIds.add(getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, event));
    const parts = event.content?.parts?.filter(({ functionResponse }) => {
      const call = event.author === "user" ? calls.get(functionResponse?.id ?? "") : undefined;
      return call && !answeredTaskIds.has(getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, call.event));
    });
    if (parts?.length) undelivered.unshift({ ...event, content: { parts } });
  }
  return undelivered;
}

function eventToOutgoingParts(
  event: AdkEvent,
  calls: ReadonlyMap<string, SessionFunctionCall>,
  visible: readonly AdkEvent[],
  { toA2aPart: convert = (part) => toA2aPart(part) }: OutgoingMessageOptions,
): OutgoingPartWithRecipient[] {
  const convertPart = (part: GenaiPart | undefined, recipient?: AdkEvent): OutgoingPartWithRecipient[] => {
    const converted = part && convert(part);
    return converted ? [{ part: converted, recipient }] : [];
  };
  if (event.author !== "user") return renderEventAsContextParts(event).flatMap((part) => convertPart(part));
  return (event.content?.parts ?? []).flatMap((part): OutgoingPartWithRecipient[] => {
    const { functionResponse: response } = part;
    if (!response) return convertPart(part);
    const sessionCall = calls.get(response.id ?? "");
    if (!sessionCall) {
      const name = response.name ?? findCallById(response.id, visible)?.name ?? "";
      return convertPart(renderFunctionResponseAsText({ ...response, name }));
    }
    const { name = "" } = sessionCall.call;
    if (PLACEHOLDER_CALL_NAMES.has(name))
      return [{ part: placeholderResponseToPart(response), recipient: sessionCall.event }];
    return convertPart({ functionResponse: { ...response, name } }, sessionCall.event);
  });
}

const PLACEHOLDER_CALL_NAMES: ReadonlySet<string | undefined> = new Set(
  Object.values(PLACEHOLDER_CALLS_BY_TASK_STATE).map(({ name }) => name),
);

/**
 * Converts the response to a placeholder call. A response with a single string becomes text, and any other
 * response becomes data.
 */
function placeholderResponseToPart({ response = {} }: AdkFunctionResponse): Part {
  const [value, ...others] = Object.values(response);
  return typeof value === "string" && others.length === 0
    ? { text: value }
    : { data: toJsonObject(response) };
}

/** Returns the calls that a user can answer, by call id. */
function collectAnswerableCalls(own: readonly AdkEvent[]): Map<string, SessionFunctionCall> {
  const calls = new Map<string, SessionFunctionCall>();
  for (const event of own) {
    if (getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, event) === undefined) continue;
    for (const call of extractEventFunctionCalls(event)) if (call.id) calls.set(call.id, { event, call });
  }
  return calls;
}

function extractEventFunctionCalls({ content }: AdkEvent): AdkFunctionCall[] {
  return (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
}

function findCallById(id: string | undefined, events: readonly AdkEvent[]): AdkFunctionCall | undefined {
  return id === undefined
    ? undefined
    : events.flatMap(extractEventFunctionCalls).find((call) => call.id === id);
}

/** Returns true if the peer's last task waits for input other than a response to a call. */
function isAwaitingTextAnswer(
  own: readonly AdkEvent[],
  visible: readonly AdkEvent[],
  calls: ReadonlyMap<string, SessionFunctionCall>,
): boolean {
  const last = own.at(-1);
  const isWaiting =
    last &&
    (getCustomMetadataText(PEER_TASK_STATE_METADATA_KEY, last) !== undefined ||
      last.longRunningToolIds?.length);
  if (!isWaiting) return false;
  const ids = own.flatMap((event) => (isSameTask(event, last) ? (event.longRunningToolIds ?? []) : []));
  const answered = new Set(
    visible.flatMap((event) => (event.author === "user" ? extractAnsweredCallIds(event) : [])),
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
      one &&
      other &&
      getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, one) ===
        getCustomMetadataText(PEER_TASK_ID_METADATA_KEY, other),
    )
  );
}

/** Returns true if an event belongs to the agent's branch or to a parent branch. */
function isVisibleFromBranch(branch: string | undefined, event: AdkEvent): boolean {
  if (!branch || !event.branch) return true;
  return branch === event.branch || branch.startsWith(`${event.branch}.`);
}

/**
 * Converts an event of another agent to message parts that the peer receives as context. The converted
 * text and calls are quoted as text under a heading. The conversion keeps files, code, and code results
 * unchanged, and omits thoughts.
 */
export function renderEventAsContextParts({ author = "agent", content }: AdkEvent): GenaiPart[] {
  const rendered = (content?.parts ?? []).flatMap((part) => renderContextPart(author, part) ?? []);
  return rendered.length > 0 ? [{ text: "For context:" }, ...rendered] : [];
}

function renderContextPart(author: string, part: GenaiPart): GenaiPart | undefined {
  const { text, thought, functionCall: call, functionResponse: response } = part;
  if (thought || text === "" || isCallHiddenFromPeers((call ?? response)?.name)) return undefined;
  if (text !== undefined) return { text: `[${author}] said: ${text}` };
  if (call) {
    return {
      text: `[${author}] called tool ${call.name ?? ""} with parameters: ${formatCallPayloadAsJson(call.args)}`,
    };
  }
  if (!response) return part;
  return {
    text: `[${author}] ${response.name ?? ""} tool returned result: ${formatCallPayloadAsJson(response.response)}`,
  };
}

/** Converts a user's response to text for a peer that did not make the corresponding call. */
function renderFunctionResponseAsText({ name = "", response }: AdkFunctionResponse): GenaiPart | undefined {
  return isCallHiddenFromPeers(name)
    ? undefined
    : { text: `Tool ${name} returned: ${formatCallPayloadAsJson(response)}` };
}

/**
 * Returns true for calls that must not be sent to peers. The function returns true for agent transfers and
 * for ADK's requests to the user, which may contain credentials.
 */
function isCallHiddenFromPeers(name: string | undefined): boolean {
  return name === "transfer_to_agent" || isReservedCallName(name);
}

function formatCallPayloadAsJson(value: object | undefined): string {
  return JSON.stringify(value ?? {});
}
