/** The exports of this folder for package entries. `index.ts` adds the exports for other folders. */
export type { Agent, AgentDescription, AgentEvent, AgentMessage, ContextSource, Run } from "./agent.ts";
export type { StepExecution } from "./turn-steps.ts";
export type { Caller } from "./caller.ts";
export type { ContextScope } from "./caller.ts";
export type { TurnLimits, TurnPolicy } from "./turn-limits.ts";
export type {
  CommitReport,
  Observer,
  PushDeliveryReport,
  RequestReport,
  RunReport,
  StalledReaderReport,
} from "./observer.ts";
export type { TaskStore } from "./task-store.ts";
export type { StoreGauges } from "./store-health.ts";
