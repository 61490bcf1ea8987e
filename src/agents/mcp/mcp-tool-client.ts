import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { AgentEvent, Run } from "../../engine/index.ts";
import {
  buildMcpToolCallAttributes,
  getCurrentTraceScope,
  getTracer,
} from "../../observe/telemetry/index.ts";
import { type JsonObject, type Task, toTraceHeaders, type TraceHeaders } from "../../protocol/index.ts";
import { McpConnection, type McpServerAddress } from "./mcp-connection.ts";
import { decodeCallToolResult, type McpToolResult } from "./mcp-tool-result.ts";
import { answerMcpTask, cancelMcpTask, followMcpTask } from "./tasks/mcp-task-follower.ts";
import { MCP_TASKS_EXTENSION } from "./tasks/mcp-task.ts";
import { findTaskHandle } from "./tasks/task-handle-result.ts";

/** Options of `createMcpToolClient`, with the address of the MCP server and a timeout. */
export type McpToolClientOptions = McpServerAddress & {
  /**
   * Maximum time in milliseconds without a response or progress during a tool call. Default: 60 000 ms.
   */
  readonly timeoutMs?: number;
  /**
   * Whether tools may ask questions during an MCP task. A question ends the tool call, and the result has the
   * member `question`. Default: false.
   */
  readonly acceptsQuestions?: boolean;
};

const assertKnownOptions = defineOptionNames<McpToolClientOptions>()(
  "createMcpToolClient",
  "acceptsQuestions args command cwd env fetch headers timeoutMs url",
);

/** A tool in the tool list of an MCP server. */
export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** JSON Schema of the tool's arguments. */
  readonly inputSchema: JsonObject;
}

/** Options for calling an MCP tool. */
export interface McpToolCallOptions {
  /**
   * The signal that aborts the tool call and notifies the server, for example `run.signal` of the agent.
   */
  readonly signal?: AbortSignal;
  /** Receives each progress notification of the tool. */
  readonly onProgress?: (progress: McpToolProgress) => void;
  /**
   * Maximum time in milliseconds without a response or progress during this tool call. Default: the client's
   * `timeoutMs`.
   */
  readonly timeoutMs?: number;
  /**
   * Receives the id of the MCP task if the server continues the tool call as an MCP task. Store the id to
   * continue the task with `taskId` after a restart.
   */
  readonly onTask?: (taskId: string) => void | Promise<void>;
  /** Id of an MCP task. The client waits for this task instead of calling the tool. */
  readonly taskId?: string;
  /** The answer to the question of the MCP task in `taskId`. */
  readonly answer?: string;
}

/** Options for calling an MCP tool inside a generator. */
export interface McpToolStreamOptions extends Pick<
  McpToolCallOptions,
  "signal" | "timeoutMs" | "taskId" | "answer"
> {
  /**
   * The agent's turn. With `run`, the metadata of the agent's task records the id of the MCP task. If the
   * metadata contains the id of an unfinished MCP task for the same tool, the client waits for that MCP task
   * instead of calling the tool. If a client cancels the agent's task, the MCP task is also canceled. If the
   * agent's server stops, the MCP task continues.
   */
  readonly run?: Pick<Run, "signal" | "task" | "cancelMetadata" | "reportCall">;
}

/** The progress of an MCP tool call. */
export interface McpToolProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** A client that calls the tools of an MCP server, for use inside an agent. */
export interface McpToolClient {
  /** Lists the tools of the MCP server. */
  listTools(options?: Pick<McpToolCallOptions, "signal">): Promise<McpTool[]>;
  /**
   * Calls a tool. A tool call is never repeated, because the tool may already have done its work. If the tool
   * itself reports a failure, the result has `isError` set. Rejects if the MCP server does not respond or
   * does not offer the tool. If the server continues the call as an MCP task, the client polls the MCP task,
   * and reports its status messages as progress.
   */
  callTool(name: string, args?: JsonObject, options?: McpToolCallOptions): Promise<McpToolResult>;
  /**
   * Calls a tool inside a generator agent. The progress of the tool becomes status updates of the agent's
   * task:
   *
   * ```ts
   * const found = yield* tools.streamTool("search", { query: text }, { signal });
   * ```
   */
  streamTool(
    name: string,
    args?: JsonObject,
    options?: McpToolStreamOptions,
  ): AsyncGenerator<AgentEvent, McpToolResult, undefined>;
  /**
   * Closes the connection to the server, and stops the process of a server that was started with `command`.
   */
  close(): Promise<void>;
}

