import { type InvocationContext, StreamingMode } from "@google/adk";
import type { AdkEvent } from "../types.ts";

/**
 * True when an agent runs as a tool, as far as it can see that: ADK's `AgentTool` runs it as an app of its own name, and
 * without streaming. It takes the last event for the answer, and of that only the text.
 */
export function isRunningAsTool(name: string, { session, runConfig }: InvocationContext): boolean {
  return session.appName === name && runConfig?.streamingMode !== StreamingMode.SSE;
}

/** Puts the end of a turn onto the last thing that was said in it, when the end itself says nothing. */
export async function* mergeTurnEnd(
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
