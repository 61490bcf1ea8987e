import type { AgentEvent } from "../engine/index.ts";
import type { JsonObject, Part } from "../protocol/index.ts";
import { Artifacts } from "./artifacts.ts";
import { OneArtifact } from "./one-artifact.ts";
import { PendingCalls } from "./input-required.ts";
import {
  actionsMetadata,
  ADK_EXTENSION,
  eventMetadata,
  metadataKey,
  saysMore,
  sessionMetadata,
  type SessionPlace,
} from "./metadata.ts";
import { toA2aParts, toJson } from "./parts.ts";
import { type Serving, WAITING_TASK_IDS } from "./serving.ts";
import type { AdkEvent, GenaiPart } from "./types.ts";

export interface ProcessorOptions {
  readonly session: SessionPlace;
  /** Knows by the end of the run which other tasks wait for their user. */
  readonly serving?: Pick<Serving, "waiting">;
  /** Ids for artifacts and errors. */
  readonly newId: () => string;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** True: callers are told what went wrong. Default: an id, under which the agent's owner finds it. */
  readonly exposeErrors?: boolean;
  /** `ignore`: an error does not fail the task when the same agent answers after it. */
  readonly recoveredErrors?: "fail" | "ignore";
  /** `per-event` (default): an artifact for each answer of an agent. `per-run`: one for all that a run says. */
  readonly artifacts?: "per-event" | "per-run";
  /** What becomes of a part of an artifact; undefined drops it. Default: `toA2aPart`. */
  readonly toA2aPart?: (part: GenaiPart, event: AdkEvent) => Part | undefined;
}

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

const PARTIAL = metadataKey("partial");
const NOTHING: readonly AgentEvent[] = [];

/** How a run ends: what the task says last, and the error that its owner is to know of. */
export interface Ending {
  readonly events: readonly AgentEvent[];
  readonly error?: Error;
}

/**
 * Events that continue one another come from one agent, in one branch, at one node of a workflow. What tools answer
 * comes in the agent's name but in the user's role, and continues nothing that the agent says.
 */
interface Chain {
  readonly author: string;
  readonly branch: string;
  readonly path: string;
  readonly isTool: boolean;
  /** All of that. */
  readonly chain: string;
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
  readonly #oneArtifact: OneArtifact | undefined;
  readonly #pending = new PendingCalls();
  readonly #actions: JsonObject = {};
  #error: ModelError | undefined;
  #last: Chain | undefined;

  constructor(options: ProcessorOptions) {
    this.#options = options;
    this.#session = sessionMetadata(options.session);
    this.#artifacts = new Artifacts(options.newId, options.now);
    if (options.artifacts === "per-run") this.#oneArtifact = new OneArtifact(options.newId());
  }

  /** True when text waits for the events that follow; `release` lets it go. */
  get holding(): boolean {
    return this.#artifacts.holding;
  }

  /** The beginning of a run. What the task's metadata say already is not said again. */
  working(known: JsonObject = {}): AgentEvent {
    const status = { state: "TASK_STATE_WORKING" as const };
    const metadata = this.#statusMetadata();
    const isNew = Object.entries(metadata).some(([key, value]) => known[key] !== value);
    return isNew ? { status, metadata } : { status };
  }

  take(event: AdkEvent): readonly AgentEvent[] {
    const said = this.#take(event);
    return said ? this.#arrange([said]) : NOTHING;
  }

