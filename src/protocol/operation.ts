import type { AgentCard } from "./agent-card.ts";
import type { StreamResponse } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Task, TaskState } from "./task.ts";

/** Credentials that the server sends to the receiver of a push notification (A2A §4.3.2). */
export interface AuthenticationInfo {
  scheme: string;
  credentials?: string;
}

/** URL and credentials of a webhook that receives the updates of a task (A2A §4.3.1). */
export interface TaskPushNotificationConfig {
  tenant?: string;
  id?: string;
  taskId?: string;
  url: string;
  token?: string;
  authentication?: AuthenticationInfo;
}

export interface SendMessageConfiguration {
  acceptedOutputModes?: string[];
  taskPushNotificationConfig?: TaskPushNotificationConfig;
  /**
   * Maximum number of messages in the history of the returned task. If the task has more messages, its
   * history contains the most recent messages. 0 omits the history.
   */
  historyLength?: number;
  /**
   * If true, the server responds as soon as the task exists. By default, the server responds when the task
   * ends or is interrupted.
   */
  returnImmediately?: boolean;
}

export interface SendMessageRequest {
  tenant?: string;
  message: Message;
  configuration?: SendMessageConfiguration;
  metadata?: JsonObject;
}

/** Response to a message: either a task, or a message without a task. */
export type SendMessageResponse = { task: Task } | { message: Message };

export interface GetTaskRequest {
  tenant?: string;
  id: string;
  historyLength?: number;
}

export interface ListTasksRequest {
  tenant?: string;
  contextId?: string;
  status?: TaskState;
  /** Maximum number of tasks per page, from 1 to 100. Default: 50. */
  pageSize?: number;
  pageToken?: string;
  historyLength?: number;
  /** Earliest status time of the listed tasks, in ISO 8601. */
  statusTimestampAfter?: string;
  includeArtifacts?: boolean;
}

export interface ListTasksResponse {
  tasks: Task[];
  /**
   * Token of the next page of tasks, or an empty string on the last page. A page can have fewer tasks than
   * `pageSize` before the last page, because a server can limit the size of a page.
   */
  nextPageToken: string;
  pageSize: number;
  /**
   * Number of matching tasks on all pages. For a filter by context or time, the SQLite store stops to count at
   * 1,000. A `totalSize` of 1,000 then means at least 1,000.
   */
  totalSize: number;
}

export interface CancelTaskRequest {
  tenant?: string;
  id: string;
  metadata?: JsonObject;
}

export interface SubscribeToTaskRequest {
  tenant?: string;
  id: string;
}

export interface GetExtendedAgentCardRequest {
  tenant?: string;
}

/**
 * Parameters that register a webhook for a task. If the request has no `id`, the server generates an id for
 * the webhook.
 */
export interface CreateTaskPushNotificationConfigRequest extends TaskPushNotificationConfig {
  taskId: string;
}

export interface GetTaskPushNotificationConfigRequest {
  tenant?: string;
  taskId: string;
  id: string;
}

export interface ListTaskPushNotificationConfigsRequest {
  tenant?: string;
  taskId: string;
  pageSize?: number;
  pageToken?: string;
}

export interface ListTaskPushNotificationConfigsResponse {
  configs: TaskPushNotificationConfig[];
  nextPageToken?: string;
}

export interface DeleteTaskPushNotificationConfigRequest {
  tenant?: string;
  taskId: string;
  id: string;
}

/** Response of an operation that returns no data. */
export type Empty = Record<string, never>;

/**
 * Parameters and result of each operation (A2A §3.1). The `result` of a streaming operation is one element
 * of the stream.
 */
export interface Operations {
  SendMessage: { params: SendMessageRequest; result: SendMessageResponse };
  SendStreamingMessage: { params: SendMessageRequest; result: StreamResponse };
  GetTask: { params: GetTaskRequest; result: Task };
  ListTasks: { params: ListTasksRequest; result: ListTasksResponse };
  CancelTask: { params: CancelTaskRequest; result: Task };
  SubscribeToTask: { params: SubscribeToTaskRequest; result: StreamResponse };
  GetExtendedAgentCard: { params: GetExtendedAgentCardRequest; result: AgentCard };
  CreateTaskPushNotificationConfig: {
    params: CreateTaskPushNotificationConfigRequest;
    result: TaskPushNotificationConfig;
  };
  GetTaskPushNotificationConfig: {
    params: GetTaskPushNotificationConfigRequest;
    result: TaskPushNotificationConfig;
  };
  ListTaskPushNotificationConfigs: {
    params: ListTaskPushNotificationConfigsRequest;
    result: ListTaskPushNotificationConfigsResponse;
  };
  DeleteTaskPushNotificationConfig: { params: DeleteTaskPushNotificationConfigRequest; result: Empty };
}

export type OperationName = keyof Operations;

/** Names of the operations that respond with a stream of events. */
export type StreamingOperation = "SendStreamingMessage" | "SubscribeToTask";

export function isStreamingOperation(operation: OperationName): operation is StreamingOperation {
  return operation === "SendStreamingMessage" || operation === "SubscribeToTask";
}
