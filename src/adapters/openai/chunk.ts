import type { JsonObject } from "../../protocol/index.ts";

/** What is read of a chunk of a completion, or of a whole one. */
export interface Chunk {
  readonly text: string;
  readonly thought: string;
  readonly toolCalls: readonly ToolCallDelta[];
  readonly finishReason: string | undefined;
  readonly usage: JsonObject | undefined;
}

export interface ToolCallDelta {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  /** A piece of their JSON. */
  readonly input: string;
}

/** Throws what an endpoint says in the middle of a stream when something goes wrong there. */
export function decodeChunk(value: unknown): Chunk {
  const { error, choices, usage } = recordOf(value);
  if (error !== undefined && error !== null) {
    const message = recordOf(error)["message"] ?? error;
    throw new Error(
      `The endpoint broke off: ${typeof message === "string" ? message : JSON.stringify(message)}`,
    );
  }
  const choice = recordOf(listOf(choices)[0]);
  const said = recordOf(choice["delta"] ?? choice["message"]);
  const counts = recordOf(usage);
  return {
    text: str(said["content"]) + str(said["refusal"]),
    // Whoever serves models that think has a name of its own for it.
    thought: str(said["reasoning_content"]) || str(said["reasoning"]),
    toolCalls: listOf(said["tool_calls"]).map((call, at) => {
      const { index, id, function: called } = recordOf(call);
      const { name, arguments: input } = recordOf(called);
      return {
        index: typeof index === "number" ? index : at,
        id: str(id),
        name: str(name),
        input: str(input),
      };
    }),
    finishReason: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : undefined,
    usage:
      Object.keys(counts).length === 0
        ? undefined
        : {
            inputTokens: count(counts["prompt_tokens"]),
            outputTokens: count(counts["completion_tokens"]),
            totalTokens: count(counts["total_tokens"]),
          },
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function count(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
