/**
 * The `colloquy/langgraph` entry point converts LangGraph graphs to A2A agents, and A2A agents to graph
 * nodes. Requires `@langchain/langgraph`.
 */
export * from "../adapters/langgraph/index.ts";
