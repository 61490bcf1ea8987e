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
import type { TextPage } from "./text.ts";

/** Task, context and state: what the next command needs (a2a-cli SPEC §8.2). */
export function renderIds(page: TextPage, ids: { id: string; contextId: string; state: string }): void {
  page.field("Task", ids.id);
  page.field("Context", ids.contextId);
  page.field("State", ids.state);
}

/** `history`: with the messages of the past. `verbose`: with ids, times, media types and metadata. */
export interface Detail {
  readonly history?: boolean;
  readonly verbose?: boolean;
}

export function renderTask(
  page: TextPage,
  task: Task,
  { history = false, verbose = false }: Detail = {},
): void {
  renderIds(page, { id: task.id, contextId: task.contextId, state: task.status.state });
  if (verbose && task.status.timestamp) page.field("Updated", task.status.timestamp);
  if (verbose) renderMetadata(page, "task", task.metadata);
  for (const message of (history && task.history) || []) renderSaid(page, "History", message, verbose);
  renderStatusMessage(page, task.status, verbose);
  for (const artifact of task.artifacts ?? []) renderArtifact(page, artifact, { verbose });
}

export function renderMessage(page: TextPage, message: Message, verbose = false): void {
  if (message.contextId) page.field("Context", message.contextId);
  if (message.taskId) page.field("Task", message.taskId);
  renderSaid(page, "Message", message, verbose);
}

/** What the user says. */
export function renderSent(page: TextPage, message: Message): void {
  renderSaid(page, "Sent", message, true);
}

export function renderEvent(page: TextPage, event: StreamResponse, detail: Detail = {}): void {
  const { verbose = false } = detail;
  if ("task" in event) renderTask(page, event.task, detail);
  else if ("message" in event) renderMessage(page, event.message, verbose);
  else if ("statusUpdate" in event) {
    const { status, metadata } = event.statusUpdate;
    page.field("State", status.state);
    if (verbose && status.timestamp) page.field("Updated", status.timestamp);
    if (verbose) renderMetadata(page, "status", metadata);
    renderStatusMessage(page, status, verbose);
  } else {
    const { artifact, lastChunk } = event.artifactUpdate;
    renderArtifact(page, artifact, { growing: true, verbose });
    if (lastChunk) page.close();
  }
}

export function renderCard(page: TextPage, card: AgentCard): void {
  page.field("Name", card.name);
  page.field("Description", card.description);
  page.field("Version", card.version);
  if (card.provider) page.field("Provider", `${card.provider.organization} ${card.provider.url}`);
  if (card.documentationUrl) page.field("Documentation", card.documentationUrl);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.supportedInterfaces) {
    page.field(
      "Interface",
      `${protocolBinding} ${protocolVersion} ${url}${tenant ? ` tenant=${tenant}` : ""}`,
    );
  }
  const { streaming, pushNotifications, extendedAgentCard, extensions } = card.capabilities;
  page.field("Streaming", yesNo(streaming));
  page.field("Push notifications", yesNo(pushNotifications));
  page.field("Extended card", yesNo(extendedAgentCard));
  for (const { uri, required } of extensions ?? [])
    page.field("Extension", `${uri}${required ? " (required)" : ""}`);
  page.field("Input modes", card.defaultInputModes.join(", "));
  page.field("Output modes", card.defaultOutputModes.join(", "));
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {})) {
    page.field("Security", `${name} ${Object.keys(scheme).join(", ")}`);
  }
  for (const { id, name, description } of card.skills) page.field("Skill", `${id} (${name}): ${description}`);
}

/** Its secrets are the webhook's; who wants them asks for JSON. */
export function renderPushConfig(page: TextPage, config: TaskPushNotificationConfig): void {
  const { id, taskId, url, token, authentication } = config;
  if (id) page.field("Config", id);
  if (taskId) page.field("Task", taskId);
  page.field("URL", url);
  if (token) page.field("Token", "***");
  if (authentication) page.field("Authentication", authentication.scheme);
}

function renderStatusMessage(page: TextPage, { message }: TaskStatus, verbose: boolean): void {
  if (message) renderSaid(page, "Message", message, verbose);
}

function renderSaid(page: TextPage, label: string, message: Message, verbose: boolean): void {
  if (verbose) {
    page.field("Message id", message.messageId);
    for (const uri of message.extensions ?? []) page.field("Extension", uri);
    renderMetadata(page, "message", message.metadata);
  }
  renderParts(page, label, message.role, message.parts, { verbose });
}

/** `growing`: the block of a text stays open, so that the next chunk of the artifact continues it. */
function renderArtifact(
  page: TextPage,
  artifact: Artifact,
  how: { growing?: boolean; verbose: boolean },
): void {
  const { artifactId, name, description, parts, metadata } = artifact;
  const { growing, verbose } = how;
  if (verbose) {
    page.field("Artifact id", artifactId);
    if (description) page.field("Description", description);
    renderMetadata(page, "artifact", metadata);
  }
  // With all its details a part is shown for itself.
  const block = growing && !verbose ? { growing: artifactId } : {};
  renderParts(page, "Artifact", name ?? artifactId, parts, { verbose, ...block });
}

function renderParts(
  page: TextPage,
  label: string,
  value: string,
  parts: readonly Part[],
  { growing, verbose }: { growing?: string; verbose: boolean },
): void {
  for (const part of parts) {
    if (verbose && part.mediaType) page.field("Media type", part.mediaType);
    if (verbose) renderMetadata(page, "part", part.metadata);
    if ("text" in part) {
      page.grow(label, value, growing ?? "", part.text);
      if (growing === undefined) page.close();
    } else if ("data" in part) page.block("Data", value, JSON.stringify(part.data, null, 2));
    else page.field("File", [part.filename, part.mediaType, whereOrSize(part)].filter(Boolean).join(", "));
  }
}

function renderMetadata(page: TextPage, of: string, metadata: JsonObject | undefined): void {
  if (metadata && Object.keys(metadata).length > 0) {
    page.block("Metadata", of, JSON.stringify(metadata, null, 2));
  }
}

function whereOrSize(part: { raw: string } | { url: string }): string {
  if ("url" in part) return part.url;
  return `${Math.floor((part.raw.replace(/=+$/, "").length * 3) / 4)} bytes`;
}

function yesNo(value: boolean | undefined): string {
  return value ? "yes" : "no";
}
