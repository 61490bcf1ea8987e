import type { AgentEvent } from "../engine/index.ts";
import type { JsonObject, Part } from "../protocol/index.ts";
import { ArtifactStreamer } from "./artifact-streamer.ts";
import { ArtifactMerger } from "./artifact-merger.ts";
import { PendingCalls } from "./pending-calls.ts";
import {
  toActionsMetadata,
  ADK_EXTENSION_URI,
  toEventMetadata,
  toAdkMetadataKey,
  hasExtraMetadata,
  toSessionMetadata,
  type SessionKey,
} from "./metadata.ts";
import { toA2aParts, toJsonObject } from "./parts.ts";
import { type AdkRunContext, WAITING_TASK_IDS_KEY } from "./adk-run-context.ts";
import type { AdkEvent, GenaiPart } from "./types.ts";

export interface RunEventProcessorOptions {
  readonly session: SessionKey;
  /** Knows by the end of the run which other tasks wait for their user. */
  readonly runContext?: Pick<AdkRunContext, "waitingTaskIds">;
  /** Ids for artifacts and errors. */
  readonly newId: () => string;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** True: callers are told what went wrong. Default: an id, under which the agent's owner finds it. */
  readonly exposeErrors?: boolean;
  /** `ignore`: an error does not fail the task when the same agent answers after it. */
  readonly recoveredErrorPolicy?: "fail" | "ignore";
  /** `per-event` (default): an artifact for each answer of an agent. `per-run`: one for all that a run says. */
  readonly artifacts?: "per-event" | "per-run";
  /** What becomes of a part of an artifact; undefined drops it. Default: `toA2aPart`. */
  readonly toA2aPart?: (part: GenaiPart, event: AdkEvent) => Part | undefined;
}

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

const PARTIAL_KEY = toAdkMetadataKey("partial");
const NO_EVENTS: readonly AgentEvent[] = [];

/** How a run ends: what the task says last, and the error that its owner is to know of. */
export interface RunOutcome {
  readonly events: readonly AgentEvent[];
  readonly error?: Error;
}

/**
 * Events that continue one another come from one agent, in one branch, at one node of a workflow. What tools answer
 * comes in the agent's name but in the user's role, and continues nothing that the agent says.
 */
interface EventChain {
  readonly author: string;
  readonly branch: string;
  readonly nodePath: string;
  readonly isToolResponse: boolean;
  /** All of that. */
  readonly key: string;
}

interface ModelError {
  readonly chainKey: string;
  readonly code: string | undefined;
  readonly message: string;
}

/** Turns the events of one ADK run into what its task says. One processor per run; it knows nothing of other runs. */
export class RunEventProcessor {
  readonly #options: RunEventProcessorOptions;
  readonly #sessionMetadata: JsonObject;
  readonly #artifactStreamer: ArtifactStreamer;
  readonly #artifactMerger: ArtifactMerger | undefined;
  readonly #pendingCalls = new PendingCalls();
  readonly #actionsMetadata: JsonObject = {};
  #modelError: ModelError | undefined;
  #lastChain: EventChain | undefined;

  constructor(options: RunEventProcessorOptions) {
    this.#options = options;
    this.#sessionMetadata = toSessionMetadata(options.session);
    this.#artifactStreamer = new ArtifactStreamer(options.newId, options.now);
    if (options.artifacts === "per-run") this.#artifactMerger = new ArtifactMerger(options.newId());
  }

  /** True when text waits for the events that follow; `flush` lets it go. */
  get hasBufferedParts(): boolean {
    return this.#artifactStreamer.hasBufferedParts;
  }

  /** The beginning of a run. What the task's metadata say already is not said again. */
  buildWorkingEvent(known: JsonObject = {}): AgentEvent {
    const status = { state: "TASK_STATE_WORKING" as const };
    const metadata = this.#buildStatusMetadata();
    const isNew = Object.entries(metadata).some(([key, value]) => known[key] !== value);
    return isNew ? { status, metadata } : { status };
  }

  process(event: AdkEvent): readonly AgentEvent[] {
    const said = this.#processEvent(event);
    return said ? this.#mergeArtifacts([said]) : NO_EVENTS;
  }

