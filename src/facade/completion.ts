import type { Answer } from "./answer.ts";
import type { ChatRequest } from "./chat-request.ts";

/** What every piece of one completion has in common. */
interface Head {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

/** An agent does not tell what its models have used; zeros stand where a number has to. */
const UNKNOWN_USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Writes one answer as OpenAI's API does, whole or in chunks. */
export class Completion {
  readonly #head: Head;
  readonly #includeUsage: boolean;

  /** `now`: milliseconds since 1970. */
  constructor({ model, includeUsage }: ChatRequest, id: string, now: number) {
    this.#head = { id: `chatcmpl-${id}`, created: Math.floor(now / 1_000), model };
    this.#includeUsage = includeUsage;
  }

  whole(answer: Answer): object {
    return {
      ...this.#head,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: answer.text, refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      metadata: whereOf(answer),
    };
  }

  /** The first chunk, before anything is said. */
  first(answer: Answer): object {
    return this.#chunk({ role: "assistant", content: "", refusal: null }, null, answer);
  }

  more(content: string): object {
    return this.#chunk({ content }, null);
  }

  /** What follows the last of the text. */
  last(answer: Answer): object[] {
    const end = this.#chunk({}, "stop", answer);
    if (!this.#includeUsage) return [end];
    return [end, { ...this.#head, object: "chat.completion.chunk", choices: [], usage: UNKNOWN_USAGE }];
  }

  #chunk(delta: object, finish_reason: "stop" | null, answer?: Answer): object {
    return {
      ...this.#head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      ...(this.#includeUsage ? { usage: null } : {}),
      ...(answer ? { metadata: whereOf(answer) } : {}),
    };
  }
}

/** Where the conversation is in A2A, in strings as OpenAI's metadata are. */
function whereOf({ contextId, taskId, state }: Answer): Record<string, string> {
  return {
    ...(contextId === undefined ? {} : { context_id: contextId }),
    ...(taskId === undefined ? {} : { task_id: taskId }),
    ...(state === undefined ? {} : { task_state: state }),
  };
}
