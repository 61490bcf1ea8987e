import type * as a2a from "../../protocol/index.ts";
import { defineMessages, type MessageDefinitions } from "../message-notation.ts";
import type { OperationMessages } from "../operation-messages.ts";
import type { RestRoute } from "../route-matcher.ts";

/** Names of the values of each enum, indexed by number. */
export const ENUMS: Readonly<Record<"Role" | "TaskState", readonly [string, ...string[]]>> = {
  Role: ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"],
  TaskState: [
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
  ],
};

const TASK_MESSAGES = defineMessages<{
  Task: a2a.Task;
  TaskStatus: a2a.TaskStatus;
  Part: a2a.Part;
  Message: a2a.Message;
  UserMessage: a2a.Message;
  Artifact: a2a.Artifact;
  TaskStatusUpdateEvent: a2a.TaskStatusUpdateEvent;
  TaskArtifactUpdateEvent: a2a.TaskArtifactUpdateEvent;
  StreamResponse: a2a.StreamResponse;
  SendMessageResponse: a2a.SendMessageResponse;
}>()({
  Task: "id+ contextId* status:TaskStatus+ artifacts:Artifact[] history:Message[] metadata:Struct",
  TaskStatus: "state:TaskState* message:Message timestamp:Timestamp",
  Part: "|text |raw:bytes |url |data:Value metadata:Struct filename mediaType",
  Message:
    "messageId* contextId taskId role:Role* parts:Part[]* metadata:Struct extensions[] referenceTaskIds[]",
  // The only role that a client may set in a message is ROLE_USER.
  UserMessage:
    "messageId* contextId taskId role:Role.UserRole* parts:Part[]* metadata:Struct extensions[] referenceTaskIds[]",
  Artifact: "artifactId* name description parts:Part[]* metadata:Struct extensions[]",
  TaskStatusUpdateEvent: "taskId* contextId* status:TaskStatus+ metadata:Struct",
  TaskArtifactUpdateEvent: "taskId* contextId* artifact:Artifact+ append:bool lastChunk:bool metadata:Struct",
  StreamResponse:
    "|task:Task+ |message:Message+ |statusUpdate:TaskStatusUpdateEvent+ |artifactUpdate:TaskArtifactUpdateEvent+",
  SendMessageResponse: "|task:Task+ |message:Message+",
});

const REQUEST_MESSAGES = defineMessages<{
  SendMessageRequest: a2a.SendMessageRequest;
  SendMessageConfiguration: a2a.SendMessageConfiguration;
  GetTaskRequest: a2a.GetTaskRequest;
  ListTasksRequest: a2a.ListTasksRequest;
  ListTasksResponse: a2a.ListTasksResponse;
  CancelTaskRequest: a2a.CancelTaskRequest;
  SubscribeToTaskRequest: a2a.SubscribeToTaskRequest;
  GetExtendedAgentCardRequest: a2a.GetExtendedAgentCardRequest;
  TaskPushNotificationConfig: a2a.TaskPushNotificationConfig;
  CreateTaskPushNotificationConfigRequest: a2a.CreateTaskPushNotificationConfigRequest;
  AuthenticationInfo: a2a.AuthenticationInfo;
  GetTaskPushNotificationConfigRequest: a2a.GetTaskPushNotificationConfigRequest;
  DeleteTaskPushNotificationConfigRequest: a2a.DeleteTaskPushNotificationConfigRequest;
  ListTaskPushNotificationConfigsRequest: a2a.ListTaskPushNotificationConfigsRequest;
  ListTaskPushNotificationConfigsResponse: a2a.ListTaskPushNotificationConfigsResponse;
  Empty: object;
}>()({
  SendMessageRequest:
    "tenant message:Message.UserMessage+ configuration:SendMessageConfiguration metadata:Struct",
  SendMessageConfiguration: `
    acceptedOutputModes[] taskPushNotificationConfig:TaskPushNotificationConfig
    historyLength:int32.HistoryLength? returnImmediately:bool`,
  GetTaskRequest: "tenant id+ historyLength:int32.HistoryLength?",
  ListTasksRequest: `
    tenant contextId status:TaskState pageSize:int32.PageSize? pageToken
    historyLength:int32.HistoryLength? statusTimestampAfter:Timestamp includeArtifacts:bool?`,
  ListTasksResponse: "tasks:Task[]* nextPageToken* pageSize:int32* totalSize:int32*",
  CancelTaskRequest: "tenant id+ metadata:Struct",
  SubscribeToTaskRequest: "tenant id+",
  GetExtendedAgentCardRequest: "tenant",
  TaskPushNotificationConfig: "tenant id taskId url+ token authentication:AuthenticationInfo",
  // The proto has no separate message for this request.
  CreateTaskPushNotificationConfigRequest: "tenant id taskId+ url+ token authentication:AuthenticationInfo",
  AuthenticationInfo: "scheme* credentials",
  GetTaskPushNotificationConfigRequest: "tenant taskId+ id+",
  DeleteTaskPushNotificationConfigRequest: "tenant taskId+ id+",
  ListTaskPushNotificationConfigsRequest: "taskId+ pageSize:int32.PageSize pageToken tenant",
  ListTaskPushNotificationConfigsResponse: "configs:TaskPushNotificationConfig[]* nextPageToken",
  Empty: "",
});

