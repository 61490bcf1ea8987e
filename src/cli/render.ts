import type {
  AgentCard,
  Artifact,
  Message,
  Part,
  StreamResponse,
  Task,
  TaskStatus,
} from "../protocol/index.ts";
import type { TextPage } from "./text.ts";

/** Task, context and state: what the next command needs (a2a-cli SPEC §8.2). */
export function renderIds(page: TextPage, ids: { id: string; contextId: string; state: string }): void {
  page.field("Task", ids.id);
  page.field("Context", ids.contextId);
  page.field("State", ids.state);
}

export function renderTask(page: TextPage, task: Task, history = false): void {
  renderIds(page, { id: task.id, contextId: task.contextId, state: task.status.state });
  for (const message of (history && task.history) || [])
    renderParts(page, "History", message.role, message.parts);
  renderStatusMessage(page, task.status);
  for (const artifact of task.artifacts ?? []) renderArtifact(page, artifact);
}

export function renderMessage(page: TextPage, message: Message): void {
  if (message.contextId) page.field("Context", message.contextId);
  renderParts(page, "Message", message.role, message.parts);
}

export function renderEvent(page: TextPage, event: StreamResponse): void {
  if ("task" in event) renderTask(page, event.task);
  else if ("message" in event) renderMessage(page, event.message);
  else if ("statusUpdate" in event) {
    page.field("State", event.statusUpdate.status.state);
    renderStatusMessage(page, event.statusUpdate.status);
  } else {
    const { artifact, lastChunk } = event.artifactUpdate;
    renderArtifact(page, artifact, true);
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

function renderStatusMessage(page: TextPage, { message }: TaskStatus): void {
  if (message) renderParts(page, "Message", message.role, message.parts);
}

/** `growing`: the block of a text stays open, so that the next chunk of the artifact continues it. */
function renderArtifact(page: TextPage, { artifactId, name, parts }: Artifact, growing = false): void {
  renderParts(page, "Artifact", name ?? artifactId, parts, growing ? artifactId : undefined);
}

function renderParts(
  page: TextPage,
  label: string,
  value: string,
  parts: readonly Part[],
  growing?: string,
): void {
  for (const part of parts) {
    if ("text" in part) {
      page.grow(label, value, growing ?? "", part.text);
      if (growing === undefined) page.close();
    } else if ("data" in part) page.block("Data", value, JSON.stringify(part.data, null, 2));
    else page.field("File", [part.filename, part.mediaType, whereOrSize(part)].filter(Boolean).join(", "));
  }
}

function whereOrSize(part: { raw: string } | { url: string }): string {
  if ("url" in part) return part.url;
  return `${Math.floor((part.raw.replace(/=+$/, "").length * 3) / 4)} bytes`;
}

function yesNo(value: boolean | undefined): string {
  return value ? "yes" : "no";
}