  #take(event: AdkEvent): ArtifactEvent | undefined {
    this.#pending.announce(event.longRunningToolIds);
    const chain = this.#chainOf(event);
    if (event.actions?.escalate || event.actions?.transferToAgent) {
      Object.assign(this.#actions, actionsMetadata(event));
    }
    const failed = event.errorCode !== undefined || event.errorMessage !== undefined;
    if (failed) this.#noteError(event, chain);
    const parts = this.#partsOf(event);
    const metadata = (): JsonObject => ({ ...this.#session, ...eventMetadata(event) });
    if (event.partial) {
      return parts.length > 0 ? this.#artifacts.addPiece(chain, parts, metadata, saysMore(event)) : undefined;
    }
    if (parts.length > 0 && !failed) this.#recover(chain);
    // An event without content, such as a change of state, ends no chain.
    return parts.length > 0 || event.content ? this.#artifacts.addWhole(chain, parts, metadata()) : undefined;
  }

  release(): readonly AgentEvent[] {
    return this.#arrange(this.#artifacts.release());
  }

  /** What was left open when a run was cut off; the engine says the rest. */
  seal(): readonly AgentEvent[] {
    const sealed = this.#arrange(this.#artifacts.seal());
    const last = sealed.at(-1);
    // Whatever was told after the piece that nothing followed: the one artifact is not whole.
    if (last && this.#oneArtifact) last.artifact.metadata = { ...last.artifact.metadata, [PARTIAL]: true };
    return sealed;
  }

  /** The end of a run: failed, or waiting for its user, or completed, in that order. */
  finish(): Ending {
    if (this.#error) {
      const { code, message } = this.#error;
      const text = `llm error response (code ${code ?? "unknown"}): ${JSON.stringify(message)}`;
      return this.#fail(text, code === undefined ? {} : { [metadataKey("error_code")]: code });
    }
    const status = this.#pending.status() ?? { state: "TASK_STATE_COMPLETED" as const };
    const { waiting } = this.#options.serving ?? {};
    if ("message" in status && waiting?.length) status.message.referenceTaskIds = waiting.slice();
    return { events: [...this.seal(), { status, metadata: this.#finalMetadata() }] };
  }

  /** The end of a run that threw. `what` says at what, for example `agent run failed`. */
  fail(what: string, thrown: unknown): Ending {
    return this.#fail(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, {}, thrown);
  }

  #fail(text: string, metadata: JsonObject, cause?: unknown): Ending {
    const errorId = this.#options.newId().slice(0, 8);
    const told = this.#options.exposeErrors ? text : `Agent execution failed. (error_id: ${errorId})`;
    const parts: Part[] = [{ text: told, metadata: { [metadataKey("is_error_message")]: true } }];
    const status = { state: "TASK_STATE_FAILED" as const, message: { parts } };
    return {
      events: [...this.seal(), { status, metadata: { ...this.#finalMetadata(), ...metadata } }],
      error: new Error(`${text} (error_id: ${errorId})`, { cause }),
    };
  }

  /** Nearly every event continues the one before it; a name that is glued together anew is looked up more slowly. */
  #chainOf({ author = "", branch = "", nodeInfo, content }: AdkEvent): string {
    const path = nodeInfo?.path ?? "";
    const isTool = content?.role === "user";
    const last = this.#last;
    const same =
      last?.author === author && last.branch === branch && last.path === path && last.isTool === isTool;
    if (same) return last.chain;
    const chain = `${author}\n${branch}\n${path}\n${isTool ? "tool" : ""}`;
    this.#last = { author, branch, path, isTool, chain };
    return chain;
  }

  #arrange(events: ArtifactEvent[]): ArtifactEvent[] {
    const one = this.#oneArtifact;
    return one ? events.flatMap((event) => one.take(event)) : events;
  }

  #statusMetadata(): JsonObject {
    return { ...this.#session, [ADK_EXTENSION]: true };
  }

  #finalMetadata(): JsonObject {
    const { waiting } = this.#options.serving ?? {};
    const others = waiting && { [WAITING_TASK_IDS]: waiting.slice() };
    return { ...this.#statusMetadata(), ...others, ...this.#actions };
  }

  /** The parts of an event that belong into an artifact. */
  #partsOf(event: AdkEvent): Part[] {
    let parts = event.content?.parts;
    if (this.#pending.announced) parts = parts?.filter((part) => !this.#pending.take(part));
    if (event.content || event.output === undefined || event.output === null) {
      const { toA2aPart } = this.#options;
      return toA2aPart ? (parts ?? []).flatMap((part) => toA2aPart(part, event) ?? []) : toA2aParts(parts);
    }
    const output = typeof event.output === "object" ? toJson(event.output) : (event.output as string);
    return [{ data: output, metadata: { [metadataKey("type")]: "output" } }];
  }

  /** The first error is the one that counts. */
  #noteError({ errorCode, errorMessage }: AdkEvent, chain: string): void {
    this.#error ??= { chain, code: errorCode, message: errorMessage ?? "" };
  }

  #recover(chain: string): void {
    if (this.#options.recoveredErrors === "ignore" && this.#error?.chain === chain) this.#error = undefined;
  }
}