type Variant<Union, Key extends PropertyKey> = Union extends Record<Key, infer Content> ? Content : never;

// Nearly every member of a card has an empty value in a response, because an agent is usable even if its card lacks,
// for example, a description. `*` and `+` mark exactly the members that the proto calls REQUIRED, because card
// signatures depend on them (A2A §8.4.1).
const CARD_MESSAGES = defineMessages<{
  AgentCard: a2a.AgentCard;
  AgentInterface: a2a.AgentInterface;
  AgentProvider: a2a.AgentProvider;
  AgentCapabilities: a2a.AgentCapabilities;
  AgentExtension: a2a.AgentExtension;
  AgentSkill: a2a.AgentSkill;
  AgentCardSignature: a2a.AgentCardSignature;
  StringList: { list: string[] };
  SecurityRequirement: a2a.SecurityRequirement;
  SecurityScheme: a2a.SecurityScheme;
  ApiKey: Variant<a2a.SecurityScheme, "apiKeySecurityScheme">;
  HttpAuth: Variant<a2a.SecurityScheme, "httpAuthSecurityScheme">;
  OAuth2: Variant<a2a.SecurityScheme, "oauth2SecurityScheme">;
  OpenIdConnect: Variant<a2a.SecurityScheme, "openIdConnectSecurityScheme">;
  MutualTls: Variant<a2a.SecurityScheme, "mtlsSecurityScheme">;
  OAuthFlows: a2a.OAuthFlows;
  AuthorizationCode: Variant<a2a.OAuthFlows, "authorizationCode">;
  ClientCredentials: Variant<a2a.OAuthFlows, "clientCredentials">;
  Implicit: Variant<a2a.OAuthFlows, "implicit">;
  Password: Variant<a2a.OAuthFlows, "password">;
  DeviceCode: Variant<a2a.OAuthFlows, "deviceCode">;
}>()({
  AgentCard: `
    name* description* supportedInterfaces:AgentInterface[]* provider:AgentProvider version* documentationUrl?
    capabilities:AgentCapabilities* securitySchemes:{SecurityScheme} securityRequirements:SecurityRequirement[]
    defaultInputModes[]* defaultOutputModes[]* skills:AgentSkill[]* signatures:AgentCardSignature[] iconUrl?`,
  AgentInterface: "url* protocolBinding* tenant protocolVersion*",
  AgentProvider: "url* organization*",
  AgentCapabilities:
    "streaming:bool? pushNotifications:bool? extensions:AgentExtension[] extendedAgentCard:bool?",
  AgentExtension: "uri~ description required:bool params:Struct",
  AgentSkill: `
    id* name* description* tags[]* examples[] inputModes[] outputModes[]
    securityRequirements:SecurityRequirement[]`,
  AgentCardSignature: "protected* signature* header:Struct",
  StringList: "list[]~",
  SecurityRequirement: "schemes:{StringList.Scopes}~",
  SecurityScheme: `
    |apiKeySecurityScheme:ApiKey |httpAuthSecurityScheme:HttpAuth |oauth2SecurityScheme:OAuth2
    |openIdConnectSecurityScheme:OpenIdConnect |mtlsSecurityScheme:MutualTls`,
  ApiKey: "description location:string.ApiKeyLocation* name*",
  HttpAuth: "description scheme* bearerFormat",
  OAuth2: "description flows:OAuthFlows* oauth2MetadataUrl",
  OpenIdConnect: "description openIdConnectUrl*",
  MutualTls: "description",
  OAuthFlows: `
    |authorizationCode:AuthorizationCode |clientCredentials:ClientCredentials |implicit:Implicit
    |password:Password |deviceCode:DeviceCode`,
  AuthorizationCode: "authorizationUrl* tokenUrl* refreshUrl scopes:{string}* pkceRequired:bool",
  ClientCredentials: "tokenUrl* refreshUrl scopes:{string}*",
  Implicit: "authorizationUrl refreshUrl scopes:{string}",
  Password: "tokenUrl refreshUrl scopes:{string}",
  DeviceCode: "deviceAuthorizationUrl* tokenUrl* refreshUrl scopes:{string}*",
});

