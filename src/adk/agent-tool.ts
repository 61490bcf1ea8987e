/** A tool that is an agent. ADK runs it as an app of the agent's name, in a session that has the id of the caller's. */
export interface AgentToolLike {
  readonly agent: { readonly name: string };
}

export function isAgentTool(tool: unknown): tool is AgentToolLike {
  const { agent } = (tool ?? {}) as { agent?: { name?: unknown } };
  return typeof agent?.name === "string";
}
