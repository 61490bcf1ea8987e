/**
 * An ADK tool that runs an agent. ADK runs the tool's agent as a separate app with the agent's name. The
 * app's session has the caller's session id.
 */
export interface AgentToolLike {
  readonly agent: { readonly name: string };
}

export function isAgentTool(tool: unknown): tool is AgentToolLike {
  const { agent } = (tool ?? {}) as { agent?: { name?: unknown } };
  return typeof agent?.name === "string";
}
