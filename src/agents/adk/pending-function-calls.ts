import type { AgentEvent } from "../../engine/index.ts";
import {
  getText,
  isInterrupted,
  isObject,
  type JsonObject,
  type Message,
  type Part,
  type Task,
  type TaskState,
} from "../../protocol/index.ts";
import { DATA_PART_TYPE_KEY, IS_ERROR_MESSAGE_KEY, isJsonObject } from "./adk-event-metadata.ts";
import type { AdkFunctionCall, AdkFunctionResponse, GenaiPart } from "./adk-structural-types.ts";
import {
  parseFunctionCall,
  parseFunctionResponse,
  parseLongRunningCall,
  toA2aParts,
} from "./part-conversion.ts";
import { PEER_CALLS_MEMBER } from "./remote/agent-tool-question.ts";
import { CONFIRMATION_CALL_NAME, CREDENTIAL_CALL_NAME, isReservedCallName } from "./reserved-calls.ts";

const VALIDATION_ERROR_PART_METADATA_KEY = "validation_error";

/** Collects the long-running calls of a run and the interim responses to these calls. */
export class PendingFunctionCalls {
  /** The collection is created on first use, because most runs have no long-running calls. */
  #callIds: Set<string> | undefined;
  readonly #calls = new Map<string, GenaiPart>();
  readonly #responses = new Map<string, GenaiPart>();

