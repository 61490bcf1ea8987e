import type {
  AgentInputItem,
  CallModelInputFilter,
  RunContext,
  Runner,
  RunStreamEvent,
} from "@openai/agents";
import { isObject } from "../../../protocol/index.ts";
import { CallTracker, describeCallError, type ReportCall } from "../call-tracker.ts";
import { toJsonValue } from "../to-json-value.ts";
import { decodeToolItem, isToolErrorText } from "./run-stream-event.ts";

/** Options of a run that make its calls visible to the reporter. */
interface ReportedRunOptions<C> {
  readonly context: RunContext<C>;
  readonly callModelInputFilter: CallModelInputFilter;
}

/**
 * Reports the model calls and tool calls of one run of the SDK. The SDK shows the prompt to an input filter, the reply
 * in the stream of the run, and the tool calls to the listeners of the runner.
 */
export class OpenAiAgentsCallReporter<C> {
  readonly #calls: CallTracker;
  readonly #runner: Runner;
  readonly #context: RunContext<C>;

  /** `sdk` is the module of the SDK, which the adapter loads on first use. */
  constructor(
    sdk: Pick<typeof import("@openai/agents"), "RunContext">,
    reportCall: ReportCall,
    runner: Runner,
    input: readonly AgentInputItem[] | { readonly _context: RunContext<C> },
    context: C | undefined,
  ) {
    this.#calls = new CallTracker(reportCall);
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
      this.#calls.startModel({
        prompt: toJsonValue(modelData),
        model: findModelName(this.#runner.config.model) ?? findModelName(args.agent.model) ?? "unknown",
      });
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
      this.#calls.endModel({ error: "The run ended before the reply." });
    } catch (error) {
      this.#calls.endModel({ error: describeCallError(error) });
      throw error;
    }
  }

  startTool({ toolCallId, toolName, input }: ReturnType<typeof decodeToolItem>): void {
    this.#calls.startTool(toolCallId, { tool: toolName, arguments: toJsonValue(input) });
  }

  endTool({ toolCallId, toolName, input }: ReturnType<typeof decodeToolItem>, result: string): void {
    const outcome = isToolErrorText(result) ? { error: result } : { result };
    this.#calls.endTool(toolCallId, outcome, { tool: toolName, arguments: toJsonValue(input) });
  }

  #observeModelEvent(event: Extract<RunStreamEvent, { type: "raw_model_stream_event" }>["data"]): void {
    if (event.type === "model") this.#calls.updateModel(findModelAndFinishReason(event.event));
    else if (event.type === "response_done") {
      const { output, usage, providerData } = event.response;
      const [details] = [usage.inputTokensDetails ?? []].flat();
      this.#calls.endModel({
        ...findModelAndFinishReason({ response: providerData }),
        reply: toJsonValue(output),
        inputTokens: usage.inputTokens,
        cachedInputTokens: details?.["cached_tokens"],
        outputTokens: usage.outputTokens,
      });
    }
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
  runner.on("agent_tool_start", (context, _agent, { name }, { toolCall }) =>
    reportersByContext.get(context)?.startTool({ ...decodeToolItem(toolCall), toolName: name }),
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
  readonly model?: string;
  readonly finishReason?: string;
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
  const model = findModelName(chunk["model"]) ?? findModelName(response["model"]);
  const finishReason = reasons.find((reason): reason is string => typeof reason === "string");
  return {
    ...(model === undefined ? {} : { model }),
    ...(finishReason === undefined ? {} : { finishReason }),
  };
}
