import type { AgentEvent } from "./agent.ts";
import type { StartedAgentIterator, Turn } from "./turn.ts";

/**
 * Starts an agent and waits for its first event. If the agent throws an error before its first event, the
 * returned iterator throws the same error.
 */
export async function readFirstAgentEvent(
  turn: Pick<Turn, "runInSpan">,
  startAgent: () => StartedAgentIterator,
): Promise<StartedAgentIterator> {
  try {
    const { iterator } = startAgent();
    return { iterator, firstResult: await turn.runInSpan(() => iterator.next()) };
  } catch (error) {
    return { iterator: { next: (): Promise<IteratorResult<AgentEvent>> => Promise.reject(error) } };
  }
}
