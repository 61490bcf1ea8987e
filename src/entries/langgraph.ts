/**
 * The `colloquy/langgraph` entry point converts LangGraph graphs to A2A agents, and A2A agents to graph
 * nodes. Requires `@langchain/langgraph`.
 */
export type {
  A2aNodeOptions,
  CompiledLangGraph,
  LangGraphConfig,
  LangGraphOptions,
  RemoteAgentAnswer,
} from "../adapters/langgraph/index.ts";
export { a2aNode, fromLangGraph } from "../adapters/langgraph/index.ts";
