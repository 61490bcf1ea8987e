import {
  type AgentCard,
  type Artifact,
  type ArtifactContentTracker,
  isInterrupted,
  isTerminal,
  type JsonObject,
  type Message,
  type Part,
  type StreamResponse,
  stripTrailingCharacters,
  type Task,
  type TaskPushNotificationConfig,
  type TaskStatus,
} from "../protocol/index.ts";
import type { TextWriter } from "./text-writer.ts";

/** Renders the task ids and the task state that the next command needs (a2a-cli SPEC §8.2). */
export function renderIds(writer: TextWriter, ids: { id: string; contextId: string; state: string }): void {
  renderIdsWithoutState(writer, ids);
  writer.writeField("State", ids.state);
}

/** `history` includes earlier messages. `verbose` adds ids, times, media types, and metadata to the text. */
export interface TaskTextDetailOptions {
  readonly history?: boolean;
  readonly verbose?: boolean;
}

/** Renders the ids of a task whose state is not known yet. */
export function renderIdsWithoutState(writer: TextWriter, ids: { id: string; contextId: string }): void {
  writer.writeField("Task", ids.id);
  writer.writeField("Context", ids.contextId);
}

/** Renders a task. `hasIds` is true if the output contains the ids of the task already. */
export function renderTask(
  writer: TextWriter,
  task: Task,
  { history = false, verbose = false }: TaskTextDetailOptions = {},
  hasIds = false,
): void {
  if (!hasIds) renderIdsWithoutState(writer, task);
  writer.writeField("State", task.status.state);
  if (verbose && task.status.timestamp) writer.writeField("Updated", task.status.timestamp);
  if (verbose) renderMetadata(writer, "task", task.metadata);
  for (const message of (history && task.history) || [])
    renderLabeledMessage(writer, "History", message, verbose);
  renderStatusMessage(writer, task.status, verbose);
  for (const artifact of task.artifacts ?? []) renderArtifact(writer, artifact, { verbose });
}

export function renderMessage(writer: TextWriter, message: Message, verbose = false): void {
  if (message.contextId) writer.writeField("Context", message.contextId);
  if (message.taskId) writer.writeField("Task", message.taskId);
  renderLabeledMessage(writer, "Message", message, verbose);
}

/** Renders a message that the user sent. */
export function renderUserMessage(writer: TextWriter, message: Message): void {
  renderLabeledMessage(writer, "Sent", message, true);
}

/** Renders a stream event. The `tracker` knows the content of earlier events, which is not repeated. */
export function renderEvent(
  writer: TextWriter,
  event: StreamResponse,
  tracker: ArtifactContentTracker,
  detail: TaskTextDetailOptions = {},
): void {
  const { verbose = false } = detail;
  if ("task" in event) {
    tracker.addKnownArtifacts(event.task);
    renderTask(writer, event.task, detail);
  } else if ("message" in event) renderMessage(writer, event.message, verbose);
  else if ("statusUpdate" in event) {
    const { taskId: id, contextId, status, metadata } = event.statusUpdate;
    if (isLastEvent(event)) renderIds(writer, { id, contextId, state: status.state });
    else writer.writeField("State", status.state);
    if (verbose && status.timestamp) writer.writeField("Updated", status.timestamp);
    if (verbose) renderMetadata(writer, "status", metadata);
    renderStatusMessage(writer, status, verbose);
  } else {
    const { artifact, lastChunk } = event.artifactUpdate;
    const { parts, isContinuation } = tracker.addUpdate(event.artifactUpdate);
    if (!isContinuation) writer.closeBlock();
    renderArtifact(writer, { ...artifact, parts: parts.slice() }, { growing: true, verbose });
    if (lastChunk) writer.closeBlock();
  }
}

/** Returns whether a stream ends with the event, because the task has ended or waits for its user. */
export function isLastEvent(event: StreamResponse): boolean {
  if (!("statusUpdate" in event)) return false;
  const { state } = event.statusUpdate.status;
  return isTerminal(state) || isInterrupted(state);
}

/** Renders a notification. Each one names its task, because a webhook receives the events of several tasks. */
export function renderNotification(
  writer: TextWriter,
  event: StreamResponse,
  tracker: ArtifactContentTracker,
): void {
  if ("artifactUpdate" in event) {
    const { taskId: id, contextId } = event.artifactUpdate;
    renderIdsWithoutState(writer, { id, contextId });
  } else if ("statusUpdate" in event && !isLastEvent(event)) {
    const { taskId: id, contextId } = event.statusUpdate;
    renderIdsWithoutState(writer, { id, contextId });
  }
  renderEvent(writer, event, tracker);
  writer.writeBlankLine();
}