/** Functions that connect a tool call to the turn of an agent. */
interface TurnCallbacks {
  /** Returns whether an abort of the tool call cancels the MCP task. Default: always. */
  readonly shouldCancel?: () => boolean;
  /** Called when the MCP task has completed, has failed, or was canceled. */
  readonly onTaskEnd?: () => void;
  readonly reportCall?: Run["reportCall"] | undefined;
}

const assertKnownCallOptions = defineOptionNames<McpToolCallOptions>()(
  "callTool",
  "signal onProgress timeoutMs onTask taskId answer",
);
const assertKnownStreamOptions = defineOptionNames<McpToolStreamOptions>()(
  "streamTool",
  "signal timeoutMs taskId answer run",
);

const DEFAULT_TOOL_CALL_TIMEOUT_MS = 60_000;

/**
 * Creates a client for the tools of an MCP server. The client starts the server with `command`, or connects
 * to `url` over streamable HTTP. The client connects to the MCP server on the first call, and again after the
 * connection has ended. Requires the package `@modelcontextprotocol/client`.
 */
export function createMcpToolClient(options: McpToolClientOptions): McpToolClient {
  assertKnownOptions(options);
  const connection = new McpConnection(options, options.acceptsQuestions === true);
  const defaultTimeoutMs = options.timeoutMs ?? DEFAULT_TOOL_CALL_TIMEOUT_MS;

  const callReported = (
    name: string,
    args: JsonObject = {},
    callOptions: McpToolCallOptions & TurnCallbacks = {},
  ): Promise<McpToolResult> =>
    performReportedToolCall(
      {
        tool: name,
        arguments: args,
        getServerName: () => connection.serverName,
        reportCall: callOptions.reportCall,
      },
      () => call(name, args, callOptions),
    );

  const call = async (
    name: string,
    args: JsonObject,
    callOptions: McpToolCallOptions & TurnCallbacks,
  ): Promise<McpToolResult> => {
    const { signal, onProgress, timeoutMs = defaultTimeoutMs, onTask, taskId, answer } = callOptions;
    const { shouldCancel = (): boolean => true, onTaskEnd } = callOptions;
    let progressCount = 0;
    const followTask = async (id: string, intervalMs?: number): Promise<McpToolResult> => {
      const outcome = await followMcpTask(connection, id, intervalMs, {
        signal,
        onStatusMessage: (message) => onProgress?.({ progress: ++progressCount, message }),
        onEnd: () => onTaskEnd?.(),
        timeoutMs,
        shouldCancel,
      });
      if ("question" in outcome) {
        const { text } = outcome.question;
        return { text, parts: [{ text }], isError: false, question: { text, taskId: id } };
      }
      return decodeCallToolResult(await connection.assertCallToolResult(outcome.result));
    };
    if (taskId !== undefined) {
      if (answer !== undefined) await answerMcpTask(connection, taskId, answer, { signal, timeoutMs });
      return followTask(taskId);
    }
    const result = await callToolInSpan(name, (traceMeta) =>
      callToolUntilAborted(connection, signal, shouldCancel, (client, requestSignal) =>
        client.callTool(
          { name, arguments: args, ...traceMeta },
          {
            timeout: timeoutMs,
            resetTimeoutOnProgress: true,
            // The SDK requests progress only if there is a listener. Progress must always arrive, because it
            // resets the timeout.
            onprogress: (progress) => onProgress?.(progress),
            signal: requestSignal,
          },
        ),
      ),
    );
    const task = findTaskHandle(result);
    if (!task) return decodeCallToolResult(result);
    await onTask?.(task.taskId);
    return followTask(task.taskId, task.pollIntervalMs);
  };

  return {
    listTools: ({ signal } = {}) =>
      connection.withClient(signal, async (client) => {
        const { tools } = await client.listTools(undefined, {
          timeout: defaultTimeoutMs,
          ...(signal ? { signal } : {}),
        });
        return tools.map(({ name, title, description, inputSchema }) => ({
          name,
          title,
          description,
          inputSchema: inputSchema as JsonObject,
        }));
      }),
    async callTool(name, args, callOptions) {
      assertKnownCallOptions(callOptions);
      return await callReported(name, args, callOptions);
    },
    async *streamTool(name, args, options = {}) {
      assertKnownStreamOptions(options);
      const { run, signal = run?.signal, ...streamOptions } = options;
      const lines: string[] = [];
      const records: AgentEvent[] = [];
      let nextEvent = Promise.withResolvers<false>();
      const taskId = streamOptions.taskId ?? (run && findRecordedMcpTask(run.task, name));
      const abandonController = new AbortController();
      const result = callReported(name, args, {
        ...streamOptions,
        ...(taskId === undefined ? {} : { taskId }),
        signal: signal ? AbortSignal.any([signal, abandonController.signal]) : abandonController.signal,
        onProgress: (progress) => {
          lines.push(formatToolProgress(name, progress));
          nextEvent.resolve(false);
        },
        onTask: (id) => {
          if (run) records.push(createMcpTaskRecord(name, id));
          nextEvent.resolve(false);
        },
        onTaskEnd: () => {
          if (!run) return;
          markRecordedMcpTaskAsEnded(run.task, name);
          records.push(createMcpTaskRecord(name, null));
        },
        shouldCancel: () => run === undefined || !mayContinueElsewhere(run),
        reportCall: run?.reportCall,
      });
      const settled = result.then(
        () => true,
        () => true,
      );
      try {
        for (let isSettled = false; !isSettled;) {
          isSettled = await Promise.race([settled, nextEvent.promise]);
          nextEvent = Promise.withResolvers();
          yield* records.splice(0);
          // The agent may be slower than the tool. Only the latest pending lines are sent.
          for (const text of lines.splice(0).slice(-MAX_PENDING_TOOL_PROGRESS_LINES)) {
            yield { status: { state: "TASK_STATE_WORKING", message: { parts: [{ text }] } } };
          }
        }
        return await result;
      } finally {
        // The result is not needed after the turn has ended.
        abandonController.abort();
      }
    },
    close: () => connection.close(),
  };
}

