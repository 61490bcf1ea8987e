/**
 * The `colloquy/langgraph` entry: LangGraph graphs as A2A agents, and A2A agents as graph nodes. Requires
 * `@langchain/langgraph`.
 */
export type {
  A2aNodeOptions,
  CompiledLangGraph,
  LangGraphConfig,
  LangGraphOptions,
  RemoteAgentAnswer,
} from "../adapters/langgraph/index.ts";
export { a2aNode, fromLangGraph } from "../adapters/langgraph/index.ts";