export function renderAgentCard(writer: TextWriter, card: AgentCard): void {
  writer.writeField("Name", card.name);
  writer.writeField("Description", card.description);
  writer.writeField("Version", card.version);
  if (card.provider) writer.writeField("Provider", `${card.provider.organization} ${card.provider.url}`);
  if (card.documentationUrl) writer.writeField("Documentation", card.documentationUrl);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.supportedInterfaces) {
    writer.writeField(
      "Interface",
      `${protocolBinding} ${protocolVersion} ${url}${tenant ? ` tenant=${tenant}` : ""}`,
    );
  }
  const { streaming, pushNotifications, extendedAgentCard, extensions } = card.capabilities;
  writer.writeField("Streaming", formatYesNo(streaming));
  writer.writeField("Push notifications", formatYesNo(pushNotifications));
  writer.writeField("Extended card", formatYesNo(extendedAgentCard));
  for (const { uri, required } of extensions ?? [])
    writer.writeField("Extension", `${uri}${required ? " (required)" : ""}`);
  writer.writeField("Input modes", card.defaultInputModes.join(", "));
  writer.writeField("Output modes", card.defaultOutputModes.join(", "));
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {})) {
    writer.writeField("Security", `${name} ${Object.keys(scheme).join(", ")}`);
  }
  for (const { id, name, description } of card.skills)
    writer.writeField("Skill", `${id} (${name}): ${description}`);
}

/** Renders a push configuration without the secrets that JSON output contains. */
export function renderPushConfig(writer: TextWriter, config: TaskPushNotificationConfig): void {
  const { id, taskId, url, token, authentication } = config;
  if (id) writer.writeField("Config", id);
  if (taskId) writer.writeField("Task", taskId);
  writer.writeField("URL", url);
  if (token) writer.writeField("Token", "***");
  if (authentication) writer.writeField("Authentication", authentication.scheme);
}

function renderStatusMessage(writer: TextWriter, { message }: TaskStatus, verbose: boolean): void {
  if (message) renderLabeledMessage(writer, "Message", message, verbose);
}

function renderLabeledMessage(writer: TextWriter, label: string, message: Message, verbose: boolean): void {
  if (verbose) {
    writer.writeField("Message id", message.messageId);
    for (const uri of message.extensions ?? []) writer.writeField("Extension", uri);
    renderMetadata(writer, "message", message.metadata);
  }
  renderParts(writer, label, message.role, message.parts, { verbose });
}

/** If `growing` is true, the text block stays open so that the next chunk of the artifact can follow. */
function renderArtifact(
  writer: TextWriter,
  artifact: Artifact,
  options: { growing?: boolean; verbose: boolean },
): void {
  const { artifactId, name, description, parts, metadata } = artifact;
  const { growing, verbose } = options;
  if (verbose) {
    writer.writeField("Artifact id", artifactId);
    if (description) writer.writeField("Description", description);
    renderMetadata(writer, "artifact", metadata);
  }
  // In verbose mode each part is a block of its own.
  const block = growing && !verbose ? { growing: artifactId } : {};
  renderParts(writer, "Artifact", name ?? artifactId, parts, { verbose, ...block });
}

function renderParts(
  writer: TextWriter,
  label: string,
  value: string,
  parts: readonly Part[],
  { growing, verbose }: { growing?: string; verbose: boolean },
): void {
  for (const part of parts) {
    if (verbose && part.mediaType) writer.writeField("Media type", part.mediaType);
    if (verbose) renderMetadata(writer, "part", part.metadata);
    if ("text" in part) {
      writer.appendToBlock(label, value, growing ?? "", part.text);
      if (growing === undefined) writer.closeBlock();
    } else if ("data" in part) {
      // The value of a message is the role of its sender, which says nothing about data.
      const place = label === "Artifact" ? value : "message";
      writer.writeBlock("Data", place, JSON.stringify(part.data, null, 2));
    } else writer.writeField("File", formatFilePart(part));
  }
}

function renderMetadata(writer: TextWriter, owner: string, metadata: JsonObject | undefined): void {
  if (metadata && Object.keys(metadata).length > 0) {
    writer.writeBlock("Metadata", owner, JSON.stringify(metadata, null, 2));
  }
}

/** Returns the name, the media type, and the size or the URL of a file part. */
export function formatFilePart(part: Exclude<Part, { text: string } | { data: unknown }>): string {
  return [part.filename, part.mediaType, formatFilePartUrlOrSize(part)].filter(Boolean).join(", ");
}

function formatFilePartUrlOrSize(part: { raw: string } | { url: string }): string {
  if ("url" in part) return part.url;
  return `${Math.floor((stripTrailingCharacters(part.raw, "=").length * 3) / 4)} bytes`;
}

function formatYesNo(value: boolean | undefined): string {
  return value ? "yes" : "no";
}
