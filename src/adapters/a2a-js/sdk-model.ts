import {
  AgentCard as SdkCard,
  type Artifact as SdkArtifact,
  Message as SdkMessage,
  SendMessageRequest,
  Task as SdkTask,
  TaskArtifactUpdateEvent as SdkArtifactUpdate,
  TaskStatusUpdateEvent as SdkStatusUpdate,
} from "@a2a-js/sdk";
import { RequestContext, ServerCallContext, UnauthenticatedUser, type User } from "@a2a-js/sdk/server";
import { isFirstTurn } from "../conversation-store.ts";
import type { AgentDescription, AgentMessage, Run } from "../../engine/index.ts";
import type {
  AgentCard,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "../../protocol/index.ts";

/** What the SDK hands to an executor for one message. */
export async function toRequestContext(run: Run): Promise<RequestContext> {
  const { taskId, contextId, message, caller, configuration, metadata, protocolVersion, extensions } = run;
  const request = SendMessageRequest.fromJSON({ tenant: caller.tenant, configuration, metadata });
  const { principal, tenant } = caller;
  const context = new ServerCallContext({
    requestedExtensions: [...extensions],
    requestedVersion: protocolVersion,
    user: principal === "" ? new UnauthenticatedUser() : createUser(principal),
    ...(tenant === "" ? {} : { tenant }),
  });
  // To an executor a task exists from its second message on.
  const currentTask = isFirstTurn(run) ? undefined : toSdkTask(run.task);
  const referencedTasks = message.referenceTaskIds?.length
    ? (await run.loadReferencedTasks()).map(toSdkTask)
    : undefined;
  const sdkRequest = { ...request, message: toSdkMessage(message) };
  return new RequestContext(sdkRequest, taskId, contextId, context, currentTask, referencedTasks);
}

function createUser(userName: string): User {
  return { isAuthenticated: true, userName };
}

function toSdkTask(task: Task): SdkTask {
  const converted = SdkTask.fromJSON(task);
  converted.history.forEach((message, index) => restoreNullData(message, task.history?.[index]));
  converted.artifacts.forEach((artifact, index) => restoreNullData(artifact, task.artifacts?.[index]));
  return converted;
}

function toSdkMessage(message: Message): SdkMessage {
  const converted = SdkMessage.fromJSON(message);
  restoreNullData(converted, message);
  return converted;
}

/** The SDK reads `"data": null`, which is a value, as no content at all. */
function restoreNullData(
  converted: SdkMessage | SdkArtifact,
  original: Pick<Message, "parts"> | undefined,
): void {
  original?.parts.forEach((part, index) => {
    const copy = converted.parts[index];
    if (copy && "data" in part && part.data === null) copy.content = { $case: "data", value: null };
  });
}

// What the SDK writes is the JSON of A2A 1.0, which is what our types say; the engine looks at it once more.

export function fromSdkTask(task: SdkTask): Task {
  return SdkTask.toJSON(task) as Task;
}

export function fromSdkMessage(message: SdkMessage): AgentMessage {
  return toAgentMessage(SdkMessage.toJSON(message) as Message);
}

export function fromSdkStatus(update: SdkStatusUpdate): TaskStatusUpdateEvent {
  return SdkStatusUpdate.toJSON(update) as TaskStatusUpdateEvent;
}

export function fromSdkArtifact(update: SdkArtifactUpdate): TaskArtifactUpdateEvent {
  return SdkArtifactUpdate.toJSON(update) as TaskArtifactUpdateEvent;
}

/** Whose message it is and where it belongs, the engine says. */
export function toAgentMessage(message: Message): AgentMessage {
  const { taskId: _, contextId: __, role: ___, ...agentMessage } = message;
  return agentMessage;
}

/**
 * What the card says of the agent itself. Where it is served, what protects it and what it is signed with are its
 * server's to say. Modes that are no media types ("task-status", in the SDK's samples) are left out: our cards have none.
 */
export function toAgentDescription(card: SdkCard): AgentDescription {
  const {
    supportedInterfaces: _,
    securitySchemes: __,
    securityRequirements: ___,
    signatures: ____,
    defaultInputModes,
    defaultOutputModes,
    skills,
    ...description
  } = SdkCard.toJSON(card) as AgentCard;
  return {
    ...description,
    ...filterModes("defaultInputModes", defaultInputModes),
    ...filterModes("defaultOutputModes", defaultOutputModes),
    skills: (skills ?? []).map(({ inputModes, outputModes, ...skill }) => ({
      ...skill,
      ...filterModes("inputModes", inputModes),
      ...filterModes("outputModes", outputModes),
    })),
  };
}

/** What cards of the first days say instead of media types, which readers still understand. */
const LEGACY_MODES: ReadonlySet<string> = new Set(["*", "text", "data", "file"]);

function filterModes<N extends string>(
  name: N,
  modes: readonly string[] | undefined,
): { [M in N]?: string[] } {
  const currentTask = modes?.filter((mode) => mode.includes("/") || LEGACY_MODES.has(mode)) ?? [];
  return (currentTask.length > 0 ? { [name]: currentTask } : {}) as { [M in N]?: string[] };
}
