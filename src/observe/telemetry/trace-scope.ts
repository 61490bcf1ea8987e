import type { JsonValue } from "../../protocol/index.ts";
import type { TrafficWriter } from "../trace/recording/index.ts";
import type { TraceContext } from "../../protocol/index.ts";

/** Task of the agent that is running. */
export interface ParentTask {
  readonly taskId: string;
  /** Name of the agent. */
  readonly agent?: string | undefined;
}

/** A finished call of a tool, as in `AgentCallReport` of the engine. */
export interface ScopedToolCall {
  readonly kind: "tool";
  readonly tool: string;
  readonly server?: string | undefined;
  readonly arguments?: JsonValue | undefined;
  readonly result?: JsonValue | undefined;
  readonly durationMs: number;
  readonly error?: string | undefined;
}

/** The task whose agent is running in this process. */
export interface RunningTask extends ParentTask {
  /** Reports a tool call of the agent to its server. Absent if nothing observes the calls. */
  readonly reportToolCall?: ((call: ScopedToolCall) => void) | undefined;
  /** Record of the server that runs the agent, which contains the agent's calls to other agents. */
  readonly record?: TrafficWriter | undefined;
}

/** The trace to which the running code belongs. */
export interface TraceScope {
  /** The span of the running code, which is the parent of its calls. */
  readonly context: TraceContext;
  /** The task whose agent is running, so that calls to other agents can state their parent. */
  readonly task?: RunningTask | undefined;
}

/**
 * Storage that follows asynchronous calls, such as `AsyncLocalStorage` of Node.js. Browsers have none, so code in a
 * browser has no current trace.
 */
export interface TraceScopeStorage {
  getStore(): TraceScope | undefined;
  run<T>(scope: TraceScope, work: () => T): T;
}

/** The storage belongs to the process, because a client finds the trace of the server that runs its agent. */
let scopeStorage: TraceScopeStorage | undefined;
let overridingStorage: TraceScopeStorage | undefined;

/** Sets the storage of the process, unless an earlier call has set the storage. */
export function installTraceScopeStorage(createStorage: () => TraceScopeStorage): void {
  scopeStorage ??= createStorage();
}

/**
 * Uses another storage instead of the installed one. The value `undefined` restores the installed storage, for tests that
 * replace the provider.
 */
export function overrideTraceScopeStorage(storage: TraceScopeStorage | undefined): void {
  overridingStorage = storage;
}

/** Returns the scope of the running code, or `undefined` outside of agents. */
export function getCurrentTraceScope(): TraceScope | undefined {
  return (overridingStorage ?? scopeStorage)?.getStore();
}

/** Runs `work`, and the asynchronous calls that `work` starts, in a scope. */
export function runInTraceScope<T>(scope: TraceScope, work: () => T): T {
  const storage = overridingStorage ?? scopeStorage;
  return storage ? storage.run(scope, work) : work();
}
