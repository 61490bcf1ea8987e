import {
  A2AError,
  type ErrorReason,
  type FieldViolation,
  type JsonObject,
  type SendMessageRequest,
} from "../protocol/index.ts";
import {
  type Caller,
  type ServiceParameters,
  type TaskScope,
  type MessageAction,
  getMessageAction,
  type OwnedTaskOperations,
  type TaskCancellation,
} from "../engine/index.ts";
import type { TaskRequest } from "./node-store.ts";

/** A message for the node that runs the turn. */
interface MessagePayload {
  readonly caller: Caller;
  readonly request: SendMessageRequest;
  readonly serviceParameters: ServiceParameters;
}

/** Answer to a message. `seq` is the sequence number of the message, unless the message is queued. */
export interface MessageAnswer {
  readonly action: MessageAction;
  readonly seq?: number;
}

/** Encodes a message request. The webhook is stored separately, because it can contain secrets. */
export function encodeMessageRequest(
  id: string,
  scope: TaskScope,
  taskId: string,
  { caller, request, serviceParameters }: MessagePayload,
): TaskRequest {
  const { taskPushNotificationConfig: webhook, ...configuration } = request.configuration ?? {};
  const payload = { caller, serviceParameters, request: { ...request, configuration } };
  return {
    id,
    scope,
    taskId,
    kind: "message",
    payload: toJsonObject(payload),
    ...(webhook ? { webhook } : {}),
  };
}

function decodeMessageRequest({ payload, webhook }: TaskRequest): MessagePayload {
  const { caller, serviceParameters, request } = payload as unknown as MessagePayload;
  const configuration = {
    ...request.configuration,
    ...(webhook ? { taskPushNotificationConfig: webhook } : {}),
  };
  return { caller, serviceParameters, request: { ...request, configuration } };
}

export function encodeCancelRequest(
  id: string,
  scope: TaskScope,
  taskId: string,
  cancellation: TaskCancellation,
): TaskRequest {
  return { id, scope, taskId, kind: "cancel", payload: toJsonObject(cancellation) };
}

/** Encodes the report of a reader, which has no content. */
export function encodeReaderReport(id: string, scope: TaskScope, taskId: string): TaskRequest {
  return { id, scope, taskId, kind: "read", payload: {} };
}

function decodeCancelRequest({ payload }: TaskRequest): TaskCancellation {
  return payload as unknown as TaskCancellation;
}

interface EncodedError {
  readonly reason: ErrorReason;
  readonly message: string;
  readonly violations: readonly FieldViolation[];
  readonly metadata: Record<string, string>;
  readonly details: readonly JsonObject[];
  readonly retryAfter?: number;
}

/** Encodes the error of a request as its answer. The cause of an error that is not an `A2AError` stays on this node. */
export function encodeErrorAnswer(thrown: unknown): JsonObject {
  const error = A2AError.from(thrown);
  const { reason, message, violations, metadata, details, retryAfter } = error;
  return toJsonObject({ error: { reason, message, violations, metadata, details, retryAfter } });
}

/** Throws the error of an answer, if the answer is an error. */
export function throwErrorOfAnswer(answer: JsonObject): void {
  if (!("error" in answer)) return;
  const { reason, message, ...options } = answer["error"] as unknown as EncodedError;
  throw new A2AError(reason, message, options);
}

/**
 * Answers a request of another node for a task whose turn this node runs. Resolves with `undefined` if this node does
 * not run the turn, or not yet.
 */
export async function answerRequest(
  taskRequest: TaskRequest,
  engine: OwnedTaskOperations,
): Promise<JsonObject | undefined> {
  const { scope, taskId, kind } = taskRequest;
  const isWaitingSuspect = kind === "cancel" && engine.isWaitingSuspect(scope, taskId);
  if (!isWaitingSuspect && !engine.isRunningHere(scope, taskId)) return undefined;
  if (kind === "cancel") {
    await engine.cancelIfUnfinished(scope, taskId, decodeCancelRequest(taskRequest));
    return {};
  }
  if (kind === "read") {
    engine.noteRemoteReader(scope, taskId);
    return {};
  }
  const accepted = await engine.acceptMessage({ scope, ...decodeMessageRequest(taskRequest) });
  if ("reply" in accepted) return undefined;
  const action = getMessageAction(accepted);
  if ("seq" in accepted) {
    accepted.feed.release();
    return { action, seq: accepted.seq } satisfies MessageAnswer;
  }
  if (accepted.isQueued) return { action } satisfies MessageAnswer;
  return { action, seq: await accepted.turn.durableSeq.promise } satisfies MessageAnswer;
}

function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
