import { CREDENTIAL_CALL_NAME } from "./credential-request.ts";
import type { AdkEvent, AdkFunctionCall, GenaiContent } from "./types.ts";

/** A function call without a final response, and the event that contains it. */
export interface UnansweredCall {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

export interface CallAwaitingUser extends UnansweredCall {
  /**
   * The call that would stay without a response for the model if the user never answers. It is this call, or
   * the call that this call blocks.
   */
  readonly orphanedCall?: UnansweredCall;
}

/** The unanswered calls in the history of a session. */
export interface UnansweredCalls {
  /** Calls whose tools were running when the run was canceled, failed, or was killed with its process. */
  readonly interrupted: readonly UnansweredCall[];
  /** Calls that still wait for the user. */
  readonly awaitingUser: readonly CallAwaitingUser[];
}

/**
 * Finds the unanswered calls in a session. `message` is the message that is about to be added to the session.
 */
export function findUnansweredCalls(events: readonly AdkEvent[], message?: GenaiContent): UnansweredCalls {
  const calls = new Map<string, UnansweredCall>();
  const answered = new Set<string>();
  const byPerson = new Set<string>();
  for (const event of events) {
    for (const { functionCall: call, functionResponse: response } of event.content?.parts ?? []) {
      if (call?.id !== undefined && event.author !== "user") calls.set(call.id, { event, call });
      if (response?.id === undefined) continue;
      answered.add(response.id);
      if (event.author === "user") byPerson.add(response.id);
    }
  }
  const isOpen = (open: UnansweredCall | undefined): open is UnansweredCall =>
    open?.call.id !== undefined && !answered.has(open.call.id) && isVisibleToModel(open);
  const waits = (id: string, { event }: UnansweredCall): boolean =>
    event.longRunningToolIds?.includes(id) === true && !byPerson.has(id);
  const held = new Set<string>();
  const asked: CallAwaitingUser[] = [];
  const answers = new Set(message?.parts?.map(({ functionResponse }) => functionResponse?.id));
  for (const [id, open] of calls) {
    if (!waits(id, open)) continue;
    const other = findBlockedCallId(open.call);
    if (other !== undefined) held.add(other);
    const leaves = [open, calls.get(other ?? "")].find(isOpen);
    if (!answers.has(id)) asked.push(leaves ? { ...open, orphanedCall: leaves } : open);
  }
  const interrupted = [...calls].flatMap(([id, open]) =>
    isOpen(open) && !open.event.longRunningToolIds?.includes(id) && !held.has(id) ? [open] : [],
  );
  return { interrupted, awaitingUser: asked };
}

/** Returns the id of the tool call that waits for this confirmation or credential request, if any. */
function findBlockedCallId({ name, args }: AdkFunctionCall): string | undefined {
  if (name === "adk_request_confirmation") return (args?.["originalFunctionCall"] as AdkFunctionCall)?.id;
  return name === CREDENTIAL_CALL_NAME ? (args?.["function_call_id"] as string) : undefined;
}

/**
 * Returns true if models see the call in their history. ADK hides its own requests from models, and
 * `RemoteAgent` handles the calls of its peer.
 */
function isVisibleToModel({ call, event: { customMetadata = {} } }: UnansweredCall): boolean {
  if (call.name?.startsWith("adk_request_")) return false;
  return !Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

interface InterruptedResponseContent {
  readonly role: "user";
  readonly parts: { functionResponse: { id: string; name: string; response: { error: string } } }[];
}

/**
 * Builds the error responses for interrupted tool calls. Models reject a history in which a call has no
 * response. If the tool still runs in another turn, its own response arrives later and replaces this one.
 */
export function buildInterruptedResponses(calls: readonly AdkFunctionCall[]): InterruptedResponseContent {
  const error =
    "No result: the call was interrupted, or is still at work. Whether it had its effect is not known.";
  const parts = calls.map(({ id = "", name = "" }) => ({
    functionResponse: { id, name, response: { error } },
  }));
  return { role: "user", parts };
}
