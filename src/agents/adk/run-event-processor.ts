import type { AgentEvent } from "../../engine/index.ts";
import type { JsonObject, Part } from "../../protocol/index.ts";
import {
  ACTIONS_KEY,
  ADK_EXTENSION_URI,
  clearActionsMetadata,
  DATA_PART_TYPE_KEY,
  ESCALATE_KEY,
  hasExtraEventMetadata,
  IS_ERROR_MESSAGE_KEY,
  mergePeerMetadata,
  pickStateValues,
  toActionsMetadata,
  toAdkMetadataKey,
  toEventMetadata,
  toModelMetadata,
  toSessionKeyMetadata,
  toStateMetadata,
} from "./adk-event-metadata.ts";
import { type AdkRunContext, WAITING_TASK_IDS_METADATA_KEY } from "./adk-run-context.ts";
import type { AdkEvent, GenaiPart, SavedFile, SessionKey } from "./adk-structural-types.ts";
import { type ArtifactAgentEvent, ArtifactStreamer, PerRunArtifactMerger } from "./artifact-streamer.ts";
import { toA2aPart, toA2aParts, toJsonObject } from "./part-conversion.ts";
import { PendingFunctionCalls } from "./pending-function-calls.ts";
import { savedFileToArtifactEvent } from "./saved-file-artifacts.ts";

/** Options that control how the events of a run are converted. */
export interface RunEventProcessorOptions {
  readonly session: SessionKey;
  /**
   * Context of the ADK run that the processor converts. At the end of the run, the run context contains
   * the ids of other waiting tasks.
   */
  readonly runContext?: Pick<AdkRunContext, "waitingTaskIds">;
  /** Returns a new id for an artifact or an error. */
  readonly newId: () => string;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly now: () => number;
  /**
   * If `true`, the failed status contains the error message. By default, callers receive an error id, and
   * only the server's observer receives the error.
   */
  readonly exposeErrors?: boolean;
  /**
   * With `ignore`, an error does not fail the task if the same agent answers afterward. Default: `fail`.
   */
  readonly recoveredErrorPolicy?: "fail" | "ignore";
  /**
   * With `per-event`, every answer of an agent is a separate artifact. With `per-run`, each run produces one
   * artifact. In both cases, the last chunk of an artifact replaces the earlier chunks with the entire
   * content, because ADK for Python stores only the last chunk. ADK's own servers do the same. With `pieces`,
   * every answer is a separate artifact, and the last chunk contains only content that was not sent before.
   * `pieces` can halve the log size, but clients that use ADK for Python then lose most of the answer.
   * Default: `per-event`.
   */
  readonly artifacts?: "per-event" | "per-run" | "pieces";
  /**
   * Session state keys whose values the caller receives. The final status of a turn contains the values that
   * the turn has set. Default: none.
   */
  readonly sendState?: readonly string[];
  /**
   * Converts an ADK part before it is added to an artifact. If the converter returns `undefined`, the part is
   * dropped. Default: `toA2aPart`.
   */
  readonly toA2aPart?: (part: GenaiPart, event: AdkEvent) => Part | undefined;
}

const NO_AGENT_EVENTS: readonly AgentEvent[] = [];

/**
 * Result of an ADK run, with the last events of the turn. If the run failed, the result also has the error
 * for the server's observer.
 */
export interface RunOutcome {
  readonly events: readonly AgentEvent[];
  readonly error?: Error;
}

/**
 * A chain of consecutive events with the same author, the same branch, and the same workflow node. A tool
 * response has the agent's author but the role `user`, so tool responses form a separate chain.
 */
interface AuthorEventChain {
  readonly author: string;
  readonly branch: string;
  readonly nodePath: string;
  readonly isToolResponse: boolean;
  /** String key that combines the author, the branch, the node, and the role of the chain. */
  readonly key: string;
}

interface ModelError {
  readonly chainKey: string;
  readonly code: string | undefined;
  readonly message: string;
  /** Sentence for the caller, if the model stopped for a known reason. */
  readonly stopDescription: string | undefined;
  readonly metadata: JsonObject;
}

