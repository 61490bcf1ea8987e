import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/** Members that the writer adds to each line. */
type WriterAddedMember = "v" | "writer" | "seq" | "at" | "mono_ms";

/** Removes members from each line type of a union. */
type WithoutMember<Line, Member extends PropertyKey> = Line extends unknown
  ? {
      [Name in keyof Line as Name extends Member ? never : Name]:
        | Line[Name]
        | (object extends Pick<Line, Name> ? undefined : never);
    }
  : never;

/** A traffic line without the members that the writer adds. The writer omits members with the value `undefined`. */
export type TrafficLineInput = WithoutMember<Exclude<TrafficLine, WriterLine | LossLine>, WriterAddedMember>;

/**
 * A line of a traffic record, which is an append-only JSON Lines file. Servers, clients, and the tap write the same
 * format. A run of the card protocol is a record with the lines `run`, `card`, `score`, `skip`, and `end`. Readers ignore
 * unknown members and lines with an unknown `v` or `kind`.
 */
export type TrafficLine =
  | WriterLine
  | AgentLine
  | RequestLine
  | ResponseLine
  | FrameLine
  | StreamEndLine
  | EventLine
  | TurnLine
  | ModelLine
  | ToolLine
  | SpanLine
  | PushLine
  | FaultLine
  | RunLine
  | CardLine
  | ScoreLine
  | SkipLine
  | RunEndLine
  | LossLine;

/** Members of every traffic line. */
export interface TrafficLineBase {
  readonly v: 1;
  /** Id of the process that wrote the line. The writer line of the process has the same id. */
  readonly writer: string;
  /** Sequence number of the line within its writer, starting at 1. A missing number is a lost line. */
  readonly seq: number;
  /** Time of the observation in ISO 8601 format (UTC, with milliseconds). */
  readonly at: string;
  /** Time in milliseconds on the writer's monotonic clock. */
  readonly mono_ms: number;
  /** W3C `traceparent` of the span to which the line belongs. */
  readonly traceparent?: string;
}

/** The first line of a writer, which each file repeats after a rotation. */
export interface WriterLine extends TrafficLineBase {
  readonly kind: "writer";
  /** The place at which the writer observes the traffic. */
  readonly vantage: "server" | "client" | "tap";
  /** Name of the writer for people, such as the name of the server. */
  readonly name: string;
  /** Version of Colloquy that wrote the line. */
  readonly code: string;
  /** Whether the lines contain the bodies of requests, responses, frames, and model calls. */
  readonly bodies: boolean;
}

/** An agent card as a client or the tap received it, or as the server sends it. */
export interface AgentLine extends TrafficLineBase {
  readonly kind: "agent";
  /** Name of the agent in the other lines: the `name` of its card, or its host if no card is known. */
  readonly agent: string;
  readonly url: string;
  readonly card: JsonObject;
  /** Changes that the tap made to the card for its clients, such as a URL or a removed signature. */
  readonly changes?: readonly string[];
}

/** Ids that connect a line with tasks. */
export interface TrafficIds {
  readonly agent?: string;
  readonly task_id?: string;
  readonly context_id?: string;
  readonly message_id?: string;
}

/** A request between two parties. */
export interface RequestLine extends TrafficLineBase, TrafficIds {
  readonly kind: "request";
  /** Id of the call, unique within the writer. Lines of the response repeat the id. */
  readonly call: string;
  /** The calling agent, user, or client, if known. */
  readonly from?: string;
  /** IP address of the caller, if the writer knows no name of the caller. */
  readonly from_address?: string;
  /** Name of the agent that receives the request. */
  readonly to: string;
  readonly binding: "JSONRPC" | "HTTP+JSON" | "GRPC" | "MCP" | "HTTP";
  readonly protocol_version?: string;
  /** The place of the observation, if it is not the place of the writer: a server also records its agents' calls. */
  readonly vantage?: "client";
  /** A2A operation, for example `SendStreamingMessage`, or the HTTP method of another request. */
  readonly operation: string;
  readonly url?: string;
  /** Headers without secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  readonly body_bytes?: number;
  /** The task during which the request was made. */
  readonly parent?: { readonly agent?: string; readonly task_id: string };
  /** The sequence number after which a subscription resumes. */
  readonly after?: number;
  /** Ids of the tasks to which the message of the request refers. */
  readonly reference_task_ids?: readonly string[];
}

/** The beginning of a response, or the failure of a request without a response. */
export interface ResponseLine extends TrafficLineBase, TrafficIds {
  readonly kind: "response";
  readonly call: string;
  /** HTTP status code, or status name of gRPC. Missing if no response was received. */
  readonly status?: number | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonValue;
  readonly body_bytes?: number;
  readonly duration_ms: number;
  readonly is_stream?: boolean;
  /** State of the task in the response, for example `TASK_STATE_COMPLETED`. */
  readonly state?: string;
  readonly error?: string;
}

