import { createMessageCodecs, type MessageDefinitions } from "./message-codec.ts";
import { type GrpcService, defineGrpcService } from "./grpc-service.ts";

// Messages of `a2a.proto` 0.3 (package a2a.v1), with their ProtoJSON names.

const PROTOBUF_ENUM_VALUE_NAMES_V0_3: Readonly<Record<string, readonly string[]>> = {
  Role: ["ROLE_UNSPECIFIED", "ROLE_USER", "ROLE_AGENT"],
  TaskState: [
    "TASK_STATE_UNSPECIFIED",
    "TASK_STATE_SUBMITTED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
    "TASK_STATE_FAILED",
    "TASK_STATE_CANCELLED",
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_REJECTED",
    "TASK_STATE_AUTH_REQUIRED",
  ],
};

const TASK_MESSAGE_DEFINITIONS_V0_3: MessageDefinitions = {
  Task: "id=1 contextId=2 status=3:TaskStatus artifacts=4:Artifact[] history=5:Message[] metadata=6:Struct",
  TaskStatus: "state=1:TaskState message=2:Message timestamp=3:Timestamp",
  Part: "|text=1 |file=2:FilePart |data=3:DataPart",
  FilePart: "|fileWithUri=1 |fileWithBytes=2:bytes mimeType=3 name=4",
  DataPart: "data=1:Struct",
  Message: "messageId=1 contextId=2 taskId=3 role=4:Role content=5:Part[] metadata=6:Struct extensions=7[]",
  Artifact: "artifactId=1 name=3 description=4 parts=5:Part[] metadata=6:Struct extensions=7[]",
  TaskStatusUpdateEvent: "taskId=1 contextId=2 status=3:TaskStatus final=4:bool metadata=5:Struct",
  TaskArtifactUpdateEvent:
    "taskId=1 contextId=2 artifact=3:Artifact append=4:bool lastChunk=5:bool metadata=6:Struct",
  StreamResponse:
    "|task=1:Task |message=2:Message |statusUpdate=3:TaskStatusUpdateEvent |artifactUpdate=4:TaskArtifactUpdateEvent",
};

const REQUEST_MESSAGE_DEFINITIONS_V0_3: MessageDefinitions = {
  SendMessageRequest: "message=1:Message configuration=2:SendMessageConfiguration metadata=3:Struct",
  // A client that sets `blocking` to false sends nothing on the wire, so an absent value decodes to false.
  SendMessageConfiguration:
    "acceptedOutputModes=1[] pushNotification=2:PushNotificationConfig historyLength=3:int32 blocking=4:bool!",
  SendMessageResponse: "|task=1:Task |message=2:Message",
  GetTaskRequest: "name=1 historyLength=2:int32",
  CancelTaskRequest: "name=1",
  TaskSubscriptionRequest: "name=1",
  GetAgentCardRequest: "",
  PushNotificationConfig: "id=1 url=2 token=3 authentication=4:AuthenticationInfo",
  AuthenticationInfo: "schemes=1[] credentials=2",
  TaskPushNotificationConfig: "name=1 pushNotificationConfig=2:PushNotificationConfig",
  CreateTaskPushNotificationConfigRequest: "parent=1 configId=2 config=3:TaskPushNotificationConfig",
  GetTaskPushNotificationConfigRequest: "name=1",
  DeleteTaskPushNotificationConfigRequest: "name=1",
  ListTaskPushNotificationConfigRequest: "parent=1 pageSize=2:int32 pageToken=3",
  ListTaskPushNotificationConfigResponse: "configs=1:TaskPushNotificationConfig[] nextPageToken=2",
  Empty: "",
};

