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
import { isFirstTurnInTask } from "../conversation-store.ts";
import type { AgentDescription, AgentMessage, Run } from "../../engine/index.ts";
import type {
  AgentCard,
  Message,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "../../protocol/index.ts";

/** Creates the SDK request context for one message to an executor. */
export async function toRequestContext(run: Run): Promise<RequestContext> {
  const { taskId, contextId, message, caller, configuration, metadata, protocolVersion, extensions } = run;
  const request = SendMessageRequest.fromJSON({ tenant: caller.tenant, configuration, metadata });
  const { principal, tenant } = caller;
  const context = new ServerCallContext({
    requestedExtensions: [...extensions],
    requestedVersion: protocolVersion,
    user: principal === "" ? new UnauthenticatedUser() : createSdkUser(principal),
    ...(tenant === "" ? {} : { tenant }),
  });
  // Executors receive no task for the first message, because the SDK creates the task later.
  const currentTask = isFirstTurnInTask(run) ? undefined : toSdkTask(run.task);
  const referencedTasks = message.referenceTaskIds?.length
    ? (await run.loadReferencedTasks()).map(toSdkTask)
    : undefined;
  const sdkRequest = { ...request, message: toSdkMessage(message) };
  return new RequestContext(sdkRequest, taskId, contextId, context, currentTask, referencedTasks);
}

function createSdkUser(userName: string): User {
  return { isAuthenticated: true, userName };
}

function toSdkTask(task: Task): SdkTask {
  const converted = SdkTask.fromJSON(task);
  converted.history.forEach((message, index) => restoreNullDataParts(message, task.history?.[index]));
  converted.artifacts.forEach((artifact, index) => restoreNullDataParts(artifact, task.artifacts?.[index]));
  return converted;
}

function toSdkMessage(message: Message): SdkMessage {
  const converted = SdkMessage.fromJSON(message);
  restoreNullDataParts(converted, message);
  return converted;
}

/** Restores parts with `"data": null`. The SDK treats a part with null data as a part without content. */
function restoreNullDataParts(
  converted: SdkMessage | SdkArtifact,
  original: Pick<Message, "parts"> | undefined,
): void {
  original?.parts.forEach((part, index) => {
    const copy = converted.parts[index];
    if (copy && "data" in part && part.data === null) copy.content = { $case: "data", value: null };
  });
}

// The SDK serializes A2A 1.0 JSON, which these casts assume. The engine validates the events again.

export function fromSdkTask(task: SdkTask): Task {
  return SdkTask.toJSON(task) as Task;
}

export function fromSdkMessage(message: SdkMessage): AgentMessage {
  return omitEngineSetMessageFields(SdkMessage.toJSON(message) as Message);
}

export function fromSdkStatusUpdate(update: SdkStatusUpdate): TaskStatusUpdateEvent {
  return SdkStatusUpdate.toJSON(update) as TaskStatusUpdateEvent;
}

export function fromSdkArtifactUpdate(update: SdkArtifactUpdate): TaskArtifactUpdateEvent {
  return SdkArtifactUpdate.toJSON(update) as TaskArtifactUpdateEvent;
}

/** Removes the message fields that the engine sets: the task id, the context id, and the role. */
export function omitEngineSetMessageFields(message: Message): AgentMessage {
  const { taskId: _, contextId: __, role: ___, ...agentMessage } = message;
  return agentMessage;
}

/**
 * Returns the agent's description from an SDK card. The server itself adds interfaces, security schemes, and
 * signatures to the agent card. Colloquy cards allow only media types as input and output modes, so other
 * modes, such as `task-status`, are removed.
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
    ...removeInvalidInputOutputModes("defaultInputModes", defaultInputModes),
    ...removeInvalidInputOutputModes("defaultOutputModes", defaultOutputModes),
    skills: (skills ?? []).map(({ inputModes, outputModes, ...skill }) => ({
      ...skill,
      ...removeInvalidInputOutputModes("inputModes", inputModes),
      ...removeInvalidInputOutputModes("outputModes", outputModes),
    })),
  };
}

/** Older agent cards use these mode names instead of media types, and clients still understand them. */
const ALLOWED_LEGACY_INPUT_OUTPUT_MODES: ReadonlySet<string> = new Set(["*", "text", "data", "file"]);

function removeInvalidInputOutputModes<N extends string>(
  name: N,
  modes: readonly string[] | undefined,
): { [M in N]?: string[] } {
  const currentTask =
    modes?.filter((mode) => mode.includes("/") || ALLOWED_LEGACY_INPUT_OUTPUT_MODES.has(mode)) ?? [];
  return (currentTask.length > 0 ? { [name]: currentTask } : {}) as { [M in N]?: string[] };
}
