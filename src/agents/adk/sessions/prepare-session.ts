import type { Caller, ContextSource } from "../../../engine/index.ts";
import type { AdkEvent, AdkRunner } from "../adk-structural-types.ts";
import { toGenaiPart } from "../part-conversion.ts";
import { requireAppender } from "./discard-earlier-attempt.ts";
import { deriveSessionKey } from "./session-key.ts";

interface SessionToCopy {
  readonly state: Readonly<Record<string, unknown>>;
  readonly events: readonly (AdkEvent & { readonly timestamp?: number })[];
}

/** Creates the session of a new context with the events of a source. Without a session of the source, does nothing. */
export async function prepareSession(
  { appName, agent, sessionService }: AdkRunner,
  contextId: string,
  caller: Caller,
  source: ContextSource,
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
    events = session.events.filter(({ timestamp = 0 }) => timestamp <= source.until);
  }
  const copy = await sessionService.createSession({ ...deriveSessionKey(appName, contextId, caller), state });
  for (const event of events) await appender.appendEvent({ session: copy, event: structuredClone(event) });
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
