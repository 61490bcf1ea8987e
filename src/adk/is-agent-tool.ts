/**
 * An ADK tool that runs an agent. ADK runs the agent of a tool as a separate app with the agent's name.
 * The session of this app has the caller's session id.
 */
export interface AgentToolLike {
  readonly agent: { readonly name: string };
}

export function isAgentTool(tool: unknown): tool is AgentToolLike {
  const { agent } = (tool ?? {}) as { agent?: { name?: unknown } };
  return typeof agent?.name === "string";
}
