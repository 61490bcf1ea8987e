import type { AgentCard } from "./agent-card.ts";
import type { StreamResponse } from "./event.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Task, TaskState } from "./task.ts";

/** How a push notification authenticates itself to its receiver (A2A §4.3.2). */
export interface AuthenticationInfo {
  scheme: string;
  credentials?: string;
}

/** Where and how updates of a task are posted (A2A §4.3.1). */
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
  /** At most that many of the most recent messages in the answer's history; 0 leaves the history out. */
  historyLength?: number;
  /** True: answer once the task exists, not when it stops. */
  returnImmediately?: boolean;
}

export interface SendMessageRequest {
  tenant?: string;
  message: Message;
  configuration?: SendMessageConfiguration;
  metadata?: JsonObject;
}

/** Exactly one of the two. */
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
  /** 1 to 100, 50 when absent. */
  pageSize?: number;
  pageToken?: string;
  historyLength?: number;
  /** ISO 8601; tasks whose status is at least that new. */
  statusTimestampAfter?: string;
  includeArtifacts?: boolean;
}

export interface ListTasksResponse {
  tasks: Task[];
  /** Empty on the last page. */
  nextPageToken: string;
  pageSize: number;
  /** Matches before paging. */
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

/** `id` may be left out: the server then gives one. */
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

/** The answer of an operation that has nothing to say. */
export type Empty = Record<string, never>;

/** The operations with their parameters and results (A2A §3.1); those that stream give one `StreamResponse` at a time. */
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

/** The operations that answer with a stream of events. */
export type StreamingOperation = "SendStreamingMessage" | "SubscribeToTask";

export function isStreamingOperation(operation: OperationName): operation is StreamingOperation {
  return operation === "SendStreamingMessage" || operation === "SubscribeToTask";
}
