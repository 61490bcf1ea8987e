/**
 * The `colloquy/langgraph` entry point converts LangGraph graphs to A2A agents, and A2A agents to graph
 * nodes. Requires `@langchain/langgraph`.
 */
export * from "../agents/adapters/langgraph/index.ts";
