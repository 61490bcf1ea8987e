import type { AgentEvent } from "../engine/index.ts";
import type { JsonObject, Part } from "../protocol/index.ts";
import { Artifacts } from "./artifacts.ts";
import { PendingCalls } from "./input-required.ts";
import {
  ADK_EXTENSION,
  eventMetadata,
  metadataKey,
  saysMore,
  sessionMetadata,
  type SessionPlace,
} from "./metadata.ts";
import { toA2aParts, toJson } from "./parts.ts";
import type { AdkEvent, GenaiPart } from "./types.ts";

export interface ProcessorOptions {
  readonly session: SessionPlace;
  /** Ids for artifacts and errors. */
  readonly newId: () => string;
  /** Told of every failure, with the id under which a caller was told less about it. */
  readonly onError?: (error: unknown, errorId: string) => void;
  /** True: callers are told what went wrong, not only an error id. */
  readonly exposeErrors?: boolean;
  /** `ignore`: an error does not fail the task when the same agent answers after it. */
  readonly recoveredErrors?: "fail" | "ignore";
}

interface ModelError {
  readonly chain: string;
  readonly code: string | undefined;
  readonly message: string;
}

/** Turns the events of one ADK run into what its task says. One processor per run; it knows nothing of other runs. */
export class Processor {
  readonly #options: ProcessorOptions;
  readonly #session: JsonObject;
  readonly #artifacts: Artifacts;
  readonly #pending = new PendingCalls();
  readonly #actions: JsonObject = {};
  #error: ModelError | undefined;

  constructor(options: ProcessorOptions) {
    this.#options = options;
    this.#session = sessionMetadata(options.session);
    this.#artifacts = new Artifacts(options.newId);
  }

  /** True when text waits for the events that follow; `release` lets it go. */
  get holding(): boolean {
    return this.#artifacts.holding;
  }

  working(): AgentEvent {
    return { status: { state: "TASK_STATE_WORKING" }, metadata: this.#statusMetadata() };
  }

  take(event: AdkEvent): AgentEvent | undefined {
    this.#pending.announce(event.longRunningToolIds);
    const chain = chainOf(event);
    this.#noteActions(event);
    const failed = event.errorCode !== undefined || event.errorMessage !== undefined;
    if (failed) this.#noteError(event, chain);
    const parts = this.#partsOf(event);
    const metadata = (): JsonObject => ({ ...this.#session, ...eventMetadata(event) });
    if (event.partial) {
      return parts.length > 0 ? this.#artifacts.addPiece(chain, parts, metadata, saysMore(event)) : undefined;
    }
    if (
      parts.length > 0 &&
      !failed &&
      this.#error?.chain === chain &&
      this.#options.recoveredErrors === "ignore"
    ) {
      this.#error = undefined;
    }
    // A function response is a chain of its own; an event without content (a state change, say) ends nothing.
    return parts.length > 0 || event.content ? this.#artifacts.addWhole(chain, parts, metadata()) : undefined;
  }

  release(): AgentEvent[] {
    return this.#artifacts.release();
  }

  /** What was left open when a run was cut off; the engine says the rest. */
  seal(): AgentEvent[] {
    return this.#artifacts.seal();
  }

  /** The end of a run: failed, or waiting for its user, or completed, in that order. */
  finish(): AgentEvent[] {
    const metadata = { ...this.#statusMetadata(), ...this.#actions };
    const events: AgentEvent[] = this.seal();
    if (this.#error) {
      const { code, message } = this.#error;
      if (code !== undefined) metadata[metadataKey("error_code")] = code;
      const text = `llm error response (code ${code ?? "unknown"}): ${JSON.stringify(message)}`;
      events.push(this.#failed(new Error(text), text, metadata));
    } else {
      const status = this.#pending.status() ?? { state: "TASK_STATE_COMPLETED" as const };
      events.push({ status, metadata });
    }
    return events;
  }

  /** The end of a run that threw. `what` says at what, for example `agent run failed`. */
  fail(what: string, thrown: unknown): AgentEvent[] {
    const text = `${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    const metadata = { ...this.#statusMetadata(), ...this.#actions };
    return [...this.seal(), this.#failed(thrown, text, metadata)];
  }

  #failed(error: unknown, text: string, metadata: JsonObject): AgentEvent {
    const errorId = this.#options.newId().slice(0, 8);
    this.#options.onError?.(error, errorId);
    const told = this.#options.exposeErrors ? text : `Agent execution failed. (error_id: ${errorId})`;
    const parts: Part[] = [{ text: told, metadata: { [metadataKey("is_error_message")]: true } }];
    return { status: { state: "TASK_STATE_FAILED", message: { parts } }, metadata };
  }

  #statusMetadata(): JsonObject {
    return { ...this.#session, [ADK_EXTENSION]: true };
  }

  /** The parts of an event that belong into an artifact. */
  #partsOf(event: AdkEvent): Part[] {
    const parts = event.content?.parts?.filter((part: GenaiPart) => !this.#pending.take(part));
    if (event.content || event.output === undefined || event.output === null) return toA2aParts(parts);
    const output = typeof event.output === "object" ? toJson(event.output) : (event.output as string);
    return [{ data: output, metadata: { [metadataKey("type")]: "output" } }];
  }

  #noteActions({ actions }: AdkEvent): void {
    if (actions?.escalate) this.#actions[metadataKey("escalate")] = true;
    if (actions?.transferToAgent) this.#actions[metadataKey("transfer_to_agent")] = actions.transferToAgent;
  }

  /** The first error is the one that counts. */
  #noteError({ errorCode, errorMessage }: AdkEvent, chain: string): void {
    this.#error ??= { chain, code: errorCode, message: errorMessage ?? "" };
  }
}

/** Events that continue one another come from one agent, in one branch, at one node of a workflow. */
function chainOf({ author = "", branch = "", nodeInfo }: AdkEvent): string {
  return `${author}\n${branch}\n${nodeInfo?.path ?? ""}`;
}
