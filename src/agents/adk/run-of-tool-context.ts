import type { Context } from "@google/adk";
import type { Run } from "../../engine/index.ts";
import { findRunContextByInvocation, hasRunEnded } from "./adk-run-context.ts";

/** Members of a run that tools of an ADK agent can use. */
export type RunOfTool = Pick<
  Run,
  "taskId" | "attempt" | "signal" | "traceHeaders" | "idempotencyKey" | "once" | "sleep" | "suspend"
>;

/**
 * Returns the run that executes a tool of an ADK agent, for example for `once` and `sleep`. Throws an error if
 * Colloquy's server does not run the agent.
 */
export function getRunOfToolContext(toolContext: Context): RunOfTool {
  const { invocationContext } = toolContext;
  const context = findRunContextByInvocation(invocationContext);
  if (context) return context.run;
  if (hasRunEnded(invocationContext))
    throw new TypeError("The run of this tool has ended. Return the promise of all work from the tool.");
  throw new TypeError(
    "No run of Colloquy executes this tool. Serve the ADK agent with toA2a or adkAgent, or call the tool without steps.",
  );
}
