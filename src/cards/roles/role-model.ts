import type { CardTokenUsage, AnswerSourceKind, ResultCardStatus, TaskCard } from "../index.ts";
import type { JsonObject } from "../../protocol/index.ts";

/**
 * A model that answers the requests of a role. The model is a language model or a deterministic substitute
 * for tests.
 */
export interface RoleModel {
  /** Identifier of the model in recordings and tables, for example `openai:gpt-5-mini` or `oracle`. */
  readonly id: string;
  /** Type of evidence in recordings. The type states how the model produced its answers. */
  readonly evidenceKind: AnswerSourceKind;
  /** Base URL of the model's server, for the description of a run. Default: the server of the provider. */
  readonly server?: string;
  /**
   * Sends one request to the model and resolves with the reply. Rejects if the model is unavailable. If
   * `signal` aborts, rejects with the abort reason.
   */
  complete(request: ModelRequest): Promise<ModelReply>;
}

/** A request that a role sends to its model. */
export interface ModelRequest {
  /** Name of the role that sends the request. */
  readonly role: string;
  /**
   * Structured form of the request, for models that do not parse `messages`. `input` and `messages` contain
   * the same information in two forms.
   */
  readonly input: StructuredModelInput;
  readonly messages: readonly ModelMessage[];
  /** JSON Schema of the answer, if the model must answer with JSON. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
}

/** One message of a model prompt. */
export interface ModelMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

/** Structured form of a model request. `kind` distinguishes requests to planners, solvers, and answerers. */
export type StructuredModelInput = PlannerModelInput | SolverModelInput | AnswererModelInput;

/** A request for the planner's next action. */
export interface PlannerModelInput {
  readonly kind: "plan";
  /** Task card that the planner received. */
  readonly task: TaskCard;
  /** Replies that the solvers have sent to the planner, in order. */
  readonly findings: readonly SolverFinding[];
  /** Number of the planner's current turn, starting at 1. In the last turn, the planner can only answer. */
  readonly turn: number;
  readonly maxTurns: number;
  /** Number of solver calls that remain for the planner. `undefined` means no limit. */
  readonly solverCallsLeft: number | undefined;
  /** Dispatch mode of the planner, which is `chained`, `plan-first`, or `parallel`. */
  readonly mode: string;
  /** Reason why the planner rejected the previous reply of the model. Only a retry has a rejection reason. */
  readonly rejectionReason?: string;
}

/** A solver's reply to one subtask. */
export interface SolverFinding {
  /** Id that the planner assigned to the subtask, if any. */
  readonly id?: string;
  readonly subtask: string;
  /** Status of the solver's reply. If `status` is `error`, `answer` contains the error message. */
  readonly status: ResultCardStatus;
  readonly answer: string;
  /** Titles of the documents that the solver received. */
  readonly documentTitles?: readonly string[];
}

/** A request to a solver for the answer to one subtask. */
interface SolverModelInput {
  readonly kind: "solve";
  readonly task: TaskCard;
}

/** A request to an answerer for the answer to a complete problem. */
interface AnswererModelInput {
  readonly kind: "answer";
  readonly task: TaskCard;
  /** Prompting method: `cot` asks the model to reason step by step, and `direct` asks for the answer only. */
  readonly style: "cot" | "direct";
  /** Number of the sampled answer, starting at 1. An answerer can request several samples for one problem. */
  readonly sampleNumber: number;
}

/** A model's reply to a request. */
export interface ModelReply {
  readonly text: string;
  /** Token usage of the model call, if the model reports token usage. */
  readonly usage?: CardTokenUsage;
  /** Reason why the model stopped, for example `stop`, `length`, or `filter`. */
  readonly finish: string;
  /** Exact name of the language model, if the name is more specific than the `id` of the role model. */
  readonly model?: string;
  /** Faults that `withFaults` injected into this reply, such as `wrong`. Recordings contain them. */
  readonly injectedFaults?: readonly string[];
}

/**
 * Returns the error type of a reply that a token limit cut off or that a content filter rejected, or
 * `undefined` for other finish reasons.
 */
export function findReplyErrorType(finish: string): "truncated" | "filtered" | undefined {
  if (finish === "length") return "truncated";
  return ["filter", "content_filter", "content-filter", "refusal"].includes(finish) ? "filtered" : undefined;
}
