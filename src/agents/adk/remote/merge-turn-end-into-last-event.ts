import { type InvocationContext, StreamingMode } from "@google/adk";
import type { AdkEvent } from "../adk-structural-types.ts";

/**
 * Returns true if an agent appears to run as an ADK tool. `AgentTool` runs the agent without streaming, as
 * an app with the agent's name. The result of the tool is the text of the last event.
 */
export function isRunningAsTool(name: string, { session, runConfig }: InvocationContext): boolean {
  return session.appName === name && runConfig?.streamingMode !== StreamingMode.SSE;
}

/** Merges an event that only ends the turn into the previous event. */
export async function* mergeTurnEndIntoLastEvent(
  events: AsyncIterable<AdkEvent>,
): AsyncGenerator<AdkEvent, void, undefined> {
  let last: AdkEvent | undefined;
  for await (const event of events) {
    if (event.partial) continue;
    if (last && isEmptyTurnEnd(event)) {
      const { customMetadata, actions } = last;
      last = { ...last, ...event, customMetadata: { ...customMetadata, ...event.customMetadata } };
      if (actions) last.actions = { ...actions, ...event.actions };
    } else {
      if (last) yield last;
      last = event;
    }
  }
  if (last) yield last;
}

function isEmptyTurnEnd({ turnComplete, content, errorCode, errorMessage }: AdkEvent): boolean {
  return turnComplete === true && !content && errorCode === undefined && errorMessage === undefined;
}
