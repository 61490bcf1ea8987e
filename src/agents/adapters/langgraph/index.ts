/**
 * Adapter that serves LangGraph graphs over A2A, and offers A2A agents as graph nodes. `fromLangGraph`
 * creates an agent from a compiled graph. `a2aNode` creates a graph node from any A2A agent. Install the
 * package `@langchain/langgraph` (1) yourself.
 */
export type { LangGraphOptions } from "./from-langgraph.ts";
export { fromLangGraph } from "./from-langgraph.ts";
export type { A2aNodeOptions } from "./a2a-node.ts";
export { a2aNode } from "./a2a-node.ts";
