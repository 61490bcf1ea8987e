export type { Agent, AgentDescription, AgentEvent, AgentMessage, Run } from "./agent.ts";
export type { Caller, Scope } from "./caller.ts";
export type { Observer } from "./observer.ts";
export type {
  Append,
  AppendRefusal,
  ListCursor,
  ListPage,
  ListQuery,
  TaskStore,
  UnfinishedTask,
} from "./store.ts";
