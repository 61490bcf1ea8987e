import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { AgentEvent, Run } from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { type McpServerAddress, McpConnection } from "./mcp-connection.ts";
import { type McpToolResult, decodeCallToolResult } from "./mcp-tool-result.ts";
import { callToolInSpan } from "./call-tool-in-span.ts";
import { performReportedToolCall } from "./report-tool-call.ts";
import { callToolUntilAborted } from "./tasks/call-tool-until-aborted.ts";
import { answerMcpTask, followMcpTask } from "./tasks/mcp-task-follower.ts";
import {
  createMcpTaskRecord,
  findRecordedMcpTask,
  markRecordedMcpTaskAsEnded,
} from "./tasks/recorded-mcp-task.ts";
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
