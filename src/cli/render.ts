import type {
  AgentCard,
  Artifact,
  JsonObject,
  Message,
  Part,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  TaskStatus,
} from "../protocol/index.ts";
import type { TextWriter } from "./text-writer.ts";

/** Renders the ids and the state that the next command needs (a2a-cli SPEC §8.2). */
export function renderIds(page: TextWriter, ids: { id: string; contextId: string; state: string }): void {
  page.writeField("Task", ids.id);
  page.writeField("Context", ids.contextId);
  page.writeField("State", ids.state);
}

/** `history` includes earlier messages. `verbose` includes ids, times, media types, and metadata. */
export interface RenderDetail {
  readonly history?: boolean;
  readonly verbose?: boolean;
}

export function renderTask(
  page: TextWriter,
  task: Task,
  { history = false, verbose = false }: RenderDetail = {},
): void {
  renderIds(page, { id: task.id, contextId: task.contextId, state: task.status.state });
  if (verbose && task.status.timestamp) page.writeField("Updated", task.status.timestamp);
  if (verbose) renderMetadata(page, "task", task.metadata);
  for (const message of (history && task.history) || [])
    renderLabeledMessage(page, "History", message, verbose);
  renderStatusMessage(page, task.status, verbose);
  for (const artifact of task.artifacts ?? []) renderArtifact(page, artifact, { verbose });
}

export function renderMessage(page: TextWriter, message: Message, verbose = false): void {
  if (message.contextId) page.writeField("Context", message.contextId);
  if (message.taskId) page.writeField("Task", message.taskId);
  renderLabeledMessage(page, "Message", message, verbose);
}

/** Renders the user's own message. */
export function renderSentMessage(page: TextWriter, message: Message): void {
  renderLabeledMessage(page, "Sent", message, true);
}

export function renderEvent(page: TextWriter, event: StreamResponse, detail: RenderDetail = {}): void {
  const { verbose = false } = detail;
  if ("task" in event) renderTask(page, event.task, detail);
  else if ("message" in event) renderMessage(page, event.message, verbose);
  else if ("statusUpdate" in event) {
    const { status, metadata } = event.statusUpdate;
    page.writeField("State", status.state);
    if (verbose && status.timestamp) page.writeField("Updated", status.timestamp);
    if (verbose) renderMetadata(page, "status", metadata);
    renderStatusMessage(page, status, verbose);
  } else {
    const { artifact, lastChunk } = event.artifactUpdate;
    renderArtifact(page, artifact, { growing: true, verbose });
    if (lastChunk) page.closeBlock();
  }
}

export function renderCard(page: TextWriter, card: AgentCard): void {
  page.writeField("Name", card.name);
  page.writeField("Description", card.description);
  page.writeField("Version", card.version);
  if (card.provider) page.writeField("Provider", `${card.provider.organization} ${card.provider.url}`);
  if (card.documentationUrl) page.writeField("Documentation", card.documentationUrl);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.supportedInterfaces) {
    page.writeField(
      "Interface",
      `${protocolBinding} ${protocolVersion} ${url}${tenant ? ` tenant=${tenant}` : ""}`,
    );
  }
  const { streaming, pushNotifications, extendedAgentCard, extensions } = card.capabilities;
  page.writeField("Streaming", formatYesNo(streaming));
  page.writeField("Push notifications", formatYesNo(pushNotifications));
  page.writeField("Extended card", formatYesNo(extendedAgentCard));
  for (const { uri, required } of extensions ?? [])
    page.writeField("Extension", `${uri}${required ? " (required)" : ""}`);
  page.writeField("Input modes", card.defaultInputModes.join(", "));
  page.writeField("Output modes", card.defaultOutputModes.join(", "));
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {})) {
    page.writeField("Security", `${name} ${Object.keys(scheme).join(", ")}`);
  }
  for (const { id, name, description } of card.skills)
    page.writeField("Skill", `${id} (${name}): ${description}`);
}

/** Renders a push configuration without its secrets. JSON output includes them. */
export function renderPushConfig(page: TextWriter, config: TaskPushNotificationConfig): void {
  const { id, taskId, url, token, authentication } = config;
  if (id) page.writeField("Config", id);
  if (taskId) page.writeField("Task", taskId);
  page.writeField("URL", url);
  if (token) page.writeField("Token", "***");
  if (authentication) page.writeField("Authentication", authentication.scheme);
}

function renderStatusMessage(page: TextWriter, { message }: TaskStatus, verbose: boolean): void {
  if (message) renderLabeledMessage(page, "Message", message, verbose);
}

function renderLabeledMessage(page: TextWriter, label: string, message: Message, verbose: boolean): void {
  if (verbose) {
    page.writeField("Message id", message.messageId);
    for (const uri of message.extensions ?? []) page.writeField("Extension", uri);
    renderMetadata(page, "message", message.metadata);
  }
  renderParts(page, label, message.role, message.parts, { verbose });
}

/** `growing` keeps the text block open, so that the next chunk of the artifact continues it. */
function renderArtifact(
  page: TextWriter,
  artifact: Artifact,
  how: { growing?: boolean; verbose: boolean },
): void {
  const { artifactId, name, description, parts, metadata } = artifact;
  const { growing, verbose } = how;
  if (verbose) {
    page.writeField("Artifact id", artifactId);
    if (description) page.writeField("Description", description);
    renderMetadata(page, "artifact", metadata);
  }
  // In verbose mode each part is a block of its own.
  const block = growing && !verbose ? { growing: artifactId } : {};
  renderParts(page, "Artifact", name ?? artifactId, parts, { verbose, ...block });
}

function renderParts(
  page: TextWriter,
  label: string,
  value: string,
  parts: readonly Part[],
  { growing, verbose }: { growing?: string; verbose: boolean },
): void {
  for (const part of parts) {
    if (verbose && part.mediaType) page.writeField("Media type", part.mediaType);
    if (verbose) renderMetadata(page, "part", part.metadata);
    if ("text" in part) {
      page.appendToBlock(label, value, growing ?? "", part.text);
      if (growing === undefined) page.closeBlock();
    } else if ("data" in part) page.writeBlock("Data", value, JSON.stringify(part.data, null, 2));
    else
      page.writeField(
        "File",
        [part.filename, part.mediaType, formatUrlOrSize(part)].filter(Boolean).join(", "),
      );
  }
}

function renderMetadata(page: TextWriter, of: string, metadata: JsonObject | undefined): void {
  if (metadata && Object.keys(metadata).length > 0) {
    page.writeBlock("Metadata", of, JSON.stringify(metadata, null, 2));
  }
}

function formatUrlOrSize(part: { raw: string } | { url: string }): string {
  if ("url" in part) return part.url;
  return `${Math.floor((part.raw.replace(/=+$/, "").length * 3) / 4)} bytes`;
}

function formatYesNo(value: boolean | undefined): string {
  return value ? "yes" : "no";
}
