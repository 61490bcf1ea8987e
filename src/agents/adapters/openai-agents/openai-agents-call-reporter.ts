import type {
  AgentInputItem,
  CallModelInputFilter,
  RunContext,
  Runner,
  RunStreamEvent,
} from "@openai/agents";
import type { ModelCallReport, Run } from "../../../engine/index.ts";
import { isObject, type JsonValue } from "../../../protocol/index.ts";
import { toJsonValue } from "../to-json-value.ts";
import { decodeToolItem, isToolErrorText } from "./run-stream-event.ts";

type ReportCall = NonNullable<Run["reportCall"]>;

/** Options of a run that make its calls visible to the reporter. */
interface ReportedRunOptions<C> {
  readonly context: RunContext<C>;
  readonly callModelInputFilter: CallModelInputFilter;
}

/** A model call that has begun. */
interface StartedModelCall {
  readonly startMs: number;
  readonly prompt: JsonValue;
  /** Name of the model that the agent requests, and later the name that the provider states. */
  model: string;
  finishReason: string | undefined;
}

/**
 * Reports the model calls and tool calls of one run of the SDK. The SDK shows the prompt to an input filter, the reply
 * in the stream of the run, and the tool calls to the listeners of the runner.
 */
export class OpenAiAgentsCallReporter<C> {
  readonly #reportCall: ReportCall;
  readonly #runner: Runner;
  readonly #context: RunContext<C>;
  readonly #startsOfTools = new Map<string, number>();
  #modelCall: StartedModelCall | undefined;

  /** `sdk` is the module of the SDK, which the adapter loads on first use. */
  constructor(
    sdk: Pick<typeof import("@openai/agents"), "RunContext">,
    reportCall: ReportCall,
    runner: Runner,
    input: readonly AgentInputItem[] | { readonly _context: RunContext<C> },
    context: C | undefined,
  ) {
    this.#reportCall = reportCall;
    this.#runner = runner;
    // The runner would create the same context.
    this.#context =
      "_context" in input
        ? // oxlint-disable-next-line no-underscore-dangle -- The SDK has no other access to the context of a `RunState`.
          input._context
        : context instanceof sdk.RunContext
          ? context
          : new sdk.RunContext(context);
    listenToToolCalls(runner);
    reportersByContext.set(this.#context, this);
  }

  /** Options for `Runner.run`. */
  get runOptions(): ReportedRunOptions<C> {
    const { callModelInputFilter: userFilter } = this.#runner.config;
    const filter: CallModelInputFilter = async (args) => {
      const modelData = userFilter ? await userFilter(args) : args.modelData;
      this.#modelCall = {
        startMs: performance.now(),
        prompt: toJsonValue(modelData),
        model: findModelName(this.#runner.config.model) ?? findModelName(args.agent.model) ?? "unknown",
        finishReason: undefined,
      };
      return modelData;
    };
    if (userFilter?.preserveInputIdentity) filter.preserveInputIdentity = true;
    return { context: this.#context, callModelInputFilter: filter };
  }

  /** Passes on the events of a run, and reports its model calls. */
  async *observeEvents(
    events: AsyncIterable<RunStreamEvent>,
  ): AsyncGenerator<RunStreamEvent, void, undefined> {
    try {
      for await (const event of events) {
        if (event.type === "raw_model_stream_event") this.#observeModelEvent(event.data);
        yield event;
      }
      this.#reportModelCall({ error: "The run ended before the reply." });
    } catch (error) {
      this.#reportModelCall({ error: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  startTool(toolCallId: string): void {
    this.#startsOfTools.set(toolCallId, performance.now());
  }

  endTool({ toolCallId, toolName, input }: ReturnType<typeof decodeToolItem>, result: string): void {
    const endMs = performance.now();
    const startMs = this.#startsOfTools.get(toolCallId) ?? endMs;
    this.#startsOfTools.delete(toolCallId);
    this.#reportCall({
      kind: "tool",
      tool: toolName,
      arguments: toJsonValue(input),
      durationMs: endMs - startMs,
      ...(isToolErrorText(result) ? { error: result } : { result }),
    });
  }

  #observeModelEvent(event: Extract<RunStreamEvent, { type: "raw_model_stream_event" }>["data"]): void {
    const call = this.#modelCall;
    if (!call) return;
    if (event.type === "model") {
      const { model, finishReason } = findModelAndFinishReason(event.event);
      call.model = model ?? call.model;
      call.finishReason = finishReason ?? call.finishReason;
    } else if (event.type === "response_done") {
      const { output, usage, providerData } = event.response;
      const { model, finishReason } = findModelAndFinishReason({ response: providerData });
      const [details] = [usage.inputTokensDetails ?? []].flat();
      this.#reportModelCall({
        model: model ?? call.model,
        reply: toJsonValue(output),
        finishReason: finishReason ?? call.finishReason,
        inputTokens: usage.inputTokens,
        cachedInputTokens: details?.["cached_tokens"],
        outputTokens: usage.outputTokens,
      });
    }
  }

  /** Reports the model call that has begun. Does nothing if its reply was reported before. */
  #reportModelCall(outcome: Partial<ModelCallReport>): void {
    const call = this.#modelCall;
    if (!call) return;
    this.#modelCall = undefined;
    const { startMs, prompt, model } = call;
    this.#reportCall({ kind: "model", model, prompt, durationMs: performance.now() - startMs, ...outcome });
  }
}

/** The runner has one listener for all runs, because Node.js warns about many listeners. */
const listeningRunners = new WeakSet<Runner>();
const reportersByContext = new WeakMap<
  object,
  Pick<OpenAiAgentsCallReporter<unknown>, "startTool" | "endTool">
>();

function listenToToolCalls(runner: Runner): void {
  if (listeningRunners.has(runner)) return;
  listeningRunners.add(runner);
  runner.on("agent_tool_start", (context, _agent, _tool, { toolCall }) =>
    reportersByContext.get(context)?.startTool(decodeToolItem(toolCall).toolCallId),
  );
  runner.on("agent_tool_end", (context, _agent, { name }, result, { toolCall }) =>
    reportersByContext.get(context)?.endTool({ ...decodeToolItem(toolCall), toolName: name }, result),
  );
}

function findModelName(model: unknown): string | undefined {
  return typeof model === "string" && model !== "" ? model : undefined;
}

/** Finds the members in an event of the Responses API, or in a chunk of the chat API. */
function findModelAndFinishReason(event: unknown): {
  readonly model: string | undefined;
  readonly finishReason: string | undefined;
} {
  const chunk = isObject(event) ? event : {};
  const response = isObject(chunk["response"]) ? chunk["response"] : {};
  const [choice] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
  const { incomplete_details: incomplete, status } = response;
  const reasons = [
    isObject(incomplete) ? incomplete["reason"] : undefined,
    status,
    isObject(choice) ? choice["finish_reason"] : undefined,
  ];
  return {
    model: findModelName(chunk["model"]) ?? findModelName(response["model"]),
    finishReason: reasons.find((reason): reason is string => typeof reason === "string"),
  };
}