const AGENT_CARD_MESSAGE_DEFINITIONS_V0_3: MessageDefinitions = {
  AgentCard:
    "name=1 description=2 url=3 provider=4:AgentProvider version=5 documentationUrl=6 capabilities=7:AgentCapabilities " +
    "securitySchemes=8:{SecurityScheme} security=9:Security[] defaultInputModes=10[] defaultOutputModes=11[] " +
    "skills=12:AgentSkill[] supportsAuthenticatedExtendedCard=13:bool preferredTransport=14 " +
    "additionalInterfaces=15:AgentInterface[] protocolVersion=16 signatures=17:AgentCardSignature[]",
  AgentInterface: "url=1 transport=2",
  AgentProvider: "url=1 organization=2",
  AgentCapabilities: "streaming=1:bool pushNotifications=2:bool extensions=3:AgentExtension[]",
  AgentExtension: "uri=1 description=2 required=3:bool params=4:Struct",
  AgentSkill:
    "id=1 name=2 description=3 tags=4[] examples=5[] inputModes=6[] outputModes=7[] security=8:Security[]",
  AgentCardSignature: "protected=1 signature=2 header=3:Struct",
  StringList: "list=1[]",
  Security: "schemes=1:{StringList}",
  SecurityScheme:
    "|apiKeySecurityScheme=1:ApiKey |httpAuthSecurityScheme=2:HttpAuth |oauth2SecurityScheme=3:OAuth2 " +
    "|openIdConnectSecurityScheme=4:OpenIdConnect |mtlsSecurityScheme=5:MutualTls",
  ApiKey: "description=1 location=2 name=3",
  HttpAuth: "description=1 scheme=2 bearerFormat=3",
  OAuth2: "description=1 flows=2:OAuthFlows oauth2MetadataUrl=3",
  OpenIdConnect: "description=1 openIdConnectUrl=2",
  MutualTls: "description=1",
  OAuthFlows:
    "|authorizationCode=1:AuthorizationCode |clientCredentials=2:ClientCredentials |implicit=3:Implicit |password=4:Password",
  AuthorizationCode: "authorizationUrl=1 tokenUrl=2 refreshUrl=3 scopes=4:{string}",
  ClientCredentials: "tokenUrl=1 refreshUrl=2 scopes=3:{string}",
  Implicit: "authorizationUrl=1 refreshUrl=2 scopes=3:{string}",
  Password: "tokenUrl=1 refreshUrl=2 scopes=3:{string}",
};

/** The gRPC service of A2A 0.3, which has no `ListTasks`. */
export const GRPC_SERVICE_V0_3: GrpcService = defineGrpcService(
  "0.3",
  "a2a.v1.A2AService",
  createMessageCodecs(
    {
      ...TASK_MESSAGE_DEFINITIONS_V0_3,
      ...REQUEST_MESSAGE_DEFINITIONS_V0_3,
      ...AGENT_CARD_MESSAGE_DEFINITIONS_V0_3,
    },
    PROTOBUF_ENUM_VALUE_NAMES_V0_3,
  ),
  {
    SendMessage: ["SendMessage", "SendMessageRequest", "SendMessageResponse"],
    SendStreamingMessage: ["SendStreamingMessage", "SendMessageRequest", "StreamResponse"],
    GetTask: ["GetTask", "GetTaskRequest", "Task"],
    CancelTask: ["CancelTask", "CancelTaskRequest", "Task"],
    SubscribeToTask: ["TaskSubscription", "TaskSubscriptionRequest", "StreamResponse"],
    GetExtendedAgentCard: ["GetAgentCard", "GetAgentCardRequest", "AgentCard"],
    CreateTaskPushNotificationConfig: [
      "CreateTaskPushNotificationConfig",
      "CreateTaskPushNotificationConfigRequest",
      "TaskPushNotificationConfig",
    ],
    GetTaskPushNotificationConfig: [
      "GetTaskPushNotificationConfig",
      "GetTaskPushNotificationConfigRequest",
      "TaskPushNotificationConfig",
    ],
    ListTaskPushNotificationConfigs: [
      "ListTaskPushNotificationConfig",
      "ListTaskPushNotificationConfigRequest",
      "ListTaskPushNotificationConfigResponse",
    ],
    DeleteTaskPushNotificationConfig: [
      "DeleteTaskPushNotificationConfig",
      "DeleteTaskPushNotificationConfigRequest",
      "Empty",
    ],
  },
);
