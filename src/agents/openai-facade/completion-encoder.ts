import { omitUndefined } from "../../base/usage-checks/index.ts";
import type { AnswerAccumulator } from "./answer-accumulator.ts";
import type { ChatRequest } from "./chat-request.ts";

/** The fields that all chunks of a completion share. */
interface CommonCompletionFields {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Required usage fields are zero, because the façade does not read the token usage in the metadata of a task. */
const UNKNOWN_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Encodes an agent's answer in the format of OpenAI's API, as one completion or in chunks. */
export class CompletionEncoder {
  readonly #header: CommonCompletionFields;
  readonly #includeUsage: boolean;

  /** The argument `now` is the time in milliseconds since 1970. */
  constructor({ model, includeUsage }: ChatRequest, id: string, now: number) {
    this.#header = { id: `chatcmpl-${id}`, created: Math.floor(now / 1_000), model };
    this.#includeUsage = includeUsage;
  }

  encodeCompletion(answer: AnswerAccumulator): object {
    return {
      ...this.#header,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: answer.text, refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      metadata: toCompletionMetadata(answer),
    };
  }

  /** Encodes the first chunk of a completion, which contains no text. */
  encodeFirstChunk(answer: AnswerAccumulator): object {
    return this.#createChunk({ role: "assistant", content: "", refusal: null }, null, answer);
  }

  encodeTextChunk(content: string): object {
    return this.#createChunk({ content }, null);
  }

  /** Encodes the chunks that follow the last text of a completion. */
  encodeFinalChunks(answer: AnswerAccumulator): object[] {
    const lastChunk = this.#createChunk({}, "stop", answer);
    if (!this.#includeUsage) return [lastChunk];
    return [
      lastChunk,
      { ...this.#header, object: "chat.completion.chunk", choices: [], usage: UNKNOWN_USAGE },
    ];
  }

  #createChunk(delta: object, finish_reason: "stop" | null, answer?: AnswerAccumulator): object {
    return {
      ...this.#header,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(this.#includeUsage ? { usage: null } : {}),
      ...(answer ? { metadata: toCompletionMetadata(answer) } : {}),
    };
  }
}

/**
 * Returns the A2A ids and the task state of an answer as strings, because OpenAI metadata allows only
 * strings.
 */
function toCompletionMetadata({
  contextId,
  taskId,
  taskState: state,
}: AnswerAccumulator): Record<string, string> {
  return {
    ...omitUndefined({ context_id: contextId, task_id: taskId, task_state: state }),
  };
}
