import { CONFIRMATION_CALL_NAME, CREDENTIAL_CALL_NAME, isReservedCallName } from "./reserved-calls.ts";
import type { AdkEvent, AdkFunctionCall, GenaiContent, SessionFunctionCall } from "./adk-structural-types.ts";

export interface CallAwaitingUser extends SessionFunctionCall {
  /**
   * The unanswered call, which is either the request to the user or the tool call that the request blocks.
   */
  readonly orphanedCall?: SessionFunctionCall;
}

/** The unanswered calls in the history of a session. */
export interface UnansweredCalls {
  /** Calls to tools that were running when the run ended, for example because the task was canceled. */
  readonly interrupted: readonly SessionFunctionCall[];
  /** Calls that still wait for a response from the user. */
  readonly awaitingUser: readonly CallAwaitingUser[];
}

const NO_UNANSWERED_CALLS: UnansweredCalls = { interrupted: [], awaitingUser: [] };

function hasFunctionCallOrResponse({ content }: AdkEvent): boolean {
  return content?.parts?.some((part) => part.functionCall ?? part.functionResponse) ?? false;
}

/**
 * Returns the unanswered calls in a session. The parameter `message` is the message that the bridge is
 * about to add to the session.
 */
export function findUnansweredCalls(events: readonly AdkEvent[], message?: GenaiContent): UnansweredCalls {
  if (!events.some(hasFunctionCallOrResponse)) return NO_UNANSWERED_CALLS;
  const calls = new Map<string, SessionFunctionCall>();
  const answered = new Set<string>();
  const answeredByUser = new Set<string>();
  for (const event of events) {
    for (const { functionCall: call, functionResponse: response } of event.content?.parts ?? []) {
      if (call?.id !== undefined && event.author !== "user") calls.set(call.id, { event, call });
      if (response?.id === undefined) continue;
      answered.add(response.id);
      if (event.author === "user") answeredByUser.add(response.id);
    }
  }
  const isUnanswered = (candidate: SessionFunctionCall | undefined): candidate is SessionFunctionCall =>
    candidate?.call.id !== undefined && !answered.has(candidate.call.id) && isCallVisibleToModel(candidate);
  const isAwaitingUser = (id: string, { event }: SessionFunctionCall): boolean =>
    event.longRunningToolIds?.includes(id) === true && !answeredByUser.has(id);
  const blockedCallIds = new Set<string>();
  const awaitingUser: CallAwaitingUser[] = [];
  const answeredNow = new Set(message?.parts?.map(({ functionResponse }) => functionResponse?.id));
  for (const [id, candidate] of calls) {
    if (!isAwaitingUser(id, candidate)) continue;
    const blockedCallId = findCallIdBlockedByRequest(candidate.call);
    if (blockedCallId !== undefined) blockedCallIds.add(blockedCallId);
    const orphanedCall = [candidate, calls.get(blockedCallId ?? "")].find(isUnanswered);
    if (!answeredNow.has(id)) awaitingUser.push(orphanedCall ? { ...candidate, orphanedCall } : candidate);
  }
  const interrupted = [...calls].flatMap(([id, candidate]) =>
    isUnanswered(candidate) && !candidate.event.longRunningToolIds?.includes(id) && !blockedCallIds.has(id)
      ? [candidate]
      : [],
  );
  return { interrupted, awaitingUser };
}

/**
 * Returns the id of the tool call that a confirmation or credential request blocks, if any.
 */
function findCallIdBlockedByRequest({ name, args }: AdkFunctionCall): string | undefined {
  if (name === CONFIRMATION_CALL_NAME) return (args?.["originalFunctionCall"] as AdkFunctionCall)?.id;
  return name === CREDENTIAL_CALL_NAME ? (args?.["function_call_id"] as string) : undefined;
}

/**
 * Returns true if models see the call in their conversation history. ADK hides its own requests from
 * models, and `RemoteAgent` handles the calls of its peer.
 */
function isCallVisibleToModel({ call, event: { customMetadata = {} } }: SessionFunctionCall): boolean {
  if (isReservedCallName(call.name)) return false;
  return !Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

interface InterruptedCallResponseContent {
  readonly role: "user";
  readonly parts: { functionResponse: { id: string; name: string; response: { error: string } } }[];
}

/**
 * Returns error responses for interrupted tool calls. Models reject a conversation history in which a call
 * has no response. If the tool still runs in another turn, the later response of the tool replaces the error
 * response.
 */
export function buildInterruptedCallResponses(
  calls: readonly AdkFunctionCall[],
): InterruptedCallResponseContent {
  const error =
    "No result: the call was interrupted or is still running. It is unknown whether it took effect.";
  const parts = calls.map(({ id = "", name = "" }) => ({
    functionResponse: { id, name, response: { error } },
  }));
  return { role: "user", parts };
}
