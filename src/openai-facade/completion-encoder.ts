import type { AnswerAccumulator } from "./answer-accumulator.ts";
import type { ChatRequest } from "./chat-request.ts";

/** The fields that all chunks of one completion share. */
interface CompletionHeader {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** Agents do not report the token usage of their models, so required usage fields are zero. */
const UNKNOWN_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Encodes an answer in the format of OpenAI's API, as one completion or in chunks. */
export class CompletionEncoder {
  readonly #header: CompletionHeader;
  readonly #includeUsage: boolean;

  /** `now` is the time in milliseconds since 1970. */
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
      metadata: toTaskMetadata(answer),
    };
  }

  /** Encodes the first chunk, which contains no text. */
  encodeFirstChunk(answer: AnswerAccumulator): object {
    return this.#createChunk({ role: "assistant", content: "", refusal: null }, null, answer);
  }

  encodeTextChunk(content: string): object {
    return this.#createChunk({ content }, null);
  }

  /** Encodes the chunks after the last text. */
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
      ...(answer ? { metadata: toTaskMetadata(answer) } : {}),
    };
  }
}

/** Returns the A2A ids and state of the answer as strings, because OpenAI metadata only allows strings. */
function toTaskMetadata({ contextId, taskId, state }: AnswerAccumulator): Record<string, string> {
  return {
    ...(contextId === undefined ? {} : { context_id: contextId }),
    ...(taskId === undefined ? {} : { task_id: taskId }),
    ...(state === undefined ? {} : { task_state: state }),
  };
}