/** The messages of `a2a.proto` 1.0 (package lf.a2a.v1), with their ProtoJSON names. */
export const MESSAGES: MessageDefinitions = { ...TASK_MESSAGES, ...REQUEST_MESSAGES, ...CARD_MESSAGES };

/** Messages of the operations of A2A 1.0. Each operation has the name of its gRPC method. */
export const OPERATION_MESSAGES: OperationMessages = {
  SendMessage: ["SendMessageRequest", "SendMessageResponse"],
  SendStreamingMessage: ["SendMessageRequest", "StreamResponse"],
  GetTask: ["GetTaskRequest", "Task"],
  ListTasks: ["ListTasksRequest", "ListTasksResponse"],
  CancelTask: ["CancelTaskRequest", "Task"],
  SubscribeToTask: ["SubscribeToTaskRequest", "StreamResponse"],
  GetExtendedAgentCard: ["GetExtendedAgentCardRequest", "AgentCard"],
  CreateTaskPushNotificationConfig: ["CreateTaskPushNotificationConfigRequest", "TaskPushNotificationConfig"],
  GetTaskPushNotificationConfig: ["GetTaskPushNotificationConfigRequest", "TaskPushNotificationConfig"],
  ListTaskPushNotificationConfigs: [
    "ListTaskPushNotificationConfigsRequest",
    "ListTaskPushNotificationConfigsResponse",
  ],
  DeleteTaskPushNotificationConfig: ["DeleteTaskPushNotificationConfigRequest", "Empty"],
};

/** HTTP routes of A2A 1.0 (A2A §11.3). The server also serves each path below `/{tenant}`. */
export const REST_ROUTES: readonly RestRoute[] = [
  ["SendMessage", "POST", "/message:send"],
  ["SendStreamingMessage", "POST", "/message:stream"],
  ["GetTask", "GET", "/tasks/{id}"],
  ["ListTasks", "GET", "/tasks"],
  ["CancelTask", "POST", "/tasks/{id}:cancel"],
  // The text of the specification requires POST, and its proto requires GET.
  ["SubscribeToTask", "POST GET", "/tasks/{id}:subscribe"],
  ["GetExtendedAgentCard", "GET", "/extendedAgentCard"],
  ["CreateTaskPushNotificationConfig", "POST", "/tasks/{taskId}/pushNotificationConfigs"],
  ["ListTaskPushNotificationConfigs", "GET", "/tasks/{taskId}/pushNotificationConfigs"],
  ["GetTaskPushNotificationConfig", "GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  ["DeleteTaskPushNotificationConfig", "DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
];
