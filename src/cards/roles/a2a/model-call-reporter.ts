import type { ModelCallReport, Run } from "../../../engine/index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import type { ModelReply, ModelRequest } from "../role-model.ts";
import { omitUndefined } from "./omit-undefined.ts";

/**
 * Reports one call of a role to its model, with all failed attempts, to the server of the role. The report contains the
 * text of the reply as the model sent it.
 */
export class ModelCallReporter {
  readonly #reportCall: Run["reportCall"];
  readonly #modelId: string;
  readonly #request: Omit<ModelRequest, "role" | "signal">;
  readonly #clock: { monotonic(): number };
  readonly #startMs: number;
  readonly #attempts: { readonly error: string; readonly wait_ms: number }[] = [];

  constructor(
    reportCall: Run["reportCall"],
    modelId: string,
    request: Omit<ModelRequest, "role" | "signal">,
    clock: { monotonic(): number },
  ) {
    this.#reportCall = reportCall;
    this.#modelId = modelId;
    this.#request = request;
    this.#clock = clock;
    this.#startMs = clock.monotonic();
  }

  /** Adds a failed attempt, after which the role waits for `waitMs` milliseconds. */
  addFailedAttempt(error: string, waitMs: number): void {
    this.#attempts.push({ error, wait_ms: waitMs });
  }

  succeed({ text, finish, model, usage }: ModelReply): void {
    this.#report({
      reply: text,
      finishReason: finish,
      ...(model !== undefined && { model }),
      // Without a source, the counts are 0 and mean nothing.
      ...(usage &&
        usage.source !== "none" && {
          inputTokens: usage.input_tokens,
          cachedInputTokens: usage.cached_input_tokens,
          outputTokens: usage.output_tokens,
        }),
    });
  }

  fail(error: string): void {
    this.#report({ error });
  }

  #report(outcome: Partial<ModelCallReport>): void {
    this.#reportCall?.({
      kind: "model",
      model: this.#modelId,
      prompt: toPrompt(this.#request),
      ...(this.#attempts.length > 0 && { attempts: [...this.#attempts] }),
      durationMs: this.#clock.monotonic() - this.#startMs,
      ...outcome,
    });
  }
}

/** Returns the prompt of a model request as JSON. */
export function toPrompt({
  messages,
  schema,
  maxTokens,
  temperature,
  seed,
}: Omit<ModelRequest, "role" | "signal">): JsonObject {
  return {
    messages: messages.map(({ role, text }) => ({ role, text })),
    ...omitUndefined({ schema, maxTokens, temperature, seed }),
  };
}
