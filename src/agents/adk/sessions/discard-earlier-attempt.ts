import type { Run } from "../../../engine/index.ts";
import { A2AError } from "../../../protocol/index.ts";
import type { AdkEvent, AdkRunner, GenaiContent, SessionKey } from "../adk-structural-types.ts";

interface SessionWithEvents {
  readonly events: readonly AdkEvent[];
}

interface EventAppender {
  appendEvent(request: { session: object; event: object }): Promise<unknown>;
}

/**
 * Removes the content of the events that an earlier attempt at the turn has added to the session, so that the next
 * attempt begins with the conversation at the start of the turn. State that the earlier attempt has changed remains.
 * The first attempt stores the last event of the session as a step.
 */
export async function discardEventsOfEarlierAttempt(
  run: Pick<Run, "once" | "attempt">,
  { sessionService }: Pick<AdkRunner, "sessionService">,
  key: SessionKey,
  message: GenaiContent,
): Promise<void> {
  const lastEventId = await run.once("colloquy:adk-session", async () => {
    const session = await sessionService.getSession({ ...key, config: { numRecentEvents: 1 } });
    return (session as SessionWithEvents | undefined)?.events.at(-1)?.id ?? null;
  });
  if (run.attempt === 1) return;
  const session = (await sessionService.getSession(key)) as (object & SessionWithEvents) | undefined;
  if (!session) return;
  const laterEvents = session.events.slice(session.events.findIndex(({ id }) => id === lastEventId) + 1);
  const messageText = JSON.stringify(message.parts);
  // Other tasks of the context can add events at the same time, so the message identifies the invocations.
  const invocationIds = new Set(
    laterEvents
      .filter(({ author, content }) => author === "user" && JSON.stringify(content?.parts) === messageText)
      .map(({ invocationId }) => invocationId),
  );
  for (const event of laterEvents)
    if (invocationIds.has(event.invocationId) && event.content)
      await requireAppender(sessionService, '`afterRestart: "restart"`').appendEvent({
        session,
        event: toEmptyEvent(event),
      });
}

/** ADK skips events without content. The author `user` keeps ADK from continuing with the author of a discarded event. */
function toEmptyEvent({ content: _content, longRunningToolIds: _ids, ...event }: AdkEvent): AdkEvent {
  const actions = {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
  };
  return { ...event, author: "user", actions };
}

/** Returns the session service. Throws an error that names the `feature` if the service cannot append events. */
export function requireAppender(sessionService: object, feature: string): EventAppender {
  if ("appendEvent" in sessionService && typeof sessionService.appendEvent === "function")
    return sessionService as EventAppender;
  throw new A2AError("INTERNAL", `The session service has no appendEvent, which ${feature} requires.`);
}
