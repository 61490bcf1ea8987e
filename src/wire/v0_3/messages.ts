import type { OperationName } from "../../protocol/index.ts";
import type { MessageDefinitions } from "../message-notation.ts";
import type { OperationMessages } from "../operation-messages.ts";
import type { RestRoute } from "../route-matcher.ts";
import { ENUMS as ENUMS_V1, MESSAGES as MESSAGES_V1 } from "../v1/messages.ts";

const USER_MESSAGE =
  "messageId* contextId taskId role:Role.UserRole* content>parts:Part[]* metadata:Struct extensions[] referenceTaskIds=0[]";

/** Names of the values of each enum in `a2a.proto` 0.3, indexed by number. */
export const PROTO_ENUMS: typeof ENUMS_V1 = {
  Role: ENUMS_V1.Role,
  TaskState: ENUMS_V1.TaskState.map((name) =>
    name === "TASK_STATE_CANCELED" ? "TASK_STATE_CANCELLED" : name,
  ) as [string, ...string[]],
};

/**
 * The messages of `a2a.proto` 0.3 (package a2a.v1), with their ProtoJSON names. Cards have the security types of 1.0.
 */
export const PROTO_MESSAGES: MessageDefinitions = {
  ...MESSAGES_V1,
  TaskStatus: "state:TaskState* message/update:Message timestamp:Timestamp",
  Part: "|text=1 |file:FilePart |data:DataPart",
  // `name` exists since release 0.3.8 of Python's SDK. Earlier readers of ProtoJSON reject it, so it is not sent.
  FilePart: "|fileWithUri |fileWithBytes:bytes.FileBytes mimeType name",
  DataPart: "data=1:Struct*",
  // The proto has no field for `referenceTaskIds`.
  Message: USER_MESSAGE.replace(".UserRole", ""),
  UserMessage: USER_MESSAGE,
  Artifact: "artifactId* name=3 description parts:Part[]* metadata:Struct extensions[]",
  TaskStatusUpdateEvent: "taskId=1* contextId* status:TaskStatus+ final:bool.Ignored metadata:Struct",
  StreamResponse:
    "|task=1:Task+ |message/msg:Message+ |statusUpdate:TaskStatusUpdateEvent+ |artifactUpdate:TaskArtifactUpdateEvent+",
  SendMessageResponse: "|task=1:Task+ |message/msg:Message+",

  SendMessageRequest:
    "message/request=1:Message.UserMessage+ configuration:SendMessageConfiguration metadata:Struct",
  // A client that sets `blocking` to false sends nothing on the wire, so an absent value decodes to false.
  SendMessageConfiguration: `
    acceptedOutputModes[] pushNotification>taskPushNotificationConfig:PushNotificationConfig
    historyLength:int32.HistoryLength blocking:bool!`,
  GetTaskRequest: "name>id:string.TaskName+ historyLength:int32.HistoryLength",
  CancelTaskRequest: "name>id:string.TaskName+",
  TaskSubscriptionRequest: "name>id:string.TaskName+",
  GetAgentCardRequest: "",
  PushNotificationConfig: "id url+ token authentication:AuthenticationInfo",
  AuthenticationInfo: "schemes[]? credentials",
  TaskPushNotificationConfig:
    "name:string.PushConfigName pushNotificationConfig>config:PushNotificationConfig+",
  // The server assigns the name of a new configuration.
  NewPushNotificationConfig: "pushNotificationConfig>config=2:PushNotificationConfig+",
  CreateTaskPushNotificationConfigRequest:
    "parent:string.TaskName+ configId config:TaskPushNotificationConfig.NewPushNotificationConfig+",
  GetTaskPushNotificationConfigRequest: "name:string.PushConfigName+",
  DeleteTaskPushNotificationConfigRequest: "name:string.PushConfigName+",
  ListTaskPushNotificationConfigRequest: "parent:string.TaskName+ pageSize:int32 pageToken",
  ListTaskPushNotificationConfigResponse: "configs:TaskPushNotificationConfig[]* nextPageToken",

  AgentCard: `
    name* description* url* provider:AgentProvider version* documentationUrl? capabilities:AgentCapabilities*
    securitySchemes:{SecurityScheme} security>securityRequirements:Security[] defaultInputModes[]*
    defaultOutputModes[]* skills:AgentSkill[]* supportsAuthenticatedExtendedCard:bool?
    preferredTransport:string.PreferredTransport* additionalInterfaces:AgentInterface[]
    protocolVersion:string.ProtocolVersion* signatures:AgentCardSignature[] iconUrl=0?`,
  AgentInterface: "url* transport*",
  AgentCapabilities: "streaming:bool? pushNotifications:bool? extensions:AgentExtension[]",
  AgentSkill: `
    id* name* description* tags[]* examples[] inputModes[] outputModes[]
    security>securityRequirements:Security[]`,
  Security: "schemes:{StringList}~",
  OAuthFlows: `
    |authorizationCode:AuthorizationCode |clientCredentials:ClientCredentials |implicit:Implicit |password:Password`,
  AuthorizationCode: "authorizationUrl* tokenUrl* refreshUrl scopes:{string}*",
};