/** A frame of a streaming response: an SSE event, an SSE comment, or a gRPC message. */
export interface FrameLine extends TrafficLineBase, TrafficIds {
  readonly kind: "frame";
  readonly call: string;
  /**
   * Position in the stream of the agent, starting at 1. If the tap drops a frame, its position is missing. If the tap
   * sends a frame twice, its position is repeated.
   */
  readonly index: number;
  /** The `id:` of an SSE event. */
  readonly event_id?: string;
  /** Sequence number of the event in the task's log, if the frame states the number. */
  readonly log_seq?: number;
  /**
   * `log_seq` of the event that precedes this event in a complete stream. Servers omit the users' messages from
   * streams, so that the previous number may be lower than `log_seq - 1`. Missing if the frame does not state it.
   */
  readonly previous_log_seq?: number;
  /** The event as A2A 1.0 JSON (`StreamResponse`), if the frame can be decoded. */
  readonly event?: JsonObject;
  /** The text of a frame that cannot be decoded, or of an SSE comment. */
  readonly text?: string;
  readonly bytes: number;
}

/** The end of a streaming response. */
export interface StreamEndLine extends TrafficLineBase, TrafficIds {
  readonly kind: "stream-end";
  readonly call: string;
  /**
   * `completed` after the last event of the turn, `cut` if the connection broke, `stalled` if the reader took no
   * bytes, `canceled` if the reader closed the stream.
   */
  readonly reason: "completed" | "cut" | "stalled" | "canceled";
  readonly frames: number;
  readonly error?: string;
}

/** An event that a server of Colloquy committed to the log of a task. */
export interface EventLine extends TrafficLineBase, TrafficIds {
  readonly kind: "event";
  readonly task_id: string;
  readonly log_seq: number;
  /**
   * False if no observer saw the commit of the event, and the store has no time for it. `at` is then the latest known
   * time of an earlier event.
   */
  readonly time_known?: false;
  /** The event as A2A 1.0 JSON. */
  readonly event?: JsonObject;
  readonly bytes?: number;
}

/** The start or end of an agent's work on a turn. */
export interface TurnLine extends TrafficLineBase, TrafficIds {
  readonly kind: "turn";
  readonly task_id: string;
  readonly phase: "begin" | "end";
  readonly attempt?: number;
  readonly error?: string;
  /** Stack of the error, with the stacks of its causes. */
  readonly stack?: string;
  /** The task that called this agent, if the caller stated the task. */
  readonly parent?: { readonly agent?: string; readonly task_id: string };
}

/**
 * A call to a language model. `message_id` is the ID of the message to which the call led, for example the ID of a
 * message card.
 */
export interface ModelLine extends TrafficLineBase, TrafficIds, RunIds {
  readonly kind: "model";
  readonly call: string;
  /** Provider in the terms of OpenTelemetry (`gen_ai.provider.name`), for example `openai`. */
  readonly provider?: string;
  readonly model: string;
  readonly prompt?: JsonValue;
  /** The reply as the provider sent it. */
  readonly reply?: JsonValue;
  /** Failed attempts before the result. */
  readonly attempts?: readonly { readonly error: string; readonly wait_ms?: number }[];
  readonly finish_reason?: string;
  /** Tokens of the prompt, including `cached_input_tokens`. */
  readonly input_tokens?: number;
  /** Tokens of the prompt that the provider has read from its cache. */
  readonly cached_input_tokens?: number;
  readonly output_tokens?: number;
  /** Part of `output_tokens` that the model used for reasoning. */
  readonly reasoning_output_tokens?: number;
  /** Whether the token counts are estimates of the writer. */
  readonly tokens_estimated?: boolean;
  /** Turn of the role that called the model. */
  readonly turn?: number;
  /** Time in milliseconds after which the caller repeated a failed call. */
  readonly wait_ms?: number;
  /** Faults that a test injected into the call, such as `wrong`. */
  readonly injected_faults?: readonly string[];
  /** Price of the call, if the price of the model is known. */
  readonly price?: number;
  /** Currency code (ISO 4217) of `price`. Default: `USD`. */
  readonly currency?: string;
  readonly duration_ms: number;
  readonly error?: string;
}

/** A call of a tool, for example of an MCP server. */
export interface ToolLine extends TrafficLineBase, TrafficIds {
  readonly kind: "tool";
  readonly call: string;
  readonly tool: string;
  readonly server?: string;
  readonly arguments?: JsonValue;
  readonly result?: JsonValue;
  readonly duration_ms: number;
  readonly error?: string;
}

/** A finished span that another process reported over OTLP. */
export interface SpanLine extends TrafficLineBase, TrafficIds {
  readonly kind: "span";
  readonly name: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id?: string;
  readonly service?: string;
  /** Start and end in milliseconds since 1970. */
  readonly start_ms: number;
  readonly end_ms: number;
  readonly attributes?: JsonObject;
}

