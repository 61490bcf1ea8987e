/* oxlint-disable typescript/no-extraneous-class, typescript/no-unnecessary-type-parameters -- as the packages declare it */
/**
 * The parts of frameworks that the adapters use, so that the library compiles without these packages. The tests of the
 * lab `peers` compile the adapters with the types of the real packages.
 */
declare module "@langchain/langgraph" {
  export class Command {
    constructor(options: { readonly resume: unknown });
  }
  export function interrupt<I = unknown, R = unknown>(value: I): R;
}

declare module "@openai/agents" {
  export type AgentOutputType = unknown;
  /** The SDK has a type for each kind of item. */
  export type AgentInputItem =
    | UserMessageItem
    | {
        readonly role: "assistant";
        readonly status: "completed";
        readonly content: readonly { readonly type: "output_text"; readonly text: string }[];
      };
  export interface UserMessageItem {
    readonly role: "user";
    readonly content: string | readonly UserContent[];
  }
  type UserContent =
    | { readonly type: "input_text"; readonly text: string }
    | { readonly type: "input_image"; readonly image: string }
    | {
        readonly type: "input_file";
        readonly file: string | { readonly url: string };
        readonly filename: string;
      };

  export interface Agent<C = unknown, O extends AgentOutputType = "text"> {
    readonly name: string;
    readonly handoffDescription: string;
    readonly model: unknown;
    readonly outputType?: O;
    readonly tools: readonly { readonly invoke: (context: RunContext<C>) => unknown }[];
  }

  export class RunContext<C = unknown> {
    context: C;
    readonly usage: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly totalTokens: number;
    };
    constructor(context?: C);
  }

  interface ToolApprovalItem {
    readonly rawItem: unknown;
  }

  export class RunState<C, A> {
    readonly _context: RunContext<C>;
    readonly _startingAgent: A;
    static fromString<C, A>(agent: A, text: string): Promise<RunState<C, A>>;
    getInterruptions(): ToolApprovalItem[];
    approve(item: ToolApprovalItem): void;
    reject(item: ToolApprovalItem, options: { readonly message?: string }): void;
    toString(): string;
  }

  export type RunStreamEvent =
    | {
        readonly type: "raw_model_stream_event";
        readonly data:
          | { readonly type: "output_text_delta"; readonly delta: string }
          | { readonly type: "model"; readonly event: unknown }
          | { readonly type: "response_done"; readonly response: ModelResponse };
      }
    | {
        readonly type: "run_item_stream_event";
        readonly name: string;
        readonly item: { readonly rawItem: unknown };
      }
    | { readonly type: "agent_updated_stream_event" };

  interface ModelResponse {
    readonly output: unknown;
    readonly providerData?: unknown;
    readonly usage: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly inputTokensDetails?: Readonly<Record<string, number>>;
    };
  }

  export type CallModelInputFilter = ((args: {
    readonly modelData: unknown;
    readonly agent: { readonly model: unknown };
  }) => unknown) & { preserveInputIdentity?: boolean };

  interface StreamedRunResult<C, A> extends AsyncIterable<RunStreamEvent> {
    readonly completed: Promise<void>;
    readonly runContext: RunContext<C>;
    readonly interruptions: readonly ToolApprovalItem[];
    readonly finalOutput: unknown;
    readonly output: AgentInputItem[];
    readonly state: RunState<C, A>;
  }

  type ToolListener<R extends readonly unknown[]> = (
    context: RunContext<never>,
    agent: unknown,
    tool: { readonly name: string },
    ...rest: R
  ) => void;
  interface ToolCallDetails {
    readonly toolCall: unknown;
  }

  export class Runner {
    readonly config: { readonly callModelInputFilter?: CallModelInputFilter; readonly model?: unknown };
    run<C, O extends AgentOutputType>(
      agent: Agent<C, O>,
      input: AgentInputItem[] | RunState<C, Agent<C, O>>,
      options: { readonly signal: AbortSignal; readonly stream: true },
    ): Promise<StreamedRunResult<C, Agent<C, O>>>;
    on(event: "agent_tool_start", listener: ToolListener<[ToolCallDetails]>): void;
    on(event: "agent_tool_end", listener: ToolListener<[result: string, details: ToolCallDetails]>): void;
  }
}