/** Messages and gRPC methods of the operations of A2A 0.3, which has no `ListTasks`. */
export const PROTO_OPERATION_MESSAGES: OperationMessages<Exclude<OperationName, "ListTasks">> = {
  SendMessage: ["SendMessageRequest", "SendMessageResponse"],
  SendStreamingMessage: ["SendMessageRequest", "StreamResponse"],
  GetTask: ["GetTaskRequest", "Task"],
  CancelTask: ["CancelTaskRequest", "Task"],
  SubscribeToTask: ["TaskSubscriptionRequest", "StreamResponse", "TaskSubscription"],
  GetExtendedAgentCard: ["GetAgentCardRequest", "AgentCard", "GetAgentCard"],
  CreateTaskPushNotificationConfig: ["CreateTaskPushNotificationConfigRequest", "TaskPushNotificationConfig"],
  GetTaskPushNotificationConfig: ["GetTaskPushNotificationConfigRequest", "TaskPushNotificationConfig"],
  ListTaskPushNotificationConfigs: [
    "ListTaskPushNotificationConfigRequest",
    "ListTaskPushNotificationConfigResponse",
    "ListTaskPushNotificationConfig",
  ],
  DeleteTaskPushNotificationConfig: ["DeleteTaskPushNotificationConfigRequest", "Empty"],
};

/** The JSON-RPC types of A2A 0.3. Their fields have no numbers, but some definitions are those of the proto. */
export const JSON_RPC_MESSAGES: MessageDefinitions = {
  ...PROTO_MESSAGES,
  Task: `kind:TaskKind ${MESSAGES_V1["Task"]}`,
  TaskStatus: "state:TaskState* message:Message timestamp:Timestamp",
  // `kind` is optional when decoding, because the content member also identifies the kind.
  Part: "kind:PartKind |text |file:FilePart |data:Struct metadata:Struct",
  FilePart: "|bytes:bytes |uri name mimeType",
  Message: `kind:MessageKind ${MESSAGES_V1["Message"]}`,
  UserMessage: `kind:MessageKind ${MESSAGES_V1["UserMessage"]}`,
  TaskStatusUpdateEvent: `kind:StatusUpdateKind ${PROTO_MESSAGES["TaskStatusUpdateEvent"]}`,
  TaskArtifactUpdateEvent: `kind:ArtifactUpdateKind ${MESSAGES_V1["TaskArtifactUpdateEvent"]}`,

  SendMessageRequest: "message:UserMessage+ configuration:SendMessageConfiguration metadata:Struct",
  SendMessageConfiguration: `
    acceptedOutputModes[] pushNotificationConfig>taskPushNotificationConfig:PushNotificationConfig
    historyLength:HistoryLength blocking:bool?`,
  GetTaskRequest: "id+ historyLength:HistoryLength",
  CancelTaskRequest: "id+ metadata:Struct",
  SubscribeToTaskRequest: "id+",
  TaskPushNotificationConfig: "taskId+ pushNotificationConfig:PushNotificationConfig+",
  CreateTaskPushNotificationConfigRequest: "taskId+ pushNotificationConfig:PushNotificationConfig+",
  GetTaskPushNotificationConfigRequest: "id>taskId+ pushNotificationConfigId>id",
  DeleteTaskPushNotificationConfigRequest: "id>taskId+ pushNotificationConfigId>id+",
  ListTaskPushNotificationConfigsRequest: "id>taskId+",

  SecurityScheme: `
    type:SecuritySchemeType+ description in:ApiKeyLocation* name* scheme* bearerFormat flows:OAuthFlows*
    oauth2MetadataUrl openIdConnectUrl*`,
  OAuthFlows: "authorizationCode:OAuthFlow clientCredentials:OAuthFlow implicit:OAuthFlow password:OAuthFlow",
  OAuthFlow: "authorizationUrl* tokenUrl* refreshUrl scopes:{string}*",
};

/**
 * HTTP routes of A2A 0.3 §3.5.3, below the agent's URL. A2A 0.3 also lists a route for listing tasks, but
 * does not specify the parameters or the result.
 */
export const REST_ROUTES: readonly RestRoute[] = [
  ["SendMessage", "POST", "/v1/message:send"],
  ["SendStreamingMessage", "POST", "/v1/message:stream"],
  ["GetTask", "GET", "/v1/tasks/{id}"],
  ["CancelTask", "POST", "/v1/tasks/{id}:cancel"],
  // The text of the specification requires POST, and its proto requires GET.
  ["SubscribeToTask", "POST GET", "/v1/tasks/{id}:subscribe"],
  ["GetExtendedAgentCard", "GET", "/v1/card"],
  ["CreateTaskPushNotificationConfig", "POST", "/v1/tasks/{taskId}/pushNotificationConfigs"],
  ["ListTaskPushNotificationConfigs", "GET", "/v1/tasks/{taskId}/pushNotificationConfigs"],
  ["GetTaskPushNotificationConfig", "GET", "/v1/tasks/{taskId}/pushNotificationConfigs/{id}"],
  ["DeleteTaskPushNotificationConfig", "DELETE", "/v1/tasks/{taskId}/pushNotificationConfigs/{id}"],
];

/** Operations by their JSON-RPC method names in A2A 0.3 §3.5.6. */
export const OPERATIONS_BY_JSON_RPC_METHOD: Readonly<Record<string, OperationName>> = {
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
  "tasks/get": "GetTask",
  "tasks/cancel": "CancelTask",
  "tasks/resubscribe": "SubscribeToTask",
  "tasks/pushNotificationConfig/set": "CreateTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/get": "GetTaskPushNotificationConfig",
  "tasks/pushNotificationConfig/list": "ListTaskPushNotificationConfigs",
  "tasks/pushNotificationConfig/delete": "DeleteTaskPushNotificationConfig",
  "agent/getAuthenticatedExtendedCard": "GetExtendedAgentCard",
};
