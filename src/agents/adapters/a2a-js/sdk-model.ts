// Version 0.3 lacks the values of the package. Named imports would fail before `assertSdkVersion1` reports the version.
import * as sdk from "@a2a-js/sdk";
import type {
  AgentCard as SdkCard,
  Artifact as SdkArtifact,
  Message as SdkMessage,
  Task as SdkTask,
  TaskArtifactUpdateEvent as SdkArtifactUpdate,
  TaskStatusUpdateEvent as SdkStatusUpdate,
} from "@a2a-js/sdk";
import { RequestContext, ServerCallContext, UnauthenticatedUser, type User } from "@a2a-js/sdk/server";
import { isFirstTurnInTask } from "../conversation-store.ts";
import type { AgentDescription, AgentMessage, Run } from "../../../engine/index.ts";
import {
  A2AError,
  type AgentCard,
  type Message,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskStatusUpdateEvent,
} from "../../../protocol/index.ts";

/** Throws an error if the installed version of the SDK is 0.3, on which `@google/adk` depends. */
export function assertSdkVersion1(): void {
  if ("AgentCard" in sdk) return;
  throw new A2AError(
    "INTERNAL",
    "fromExecutor requires version 1 of @a2a-js/sdk, but version 0.3 is installed. Run: npm install @a2a-js/sdk@1",
  );
}

/** Creates the SDK request context for a message. */
export async function toRequestContext(run: Run): Promise<RequestContext> {
  const { taskId, contextId, message, caller, configuration, metadata, protocolVersion, extensions } = run;
  const request = sdk.SendMessageRequest.fromJSON({ tenant: caller.tenant, configuration, metadata });
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
  const converted = sdk.Task.fromJSON(task);
  converted.history.forEach((message, index) => restoreNullDataParts(message, task.history?.[index]));
  converted.artifacts.forEach((artifact, index) => restoreNullDataParts(artifact, task.artifacts?.[index]));
  return converted;
}

function toSdkMessage(message: Message): SdkMessage {
  const converted = sdk.Message.fromJSON(message);
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
  return sdk.Task.toJSON(task) as Task;
}

export function fromSdkMessage(message: SdkMessage): AgentMessage {
  return omitEngineSetMessageFields(sdk.Message.toJSON(message) as Message);
}

export function fromSdkStatusUpdate(update: SdkStatusUpdate): TaskStatusUpdateEvent {
  return sdk.TaskStatusUpdateEvent.toJSON(update) as TaskStatusUpdateEvent;
}

export function fromSdkArtifactUpdate(update: SdkArtifactUpdate): TaskArtifactUpdateEvent {
  return sdk.TaskArtifactUpdateEvent.toJSON(update) as TaskArtifactUpdateEvent;
}

/** Removes the message fields that the engine sets: the task id, the context id, and the role. */
export function omitEngineSetMessageFields(message: Message): AgentMessage {
  const { taskId: _, contextId: __, role: ___, ...agentMessage } = message;
  return agentMessage;
}

/**
 * Converts an SDK agent card to an agent description. The server itself adds interfaces, security schemes,
 * and signatures to the agent card. Agent cards in Colloquy allow only media types as input and output modes,
 * so other modes, such as `task-status`, are removed.
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
  } = sdk.AgentCard.toJSON(card) as AgentCard;
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

/** Older agent cards use these mode names instead of media types, and clients still accept these names. */
const ALLOWED_LEGACY_INPUT_OUTPUT_MODES: ReadonlySet<string> = new Set(["*", "text", "data", "file"]);

function removeInvalidInputOutputModes<N extends string>(
  name: N,
  modes: readonly string[] | undefined,
): { [M in N]?: string[] } {
  const currentTask =
    modes?.filter((mode) => mode.includes("/") || ALLOWED_LEGACY_INPUT_OUTPUT_MODES.has(mode)) ?? [];
  return (currentTask.length > 0 ? { [name]: currentTask } : {}) as { [M in N]?: string[] };
}