  #processEvent(event: AdkEvent): ArtifactEvent | undefined {
    this.#pendingCalls.addCallIds(event.longRunningToolIds);
    const chain = this.#getChainKey(event);
    if (event.actions?.escalate || event.actions?.transferToAgent) {
      Object.assign(this.#actionsMetadata, toActionsMetadata(event));
    }
    const failed = event.errorCode !== undefined || event.errorMessage !== undefined;
    if (failed) this.#recordError(event, chain);
    const parts = this.#extractArtifactParts(event);
    const metadata = (): JsonObject => ({ ...this.#sessionMetadata, ...toEventMetadata(event) });
    if (event.partial) {
      return parts.length > 0
        ? this.#artifactStreamer.addPartial(chain, parts, metadata, hasExtraMetadata(event))
        : undefined;
    }
    if (parts.length > 0 && !failed) this.#clearRecoveredError(chain);
    // An event without content, such as a change of state, ends no chain.
    return parts.length > 0 || event.content
      ? this.#artifactStreamer.addComplete(chain, parts, metadata())
      : undefined;
  }

  flush(): readonly AgentEvent[] {
    return this.#mergeArtifacts(this.#artifactStreamer.flush());
  }

  /** What was left open when a run was cut off; the engine says the rest. */
  closeOpenArtifacts(): readonly AgentEvent[] {
    const sealed = this.#mergeArtifacts(this.#artifactStreamer.closeOpenArtifacts());
    const last = sealed.at(-1);
    // Whatever was told after the piece that nothing followed: the one artifact is not whole.
    if (last && this.#artifactMerger)
      last.artifact.metadata = { ...last.artifact.metadata, [PARTIAL_KEY]: true };
    return sealed;
  }

  /** The end of a run: failed, or waiting for its user, or completed, in that order. */
  finish(): RunOutcome {
    if (this.#modelError) {
      const { code, message } = this.#modelError;
      const text = `llm error response (code ${code ?? "unknown"}): ${JSON.stringify(message)}`;
      return this.#buildFailure(text, code === undefined ? {} : { [toAdkMetadataKey("error_code")]: code });
    }
    const status = this.#pendingCalls.buildStatus() ?? { state: "TASK_STATE_COMPLETED" as const };
    const { waitingTaskIds: waiting } = this.#options.runContext ?? {};
    if ("message" in status && waiting?.length) status.message.referenceTaskIds = waiting.slice();
    return { events: [...this.closeOpenArtifacts(), { status, metadata: this.#buildFinalMetadata() }] };
  }

  /** The end of a run that threw. `what` says at what, for example `agent run failed`. */
  fail(what: string, thrown: unknown): RunOutcome {
    return this.#buildFailure(
      `${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      {},
      thrown,
    );
  }

  #buildFailure(text: string, metadata: JsonObject, cause?: unknown): RunOutcome {
    const errorId = this.#options.newId().slice(0, 8);
    const told = this.#options.exposeErrors ? text : `Agent execution failed. (error_id: ${errorId})`;
    const parts: Part[] = [{ text: told, metadata: { [toAdkMetadataKey("is_error_message")]: true } }];
    const status = { state: "TASK_STATE_FAILED" as const, message: { parts } };
    return {
      events: [
        ...this.closeOpenArtifacts(),
        { status, metadata: { ...this.#buildFinalMetadata(), ...metadata } },
      ],
      error: new Error(`${text} (error_id: ${errorId})`, { cause }),
    };
  }

  /** Nearly every event continues the one before it; a name that is glued together anew is looked up more slowly. */
  #getChainKey({ author = "", branch = "", nodeInfo, content }: AdkEvent): string {
    const path = nodeInfo?.path ?? "";
    const isTool = content?.role === "user";
    const last = this.#lastChain;
    const same =
      last?.author === author &&
      last.branch === branch &&
      last.nodePath === path &&
      last.isToolResponse === isTool;
    if (same) return last.key;
    const chain = `${author}\n${branch}\n${path}\n${isTool ? "tool" : ""}`;
    this.#lastChain = { author, branch, nodePath: path, isToolResponse: isTool, key: chain };
    return chain;
  }

  #mergeArtifacts(events: ArtifactEvent[]): ArtifactEvent[] {
    const one = this.#artifactMerger;
    return one ? events.flatMap((event) => one.merge(event)) : events;
  }

  #buildStatusMetadata(): JsonObject {
    return { ...this.#sessionMetadata, [ADK_EXTENSION_URI]: true };
  }

  #buildFinalMetadata(): JsonObject {
    const { waitingTaskIds: waiting } = this.#options.runContext ?? {};
    const others = waiting && { [WAITING_TASK_IDS_KEY]: waiting.slice() };
    return { ...this.#buildStatusMetadata(), ...others, ...this.#actionsMetadata };
  }

  /** The parts of an event that belong into an artifact. */
  #extractArtifactParts(event: AdkEvent): Part[] {
    let parts = event.content?.parts;
    if (this.#pendingCalls.hasCallIds) parts = parts?.filter((part) => !this.#pendingCalls.collectPart(part));
    if (event.content || event.output === undefined || event.output === null) {
      const { toA2aPart } = this.#options;
      return toA2aPart ? (parts ?? []).flatMap((part) => toA2aPart(part, event) ?? []) : toA2aParts(parts);
    }
    const output = typeof event.output === "object" ? toJsonObject(event.output) : (event.output as string);
    return [{ data: output, metadata: { [toAdkMetadataKey("type")]: "output" } }];
  }

  /** The first error is the one that counts. */
  #recordError({ errorCode, errorMessage }: AdkEvent, chain: string): void {
    this.#modelError ??= { chainKey: chain, code: errorCode, message: errorMessage ?? "" };
  }

  #clearRecoveredError(chain: string): void {
    if (this.#options.recoveredErrorPolicy === "ignore" && this.#modelError?.chainKey === chain)
      this.#modelError = undefined;
  }
}
