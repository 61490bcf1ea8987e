import type { AgentInputItem, Runner, RunStreamEvent } from "@openai/agents";

/** A step of a scripted run: text of the model, reasoning, or a call of a tool. */
export type TestRunStep =
  | string
  | { readonly reasoning: string }
  | { readonly callId: string; readonly toolName: string; readonly input: object; readonly output?: string };

/** The input of a run: the items of the conversation, and the user's decisions about calls that waited for approval. */
export interface TestRunInput {
  readonly items: readonly AgentInputItem[];
  readonly decisions: Readonly<Record<string, true | string>>;
}

export type TestRunScript = (
  input: TestRunInput,
  signal: AbortSignal,
) => Iterable<TestRunStep> | AsyncIterable<TestRunStep>;

interface ApprovalItem {
  readonly rawItem: { readonly callId: string };
}

/** The state of a run that waits for approvals, with the interface of the SDK's `RunState`. */
export class TestRunState {
  readonly #decisions: Record<string, true | string> = {};
  readonly items: readonly AgentInputItem[];
  readonly interruptions: readonly ApprovalItem[];
  readonly _context: object = {};

  constructor(items: readonly AgentInputItem[], interruptions: readonly ApprovalItem[]) {
    this.items = items;
    this.interruptions = interruptions;
  }

  static fromString(_agent: unknown, text: string): Promise<TestRunState> {
    const { items, interruptions } = JSON.parse(text) as TestRunState;
    return Promise.resolve(new TestRunState(items, interruptions));
  }

  get decisions(): Readonly<Record<string, true | string>> {
    return this.#decisions;
  }

  getInterruptions(): readonly ApprovalItem[] {
    return this.interruptions;
  }

  approve({ rawItem }: ApprovalItem): void {
    this.#decisions[rawItem.callId] = true;
  }

  reject({ rawItem }: ApprovalItem, { message = "rejected" }: { readonly message?: string }): void {
    this.#decisions[rawItem.callId] = message;
  }

  toString(): string {
    return JSON.stringify({ items: this.items, interruptions: this.interruptions });
  }
}

/**
 * Creates a runner whose runs follow a script, with the interface and the events of the SDK's `Runner`. A call without
 * an output waits for approval. The lab `peers` tests the adapter with the SDK.
 */
export function createTestRunner(script: TestRunScript): Runner {
  const run = (_agent: unknown, input: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
    const resumed = input instanceof TestRunState ? input : undefined;
    const items = resumed ? resumed.items : (input as AgentInputItem[]);
    const interruptions: ApprovalItem[] = [];
    let answer = "";
    const completed = Promise.withResolvers<void>();
    completed.promise.catch(() => {});
    const result = {
      completed: completed.promise,
      runContext: { usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 } },
      interruptions,
      get finalOutput(): string | undefined {
        return interruptions.length > 0 ? undefined : answer;
      },
      get output(): AgentInputItem[] {
        const content = [{ type: "output_text", text: answer }] as const;
        return [{ role: "assistant", status: "completed", content }];
      },
      get state(): TestRunState {
        return new TestRunState(items, interruptions);
      },
      async *[Symbol.asyncIterator](): AsyncGenerator<RunStreamEvent> {
        for await (const step of script({ items, decisions: resumed?.decisions ?? {} }, signal)) {
          if (typeof step === "string") {
            answer += step;
            yield { type: "raw_model_stream_event", data: { type: "output_text_delta", delta: step } };
          } else if ("reasoning" in step) {
            const event = { type: "response.reasoning_text.delta", delta: step.reasoning };
            yield { type: "raw_model_stream_event", data: { type: "model", event } };
          } else {
            const { callId, toolName: name, input, output } = step;
            const rawItem = { callId, name, arguments: JSON.stringify(input) };
            const item = { type: "run_item_stream_event" } as const;
            yield { ...item, name: "tool_called", item: { rawItem } };
            if (output === undefined) interruptions.push({ rawItem });
            else yield { ...item, name: "tool_output", item: { rawItem: { ...rawItem, output } } };
          }
        }
        completed.resolve();
      },
    };
    return Promise.resolve(result);
  };
  return { config: {}, run, on: () => {} } as unknown as Runner;
}
