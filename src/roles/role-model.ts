import type { CardTokenUsage, EvidenceKind, ResultCardStatus, TaskCard } from "../cards/index.ts";
import type { JsonObject } from "../protocol/index.ts";

/** A model that answers the requests of a role: a language model, or a deterministic substitute for tests. */
export interface RoleModel {
  /** Identifier of the model in recordings and tables, for example `openai:gpt-5-mini` or `oracle`. */
  readonly id: string;
  /** Kind of evidence that the answers of this model provide in a recording. */
  readonly evidenceKind: EvidenceKind;
  /**
   * Sends one request to the model. Rejects when the model is unavailable, or with the abort reason of
   * `signal`.
   */
  complete(request: ModelRequest): Promise<ModelReply>;
}

/** A request to a model. */
export interface ModelRequest {
  /** Name of the role that sends the request. */
  readonly role: string;
  /**
   * The request as structured data, for models that do not parse `messages`. `input` and `messages` contain
   * the same information.
   */
  readonly input: ModelInput;
  readonly messages: readonly ModelMessage[];
  /** JSON Schema of the answer, when the answer must be JSON. */
  readonly schema?: JsonObject;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly signal: AbortSignal;
}

/** One message of the prompt. */
export interface ModelMessage {
  readonly role: "system" | "user" | "assistant";
  readonly text: string;
}

/** The structured form of a model request. `kind` distinguishes the three variants. */
export type ModelInput = PlanInput | SolveInput | AnswerInput;

/** A request for the next action of a planner. */
export interface PlanInput {
  readonly kind: "plan";
  /** Task that the planner received. */
  readonly task: TaskCard;
  /** Replies of the solvers so far, in order. */
  readonly findings: readonly SolverFinding[];
  /** Number of the turn, from 1. On the last turn, only a final answer is useful. */
  readonly turn: number;
  readonly maxTurns: number;
  /** Remaining number of solver calls. `undefined` means no limit. */
  readonly solverCallsLeft: number | undefined;
  /** Mode of the planner: `chained`, `plan-first`, or `parallel`. */
  readonly mode: string;
  /** Reason why the previous reply was rejected, when the planner asks again. */
  readonly rejectionReason?: string;
}

/** The reply to one subtask. */
export interface SolverFinding {
  /** Id that the planner assigned to the subtask, if any. */
  readonly id?: string;
  readonly subtask: string;
  /** Status of the solver's reply. With `error`, `answer` contains the error message. */
  readonly status: ResultCardStatus;
  readonly answer: string;
  /** Titles of the documents that the solver received. */
  readonly documentTitles?: readonly string[];
}

/** A request to solve one subtask. */
interface SolveInput {
  readonly kind: "solve";
  readonly task: TaskCard;
}

/** A request to solve a complete problem without a planner. */
interface AnswerInput {
  readonly kind: "answer";
  readonly task: TaskCard;
  /** Whether the model reasons step by step (`cot`) or answers at once (`direct`). */
  readonly style: "cot" | "direct";
  /** Number of the sample, from 1, when the same problem is sampled several times. */
  readonly sampleNumber: number;
}

/** A reply of a model. */
export interface ModelReply {
  readonly text: string;
  /** Token usage of the call, when it is known. */
  readonly usage?: CardTokenUsage;
  /** Reason why the model stopped: `stop`, `length`, `filter`, and so on. */
  readonly finish: string;
  /** Exact name of the model that answered, when it is more specific than `id`. */
  readonly model?: string;
}
