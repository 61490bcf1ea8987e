import type { AgentEvent } from "../engine/index.ts";
import { isInterrupted, type Message, type Part, type Task, type TaskState } from "../protocol/index.ts";
import { REQUEST_CREDENTIAL } from "./credential-request.ts";
import { isObject, metadataKey } from "./metadata.ts";
import { functionCall, functionResponse, longRunningCall, toA2aParts } from "./parts.ts";
import type { AdkFunctionResponse, GenaiPart } from "./types.ts";

/** Calls that ADK itself makes to ask its user for something. */
const REQUEST_CONFIRMATION = "adk_request_confirmation";
const RESERVED = "adk_request_";

const VALIDATION = "validation_error";
const TYPE = metadataKey("type");

/** Collects the calls of a run that wait for an answer from outside, with their interim responses. */
export class PendingCalls {
  /** Made when there is one: most runs have none. */
  #ids: Set<string> | undefined;
  readonly #calls = new Map<string, GenaiPart>();
  readonly #responses = new Map<string, GenaiPart>();

  announce(ids: readonly string[] = []): void {
    for (const id of ids) (this.#ids ??= new Set()).add(id);
  }

  /** True when a part may belong to one of them. */
  get announced(): boolean {
    return this.#ids !== undefined;
  }

  /** Takes a part that belongs to such a call: each id counts once. A response is known by the id of its call. */
  take(part: GenaiPart): boolean {
    const id = part.functionCall?.id ?? part.functionResponse?.id;
    if (id === undefined || !this.#ids?.has(id)) return false;
    (part.functionCall ? this.#calls : this.#responses).set(id, part);
    return true;
  }

  /** What the task has to say of them, or undefined when there are none. */
  status():
    | {
        state: "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED";
        message: { parts: Part[]; referenceTaskIds?: string[] };
      }
    | undefined {
    if (this.#calls.size === 0) return undefined;
    const parts: GenaiPart[] = [];
    for (const [id, call] of this.#calls) {
      parts.push(call);
      const response = this.#responses.get(id);
      if (response) parts.push(response);
    }
    const auth = [...this.#calls.values()].some((part) => part.functionCall?.name === REQUEST_CREDENTIAL);
    return {
      state: auth ? "TASK_STATE_AUTH_REQUIRED" : "TASK_STATE_INPUT_REQUIRED",
      message: { parts: toA2aParts(parts, () => true) },
    };
  }
}

/** A message that the agent may be given, or what the task says instead. */
export type Admission = { parts: Part[] } | { refused: AgentEvent };

/**
 * Holds a message against the calls that its task waits for: every one must be answered, and nothing may be answered
 * that was not asked. A peer may confirm a tool call in the user's place only where the agent's owner allows it.
 */
export function admit(message: Message, task: Task, allowRemoteToolConfirmation: boolean): Admission {
  const waiting = questionOf(task)?.parts ?? [];
  const isPlain = waiting.length === 0 && message.parts.every(({ metadata }) => metadata === undefined);
  if (isPlain) return { parts: message.parts };
  const forged = message.parts.find((part) => functionCall(part)?.name?.startsWith(RESERVED));
  if (forged) return reject("A message may not contain function calls that only the agent itself can make.");
  const calls = new Map(
    waiting.flatMap((part) => {
      const call = longRunningCall(part);
      return call?.id === undefined ? [] : [[call.id, call] as const];
    }),
  );

  const problems: string[] = [];
  const answered = new Set<string>();
  const parts = message.parts.map((part) => {
    const response = functionResponse(part) ?? plainAnswer(part, calls);
    if (!response) return part;
    const { id = "", name } = response;
    const call = calls.get(id);
    if (!call) problems.push(`no function call ID "${id}" waits for an answer`);
    else if (name !== undefined && name !== call.name) {
      problems.push(`function call ID "${id}" is of "${call.name}", not of "${name}"`);
    } else if (call.name === REQUEST_CONFIRMATION && !allowRemoteToolConfirmation) {
      problems.push(
        `confirmation_not_allowed: function call ID "${id}" can only be confirmed where the agent runs`,
      );
    }
    answered.add(id);
    const data = { response: {}, ...response, name: call?.name ?? name ?? "" };
    return { ...part, data, metadata: { ...part.metadata, [TYPE]: "function_response" } } as Part;
  });
  for (const id of calls.keys()) {
    if (!answered.has(id)) problems.push(`no input provided for function call ID "${id}"`);
  }
  if (problems.length === 0) return { parts };
  if (calls.size === 0) return reject(problems.join("; "));
  return { refused: { status: stillWaiting(task.status.state as WaitingState, waiting, problems) } };
}

/** People and clients that know nothing of ADK answer with data alone: the id of a call that waits, and a response. */
function plainAnswer(part: Part, calls: ReadonlyMap<string, unknown>): AdkFunctionResponse | undefined {
  if (!("data" in part) || part.metadata?.[TYPE] !== undefined || !isObject(part.data)) return undefined;
  const { id, response } = part.data;
  if (typeof id !== "string" || !calls.has(id) || !isObject(response)) return undefined;
  return { id, response };
}

/** What an interrupted task asked last. A message that answers it has moved it from the status into the history. */
function questionOf({ status, history }: Task): Message | undefined {
  if (!isInterrupted(status.state)) return undefined;
  return status.message ?? history?.findLast(({ role }) => role === "ROLE_AGENT");
}

type WaitingState = Extract<TaskState, "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED">;

/** The same request again, with what was wrong about the answer; what was wrong about earlier ones is left out. */
function stillWaiting(
  state: WaitingState,
  waiting: readonly Part[],
  problems: readonly string[],
): { state: WaitingState; message: { parts: Part[] } } {
  const kept = waiting.filter((part) => part.metadata?.[VALIDATION] !== true);
  const said = problems.map((text): Part => ({ text, metadata: { [VALIDATION]: true } }));
  return { state, message: { parts: [...kept, ...said] } };
}

function reject(text: string): Admission {
  const parts: Part[] = [{ text, metadata: { [metadataKey("is_error_message")]: true } }];
  return { refused: { status: { state: "TASK_STATE_REJECTED", message: { parts } } } };
}
