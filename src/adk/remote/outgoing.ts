import type { JsonObject, Part } from "../../protocol/index.ts";
import { a2aKey } from "../metadata.ts";
import { toA2aParts } from "../parts.ts";
import { MOCK_CALLS } from "../session-event.ts";
import type { AdkEvent, AdkFunctionResponse, GenaiPart } from "../types.ts";

/** What a remote agent is told of a session: nothing when `parts` is empty. */
export interface Outgoing {
  readonly parts: Part[];
  /** The conversation that the remote agent knows this session by. */
  readonly contextId?: string;
  /** The task that has asked for what is answered here. */
  readonly taskId?: string;
}

const MOCK_NAMES: ReadonlySet<string> = new Set(Object.values(MOCK_CALLS).map(({ name }) => name));
/** Calls between ADK and its user, which are nobody else's business; credentials are among them. */
const RESERVED = "adk_request_";

/**
 * What of a session is new to the remote agent that stands in it under that name: everything since it spoke last. An
 * answer to what it asked goes to the task that asked; what other agents said is told as context, without their
 * thoughts. `branch`: where the agent runs; what other branches say is not for it.
 */
export function toOutgoing(events: readonly AdkEvent[], name: string, branch?: string): Outgoing {
  const own = events.findLastIndex((event) => event.author === name && !event.partial);
  const fresh = events.slice(own + 1).filter((event) => !event.partial && isSeenFrom(branch, event));
  const calls = callsOf(events.slice(0, own + 1), name);
  for (const event of fresh) {
    if (event.author !== "user") continue;
    const answered = responsesIn(event).find(({ id }) => id !== undefined && calls.has(id));
    const call = answered?.id === undefined ? undefined : calls.get(answered.id);
    if (call) return { ...call.place, parts: answersIn(event, calls) };
  }
  const parts = fresh.flatMap((event) => {
    const said = event.author === "user" ? ofUser(event) : ofAnother(event);
    return toA2aParts(said);
  });
  const context = events.findLast(
    (event) => event.author === name && idIn(event, "context_id") !== undefined,
  );
  const contextId = context && idIn(context, "context_id");
  return { parts, ...(contextId !== undefined && { contextId }) };
}

interface Call {
  readonly name: string;
  readonly place: { readonly taskId?: string; readonly contextId?: string };
}

/** What the remote agent has asked in this session, by the ids of its calls. */
function callsOf(events: readonly AdkEvent[], name: string): Map<string, Call> {
  const calls = new Map<string, Call>();
  for (const event of events) {
    if (event.author !== name) continue;
    const [taskId, contextId] = [idIn(event, "task_id"), idIn(event, "context_id")];
    if (taskId === undefined) continue;
    const place = { taskId, ...(contextId !== undefined && { contextId }) };
    for (const { functionCall } of event.content?.parts ?? []) {
      if (functionCall?.id !== undefined)
        calls.set(functionCall.id, { name: functionCall.name ?? "", place });
    }
  }
  return calls;
}

/** What the user answers: as it is to peers that made a call, in plain parts to those that only asked. */
function answersIn(event: AdkEvent, calls: ReadonlyMap<string, Call>): Part[] {
  return (event.content?.parts ?? []).flatMap((part): Part[] => {
    const { functionResponse } = part;
    if (!functionResponse) return toA2aParts([part]);
    const call = calls.get(functionResponse.id ?? "");
    if (!call) return toA2aParts(inWords(functionResponse));
    return MOCK_NAMES.has(call.name) ? [plain(functionResponse)] : toA2aParts([part]);
  });
}

/** An answer without the call that it answers: its text where it is one, its data otherwise. */
function plain({ response = {} }: AdkFunctionResponse): Part {
  const [value, ...others] = Object.values(response);
  if (typeof value === "string" && others.length === 0) return { text: value };
  return { data: JSON.parse(JSON.stringify(response)) as JsonObject };
}

function ofUser({ content }: AdkEvent): GenaiPart[] {
  return (content?.parts ?? []).flatMap((part) =>
    part.functionResponse ? inWords(part.functionResponse) : [part],
  );
}

/** A response that answers none of the peer's calls would mean nothing to it. */
function inWords({ name = "", response }: AdkFunctionResponse): GenaiPart[] {
  if (name.startsWith(RESERVED)) return [];
  return [{ text: `Tool ${name} returned: ${JSON.stringify(response)}` }];
}

function ofAnother({ author = "", content }: AdkEvent): GenaiPart[] {
  const told = (content?.parts ?? []).flatMap((part): GenaiPart[] => {
    const { text, thought, functionCall: call, functionResponse: response } = part;
    if (thought) return [];
    if ((call ?? response)?.name?.startsWith(RESERVED)) return [];
    if (text) return [{ text: `[${author}] said: ${text}` }];
    if (call) {
      const args = JSON.stringify(call.args ?? {});
      return [{ text: `[${author}] called tool ${call.name ?? ""} with parameters: ${args}` }];
    }
    if (response) {
      const result = JSON.stringify(response.response ?? {});
      return [{ text: `[${author}] ${response.name ?? ""} tool returned result: ${result}` }];
    }
    return [part];
  });
  return told.length > 0 ? [{ text: "For context:" }, ...told] : [];
}

function responsesIn({ content }: AdkEvent): AdkFunctionResponse[] {
  return (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []);
}

function idIn({ customMetadata }: AdkEvent, name: "task_id" | "context_id"): string | undefined {
  const id = customMetadata?.[a2aKey(name)];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** An agent sees what was said in its own branch and in those that lead to it. */
function isSeenFrom(branch: string | undefined, event: AdkEvent): boolean {
  if (!branch || !event.branch) return true;
  return branch === event.branch || branch.startsWith(`${event.branch}.`);
}
