/** The `colloquy/langgraph` entry: LangGraph graphs as A2A agents, and A2A agents as nodes. Requires `@langchain/langgraph`. */
export * from "../adapters/langgraph/index.ts";
