import { CREDENTIAL_CALL_NAME } from "./credential-request.ts";
import type { AdkEvent, AdkFunctionCall, GenaiContent } from "./types.ts";

/** A call without its last answer, and the event in which it stands. */
export interface UnansweredCall {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

export interface CallAwaitingUser extends UnansweredCall {
  /** What a model would have no answer to if the person never answers: this call, or the one that it holds back. */
  readonly orphanedCall?: UnansweredCall;
}

/** What is open in the history of a session. */
export interface UnansweredCalls {
  /** Their tools were at work when the run ended: it was cancelled, or failed, or its process was killed. */
  readonly interrupted: readonly UnansweredCall[];
  /** A person has not answered them yet. */
  readonly awaitingUser: readonly CallAwaitingUser[];
}

/** `message`: what is about to be added to the history. */
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

/** The call that is made only once a person has confirmed it, or has signed in: the id of it, when this asks for that. */
function findBlockedCallId({ name, args }: AdkFunctionCall): string | undefined {
  if (name === "adk_request_confirmation") return (args?.["originalFunctionCall"] as AdkFunctionCall)?.id;
  return name === CREDENTIAL_CALL_NAME ? (args?.["function_call_id"] as string) : undefined;
}

/** ADK leaves what it asks itself out of what models are told; what a peer asks is the business of its stand-in. */
function isVisibleToModel({ call, event: { customMetadata = {} } }: UnansweredCall): boolean {
  if (call.name?.startsWith("adk_request_")) return false;
  return !Object.keys(customMetadata).some((key) => key.startsWith("a2a:"));
}

interface InterruptedResponseContent {
  readonly role: "user";
  readonly parts: { functionResponse: { id: string; name: string; response: { error: string } } }[];
}

/**
 * What is answered in the place of tools that were interrupted. A model takes no history in which a call has no answer.
 * Should the tool be at work after all, in another turn of the context, its own answer counts: it comes later.
 */
export function buildInterruptedResponses(calls: readonly AdkFunctionCall[]): InterruptedResponseContent {
  const error =
    "No result: the call was interrupted, or is still at work. Whether it had its effect is not known.";
  const parts = calls.map(({ id = "", name = "" }) => ({
    functionResponse: { id, name, response: { error } },
  }));
  return { role: "user", parts };
}