/** Converts the events of one ADK run to engine events. Every ADK run has its own `RunEventProcessor`. */
export class RunEventProcessor {
  readonly #options: RunEventProcessorOptions;
  readonly #sessionMetadata: JsonObject;
  readonly #artifactStreamer: ArtifactStreamer;
  readonly #artifactMerger: PerRunArtifactMerger | undefined;
  readonly #pendingCalls = new PendingFunctionCalls();
  #actionsMetadata: JsonObject = {};
  /** Session state values that the turn has set and that the caller receives. */
  readonly #sentState: JsonObject = {};
  #modelError: ModelError | undefined;
  #lastChain: AuthorEventChain | undefined;
  /** The last complete event of each chain. */
  readonly #lastEvents = new Map<string, AdkEvent>();
  #hasContent = false;
  /** The last event with only the usage or finish reason of a model. */
  #emptyAnswer: AdkEvent | undefined;

  constructor(options: RunEventProcessorOptions) {
    this.#options = options;
    this.#sessionMetadata = toSessionKeyMetadata(options.session);
    const ending = (options.artifacts ?? "per-event") === "per-event" ? "whole" : "pieces";
    this.#artifactStreamer = new ArtifactStreamer(options.newId, options.now, ending);
    if (options.artifacts === "per-run") this.#artifactMerger = new PerRunArtifactMerger(options.newId());
  }

  /** Returns true if the processor buffers text until more events arrive. `flush` emits it. */
  get hasBufferedParts(): boolean {
    return this.#artifactStreamer.hasBufferedParts || (this.#artifactMerger?.hasHeldEvent ?? false);
  }

  /** Returns true if the buffered text is the first text of an artifact, which readers should receive at once. */
  get hasUnsentArtifact(): boolean {
    return this.#artifactStreamer.hasUnsentArtifact;
  }

