import type { Part } from "../../protocol/index.ts";
import { toA2aPart, toJson } from "../parts.ts";
import { MOCK_CALLS } from "../session-event.ts";
import type { AdkEvent, AdkFunctionCall, AdkFunctionResponse, GenaiPart } from "../types.ts";
import { answerInWords, inWords } from "./in-words.ts";
import { CONTEXT_ID, isAnswerOf, STATE, TASK_ID, textUnder } from "./session-place.ts";

/** What a remote agent is told of a session: nothing when `parts` is empty. */
export interface Outgoing {
  readonly parts: readonly Part[];
  /** The conversation that the remote agent knows this session by. */
  readonly contextId?: string;
  /** The task that has asked for what is answered here. */
  readonly taskId?: string;
}

export interface OutgoingOptions {
  /** The agent that stands for the remote one in the session. */
  readonly name: string;
  /** Where it runs; what other branches say is not for it. */
  readonly branch?: string | undefined;
  /** Undefined drops the part. Default: `toA2aPart`. */
  readonly toA2aPart?: ((part: GenaiPart) => Part | undefined) | undefined;
}

/** A call of the remote agent's, with the event in which it stands. */
interface Asked {
  readonly event: AdkEvent;
  readonly call: AdkFunctionCall;
}

/** Something to be told: to whoever made a call, when it answers one. */
interface Told {
  readonly part: Part;
  readonly to?: AdkEvent | undefined;
}

/**
 * What of a session is new to a remote agent: everything since it spoke last, and answers that it has not heard yet. An answer to what it asked goes to the
 * task that asked; to a question in words, whatever is said next is the answer. What other agents said is told as
 * context. Several messages only when the user has answered several tasks at once.
 */
export function toOutgoing(events: readonly AdkEvent[], options: OutgoingOptions): [Outgoing, ...Outgoing[]] {
  const seen = events.filter((event) => !event.partial && isSeenFrom(options.branch, event));
  const own = seen.filter((event) => isAnswerOf(options.name, event));
  const calls = callsIn(own);
  const at = seen.findLastIndex((event) => event === own.at(-1)) + 1;
  const fresh = seen.slice(at);
  const told = [...unheard(seen.slice(0, at), calls), ...fresh].flatMap((event) =>
    tell(event, calls, seen, options),
  );

  const askers = new Map(told.flatMap(({ to }) => (to ? [[textUnder(TASK_ID, to), to]] : [])));
  const [first = asksInWords(own, seen, calls) && fresh.some(hasText) ? own.at(-1) : undefined, ...others] =
    askers.values();
  const partsTo = (asker: AdkEvent | undefined): Part[] =>
    told.flatMap(({ part, to = first }) => (isSameTask(to, asker) ? [part] : []));
  const context = own.findLast((event) => textUnder(CONTEXT_ID, event) !== undefined);
  const message = (asker: AdkEvent | undefined): Outgoing => {
    const taskId = asker && textUnder(TASK_ID, asker);
    const contextId = textUnder(CONTEXT_ID, asker ?? {}) ?? textUnder(CONTEXT_ID, context ?? {});
    return { parts: partsTo(asker), ...(contextId && { contextId }), ...(taskId && { taskId }) };
  };
  return [message(first), ...others.map(message)];
}

/** Answers for tasks that have said nothing since: when several were sent at once, some may have arrived and others not. */
function unheard(before: readonly AdkEvent[], calls: ReadonlyMap<string, Asked>): AdkEvent[] {
  const saidSince = new Set<string | undefined>();
  const found: AdkEvent[] = [];
  for (const event of before.toReversed()) {
    if (event.author !== "user") saidSince.add(textUnder(TASK_ID, event));
    const parts = event.content?.parts?.filter(({ functionResponse }) => {
      const asked = event.author === "user" ? calls.get(functionResponse?.id ?? "") : undefined;
      return asked && !saidSince.has(textUnder(TASK_ID, asked.event));
    });
    if (parts?.length) found.unshift({ ...event, content: { parts } });
  }
  return found;
}

function tell(
  event: AdkEvent,
  calls: ReadonlyMap<string, Asked>,
  seen: readonly AdkEvent[],
  { toA2aPart: convert = (part) => toA2aPart(part) }: OutgoingOptions,
): Told[] {
  const told = (part: GenaiPart | undefined, to?: AdkEvent): Told[] => {
    const converted = part && convert(part);
    return converted ? [{ part: converted, to }] : [];
  };
  if (event.author !== "user") return inWords(event).flatMap((part) => told(part));
  return (event.content?.parts ?? []).flatMap((part): Told[] => {
    const { functionResponse: answer } = part;
    if (!answer) return told(part);
    const asked = calls.get(answer.id ?? "");
    if (!asked) {
      const name = answer.name ?? callWith(answer.id, seen)?.name ?? "";
      return told(answerInWords({ ...answer, name }));
    }
    const { name = "" } = asked.call;
    if (MOCK_NAMES.has(name)) return [{ part: plain(answer), to: asked.event }];
    return told({ functionResponse: { ...answer, name } }, asked.event);
  });
}

const MOCK_NAMES: ReadonlySet<string | undefined> = new Set(
  Object.values(MOCK_CALLS).map(({ name }) => name),
);

/** An answer without the call that it answers: its text where it is one, its data otherwise. */
function plain({ response = {} }: AdkFunctionResponse): Part {
  const [value, ...others] = Object.values(response);
  return typeof value === "string" && others.length === 0 ? { text: value } : { data: toJson(response) };
}

/** The calls that can be answered, by their ids. */
function callsIn(own: readonly AdkEvent[]): Map<string, Asked> {
  const calls = new Map<string, Asked>();
  for (const event of own) {
    if (textUnder(TASK_ID, event) === undefined) continue;
    for (const call of callsOf(event)) if (call.id) calls.set(call.id, { event, call });
  }
  return calls;
}

function callsOf({ content }: AdkEvent): AdkFunctionCall[] {
  return (content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? []);
}

function callWith(id: string | undefined, events: readonly AdkEvent[]): AdkFunctionCall | undefined {
  return id === undefined ? undefined : events.flatMap(callsOf).find((call) => call.id === id);
}

/** True when the task of what was said last waits, but for the answer to no call. */
function asksInWords(
  own: readonly AdkEvent[],
  seen: readonly AdkEvent[],
  calls: ReadonlyMap<string, Asked>,
): boolean {
  const last = own.at(-1);
  const isWaiting = last && (textUnder(STATE, last) !== undefined || last.longRunningToolIds?.length);
  if (!isWaiting) return false;
  const ids = own.flatMap((event) => (isSameTask(event, last) ? (event.longRunningToolIds ?? []) : []));
  const answered = new Set(seen.flatMap((event) => (event.author === "user" ? answersIn(event) : [])));
  return ids.every((id) => answered.has(id) || MOCK_NAMES.has(calls.get(id)?.call.name));
}

function answersIn({ content }: AdkEvent): string[] {
  return (content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.id ?? []);
}

function hasText({ content }: AdkEvent): boolean {
  return content?.parts?.some(({ text, thought }) => text && !thought) ?? false;
}

function isSameTask(one: AdkEvent | undefined, other: AdkEvent | undefined): boolean {
  return one === other || Boolean(one && other && textUnder(TASK_ID, one) === textUnder(TASK_ID, other));
}

/** An agent sees what was said in its own branch and in those that lead to it. */
function isSeenFrom(branch: string | undefined, event: AdkEvent): boolean {
  if (!branch || !event.branch) return true;
  return branch === event.branch || branch.startsWith(`${event.branch}.`);
}
