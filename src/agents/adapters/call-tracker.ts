import type { AgentCallReport, ModelCallReport, Run } from "../../engine/index.ts";

export type ReportCall = NonNullable<Run["reportCall"]>;

type ModelCall = Omit<ModelCallReport, "kind" | "durationMs" | "endedMsAgo">;
type ToolCallReport = Extract<AgentCallReport, { kind: "tool" }>;
type ToolCall = Pick<ToolCallReport, "tool" | "arguments">;
type ToolOutcome = Pick<ToolCallReport, "result" | "error">;

/** A call that has begun, with the time of the clock `performance.now`. */
interface StartedCall<Call> {
  readonly startMs: number;
  readonly call: Call;
}

/**
 * Measures the model calls and tool calls of one run, and reports each call at its end. The ids are those of the
 * framework. A framework without ids of model calls has one model call at a time.
 */
export class CallTracker {
  readonly #reportCall: ReportCall;
  readonly #models = new Map<string, StartedCall<ModelCall>>();
  readonly #tools = new Map<string, StartedCall<ToolCall>>();

  constructor(reportCall: ReportCall) {
    this.#reportCall = reportCall;
  }

  startModel(
    call: ModelCall,
    { id = "", startMs = performance.now() }: { readonly id?: string; readonly startMs?: number } = {},
  ): void {
    this.#models.set(id, { startMs, call });
  }

  /** Adds what the framework shows before the end of the call. */
  updateModel(call: Partial<ModelCall>, id = ""): void {
    const started = this.#models.get(id);
    if (started) this.#models.set(id, { ...started, call: { ...started.call, ...call } });
  }

  /** Reports a model call. Does nothing without a started call. */
  endModel(
    outcome: Partial<ModelCall>,
    {
      id = "",
      endMs = performance.now(),
      durationMs,
    }: { readonly id?: string; readonly endMs?: number; readonly durationMs?: number | undefined } = {},
  ): void {
    const started = this.#models.get(id);
    this.#models.delete(id);
    if (!started) return;
    const measuredMs = durationMs ?? endMs - started.startMs;
    const endedMsAgo = Math.max(0, performance.now() - started.startMs - measuredMs);
    this.#reportCall({ kind: "model", ...started.call, ...outcome, durationMs: measuredMs, endedMsAgo });
  }

  startTool(id: string, call: ToolCall): void {
    this.#tools.set(id, { startMs: performance.now(), call });
  }

  /** Reports a tool call. Without a started call, reports `call` with the duration 0, or does nothing. */
  endTool(id: string, outcome: ToolOutcome, call?: ToolCall): void {
    const endMs = performance.now();
    const started = this.#tools.get(id);
    this.#tools.delete(id);
    const described = started?.call ?? call;
    if (!described) return;
    const durationMs = endMs - (started?.startMs ?? endMs);
    this.#reportCall({ kind: "tool", ...described, durationMs, ...outcome });
  }
}

export function describeCallError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