/** Maximum number of waiting progress lines that the client sends together. */
const MAX_PENDING_TOOL_PROGRESS_LINES = 100;

function formatToolProgress(name: string, { progress, total, message }: McpToolProgress): string {
  if (message !== undefined && message !== "") return message;
  return total === undefined ? `${name}: ${progress}` : `${name}: ${progress} of ${total}`;
}

/** Returns true if a server stops a run that a later attempt may continue, so that the work of the run must go on. */
function mayContinueElsewhere({ signal, cancelMetadata }: Pick<Run, "signal" | "cancelMetadata">): boolean {
  const isTimeLimit = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  return signal.aborted && cancelMetadata === undefined && !isTimeLimit;
}

/** Members of a tool call that carry the trace. The keys in `_meta` have no prefix (SEP-414). */
interface TraceMeta {
  readonly _meta?: TraceHeaders & Record<string, unknown>;
}

/**
 * Calls a tool in a span, and passes the trace to `callTool`. Outside of agents, and without OpenTelemetry, the call has
 * no trace.
 */
async function callToolInSpan(
  tool: string,
  callTool: (traceMeta: TraceMeta) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const tracer = getTracer();
  if (!tracer.records && !getCurrentTraceScope()) return await callTool({});
  const span = tracer.startSpan({
    name: `tools/call ${tool}`,
    kind: "client",
    attributes: () => buildMcpToolCallAttributes(tool),
  });
  try {
    const result = await span.run(() =>
      span.runRequest(() => callTool({ _meta: { ...toTraceHeaders(span.context) } })),
    );
    span.end(result.isError ? { type: "tool_error" } : undefined);
    return result;
  } catch (error) {
    span.end({ type: error instanceof Error ? error.name : "_OTHER" });
    throw error;
  }
}

/** A tool call that begins. */
interface ReportedToolCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Returns the name of the MCP server, which is known after the connection. */
  readonly getServerName: () => string;
  /** Reports to the server of the running agent. Default: the reporter of the running agent. */
  readonly reportCall?: Run["reportCall"];
}

/**
 * Performs a tool call, and reports it to the server of the running agent, for its traffic record. Outside of agents,
 * and without a record, the call is not reported.
 */
