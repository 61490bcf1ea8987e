/**
 * LANGGRAPH, both ways. `fromLangGraph` makes an agent of a compiled graph; `a2aNode` makes a node of any A2A agent. The
 * package `@langchain/langgraph` (1) is yours to install.
 */
export type { CompiledLangGraph, LangGraphConfig, LangGraphOptions } from "./graph.ts";
export { fromLangGraph } from "./graph.ts";
export type { A2aNodeOptions } from "./node.ts";
export { a2aNode } from "./node.ts";
export type { RemoteAgentAnswer } from "../remote-agent-client.ts";