  /**
   * Returns the engine event that starts a run. The start event omits metadata that the task already has, and
   * clears the actions of earlier turns.
   */
  buildWorkingEvent(known: JsonObject = {}): AgentEvent {
    const status = { state: "TASK_STATE_WORKING" as const };
    const metadata = { ...this.#buildStatusMetadata(), ...clearActionsMetadata(known) };
    const isNew = Object.entries(metadata).some(([key, value]) => known[key] !== value);
    return isNew ? { status, metadata } : { status };
  }

  process(event: AdkEvent): readonly AgentEvent[] {
    const artifactEvent = this.#processEvent(event);
    const merged = artifactEvent ? this.#mergeArtifactsPerRun([artifactEvent]) : [];
    if (event.savedFiles) return [...merged, ...this.#convertSavedFiles(event, event.savedFiles)];
    if (artifactEvent) return merged;
    return event.actions?.escalate && !event.content ? [buildEscalationNotice(event)] : NO_AGENT_EVENTS;
  }

  #convertSavedFiles(event: AdkEvent, files: readonly SavedFile[]): ArtifactAgentEvent[] {
    const convert = this.#options.toA2aPart ?? ((part: GenaiPart): Part | undefined => toA2aPart(part));
    // The artifact of the event's content has the tokens.
    const metadata = {
      ...this.#sessionMetadata,
      ...toEventMetadata(event.content ? omitUsage(event) : event),
    };
    return files.flatMap((file) => {
      const part = convert(file.part, event);
      return part ? [savedFileToArtifactEvent(file, part, metadata)] : [];
    });
  }

  #processEvent(event: AdkEvent): ArtifactAgentEvent | undefined {
    this.#pendingCalls.addLongRunningCallIds(event.longRunningToolIds);
    const chain = this.#getEventChainKey(event);
    if (event.actions?.escalate || event.actions?.transferToAgent)
      this.#actionsMetadata = mergePeerMetadata(this.#actionsMetadata, toActionsMetadata(event));
    if (event.actions?.stateDelta && !event.partial && this.#options.sendState?.length)
      Object.assign(this.#sentState, pickStateValues(event.actions.stateDelta, this.#options.sendState));
    const failed =
      (event.errorCode !== undefined || event.errorMessage !== undefined) && !isTruncatedAnswer(event);
    if (failed) this.#recordError(event, chain);
    const parts = this.#extractArtifactParts(event);
    if (event.content?.parts?.length || event.output !== undefined || event.savedFiles)
      this.#hasContent = true;
    else if (event.usageMetadata ?? event.finishReason) this.#emptyAnswer = event;
    const isUsageRepeated = repeatsUsage(event, this.#lastEvents.get(chain));
    const metadata = (): JsonObject => ({
      ...this.#sessionMetadata,
      ...toEventMetadata(isUsageRepeated ? omitUsage(event) : event),
    });
    if (!event.partial) this.#lastEvents.set(chain, event);
    if (event.partial) {
      return parts.length > 0
        ? this.#artifactStreamer.addPartsOfPartialEvent(chain, parts, metadata, hasExtraEventMetadata(event))
        : undefined;
    }
    if (parts.length > 0 && !failed) this.#clearRecoveredError(chain);
    // An event without content, such as a state change, does not end its chain.
    return parts.length > 0 || event.content
      ? this.#artifactStreamer.addPartsOfCompleteEvent(chain, parts, metadata())
      : undefined;
  }

  flush(): readonly AgentEvent[] {
    const events = this.#mergeArtifactsPerRun(this.#artifactStreamer.flush());
    return this.#artifactMerger ? [...events, ...this.#artifactMerger.releaseHeldEvent()] : events;
  }

  /**
   * Closes the artifacts of a run. After an abort, the engine emits the final status. With `per-run`, an
   * incomplete chain makes the entire artifact partial.
   */
  closeOpenArtifacts(): readonly AgentEvent[] {
    const closed = this.#artifactStreamer.closeOpenArtifacts();
    const events = this.#mergeArtifactsPerRun(closed);
    return this.#artifactMerger ? this.#artifactMerger.finish(closed.length > 0) : events;
  }

  /**
   * Returns the result of a run that ended normally. The result is one of failed, waiting for the user, and
   * completed, in this order of precedence.
   */
  finish(): RunOutcome {
    if (this.#modelError) {
      const { code, message, stopDescription, metadata } = this.#modelError;
      const text =
        stopDescription === undefined
          ? `llm error response (code ${code ?? "unknown"}): ${JSON.stringify(message)}`
          : `${stopDescription} ${message}`.trim();
      return this.#buildFailure(text, metadata, undefined, stopDescription);
    }
    if (this.#emptyAnswer && !this.#hasContent) {
      const description = describeEmptyAnswer(this.#emptyAnswer);
      return this.#buildFailure(description, toModelMetadata(this.#emptyAnswer), undefined, description);
    }
    const status = this.#pendingCalls.buildInterruptedStatus() ?? { state: "TASK_STATE_COMPLETED" as const };
    const { waitingTaskIds } = this.#options.runContext ?? {};
    if ("message" in status) {
      if (waitingTaskIds?.length) status.message.referenceTaskIds = waitingTaskIds.slice();
      Object.assign(status.message, this.#buildMessageMetadata());
    }
    return { events: [...this.closeOpenArtifacts(), { status, metadata: this.#buildFinalMetadata() }] };
  }

  /**
   * Returns the result of a run that threw an error. The parameter `what` describes the failure, for
   * example `agent run failed`.
   */
  fail(what: string, thrown: unknown): RunOutcome {
    return this.#buildFailure(
      `${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      {},
      thrown,
    );
  }

  #buildFailure(text: string, metadata: JsonObject, cause?: unknown, publicText?: string): RunOutcome {
    const errorId = this.#options.newId().slice(0, 8);
    const hiddenText =
      publicText === undefined
        ? `The agent failed. The server's log has the cause under error id ${errorId}.`
        : `${publicText} (error_id: ${errorId})`;
    const callerText = this.#options.exposeErrors ? text : hiddenText;
    const parts: Part[] = [{ text: callerText, metadata: { [IS_ERROR_MESSAGE_KEY]: true } }];
    const message = { parts, ...this.#buildMessageMetadata() };
    const status = { state: "TASK_STATE_FAILED" as const, message };
    return {
      events: [
        ...this.closeOpenArtifacts(),
        { status, metadata: { ...this.#buildFinalMetadata(), ...metadata } },
      ],
      error: Object.assign(new Error(`${text} (error_id: ${errorId})`, { cause }), { errorId }),
    };
  }

  /**
   * Returns the key of an event's chain. The processor caches the last key, because most events continue the
   * previous chain.
   */
  #getEventChainKey({ author = "", branch = "", nodeInfo, content }: AdkEvent): string {
    const nodePath = nodeInfo?.path ?? "";
    const isToolResponse = content?.role === "user";
    const last = this.#lastChain;
    const isSameChain =
      last?.author === author &&
      last.branch === branch &&
      last.nodePath === nodePath &&
      last.isToolResponse === isToolResponse;
    if (isSameChain) return last.key;
    const key = `${author}\n${branch}\n${nodePath}\n${isToolResponse ? "tool" : ""}`;
    this.#lastChain = { author, branch, nodePath, isToolResponse, key };
    return key;
  }

  #mergeArtifactsPerRun(events: ArtifactAgentEvent[]): ArtifactAgentEvent[] {
    const merger = this.#artifactMerger;
    return merger ? events.flatMap((event) => merger.mergeArtifactEvent(event)) : events;
  }

  #buildStatusMetadata(): JsonObject {
    return { ...this.#sessionMetadata, [ADK_EXTENSION_URI]: true };
  }

  /** Returns the metadata of a status message. ADK for Python reads the actions from this metadata. */
  #buildMessageMetadata(): { metadata?: JsonObject } {
    const actions = this.#actionsMetadata[ACTIONS_KEY];
    return actions === undefined ? {} : { metadata: { [ACTIONS_KEY]: actions } };
  }

  #buildFinalMetadata(): JsonObject {
    const { waitingTaskIds } = this.#options.runContext ?? {};
    const waitingTasks = waitingTaskIds && { [WAITING_TASK_IDS_METADATA_KEY]: waitingTaskIds.slice() };
    const actions = mergePeerMetadata(this.#actionsMetadata, toStateMetadata(this.#sentState));
    return { ...this.#buildStatusMetadata(), ...waitingTasks, ...actions };
  }

  /** Returns the event parts that become artifact content. */
  #extractArtifactParts(event: AdkEvent): Part[] {
    let parts = event.content?.parts;
    if (this.#pendingCalls.hasLongRunningCallIds)
      parts = parts?.filter((part) => !this.#pendingCalls.collectCallOrResponsePart(part));
    if (event.content || event.output === undefined || event.output === null) {
      const { toA2aPart } = this.#options;
      return toA2aPart ? (parts ?? []).flatMap((part) => toA2aPart(part, event) ?? []) : toA2aParts(parts);
    }
    const output = typeof event.output === "object" ? toJsonObject(event.output) : (event.output as string);
    return [{ data: output, metadata: { [DATA_PART_TYPE_KEY]: "output" } }];
  }

  /** Stores the first model error of a run. The processor ignores later model errors. */
  #recordError(event: AdkEvent, chain: string): void {
    const { errorCode, errorMessage } = event;
    this.#modelError ??= {
      chainKey: chain,
      code: errorCode,
      message: errorMessage ?? "",
      stopDescription: describeModelStop(event),
      metadata: {
        ...toModelMetadata(event),
        ...(errorCode !== undefined && { [toAdkMetadataKey("error_code")]: errorCode }),
      },
    };
  }

  #clearRecoveredError(chain: string): void {
    if (this.#options.recoveredErrorPolicy === "ignore" && this.#modelError?.chainKey === chain)
      this.#modelError = undefined;
  }
}

/**
 * Returns true for a function call whose tokens the event before already contains. In a stream, ADK's Gemini model yields
 * the text before a function call as a separate event, with the tokens of the entire call.
 */
function repeatsUsage({ usageMetadata, content }: AdkEvent, previous: AdkEvent | undefined): boolean {
  return (
    usageMetadata !== undefined &&
    hasFunctionCall(content) &&
    previous?.content !== undefined &&
    !hasFunctionCall(previous.content) &&
    JSON.stringify(usageMetadata) === JSON.stringify(previous.usageMetadata)
  );
}

function hasFunctionCall(content: AdkEvent["content"]): boolean {
  return content?.parts?.some((part) => part.functionCall) ?? false;
}

function omitUsage(event: AdkEvent): AdkEvent {
  const { usageMetadata: _, ...rest } = event;
  return rest;
}

/**
 * Returns a progress update for an event that escalates without content. ADK for Python reads actions only from
 * artifacts and from status messages, and such an event has no artifact. ADK for JavaScript reads the metadata of
 * the update. The text is a thought, so ADK's
 * clients do not treat it as an answer.
 */
function buildEscalationNotice(event: AdkEvent): AgentEvent {
  const parts = toA2aParts([{ text: "The agent escalates to its caller.", thought: true }]);
  const { [ACTIONS_KEY]: actions = {} } = toActionsMetadata(event);
  const message = { parts, metadata: { [ACTIONS_KEY]: actions } };
  return { status: { state: "TASK_STATE_WORKING", message }, metadata: { [ESCALATE_KEY]: true } };
}

/** Descriptions of the reasons why models stop without an answer, by Gemini API code. */
const MODEL_STOP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  MAX_TOKENS: "the model reached its maximum number of output tokens before it wrote text",
  SAFETY: "a safety filter blocked the content",
  IMAGE_SAFETY: "a safety filter blocked an image",
  RECITATION: "the answer repeats protected content",
  LANGUAGE: "the model does not support the language",
  BLOCKLIST: "the content contains blocked terms",
  PROHIBITED_CONTENT: "the content is prohibited",
  SPII: "the answer contains sensitive personal data",
  MALFORMED_FUNCTION_CALL: "the model wrote an invalid function call",
  UNEXPECTED_TOOL_CALL: "the model called a tool that it does not have",
  TOO_MANY_TOOL_CALLS: "the model called too many tools",
  NO_IMAGE: "the model wrote no image",
  OTHER: "the provider gives no reason",
};

/**
 * Returns a sentence for the caller if a model stopped without an answer for a known reason. The sentence
 * contains no text from the model or its provider. Returns `undefined` for other errors.
 */
function describeModelStop({ errorCode, finishReason }: AdkEvent): string | undefined {
  if (errorCode === undefined || !Object.hasOwn(MODEL_STOP_DESCRIPTIONS, errorCode)) return undefined;
  // Only answers have a finish reason. A blocked prompt has none.
  const what = finishReason === undefined ? "The model rejected the request" : "The model stopped";
  return `${what} (${errorCode}): ${MODEL_STOP_DESCRIPTIONS[errorCode]}.`;
}

/**
 * Returns a sentence for the caller of a run without content. In streaming mode, ADK reports neither an error nor a
 * finish reason if the provider blocks the prompt.
 */
function describeEmptyAnswer({ finishReason }: AdkEvent): string {
  const hint = finishReason === undefined ? " The provider may have blocked the prompt." : "";
  return `The model returned neither text nor a function call (finish reason: ${finishReason ?? "none"}).${hint}`;
}

/**
 * Returns true if an event contains an answer that was cut off at the model's token limit. ADK's runner also
 * treats such an event as an answer, although ADK sets the error code in streaming mode.
 */
function isTruncatedAnswer({ errorCode, content }: AdkEvent): boolean {
  return errorCode === "MAX_TOKENS" && (content?.parts ?? []).some(({ text, thought }) => text && !thought);
}