  addLongRunningCallIds(ids: readonly string[] = []): void {
    for (const id of ids) (this.#callIds ??= new Set()).add(id);
  }

  /** Returns true if a part may belong to a long-running call. */
  get hasLongRunningCallIds(): boolean {
    return this.#callIds !== undefined;
  }

  /**
   * If a part belongs to a long-running call, stores the part and returns true. Each call id is counted
   * once. A function response has the same id as its function call.
   */
  collectCallOrResponsePart(part: GenaiPart): boolean {
    const id = part.functionCall?.id ?? part.functionResponse?.id;
    if (id === undefined || !this.#callIds?.has(id)) return false;
    (part.functionCall ? this.#calls : this.#responses).set(id, part);
    return true;
  }

  /**
   * Returns the status that requests input for the collected calls, or `undefined` if there are no
   * collected calls.
   */
  buildInterruptedStatus():
    | {
        state: "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED";
        message: { parts: Part[]; referenceTaskIds?: string[] };
      }
    | undefined {
    if (this.#calls.size === 0) return undefined;
    const parts: GenaiPart[] = [];
    for (const [id, call] of this.#calls) {
      parts.push(call);
      const response = this.#responses.get(id);
      if (response) parts.push(response);
    }
    const auth = [...this.#calls.values()].some((part) => part.functionCall?.name === CREDENTIAL_CALL_NAME);
    return {
      state: auth ? "TASK_STATE_AUTH_REQUIRED" : "TASK_STATE_INPUT_REQUIRED",
      message: { parts: toA2aParts(parts, () => true) },
    };
  }
}

/** Result of checking a message: the parts for the agent, or the event that rejects the message. */
type MessageAdmission = { parts: Part[] } | { refused: AgentEvent };

/**
 * Checks whether a message answers the pending calls of a task. The message must answer every pending call
 * of the task and no other calls. The text of a message without function responses answers the only pending call. A
 * remote caller may confirm a tool call only if
 * `allowRemoteToolConfirmation` is true.
 */
export function checkPendingCallAnswers(
  message: Message,
  task: Task,
  allowRemoteToolConfirmation: boolean,
): MessageAdmission {
  const pendingParts = findInterruptedTaskQuestion(task)?.parts ?? [];
  const isPlain = pendingParts.length === 0 && message.parts.every(({ metadata }) => metadata === undefined);
  if (isPlain) return { parts: message.parts };
  if (message.parts.some((part) => isReservedCallName(parseFunctionCall(part)?.name))) {
    return buildMessageRejection("A message must not contain function calls that only the agent can make.");
  }
  const calls = new Map(
    pendingParts.flatMap((part) => {
      const call = parseLongRunningCall(part);
      return call?.id === undefined ? [] : [[call.id, call] as const];
    }),
  );

  const parseResponse = (part: Part): AdkFunctionResponse | undefined =>
    parseFunctionResponse(part) ?? parseUntypedCallResponse(part, calls);
  if (!message.parts.some(parseResponse)) {
    const answer = convertTextToCallResponse(message.parts, calls);
    if (answer) return { parts: answer };
  }
  const problems: string[] = [];
  const answered = new Set<string>();
  const parts = message.parts.map((part) => {
    const response = parseResponse(part);
    if (!response) return part;
    const { id = "", name } = response;
    const call = calls.get(id);
    if (!call) problems.push(`function call ID "${id}" is not waiting for a response`);
    else if (name !== undefined && name !== call.name) {
      problems.push(`function call ID "${id}" belongs to "${call.name}", not to "${name}"`);
    } else if (
      call.name === CONFIRMATION_CALL_NAME &&
      !allowRemoteToolConfirmation &&
      !isConfirmationOfPeerQuestion(call)
    ) {
      problems.push(
        `confirmation_not_allowed: function call ID "${id}" can only be confirmed where the agent runs`,
      );
    }
    answered.add(id);
    const data = { response: {}, ...response, name: call?.name ?? name ?? "" };
    return {
      ...part,
      data,
      metadata: { ...part.metadata, [DATA_PART_TYPE_KEY]: "function_response" },
    } as Part;
  });
  for (const id of calls.keys()) {
    if (!answered.has(id)) problems.push(`no input provided for function call ID "${id}"`);
  }
  if (problems.length === 0) return { parts };
  const explanation = explainSeveralCalls(message.parts, calls);
  if (explanation !== undefined) problems.push(explanation);
  if (calls.size === 0) return buildMessageRejection(problems.join("; "));
  return {
    refused: {
      status: buildValidationErrorStatus(task.status.state as InterruptedTaskState, pendingParts, problems),
    },
  };
}

/**
 * Returns true if a confirmation request contains a question from a remote agent that is used as a tool. The
 * answer is the result of that agent's call. The answer does not allow any tool of this server to run.
 */
function isConfirmationOfPeerQuestion({ args }: AdkFunctionCall): boolean {
  const { toolConfirmation } = (args ?? {}) as { toolConfirmation?: { payload?: object } };
  return toolConfirmation?.payload !== undefined && PEER_CALLS_MEMBER in toolConfirmation.payload;
}

/**
 * Parses a data part that contains only a response and the id of a pending call. Clients without ADK
 * support can answer calls with a data part of this form.
 */
function parseUntypedCallResponse(
  part: Part,
  calls: ReadonlyMap<string, unknown>,
): AdkFunctionResponse | undefined {
  if (!("data" in part) || part.metadata?.[DATA_PART_TYPE_KEY] !== undefined || !isJsonObject(part.data))
    return undefined;
  const { id, response } = part.data;
  if (typeof id !== "string" || !calls.has(id) || !isJsonObject(response)) return undefined;
  return { id, response };
}

/**
 * Returns the last question of an interrupted task. When an answer arrives, the engine moves the question
 * from the task status to the task history.
 */
function findInterruptedTaskQuestion({ status, history }: Task): Message | undefined {
  if (!isInterrupted(status.state)) return undefined;
  return status.message ?? history?.findLast(({ role }) => role === "ROLE_AGENT");
}

type InterruptedTaskState = Extract<TaskState, "TASK_STATE_INPUT_REQUIRED" | "TASK_STATE_AUTH_REQUIRED">;

/**
 * Repeats a request for input, with the validation errors of the latest answer. The repeated request does
 * not contain the errors of earlier answers.
 */
function buildValidationErrorStatus(
  state: InterruptedTaskState,
  pendingParts: readonly Part[],
  problems: readonly string[],
): { state: InterruptedTaskState; message: { parts: Part[] } } {
  const questionParts = pendingParts.filter(
    (part) => part.metadata?.[VALIDATION_ERROR_PART_METADATA_KEY] !== true,
  );
  const errorParts = problems.map((text): Part => ({
    text,
    metadata: { [VALIDATION_ERROR_PART_METADATA_KEY]: true },
  }));
  return { state, message: { parts: [...questionParts, ...errorParts] } };
}

function buildMessageRejection(text: string): MessageAdmission {
  const parts: Part[] = [{ text, metadata: { [IS_ERROR_MESSAGE_KEY]: true } }];
  return { refused: { status: { state: "TASK_STATE_REJECTED", message: { parts } } } };
}

type PendingCalls = ReadonlyMap<string, AdkFunctionCall>;

/** Member of a function response that contains a value that is not an object. */
const RESULT_MEMBER = "result";
/** Argument of `adk_request_input` with the JSON Schema of the response. */
const RESPONSE_SCHEMA_ARGUMENT = "response_schema";

/**
 * Replaces the text of a message by the response to the only pending call, so that a person can answer with plain text.
 * The response is `{ result: text }`, or the only string field of the response schema. Returns `undefined` if the message
 * has no text, if several calls are pending, or if the call requests a confirmation or a credential.
 */
function convertTextToCallResponse(parts: readonly Part[], calls: PendingCalls): Part[] | undefined {
  const [call] = calls.values();
  if (calls.size !== 1 || !call || !isAnswerableWithText(call)) return undefined;
  const text = getText(parts);
  if (text.trim() === "") return undefined;
  const { id, name } = call;
  const response = respondWithText(call, text);
  return [
    { data: { id, name, response }, metadata: { [DATA_PART_TYPE_KEY]: "function_response" } } as Part,
    ...parts.filter((part) => !("text" in part)),
  ];
}

/** Returns an explanation of how to answer several calls, if a message contains only text. */
function explainSeveralCalls(parts: readonly Part[], calls: PendingCalls): string | undefined {
  if (calls.size < 2 || !parts.every((part) => "text" in part)) return undefined;
  const answers = [...calls].map(([id, call]) => {
    const response = call.name === CONFIRMATION_CALL_NAME ? { confirmed: true } : respondWithText(call, "…");
    const answer = JSON.stringify({ id, response });
    return `${call.name}(${JSON.stringify(call.args ?? {})}) with the data part ${answer}`;
  });
  return `A text can only answer a single function call. Answer ${answers.join(" and ")}.`;
}

function respondWithText(call: AdkFunctionCall, text: string): JsonObject {
  return { [findOnlyStringField(call) ?? RESULT_MEMBER]: text };
}

function isAnswerableWithText({ name }: AdkFunctionCall): boolean {
  return name !== CONFIRMATION_CALL_NAME && name !== CREDENTIAL_CALL_NAME;
}

/** Returns the name of the only field of the call's response schema, if the field is a string. */
function findOnlyStringField({ args }: AdkFunctionCall): string | undefined {
  const schema = args?.[RESPONSE_SCHEMA_ARGUMENT];
  if (!isObject(schema) || !isObject(schema["properties"])) return undefined;
  const [field, ...others] = Object.entries(schema["properties"]);
  const isString = field !== undefined && isObject(field[1]) && field[1]["type"] === "string";
  return isString && others.length === 0 ? field[0] : undefined;
}