async function performReportedToolCall(
  { tool, arguments: args, getServerName, reportCall }: ReportedToolCall,
  perform: () => Promise<McpToolResult>,
): Promise<McpToolResult> {
  const report = reportCall ?? getCurrentTraceScope()?.task?.reportToolCall;
  if (!report) return await perform();
  const startMs = performance.now();
  const reportOutcome = (outcome: Pick<Parameters<typeof report>[0], "result" | "error">): void =>
    report({
      kind: "tool",
      tool,
      server: getServerName(),
      arguments: args,
      durationMs: performance.now() - startMs,
      ...outcome,
    });
  try {
    const result = await perform();
    const { data, text, isError } = result;
    reportOutcome(isError ? { error: text } : { result: data ?? text });
    return result;
  } catch (error) {
    reportOutcome({ error: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

/**
 * Prefix of the metadata keys in an A2A task that store the ids of unfinished MCP tasks, with one key per
 * tool.
 */
const METADATA_KEY_PREFIX = "colloquy:mcpTask:";

/**
 * Creates an event that records the id of a tool's MCP task. The id `null` records that the MCP task has
 * ended.
 */
function createMcpTaskRecord(toolName: string, taskId: string | null): AgentEvent {
  return {
    status: { state: "TASK_STATE_WORKING" },
    metadata: { [METADATA_KEY_PREFIX + toolName]: taskId },
  };
}

/**
 * Names of the tools whose recorded MCP task has ended during a turn. The key is the turn's copy of the A2A
 * task, which does not change when the turn records the end.
 */
const toolsWithEndedTask = new WeakMap<Pick<Task, "metadata">, Set<string>>();

/** Marks the MCP task that `task` records for a tool as ended. */
function markRecordedMcpTaskAsEnded(task: Pick<Task, "metadata">, toolName: string): void {
  toolsWithEndedTask.set(task, (toolsWithEndedTask.get(task) ?? new Set()).add(toolName));
}

/** Returns the id of a tool's unfinished MCP task, if the A2A task has recorded an id. */
function findRecordedMcpTask(task: Pick<Task, "metadata">, toolName: string): string | undefined {
  const taskId = task.metadata?.[METADATA_KEY_PREFIX + toolName];
  return typeof taskId === "string" && !toolsWithEndedTask.get(task)?.has(toolName) ? taskId : undefined;
}

/**
 * Time in milliseconds that an aborted tool call waits for the id of an MCP task. If the client closed the
 * request immediately, a new MCP task could continue although no client knows its id.
 */
const ABORTED_CALL_GRACE_MS = 3000;

/**
 * Calls a tool. If `signal` aborts, the function rejects immediately with the abort reason, and aborts the
 * request. If the server supports MCP Tasks, the function first waits in the background for the id of the MCP
 * task. If `shouldCancel` returns `true`, the function then cancels the MCP task.
 */
async function callToolUntilAborted(
  connection: McpConnection,
  signal: AbortSignal | undefined,
  shouldCancel: () => boolean,
  callTool: (client: Client, signal: AbortSignal) => Promise<CallToolResult>,
): Promise<CallToolResult> {
  signal?.throwIfAborted();
  const requestController = new AbortController();
  let supportsTasks = false;
  const request = connection.withClient(requestController.signal, (client) => {
    supportsTasks = client.getServerCapabilities()?.extensions?.[MCP_TASKS_EXTENSION] !== undefined;
    return callTool(client, requestController.signal);
  });
  if (!signal) return request;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => {
    aborted.reject(signal.reason as Error);
    const abortRequest = (): void => requestController.abort(signal.reason);
    if (!supportsTasks) return abortRequest();
    const timer = setTimeout(abortRequest, ABORTED_CALL_GRACE_MS);
    cancelCreatedTask(connection, request, shouldCancel).then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
  };
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([request, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Cancels the MCP task in the response to a tool call, if the response contains an MCP task. */
async function cancelCreatedTask(
  connection: McpConnection,
  response: Promise<CallToolResult>,
  shouldCancel: () => boolean,
): Promise<void> {
  const task = findTaskHandle(await response);
  if (task && shouldCancel()) await cancelMcpTask(connection, task.taskId);
}
