import type { Caller, ContextSource } from "../../../engine/index.ts";
import type { Artifact } from "../../../protocol/index.ts";
import type { AdkEvent, AdkRunner } from "../adk-structural-types.ts";
import { toA2aPart, toGenaiPart } from "../part-conversion.ts";
import type { RunEventProcessorOptions } from "../run-event-processor.ts";
import { requireAppender } from "./discard-earlier-attempt.ts";
import { deriveSessionKey } from "./session-key.ts";

type SessionEvent = AdkEvent & { readonly timestamp?: number };
type PartConverter = NonNullable<RunEventProcessorOptions["toA2aPart"]>;

interface SessionToCopy {
  readonly state: Readonly<Record<string, unknown>>;
  readonly events: readonly SessionEvent[];
}

/**
 * Creates the session of a new context with the events of a source. Without a session of the source, does nothing.
 * `convertPart` converts the parts of events to the parts of artifacts.
 */
export async function prepareSession(
  { appName, agent, sessionService }: AdkRunner,
  contextId: string,
  caller: Caller,
  source: ContextSource,
  convertPart: PartConverter = (part) => toA2aPart(part),
): Promise<void> {
  const appender = requireAppender(sessionService, "a copied conversation");
  let state: Record<string, unknown> = {};
  let events: readonly object[];
  if ("messages" in source) {
    events = toSessionEvents(source.messages, agent.name);
  } else {
    const key = deriveSessionKey(appName, source.contextId, caller);
    const session = (await sessionService.getSession(key)) as SessionToCopy | undefined;
    if (!session) return;
    state = selectInitialState(session);
    const isEarlier = ({ timestamp = 0 }: SessionEvent): boolean => timestamp <= source.until;
    events = session.events.filter(isEarlier);
    if (source.artifacts) {
      const later = session.events.filter((event) => !isEarlier(event));
      events = [...events, ...selectContainedEvents(later, source.artifacts, convertPart)];
    }
  }
  const copy = await sessionService.createSession({ ...deriveSessionKey(appName, contextId, caller), state });
  for (const event of events) await appender.appendEvent({ session: copy, event: structuredClone(event) });
}

/**
 * Returns the user's message and the events of a turn whose content is in artifacts. The time of an event does not show
 * this, because a fast turn writes several events in one millisecond.
 */
function selectContainedEvents(
  events: readonly SessionEvent[],
  artifacts: readonly Artifact[],
  convertPart: PartConverter,
): readonly SessionEvent[] {
  const contents = artifacts.map(({ parts }) => JSON.stringify(parts));
  // The bridge answers interrupted calls before the user's message.
  const messageAt = events.findIndex(({ author }) => author === "user");
  const contained = events.map((event, index) => {
    if (index <= messageAt) return true;
    const parts = event.content?.parts?.flatMap((part) => convertPart(part, event) ?? []) ?? [];
    const at = contents.indexOf(JSON.stringify(parts));
    if (at >= 0) contents.splice(at, 1);
    return at >= 0;
  });
  const last = contained.lastIndexOf(true);
  // An event without content, such as a change of the state, belongs to the content that follows it.
  return events.filter((event, index) => contained[index] || (index < last && !event.content));
}

/** Returns the state without the values that events have written, because the copied events write them again. */
function selectInitialState({ state, events }: SessionToCopy): Record<string, unknown> {
  const written = new Set(events.flatMap(({ actions }) => Object.keys(actions?.stateDelta ?? {})));
  return Object.fromEntries(Object.entries(state).filter(([name]) => !written.has(name)));
}

function toSessionEvents(
  messages: Extract<ContextSource, { messages: unknown }>["messages"],
  agentName: string,
): object[] {
  const invocationId = `e-${crypto.randomUUID()}`;
  return messages.map(({ role, parts }) => ({
    id: crypto.randomUUID(),
    invocationId,
    author: role === "ROLE_USER" ? "user" : agentName,
    content: {
      role: role === "ROLE_USER" ? "user" : "model",
      parts: parts.flatMap((part) => toGenaiPart(part) ?? []),
    },
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    longRunningToolIds: [],
    timestamp: Date.now(),
  }));
}
