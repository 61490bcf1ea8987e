import type { BaseAgent, Runner } from "@google/adk";

const METHOD_NAME = "determineAgentForResumption";

/**
 * Skips the runner's search for the agent that continues a session, if the root agent has no sub-agents.
 *
 * The search serializes session events for a debug log, including the files of the new message. Without
 * sub-agents, the result of the search is always the root agent. The patch has no effect on versions of ADK
 * without the patched method.
 */
export function skipAgentSearchWithoutSubAgents(runner: Runner): void {
  const search: unknown = Reflect.get(runner, METHOD_NAME);
  if (typeof search !== "function") return;
  const value = (session: unknown, root: BaseAgent): unknown =>
    root.subAgents.length === 0 ? root : Reflect.apply(search, runner, [session, root]);
  Object.defineProperty(runner, METHOD_NAME, { value, writable: true, configurable: true });
}
