import { isObject, type JsonObject, type Message, type StreamResponse } from "../../protocol/index.ts";
import { TaskView } from "../task-view.ts";

/** Tokens of model calls, as AG-UI counts them: the totals contain the cached tokens and the reasoning tokens. */
interface TokenUsage {
  readonly model?: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** The view of a task that also collects the tokens that the agent reports for the latest turn. */
export class UsageTaskView extends TaskView {
  /** The reports of the turn by their source: one of an adapter, or one for each model call of an ADK agent. */
  readonly #reports = new Map<string, TokenUsage>();

  /** The tokens of the latest turn, with one entry for each model. Empty if the agent has reported no tokens. */
  get usage(): JsonObject[] {
    const byModel = new Map<string | undefined, JsonObject>();
    for (const { model, ...counts } of this.#reports.values()) {
      const sum = byModel.get(model) ?? {};
      for (const [name, count] of Object.entries(counts)) sum[name] = Number(sum[name] ?? 0) + count;
      byModel.set(model, sum);
    }
    return [...byModel].map(([model, sum]) => ({
      ...(model !== undefined && { model }),
      ...sum,
      totalTokens: Number(sum["inputTokens"]) + Number(sum["outputTokens"]),
    }));
  }

  override addUserMessage(message: Message): void {
    // A message to a working agent belongs to the running turn.
    const startsTurn = this.state === undefined || this.isWaiting;
    if (startsTurn && !this.hasMessage(message.messageId)) this.#reports.clear();
    super.addUserMessage(message);
  }

  override apply(event: StreamResponse): void {
    super.apply(event);
    if ("artifactUpdate" in event) {
      const { artifact, metadata = artifact.metadata } = event.artifactUpdate;
      const usage = decodeAdkUsage(metadata);
      // A later chunk of the same model call repeats the tokens of the prompt, and contains the output so far. With
      // `artifacts: "per-run"`, several calls have one artifact.
      if (usage) this.#reports.set(`artifact ${artifact.artifactId} ${usage.inputTokens}`, usage);
    } else if ("statusUpdate" in event || "task" in event) {
      const metadata = "task" in event ? event.task.metadata : event.statusUpdate.metadata;
      // Until the turn ends, the metadata of a task contains the usage of the turn before.
      const usage =
        "task" in event && !this.hasTurnEnded ? undefined : decodeAdapterUsage(metadata?.["usage"]);
      if (usage) this.#reports.set("adapter", usage);
      const ofModel = "task" in event ? undefined : decodeAdkUsage(metadata);
      const isRepeated = JSON.stringify(ofModel) === JSON.stringify([...this.#reports.values()].at(-1));
      if (ofModel && !isRepeated) this.#reports.set(`status ${this.#reports.size}`, ofModel);
    }
  }
}

/** Decodes the usage that the adapters of Colloquy report at the end of a turn. */
function decodeAdapterUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { inputTokens, outputTokens, cachedInputTokens } = usage;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return undefined;
  return { inputTokens, outputTokens, ...(isCount(cachedInputTokens) && { cachedInputTokens }) };
}

/** Decodes the usage of a model call that ADK agents report. Gemini counts thoughts and tool results separately. */
function decodeAdkUsage(metadata: JsonObject | undefined): TokenUsage | undefined {
  const usage = metadata?.["adk_usage_metadata"];
  if (!isObject(usage)) return undefined;
  const model = metadata?.["adk_model_version"];
  const count = (name: string): number => (isCount(usage[name]) ? usage[name] : 0);
  const { cachedContentTokenCount, thoughtsTokenCount } = usage;
  return {
    ...(typeof model === "string" && { model }),
    inputTokens: count("promptTokenCount") + count("toolUsePromptTokenCount"),
    outputTokens: count("candidatesTokenCount") + count("thoughtsTokenCount"),
    ...(isCount(cachedContentTokenCount) && { cachedInputTokens: cachedContentTokenCount }),
    ...(isCount(thoughtsTokenCount) && { reasoningTokens: thoughtsTokenCount }),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
