import { createMessageCodecs, type MessageDefinitions } from "./message-codec.ts";
import { type GrpcService, defineGrpcService } from "./grpc-service.ts";

// Messages of `a2a.proto` 1.0 (package lf.a2a.v1), with their ProtoJSON names.

const PROTOBUF_ENUM_VALUE_NAMES_V1: Readonly<Record<string, readonly string[]>> = {
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

const TASK_MESSAGE_DEFINITIONS_V1: MessageDefinitions = {
  Task: "id=1 contextId=2 status=3:TaskStatus artifacts=4:Artifact[] history=5:Message[] metadata=6:Struct",
  TaskStatus: "state=1:TaskState message=2:Message timestamp=3:Timestamp",
  Part: "|text=1 |raw=2:bytes |url=3 |data=4:Value metadata=5:Struct filename=6 mediaType=7",
  Message:
    "messageId=1 contextId=2 taskId=3 role=4:Role parts=5:Part[] metadata=6:Struct extensions=7[] referenceTaskIds=8[]",
  Artifact: "artifactId=1 name=2 description=3 parts=4:Part[] metadata=5:Struct extensions=6[]",
  TaskStatusUpdateEvent: "taskId=1 contextId=2 status=3:TaskStatus metadata=4:Struct",
  TaskArtifactUpdateEvent:
    "taskId=1 contextId=2 artifact=3:Artifact append=4:bool lastChunk=5:bool metadata=6:Struct",
  StreamResponse:
    "|task=1:Task |message=2:Message |statusUpdate=3:TaskStatusUpdateEvent |artifactUpdate=4:TaskArtifactUpdateEvent",
};

const REQUEST_MESSAGE_DEFINITIONS_V1: MessageDefinitions = {
  SendMessageRequest: "tenant=1 message=2:Message configuration=3:SendMessageConfiguration metadata=4:Struct",
  SendMessageConfiguration:
    "acceptedOutputModes=1[] taskPushNotificationConfig=2:TaskPushNotificationConfig historyLength=3:int32? returnImmediately=4:bool",
  SendMessageResponse: "|task=1:Task |message=2:Message",
  GetTaskRequest: "tenant=1 id=2 historyLength=3:int32?",
  ListTasksRequest:
    "tenant=1 contextId=2 status=3:TaskState pageSize=4:int32? pageToken=5 historyLength=6:int32? statusTimestampAfter=7:Timestamp includeArtifacts=8:bool?",
  ListTasksResponse: "tasks=1:Task[] nextPageToken=2 pageSize=3:int32 totalSize=4:int32",
  CancelTaskRequest: "tenant=1 id=2 metadata=3:Struct",
  SubscribeToTaskRequest: "tenant=1 id=2",
  GetExtendedAgentCardRequest: "tenant=1",
  TaskPushNotificationConfig: "tenant=1 id=2 taskId=3 url=4 token=5 authentication=6:AuthenticationInfo",
  AuthenticationInfo: "scheme=1 credentials=2",
  GetTaskPushNotificationConfigRequest: "tenant=1 taskId=2 id=3",
  DeleteTaskPushNotificationConfigRequest: "tenant=1 taskId=2 id=3",
  ListTaskPushNotificationConfigsRequest: "taskId=1 pageSize=2:int32 pageToken=3 tenant=4",
  ListTaskPushNotificationConfigsResponse: "configs=1:TaskPushNotificationConfig[] nextPageToken=2",
  Empty: "",
};

const AGENT_CARD_MESSAGE_DEFINITIONS_V1: MessageDefinitions = {
  AgentCard:
    "name=1 description=2 supportedInterfaces=3:AgentInterface[] provider=4:AgentProvider version=5 documentationUrl=6? " +
    "capabilities=7:AgentCapabilities securitySchemes=8:{SecurityScheme} securityRequirements=9:SecurityRequirement[] " +
    "defaultInputModes=10[] defaultOutputModes=11[] skills=12:AgentSkill[] signatures=13:AgentCardSignature[] iconUrl=14?",
  AgentInterface: "url=1 protocolBinding=2 tenant=3 protocolVersion=4",
  AgentProvider: "url=1 organization=2",
  AgentCapabilities:
    "streaming=1:bool? pushNotifications=2:bool? extensions=3:AgentExtension[] extendedAgentCard=4:bool?",
  AgentExtension: "uri=1 description=2 required=3:bool params=4:Struct",
  AgentSkill:
    "id=1 name=2 description=3 tags=4[] examples=5[] inputModes=6[] outputModes=7[] securityRequirements=8:SecurityRequirement[]",
  AgentCardSignature: "protected=1 signature=2 header=3:Struct",
  StringList: "list=1[]",
  SecurityRequirement: "schemes=1:{StringList}",
  SecurityScheme:
    "|apiKeySecurityScheme=1:ApiKey |httpAuthSecurityScheme=2:HttpAuth |oauth2SecurityScheme=3:OAuth2 " +
    "|openIdConnectSecurityScheme=4:OpenIdConnect |mtlsSecurityScheme=5:MutualTls",
  ApiKey: "description=1 location=2 name=3",
  HttpAuth: "description=1 scheme=2 bearerFormat=3",
  OAuth2: "description=1 flows=2:OAuthFlows oauth2MetadataUrl=3",
  OpenIdConnect: "description=1 openIdConnectUrl=2",
  MutualTls: "description=1",
  OAuthFlows:
    "|authorizationCode=1:AuthorizationCode |clientCredentials=2:ClientCredentials |implicit=3:Implicit " +
    "|password=4:Password |deviceCode=5:DeviceCode",
  AuthorizationCode: "authorizationUrl=1 tokenUrl=2 refreshUrl=3 scopes=4:{string} pkceRequired=5:bool",
  ClientCredentials: "tokenUrl=1 refreshUrl=2 scopes=3:{string}",
  Implicit: "authorizationUrl=1 refreshUrl=2 scopes=3:{string}",
  Password: "tokenUrl=1 refreshUrl=2 scopes=3:{string}",
  DeviceCode: "deviceAuthorizationUrl=1 tokenUrl=2 refreshUrl=3 scopes=4:{string}",
};

/** The gRPC service of A2A 1.0 (A2A §10). */
export const GRPC_SERVICE_V1: GrpcService = defineGrpcService(
  "1.0",
  "lf.a2a.v1.A2AService",
  createMessageCodecs(
    {
      ...TASK_MESSAGE_DEFINITIONS_V1,
      ...REQUEST_MESSAGE_DEFINITIONS_V1,
      ...AGENT_CARD_MESSAGE_DEFINITIONS_V1,
    },
    PROTOBUF_ENUM_VALUE_NAMES_V1,
  ),
  {
    SendMessage: ["SendMessage", "SendMessageRequest", "SendMessageResponse"],
    SendStreamingMessage: ["SendStreamingMessage", "SendMessageRequest", "StreamResponse"],
    GetTask: ["GetTask", "GetTaskRequest", "Task"],
    ListTasks: ["ListTasks", "ListTasksRequest", "ListTasksResponse"],
    CancelTask: ["CancelTask", "CancelTaskRequest", "Task"],
    SubscribeToTask: ["SubscribeToTask", "SubscribeToTaskRequest", "StreamResponse"],
    GetExtendedAgentCard: ["GetExtendedAgentCard", "GetExtendedAgentCardRequest", "AgentCard"],
    CreateTaskPushNotificationConfig: [
      "CreateTaskPushNotificationConfig",
      "TaskPushNotificationConfig",
      "TaskPushNotificationConfig",
    ],
    GetTaskPushNotificationConfig: [
      "GetTaskPushNotificationConfig",
      "GetTaskPushNotificationConfigRequest",
      "TaskPushNotificationConfig",
    ],
    ListTaskPushNotificationConfigs: [
      "ListTaskPushNotificationConfigs",
      "ListTaskPushNotificationConfigsRequest",
      "ListTaskPushNotificationConfigsResponse",
    ],
    DeleteTaskPushNotificationConfig: [
      "DeleteTaskPushNotificationConfig",
      "DeleteTaskPushNotificationConfigRequest",
      "Empty",
    ],
  },
);