/** A delivery of an event to a webhook. */
export interface PushLine extends TrafficLineBase, TrafficIds {
  readonly kind: "push";
  readonly task_id: string;
  readonly config_id: string;
  readonly log_seq?: number;
  readonly outcome: "delivered" | "failed" | "dead";
  readonly reason?: string;
}

/** A fault that the tap injected. */
export interface FaultLine extends TrafficLineBase, TrafficIds {
  readonly kind: "fault";
  readonly call?: string;
  readonly fault: "cut" | "delay" | "reject" | "drop" | "duplicate" | "slow" | "kill";
  /** Position of the affected frame in its stream. */
  readonly index?: number;
  /** The setting of the fault, for example `after 3 events`. */
  readonly detail?: string;
}

/** Members that connect a line with a run of the card protocol and a problem of the run. */
export interface RunIds {
  readonly run_id?: string;
  readonly sample_id?: string;
}

/**
 * Source of the answers in an experiment run. Reports never compare results with different kinds of evidence.
 */
export type AnswerSourceKind = "live-model" | "recorded-model" | "oracle" | "simulated" | "heuristic";

/** The description of an experiment run, which a new run or a resumed run writes first. */
export interface RunLine extends TrafficLineBase {
  readonly kind: "run";
  readonly run_id: string;
  /** Name of the dataset, such as `gsm8k`, `hotpotqa`, or a custom name. */
  readonly dataset: string;
  readonly split?: string;
  /** IDs of all problems of the run, including problems that were not started. */
  readonly sample_ids: readonly string[];
  /** Name of the method, such as `a2a`, `cot`, `direct`, or `cot-sc@5`. */
  readonly method: string;
  /** Planner mode, if the method is `a2a`. */
  readonly mode?: string;
  /** Context policy of the planner, if the method is `a2a`. */
  readonly context?: string;
  /** Model name for each role, by role name. */
  readonly model: Readonly<Record<string, string>>;
  readonly limits?: JsonObject;
  /** Additional role options, by role name, such as `transcript`, `temperature`, and `calculator`. */
  readonly options?: JsonObject;
  readonly evidence: AnswerSourceKind;
  /** Scorer of the run, for example `number`. */
  readonly rule: string;
  /** Version of Colloquy that wrote the line. */
  readonly code: string;
  /** SHA-256 hash of the dataset files in hexadecimal. */
  readonly data_sha256?: string;
  readonly seed?: number;
  /** Base URL of the model server for each role, without credentials, if the run sets one. */
  readonly servers?: Readonly<Record<string, string>>;
  /** SHA-256 hash of the instructions for all models in hexadecimal. */
  readonly prompts_sha256?: string;
}

/**
 * A message card that no recorded message contains: a card for an agent that reads plain text, or a card that a role
 * created on behalf of an agent without a reply. `agent` is the role that reports the card. All other message cards of
 * a record are the parts of its messages with the media type of message cards.
 */
export interface CardLine extends TrafficLineBase, TrafficIds, RunIds {
  readonly kind: "card";
  readonly card: JsonObject;
}

/** The score of a problem. A resumed run skips problems with a score line. */
export interface ScoreLine extends TrafficLineBase {
  readonly kind: "score";
  readonly run_id: string;
  readonly sample_id: string;
  /** Answer that was extracted from the reply. `predicted` is missing if the reply contains no answer. */
  readonly predicted?: string;
  readonly gold: string;
  readonly correct: boolean;
  readonly rule: string;
  /**
   * How the problem ended: `answered`, `unmarked` (an answer without the requested marker), `no_answer`,
   * `placeholder`, or the error type of the reply, such as `timeout`, `truncated`, `filtered`,
   * `invalid_action`, or `turn_limit`.
   */
  readonly outcome?: string;
  /** Number of turns that the planner used for the problem. */
  readonly turns?: number;
  /** Additional scores between 0 and 1 that the dataset defines, for example `f1` and `joint_f1`. */
  readonly measures?: Readonly<Record<string, number>>;
  /** Error that ended the problem, if the run counts problems with errors as wrong. */
  readonly error?: string;
}

/** A problem that ended with an error and that the run skips. A resumed run does not repeat the problem. */
export interface SkipLine extends TrafficLineBase {
  readonly kind: "skip";
  readonly run_id: string;
  readonly sample_id: string;
  /** Error that ended the problem. */
  readonly error: string;
}

/** The end of a process's part of a run. A missing end line means that the process was killed. */
export interface RunEndLine extends TrafficLineBase {
  readonly kind: "end";
  readonly run_id: string;
  readonly status: "completed" | "interrupted" | "failed";
  /** Number of message cards since the run was started or resumed. */
  readonly cards: number;
  /** Number of problems that were finished since the run was started or resumed. */
  readonly samples: number;
  /** `degraded` if lines were lost because the sink could not write them. */
  readonly recorder?: "degraded";
}

/** Lines that the writer did not write, because its buffer or its files were full. */
export interface LossLine extends TrafficLineBase {
  readonly kind: "loss";
  readonly lines: number;
  readonly reason: string;
}
