import type { BaseLlm, BaseTool } from "@google/adk";
import { DurableCall } from "../../base/data-structures/index.ts";
import { findRunContextByInvocation, findRunContextBySignal } from "./adk-run-context.ts";

type LlmResponses = ReturnType<BaseLlm["generateContentAsync"]>;
type LlmResponse = LlmResponses extends AsyncGenerator<infer Response> ? Response : never;
type ToolRequest = Parameters<BaseTool["runAsync"]>[0];
type ToolActions = ToolRequest["toolContext"]["actions"];

/** The result of a tool call, and the actions that the tool requested. */
interface ToolOutcome {
  readonly result: unknown;
  readonly actions: Partial<ToolActions>;
}

const NOT_STORED = new Error("The call is not stored.");

/**
 * Wraps an ADK model or tool, so that a later attempt at the turn does not repeat the calls that an earlier attempt has
 * finished. A call is repeated if its input differs. The agent needs the option `afterRestart: "restart"`. A call that
 * asks for a confirmation or for credentials is not stored. Outside of Colloquy's server, the wrapper has no effect.
 */
export function durable<Model extends BaseLlm>(model: Model): Model;
export function durable<Tool extends BaseTool>(tool: Tool): Tool;
export function durable(wrapped: BaseLlm | BaseTool): BaseLlm | BaseTool {
  return "generateContentAsync" in wrapped
    ? withMethods(wrapped, {
        generateContentAsync: (request, stream, signal) => generateOnce(wrapped, request, stream, signal),
      } satisfies Pick<BaseLlm, "generateContentAsync">)
    : createDurableTool(wrapped);
}

function createDurableTool<Tool extends BaseTool>(tool: Tool): Tool {
  const durableTool = withMethods(tool, {
    runAsync: (request) => runToolOnce(tool, request),
    async processLlmRequest(request) {
      await tool.processLlmRequest(request);
      // The tool has registered itself.
      const { toolsDict } = request.llmRequest;
      if (toolsDict[tool.name] === tool) toolsDict[tool.name] = durableTool;
    },
  } satisfies Pick<BaseTool, "runAsync" | "processLlmRequest">);
  return durableTool;
}

/** Returns the object with other methods. Its remaining methods keep the original object as `this`, for private fields. */
function withMethods<Target extends object>(target: Target, methods: object): Target {
  return new Proxy(target, {
    get(original, name) {
      if (name in methods) return Reflect.get(methods, name) as unknown;
      const value: unknown = Reflect.get(original, name, original);
      return typeof value === "function" && name !== "constructor"
        ? (value.bind(original) as unknown)
        : value;
    },
  });
}

/** Repeats the stored responses of a call, or stores the responses before the last complete response is yielded. */
async function* generateOnce(
  llm: BaseLlm,
  request: Parameters<BaseLlm["generateContentAsync"]>[0],
  stream: boolean | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<LlmResponse, void, undefined> {
  const context = findRunContextBySignal(signal);
  if (!context) {
    yield* llm.generateContentAsync(request, stream, signal);
    return;
  }
  const { model, contents, config } = request;
  const call = new DurableCall(context.run, "model", { model: model ?? llm.model, contents, config });
  const stored = await call.findStored();
  if (stored) {
    yield* stored.result as LlmResponse[];
    return;
  }
  const responses: LlmResponse[] = [];
  let isStored = false;
  try {
    for await (const response of llm.generateContentAsync(request, stream, signal)) {
      if (response.partial) yield response;
      // Only complete responses are repeated, because they contain the content of all partial responses.
      else responses.push(response);
    }
    if (responses.every(({ errorCode }) => !errorCode)) {
      await call.execute(() => responses);
      isStored = true;
    }
  } finally {
    if (!isStored) call.release();
  }
  yield* responses;
}

async function runToolOnce(tool: BaseTool, request: ToolRequest): Promise<unknown> {
  const { args, toolContext } = request;
  const context = findRunContextByInvocation(toolContext.invocationContext);
  if (!context) return tool.runAsync(request);
  const call = new DurableCall(context.run, `tool ${tool.name}`, args);
  let unstored: ToolOutcome | undefined;
  try {
    const { result, actions } = await call.execute(async (): Promise<ToolOutcome> => {
      const outcome = { result: await tool.runAsync(request), actions: toolContext.actions };
      if (!isAnswerNeeded(toolContext.actions)) return outcome;
      unstored = outcome;
      throw NOT_STORED;
    });
    applyActions(toolContext.actions, actions);
    return result;
  } catch (error) {
    if (error === NOT_STORED && unstored) return unstored.result;
    throw error;
  }
}

/** Returns true if the tool waits for an answer that names its call, whose id differs in each attempt. */
function isAnswerNeeded({ requestedAuthConfigs, requestedToolConfirmations }: ToolActions): boolean {
  return Object.keys({ ...requestedAuthConfigs, ...requestedToolConfirmations }).length > 0;
}

function applyActions(actions: ToolActions, stored: Partial<ToolActions>): void {
  const { stateDelta, artifactDelta, ...flags } = stored;
  // The session state of the tool reads the object `stateDelta`.
  Object.assign(actions.stateDelta, stateDelta);
  Object.assign(actions.artifactDelta, artifactDelta);
  Object.assign(actions, flags);
}
